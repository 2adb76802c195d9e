// What a file forces on kernels of a GPU, and what no schedule can do: rows of four
// megabytes for one block, where there are no clusters.
// RUN: metaop-opt %s --metaop-pipeline="to=scheduled report=true" -metaop-explain -o /dev/null 2>/dev/null \
// RUN:   | sed -n 's/^    of kernel: //p' | sort -u | sed 's/$/ = forbid split-reductions, force join-stages/' > %t.join
// RUN: count 2 < %t.join
// RUN: not metaop-opt %s --metaop-pipeline="to=scheduled target=cuda chip=sm_80 schedule-file=%t.join" 2>&1 | FileCheck %s
// CHECK: error: {{.*}}.join:2: join-stages is forced, but no kernel that it gives a value to, or has one from, can share its loops

func.func @main(%x: tensor<640x1048576xf32>) -> tensor<640x1048576xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<640x1048576xf32> -> tensor<640xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<640xf32> -> tensor<640x1048576xf32>
  %y = metaop.sub %x, %0 : tensor<640x1048576xf32>
  return %y : tensor<640x1048576xf32>
}
