// Whole vectors, and a rest that is none.
func.func private @odd(%x: tensor<10003xf32>, %y: tensor<10003xf32>) -> tensor<10003xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10003xf32>, %b = %y : tensor<10003xf32>) -> tensor<10003xf32> {
    %1 = metaop.fused(%c = %a : tensor<10003xf32>, %d = %b : tensor<10003xf32>) -> tensor<10003xf32> schedule(#metaop.schedule<[block(0, 2048), thread(0, 4)], tile = [0: 8], lanes = 0: 4>) {
      %2 = metaop.add %c, %d : tensor<10003xf32>
      %3 = metaop.exp %2 : tensor<10003xf32>
      metaop.yield %3 : tensor<10003xf32>
    }
    metaop.yield %1 : tensor<10003xf32>
  }
  return %0 : tensor<10003xf32>
}

// The last block has whole vectors alone.
func.func private @vectors(%x: tensor<10000xbf16>) -> tensor<10000xbf16> {
  %0 = metaop.kernel(%a = %x : tensor<10000xbf16>) -> tensor<10000xbf16> {
    %1 = metaop.fused(%c = %a : tensor<10000xbf16>) -> tensor<10000xbf16> schedule(#metaop.schedule<[block(0, 2048), thread(0, 8)], tile = [0: 16], lanes = 0: 8>) {
      %2 = metaop.mul %c, %c : tensor<10000xbf16>
      metaop.yield %2 : tensor<10000xbf16>
    }
    metaop.yield %1 : tensor<10000xbf16>
  }
  return %0 : tensor<10000xbf16>
}
