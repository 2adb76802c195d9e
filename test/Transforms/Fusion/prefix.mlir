// RUN: metaop-opt %s --metaop-fuse | FileCheck %s

// A prefix is read where it is complete: what it is computed from and what reads it in
// place are in its kernel.
// CHECK-LABEL: func.func @chain
// CHECK:       metaop.fused
// CHECK-NEXT:    metaop.exp
// CHECK-NEXT:    metaop.prefix add
// CHECK-NEXT:    metaop.neg
// CHECK-NEXT:    metaop.yield
// CHECK-NOT:   metaop.fused
// CHECK:       return
func.func @chain(%x: tensor<40x100xf32>) -> tensor<40x100xf32> {
  %e = metaop.exp %x : tensor<40x100xf32>
  %s = metaop.prefix add %e dim = 1 : tensor<40x100xf32>
  %y = metaop.neg %s : tensor<40x100xf32>
  return %y : tensor<40x100xf32>
}

// So are other prefixes along the same dimension, in the same direction.
// CHECK-LABEL: func.func @one_course
// CHECK-COUNT-1: metaop.fused
// CHECK-NOT:   metaop.fused
// CHECK:       return
func.func @one_course(%x: tensor<40x100xf32>) -> tensor<40x100xf32> {
  %s = metaop.prefix add %x dim = 1 : tensor<40x100xf32>
  %m = metaop.prefix max %s dim = 1 exclusive : tensor<40x100xf32>
  %y = metaop.sub %m, %s : tensor<40x100xf32>
  return %y : tensor<40x100xf32>
}

// Along another dimension, or backwards, is another kernel.
// CHECK-LABEL: func.func @two_courses
// CHECK:       metaop.fused
// CHECK:         metaop.prefix add %{{.*}} dim = 1 :
// CHECK:       metaop.fused
// CHECK:         metaop.prefix add %{{.*}} dim = 1 reverse
// CHECK:       metaop.fused
// CHECK:         metaop.prefix add %{{.*}} dim = 0
// CHECK:       return
func.func @two_courses(%x: tensor<40x100xf32>) -> tensor<40x100xf32> {
  %0 = metaop.prefix add %x dim = 1 : tensor<40x100xf32>
  %1 = metaop.prefix add %0 dim = 1 reverse : tensor<40x100xf32>
  %2 = metaop.prefix add %1 dim = 0 : tensor<40x100xf32>
  return %2 : tensor<40x100xf32>
}

// So is a reduction, and a reindex of a prefix, which would compute it again (Rule 1).
// CHECK-LABEL: func.func @others
// CHECK:       metaop.fused
// CHECK:         metaop.prefix
// CHECK-NEXT:    metaop.yield
// CHECK:       metaop.fused
// CHECK-NEXT:    metaop.reduce
// CHECK:       metaop.fused
// CHECK-NEXT:    metaop.transpose
// CHECK:       return
func.func @others(%x: tensor<40x100xf32>) -> (tensor<40xf32>, tensor<100x40xf32>) {
  %s = metaop.prefix add %x dim = 1 : tensor<40x100xf32>
  %r = metaop.reduce add %s dims = [1] : tensor<40x100xf32> -> tensor<40xf32>
  %t = metaop.transpose %s perm = [1, 0] : tensor<40x100xf32> -> tensor<100x40xf32>
  return %r, %t : tensor<40xf32>, tensor<100x40xf32>
}
