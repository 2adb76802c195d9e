// A file of schedules forces and forbids what the passes do to a kernel, by the
// identity that metaop-explain prints of it.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: metaop-opt %t/softmax.mlir --metaop-pipeline="to=scheduled report=true" -metaop-explain -o /dev/null 2>/dev/null \
// RUN:   | sed -n 's/^    of kernel: //p' > %t/softmax.names
// RUN: metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled report=true" -metaop-explain -o /dev/null 2>/dev/null \
// RUN:   | sed -n 's/^    of kernel: //p' > %t/sum.names

// Each of the three stages is of a kernel of its own.
// RUN: sort -u %t/softmax.names | count 3

// RUN: sed 's/$/ = forbid join-stages/' %t/softmax.names > %t/softmax.forbid
// RUN: metaop-opt %t/softmax.mlir --metaop-pipeline="to=scheduled schedule-file=%t/softmax.forbid" | FileCheck %s --check-prefix=APART
// RUN: metaop-opt %t/softmax.mlir --metaop-pipeline="to=scheduled" | FileCheck %s --check-prefix=JOINED
// APART-COUNT-3: metaop.kernel(
// APART-NOT:     metaop.kernel(
// APART-NOT:     shared =
// APART-NOT:     rewrites
// JOINED:        metaop.kernel(
// JOINED-NOT:    metaop.kernel(

// A reduction that is too small to be split, and one that is split.
// RUN: sed 's/$/ = force split-reductions # small/' %t/sum.names > %t/sum.force
// RUN: metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled report=true schedule-file=%t/sum.force" 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled report=true" 2>&1 | FileCheck %s --check-prefix=WHOLE
// SPLIT:       remark: splits 4096 iterations of all dimensions into 64 blocks of 64, as is forced
// SPLIT:       metaop.kernel({{.*}} -> tensor<64xf32>
// SPLIT:       metaop.kernel({{.*}} -> tensor<f32>
// WHOLE:       remark: is not split: it reduces too little
// WHOLE:       metaop.kernel({{.*}} -> tensor<f32>
// WHOLE-NOT:   metaop.kernel

// What cannot be is an error at the line of the file.
// RUN: sed 's/$/ = force join-stages/' %t/sum.names > %t/sum.join
// RUN: not metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled schedule-file=%t/sum.join" 2>&1 | FileCheck %s --check-prefix=NOJOIN
// NOJOIN: error: {{.*}}sum.join:1: join-stages is forced, but
// RUN: sed 's/$/ = force pack-operands/' %t/sum.names > %t/sum.pack
// RUN: not metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled schedule-file=%t/sum.pack" 2>&1 | FileCheck %s --check-prefix=NOPACK
// NOPACK: error: {{.*}}sum.pack:1: pack-operands is forced, but it is no contraction
// RUN: sed 's/$/ = forbid join-stages, force attach-panels/' %t/sum.names > %t/sum.attach
// RUN: not metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled schedule-file=%t/sum.attach" 2>&1 | FileCheck %s --check-prefix=NOATTACH
// NOATTACH: error: {{.*}}sum.attach:1: attach-panels is forced, but no kernel computes vectors for it alone
// RUN: sed 's/$/ = force recompute-values/' %t/sum.names > %t/sum.recompute
// RUN: not metaop-opt %t/sum.mlir --metaop-pipeline="to=scheduled schedule-file=%t/sum.recompute" 2>&1 | FileCheck %s --check-prefix=NOAGAIN
// NOAGAIN: error: {{.*}}sum.recompute:1: recompute-values is forced, but none of its values

// So are files that say nothing that is known.
// RUN: echo 'ab = forbid speed' > %t/unknown
// RUN: not metaop-opt %t/sum.mlir -metaop-force-rewrites=file=%t/unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: metaop-force-rewrites: {{.*}}unknown:1: there is no rewrite 'speed'; expected one of recompute-values, separate-reductions, split-reductions, gather-scatters, pack-operands, attach-panels, copy-rows, attach-epilogues, join-stages
// RUN: echo 'ab = force join-stages forbid' > %t/syntax
// RUN: not metaop-opt %t/sum.mlir -metaop-force-rewrites=file=%t/syntax 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax:1: there is no rewrite 'join-stages forbid'
// RUN: echo 'ab = forced join-stages' > %t/verb
// RUN: not metaop-opt %t/sum.mlir -metaop-force-rewrites=file=%t/verb 2>&1 | FileCheck %s --check-prefix=VERB
// VERB: verb:1: expected 'force PASS' or 'forbid PASS', given 'forced join-stages'
// RUN: echo 'ab = force join-stages, forbid join-stages' > %t/twice
// RUN: not metaop-opt %t/sum.mlir -metaop-force-rewrites=file=%t/twice 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: twice:1: join-stages is named twice
// RUN: echo 'ab.0 = force join-stages' > %t/stage
// RUN: not metaop-opt %t/sum.mlir -metaop-force-rewrites=file=%t/stage 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: stage:1: rewrites are of a kernel, whose name has no number, given 'ab.0'
// RUN: echo 'ab = force join-stages' > %t/other
// RUN: metaop-opt %t/sum.mlir -metaop-force-rewrites=file=%t/other -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: warning: {{.*}}other:1: there is no kernel ab

//--- softmax.mlir
func.func @main(%x: tensor<64x300xf32>) -> tensor<64x300xf32> {
  %m = metaop.reduce max %x dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %0 = metaop.broadcast %m dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
  %1 = metaop.sub %x, %0 : tensor<64x300xf32>
  %e = metaop.exp %1 : tensor<64x300xf32>
  %s = metaop.reduce add %e dims = [1] : tensor<64x300xf32> -> tensor<64xf32>
  %2 = metaop.broadcast %s dims = [0] : tensor<64xf32> -> tensor<64x300xf32>
  %y = metaop.div %e, %2 : tensor<64x300xf32>
  return %y : tensor<64x300xf32>
}

//--- sum.mlir
func.func @main(%x: tensor<64x64xf32>) -> tensor<f32> {
  %0 = metaop.reduce add %x dims = [0, 1] : tensor<64x64xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
