// Softmax of rows in registers, shuffles and shared memory; rows that are no
// multiple of what the threads take at once.
func.func private @softmax(%x: tensor<6x1000xf32>) -> tensor<6x1000xf32> {
  %0 = metaop.kernel(%a = %x : tensor<6x1000xf32>) -> tensor<6x1000xf32> {
    %1 = metaop.fused(%c = %a : tensor<6x1000xf32>) -> tensor<6xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers]>) {
      %2 = metaop.reindex_reduce max %c map affine_map<(d0, d1) -> (d0)> : tensor<6x1000xf32> -> tensor<6xf32>
      metaop.yield %2 : tensor<6xf32>
    }
    %3:2 = metaop.fused(%c = %a : tensor<6x1000xf32>, %d = %1 : tensor<6xf32>) -> (tensor<6x1000xf32>, tensor<6xf32>) schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4, place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<6xf32> -> tensor<6x1000xf32>
      %5 = metaop.sub %c, %4 : tensor<6x1000xf32>
      %6 = metaop.exp %5 : tensor<6x1000xf32>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<6x1000xf32> -> tensor<6xf32>
      metaop.yield %6, %7 : tensor<6x1000xf32>, tensor<6xf32>
    }
    %8 = metaop.fused(%c = %3#0 : tensor<6x1000xf32>, %d = %3#1 : tensor<6xf32>) -> tensor<6x1000xf32> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 4)], tile = [1: 8], lanes = 1: 4, shared = 1>) {
      %9 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<6xf32> -> tensor<6x1000xf32>
      %10 = metaop.div %c, %9 : tensor<6x1000xf32>
      metaop.yield %10 : tensor<6x1000xf32>
    }
    metaop.yield %8 : tensor<6x1000xf32>
  }
  return %0 : tensor<6x1000xf32>
}

// The row is handed on in the memory of the block, several rows each.
func.func private @centred(%x: tensor<10x96xf32>) -> tensor<10x96xf32> {
  %0 = metaop.kernel(%a = %x : tensor<10x96xf32>) -> tensor<10x96xf32> {
    %1:2 = metaop.fused(%c = %a : tensor<10x96xf32>) -> (tensor<10x96xf32>, tensor<10xf32>) schedule(#metaop.schedule<[block(0, 4), thread(0), step(1, 32), thread(1)], place = [shared, shared]>) {
      %2 = metaop.mul %c, %c : tensor<10x96xf32>
      %3 = metaop.reindex_reduce add %2 map affine_map<(d0, d1) -> (d0)> : tensor<10x96xf32> -> tensor<10xf32>
      metaop.yield %2, %3 : tensor<10x96xf32>, tensor<10xf32>
    }
    %4 = metaop.fused(%c = %1#0 : tensor<10x96xf32>, %d = %1#1 : tensor<10xf32>) -> tensor<10x96xf32> schedule(#metaop.schedule<[block(0, 4), step(1, 32), thread(1), thread(0)], shared = 1>) {
      %5 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<10xf32> -> tensor<10x96xf32>
      %6 = metaop.sub %c, %5 : tensor<10x96xf32>
      metaop.yield %6 : tensor<10x96xf32>
    }
    metaop.yield %4 : tensor<10x96xf32>
  }
  return %0 : tensor<10x96xf32>
}

// Each row is shared by the blocks of a cluster.
func.func private @cluster(%x: tensor<3x2000xf32>) -> tensor<3x2000xf32> {
  %0 = metaop.kernel(%a = %x : tensor<3x2000xf32>) -> tensor<3x2000xf32> {
    %1 = metaop.fused(%c = %a : tensor<3x2000xf32>) -> tensor<3xf32> schedule(#metaop.schedule<[cluster(0), cluster(1, 2048), block(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, place = [registers]>) {
      %2 = metaop.reindex_reduce add %c map affine_map<(d0, d1) -> (d0)> : tensor<3x2000xf32> -> tensor<3xf32>
      metaop.yield %2 : tensor<3xf32>
    }
    %3 = metaop.fused(%c = %a : tensor<3x2000xf32>, %d = %1 : tensor<3xf32>) -> tensor<3x2000xf32> schedule(#metaop.schedule<[cluster(0), cluster(1, 2048), block(1, 512), thread(1, 4)], tile = [1: 4], lanes = 1: 4, shared = 3>) {
      %4 = metaop.reindex %d map affine_map<(d0, d1) -> (d0)> fill 0.0 : f32 : tensor<3xf32> -> tensor<3x2000xf32>
      %5 = metaop.sub %c, %4 : tensor<3x2000xf32>
      metaop.yield %5 : tensor<3x2000xf32>
    }
    metaop.yield %3 : tensor<3x2000xf32>
  }
  return %0 : tensor<3x2000xf32>
}

// Vectors that threads keep over barriers, wider than their registers on a GPU.
func.func private @softmax_bf16(%arg0: tensor<6x1024xbf16>) -> tensor<6x1024xbf16> {
  %0 = metaop.kernel(%arg1 = %arg0 : tensor<6x1024xbf16>) -> tensor<6x1024xbf16> {
    %1 = metaop.fused(%arg2 = %arg1 : tensor<6x1024xbf16>) -> tensor<6xbf16> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 8)], tile = [1: 32], lanes = 1: 8, place = [registers]>) {
      %4 = metaop.reindex_reduce max %arg2 map affine_map<(d0, d1) -> (d0)> : tensor<6x1024xbf16> -> tensor<6xbf16>
      metaop.yield %4 : tensor<6xbf16>
    }
    %2:2 = metaop.fused(%arg2 = %1 : tensor<6xbf16>, %arg3 = %arg1 : tensor<6x1024xbf16>) -> (tensor<6x1024xbf16>, tensor<6xbf16>) schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 8)], tile = [1: 32], lanes = 1: 8, place = [registers, registers], shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : bf16 : tensor<6xbf16> -> tensor<6x1024xbf16>
      %5 = metaop.sub %arg3, %4 : tensor<6x1024xbf16>
      %6 = metaop.exp %5 : tensor<6x1024xbf16>
      %7 = metaop.reindex_reduce add %6 map affine_map<(d0, d1) -> (d0)> : tensor<6x1024xbf16> -> tensor<6xbf16>
      metaop.yield %6, %7 : tensor<6x1024xbf16>, tensor<6xbf16>
    }
    %3 = metaop.fused(%arg2 = %2#1 : tensor<6xbf16>, %arg3 = %2#0 : tensor<6x1024xbf16>) -> tensor<6x1024xbf16> schedule(#metaop.schedule<[block(0), step(1, 1024), thread(1, 8)], tile = [1: 32], lanes = 1: 8, shared = 1>) {
      %4 = metaop.reindex %arg2 map affine_map<(d0, d1) -> (d0)> fill 0.000000e+00 : bf16 : tensor<6xbf16> -> tensor<6x1024xbf16>
      %5 = metaop.div %arg3, %4 : tensor<6x1024xbf16>
      metaop.yield %5 : tensor<6x1024xbf16>
    }
    metaop.yield %3 : tensor<6x1024xbf16>
  }
  return %0 : tensor<6x1024xbf16>
}
