// RUN: metaop-opt %s -convert-metaop-to-gpu -canonicalize -cse | FileCheck %s
// RUN: metaop-opt %s -metaop-pipeline="from=scheduled target=cuda" | metaop-translate --print-ptx | FileCheck %s --check-prefix=PTX

// An operation of halves asks for few digits; one of f32 for all, whatever rounds
// its result.
// CHECK-LABEL: gpu.func @main
// CHECK:         math.exp %{{.*}} fastmath<afn> : f32
// CHECK:         arith.truncf
// CHECK:         arith.divf %{{.*}}, %{{.*}} fastmath<afn> : f32
// CHECK:         arith.truncf
// CHECK:         math.exp %{{[^ ]*}} : f32
// CHECK:         arith.truncf

// PTX-LABEL: .entry
// PTX:         ex2.approx.f32
// PTX:         div.full.f32
// PTX-NOT:     ex2.approx
// PTX:         ret
func.func @main(%x: tensor<1024xbf16>, %y: tensor<1024xf32>)
    -> (tensor<1024xbf16>, tensor<1024xbf16>) {
  %k:2 = metaop.kernel(%kx = %x : tensor<1024xbf16>, %ky = %y : tensor<1024xf32>)
      -> (tensor<1024xbf16>, tensor<1024xbf16>) {
    %r:2 = metaop.fused(%bx = %kx : tensor<1024xbf16>, %by = %ky : tensor<1024xf32>)
        -> (tensor<1024xbf16>, tensor<1024xbf16>)
        schedule(#metaop.schedule<[block(0, 128), thread(0)]>) {
      %0 = metaop.exp %bx : tensor<1024xbf16>
      %1 = metaop.div %0, %bx : tensor<1024xbf16>
      %2 = metaop.exp %by : tensor<1024xf32>
      %3 = metaop.cast %2 : tensor<1024xf32> -> tensor<1024xbf16>
      metaop.yield %1, %3 : tensor<1024xbf16>, tensor<1024xbf16>
    }
    metaop.yield %r#0, %r#1 : tensor<1024xbf16>, tensor<1024xbf16>
  }
  return %k#0, %k#1 : tensor<1024xbf16>, tensor<1024xbf16>
}
