// RUN: metaop-opt %s --metaop-split-prefixes | FileCheck %s

// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<(d0, d1) -> (d1 + d0 * 1008)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d0, 1007)>
// CHECK-DAG: #[[SPREAD:.*]] = affine_map<(d0, d1) -> (d0, 0)>

// Ten whole blocks.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME:    %[[X:.*]]: tensor<10080xf32>)
// CHECK-NEXT: %[[S:.*]] = metaop.reindex %[[X]] map #[[BLOCKS]]
// CHECK-NEXT: %[[LOCAL:.*]] = metaop.prefix add %[[S]] dim = 1 serial : tensor<10x1008xf32>
// CHECK-NEXT: %[[TOTAL:.*]] = metaop.reindex %[[LOCAL]] map #[[LAST]]
// CHECK-NEXT: %[[CARRY:.*]] = metaop.prefix add %[[TOTAL]] dim = 0 exclusive serial : tensor<10x1xf32>
// CHECK-NEXT: %[[BEFORE:.*]] = metaop.reindex %[[CARRY]] map #[[SPREAD]]
// CHECK-NEXT: %[[RESULT:.*]] = metaop.add %[[BEFORE]], %[[LOCAL]] : tensor<10x1008xf32>
// CHECK-NEXT: %[[Y:.*]] = metaop.reshape %[[RESULT]] : tensor<10x1008xf32> -> tensor<10080xf32>
// CHECK-NEXT: return %[[Y]]
func.func @whole(%x: tensor<10080xf32>) -> tensor<10080xf32> {
  %y = metaop.prefix add %x dim = 0 : tensor<10080xf32>
  return %y : tensor<10080xf32>
}

// What is left over is a line of its own, behind the blocks.
// CHECK-LABEL: func.func @rest
// CHECK: metaop.prefix max %{{.*}} dim = 2 serial : tensor<3x8x1008xf32>
// CHECK: metaop.prefix max %{{.*}} dim = 1 serial : tensor<3x6xf32>
// CHECK: metaop.concat %{{.*}}, %{{.*}} dim = 1 : (tensor<3x8064xf32>, tensor<3x6xf32>) -> tensor<3x8070xf32>
func.func @rest(%x: tensor<3x8070xf32>) -> tensor<3x8070xf32> {
  %y = metaop.prefix max %x dim = 1 : tensor<3x8070xf32>
  return %y : tensor<3x8070xf32>
}

// Backwards, it lies in front of them.
// CHECK-LABEL: func.func @backwards
// CHECK: metaop.prefix add %{{.*}} dim = 1 reverse serial : tensor<8x1008xi32>
// CHECK: metaop.concat %{{.*}}, %{{.*}} dim = 0 : (tensor<6xi32>, tensor<8064xi32>) -> tensor<8070xi32>
func.func @backwards(%x: tensor<8070xi32>) -> tensor<8070xi32> {
  %y = metaop.prefix add %x dim = 0 reverse : tensor<8070xi32>
  return %y : tensor<8070xi32>
}

// Half floats are f32 until the end.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: metaop.prefix {{.*}}f16
// CHECK: metaop.cast %{{.*}} : tensor<8064xf32> -> tensor<8064xf16>
func.func @halves(%x: tensor<8064xf16>) -> tensor<8064xf16> {
  %y = metaop.prefix add %x dim = 0 exclusive : tensor<8064xf16>
  return %y : tensor<8064xf16>
}

// Products have no blocks; short lines, and many, stay as they are.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: metaop.prefix mul
// CHECK-NEXT: metaop.prefix add
// CHECK-NEXT: metaop.prefix add
// CHECK-NEXT: return
func.func @kept(%x: tensor<10080xf32>, %s: tensor<8000xf32>, %m: tensor<16x8064xf32>)
    -> (tensor<10080xf32>, tensor<8000xf32>, tensor<16x8064xf32>) {
  %0 = metaop.prefix mul %x dim = 0 : tensor<10080xf32>
  %1 = metaop.prefix add %s dim = 0 : tensor<8000xf32>
  %2 = metaop.prefix add %m dim = 1 : tensor<16x8064xf32>
  return %0, %1, %2 : tensor<10080xf32>, tensor<8000xf32>, tensor<16x8064xf32>
}
