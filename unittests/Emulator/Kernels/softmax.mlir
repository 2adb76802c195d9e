// Softmax of rows of 512: a block of 128 threads for each, 1 vector of 16 bytes a
// thread, by shuffles and shared memory.
gpu.module @module {
  llvm.mlir.global internal @partials() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @softmax(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>)
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %row = llvm.mlir.constant(512 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %lowest = llvm.mlir.constant(0xFF800000 : f32) : f32
    %none = llvm.mlir.poison : vector<4xf32>
    %partials = llvm.mlir.addressof @partials : !llvm.ptr<3>
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %warp = llvm.udiv %thread, %c32 : i32
    %isFirst = llvm.icmp "eq" %lane, %c0 : i32
    %begin = llvm.mul %block, %row : i32
    %own = llvm.mul %thread, %c4 : i32
    %offset0 = llvm.mlir.constant(0 : i32) : i32
    %column0 = llvm.add %own, %offset0 : i32
    %at0 = llvm.add %begin, %column0 : i32
    %from0 = llvm.getelementptr %x[%at0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x0 = llvm.load %from0 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %max0 = llvm.intr.vector.reduce.fmax(%x0) : (vector<4xf32>) -> f32
    %maxs0 = nvvm.shfl.sync bfly %all, %max0, %c16, %c31 : f32 -> f32
    %max1 = llvm.intr.maxnum(%max0, %maxs0) : (f32, f32) -> f32
    %maxs1 = nvvm.shfl.sync bfly %all, %max1, %c8, %c31 : f32 -> f32
    %max2 = llvm.intr.maxnum(%max1, %maxs1) : (f32, f32) -> f32
    %maxs2 = nvvm.shfl.sync bfly %all, %max2, %c4, %c31 : f32 -> f32
    %max3 = llvm.intr.maxnum(%max2, %maxs2) : (f32, f32) -> f32
    %maxs3 = nvvm.shfl.sync bfly %all, %max3, %c2, %c31 : f32 -> f32
    %max4 = llvm.intr.maxnum(%max3, %maxs3) : (f32, f32) -> f32
    %maxs4 = nvvm.shfl.sync bfly %all, %max4, %c1, %c31 : f32 -> f32
    %max5 = llvm.intr.maxnum(%max4, %maxs4) : (f32, f32) -> f32
    llvm.cond_br %isFirst, ^maxPut, ^maxSync
  ^maxPut:
    %maxPlace = llvm.getelementptr %partials[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %max5, %maxPlace : f32, !llvm.ptr<3>
    llvm.br ^maxSync
  ^maxSync:
    nvvm.barrier0
    llvm.br ^maxLoop(%c0, %lowest : i32, f32)
  ^maxLoop(%maxI: i32, %maxA: f32):
    %maxFrom = llvm.getelementptr %partials[%maxI] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %maxV = llvm.load %maxFrom : !llvm.ptr<3> -> f32
    %maxB = llvm.intr.maxnum(%maxA, %maxV) : (f32, f32) -> f32
    %maxJ = llvm.add %maxI, %c1 : i32
    %maxLast = llvm.mlir.constant(4 : i32) : i32
    %maxMore = llvm.icmp "ult" %maxJ, %maxLast : i32
    llvm.cond_br %maxMore, ^maxLoop(%maxJ, %maxB : i32, f32), ^maxDone
  ^maxDone:
    nvvm.barrier0
    %maxes = llvm.insertelement %maxB, %none[%c0 : i32] : vector<4xf32>
    %maxv = llvm.shufflevector %maxes, %none [0, 0, 0, 0] : vector<4xf32>
    %d0 = llvm.fsub %x0, %maxv : vector<4xf32>
    %d0_0 = llvm.extractelement %d0[%c0 : i32] : vector<4xf32>
    %f0_0 = llvm.call @__nv_expf(%d0_0) : (f32) -> f32
    %e0_0 = llvm.insertelement %f0_0, %none[%c0 : i32] : vector<4xf32>
    %d0_1 = llvm.extractelement %d0[%c1 : i32] : vector<4xf32>
    %f0_1 = llvm.call @__nv_expf(%d0_1) : (f32) -> f32
    %e0_1 = llvm.insertelement %f0_1, %e0_0[%c1 : i32] : vector<4xf32>
    %d0_2 = llvm.extractelement %d0[%c2 : i32] : vector<4xf32>
    %f0_2 = llvm.call @__nv_expf(%d0_2) : (f32) -> f32
    %e0_2 = llvm.insertelement %f0_2, %e0_1[%c2 : i32] : vector<4xf32>
    %d0_3 = llvm.extractelement %d0[%c3 : i32] : vector<4xf32>
    %f0_3 = llvm.call @__nv_expf(%d0_3) : (f32) -> f32
    %e0_3 = llvm.insertelement %f0_3, %e0_2[%c3 : i32] : vector<4xf32>
    %sum0 = "llvm.intr.vector.reduce.fadd"(%zero, %e0_3) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<4xf32>) -> f32
    %sums0 = nvvm.shfl.sync bfly %all, %sum0, %c16, %c31 : f32 -> f32
    %sum1 = llvm.fadd %sum0, %sums0 : f32
    %sums1 = nvvm.shfl.sync bfly %all, %sum1, %c8, %c31 : f32 -> f32
    %sum2 = llvm.fadd %sum1, %sums1 : f32
    %sums2 = nvvm.shfl.sync bfly %all, %sum2, %c4, %c31 : f32 -> f32
    %sum3 = llvm.fadd %sum2, %sums2 : f32
    %sums3 = nvvm.shfl.sync bfly %all, %sum3, %c2, %c31 : f32 -> f32
    %sum4 = llvm.fadd %sum3, %sums3 : f32
    %sums4 = nvvm.shfl.sync bfly %all, %sum4, %c1, %c31 : f32 -> f32
    %sum5 = llvm.fadd %sum4, %sums4 : f32
    llvm.cond_br %isFirst, ^sumPut, ^sumSync
  ^sumPut:
    %sumPlace = llvm.getelementptr %partials[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %sum5, %sumPlace : f32, !llvm.ptr<3>
    llvm.br ^sumSync
  ^sumSync:
    nvvm.barrier0
    llvm.br ^sumLoop(%c0, %zero : i32, f32)
  ^sumLoop(%sumI: i32, %sumA: f32):
    %sumFrom = llvm.getelementptr %partials[%sumI] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %sumV = llvm.load %sumFrom : !llvm.ptr<3> -> f32
    %sumB = llvm.fadd %sumA, %sumV : f32
    %sumJ = llvm.add %sumI, %c1 : i32
    %sumLast = llvm.mlir.constant(4 : i32) : i32
    %sumMore = llvm.icmp "ult" %sumJ, %sumLast : i32
    llvm.cond_br %sumMore, ^sumLoop(%sumJ, %sumB : i32, f32), ^sumDone
  ^sumDone:
    %sums = llvm.insertelement %sumB, %none[%c0 : i32] : vector<4xf32>
    %sumv = llvm.shufflevector %sums, %none [0, 0, 0, 0] : vector<4xf32>
    %r0 = llvm.fdiv %e0_3, %sumv : vector<4xf32>
    %to0 = llvm.getelementptr %y[%at0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %r0, %to0 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}
