// What is forced to be split is split, though its rows could be shared with others.
// RUN: metaop-opt %s --metaop-pipeline="to=scheduled target=cuda" | FileCheck %s --check-prefix=JOINED
// RUN: metaop-opt %s --metaop-pipeline="to=scheduled target=cuda report=true" -metaop-explain -o /dev/null 2>/dev/null \
// RUN:   | sed -n 's/^    of kernel: //p' | head -n 1 | sed 's/$/ = force split-reductions/' > %t.split
// RUN: metaop-opt %s --metaop-pipeline="to=scheduled target=cuda schedule-file=%t.split" | FileCheck %s
// JOINED: metaop.kernel(
// JOINED-NOT: metaop.kernel(
// CHECK: metaop.kernel({{.*}} -> tensor<{{[0-9]+}}x600xf32>
// CHECK: metaop.kernel(

func.func @main(%x: tensor<600x4096xf32>) -> tensor<600x4096xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<600x4096xf32> -> tensor<600xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<600xf32> -> tensor<600x4096xf32>
  %y = metaop.sub %x, %0 : tensor<600x4096xf32>
  return %y : tensor<600x4096xf32>
}
