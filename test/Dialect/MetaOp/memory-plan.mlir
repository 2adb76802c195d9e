// RUN: metaop-opt %s | metaop-opt | FileCheck %s

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: func.func @straight(
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {metaop.donatable})
// CHECK-SAME:    metaop.arena_bytes = 64 : i64, metaop.results = [#metaop.slot<argument, 0>]
// CHECK:         call @kernel(%{{.*}}) {metaop.may_keep, metaop.slots = [#metaop.slot<arena, 0>]}
// CHECK:         metaop.concat {{.*}} {metaop.slots = [#metaop.slot<result, 0, offset = 16, row = 8, pitch = 16>]}
func.func @straight(%x: tensor<4xf32> {metaop.donatable}) -> tensor<4xf32>
    attributes {metaop.arena_bytes = 64 : i64, metaop.results = [#metaop.slot<argument, 0>]} {
  %0 = call @kernel(%x) {metaop.may_keep, metaop.slots = [#metaop.slot<arena, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = metaop.concat %0, %x dim = 0 {metaop.slots = [#metaop.slot<result, 0, offset = 16, row = 8, pitch = 16>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @loop(
// CHECK:         metaop.carries = [{{\[}}#metaop.slot<pointer, 0>, #metaop.slot<pointer, 1>, #metaop.slot<result, 0>, #metaop.slot<arena, 0>]]
func.func @loop(%x: tensor<i1>) -> tensor<i1> {
  %0 = scf.while (%a = %x) : (tensor<i1>) -> tensor<i1> {
    %b = tensor.extract %a[] : tensor<i1>
    scf.condition(%b) %a : tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>):
    scf.yield %a : tensor<i1>
  } attributes {metaop.carries = [[#metaop.slot<pointer, 0>, #metaop.slot<pointer, 1>, #metaop.slot<result, 0>, #metaop.slot<arena, 0>]]}
  return %0 : tensor<i1>
}
