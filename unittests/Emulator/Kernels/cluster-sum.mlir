// A row for each cluster, 128 elements for each of its blocks: every element
// less the row's sum. Blocks add up their parts in a warp, and read those of all
// blocks from their shared memory.
gpu.module @module {
  llvm.mlir.global internal @partials() {addr_space = 3 : i32} : !llvm.array<4 x f32>
  llvm.mlir.global internal @part() {addr_space = 3 : i32} : !llvm.array<1 x f32>
  llvm.func @cluster_sum(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>)
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %partials = llvm.mlir.addressof @partials : !llvm.ptr<3>
    %part = llvm.mlir.addressof @part : !llvm.ptr<3>
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %warp = llvm.udiv %thread, %c32 : i32
    %lane = llvm.urem %thread, %c32 : i32
    %begin = llvm.mul %block, %c128 : i32
    %i = llvm.add %begin, %thread : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    %s0 = nvvm.shfl.sync bfly %all, %v, %c16, %c31 : f32 -> f32
    %a0 = llvm.fadd %v, %s0 : f32
    %s1 = nvvm.shfl.sync bfly %all, %a0, %c8, %c31 : f32 -> f32
    %a1 = llvm.fadd %a0, %s1 : f32
    %s2 = nvvm.shfl.sync bfly %all, %a1, %c4, %c31 : f32 -> f32
    %a2 = llvm.fadd %a1, %s2 : f32
    %s3 = nvvm.shfl.sync bfly %all, %a2, %c2, %c31 : f32 -> f32
    %a3 = llvm.fadd %a2, %s3 : f32
    %s4 = nvvm.shfl.sync bfly %all, %a3, %c1, %c31 : f32 -> f32
    %a4 = llvm.fadd %a3, %s4 : f32
    %isFirst = llvm.icmp "eq" %lane, %c0 : i32
    llvm.cond_br %isFirst, ^put, ^sync
  ^put:
    %to = llvm.getelementptr %partials[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %a4, %to : f32, !llvm.ptr<3>
    llvm.br ^sync
  ^sync:
    nvvm.barrier0
    %isOne = llvm.icmp "eq" %thread, %c0 : i32
    llvm.cond_br %isOne, ^addPartials(%c0, %zero : i32, f32), ^cluster
  ^addPartials(%p: i32, %pa: f32):
    %pFrom = llvm.getelementptr %partials[%p] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %pv = llvm.load %pFrom : !llvm.ptr<3> -> f32
    %pb = llvm.fadd %pa, %pv : f32
    %pNext = llvm.add %p, %c1 : i32
    %pMore = llvm.icmp "ult" %pNext, %c4 : i32
    llvm.cond_br %pMore, ^addPartials(%pNext, %pb : i32, f32), ^putPart
  ^putPart:
    llvm.store %pb, %part : f32, !llvm.ptr<3>
    llvm.br ^cluster
  ^cluster:
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    llvm.br ^addParts(%c0, %zero : i32, f32)
  ^addParts(%k: i32, %sum: f32):
    %there = nvvm.mapa %part, %k : !llvm.ptr<3> -> !llvm.ptr<7>
    %w = llvm.load %there : !llvm.ptr<7> -> f32
    %next = llvm.fadd %sum, %w : f32
    %j = llvm.add %k, %c1 : i32
    %more = llvm.icmp "ult" %j, %blocks : i32
    llvm.cond_br %more, ^addParts(%j, %next : i32, f32), ^done
  ^done:
    // No block may end while others read its part.
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    %r = llvm.fsub %v, %next : f32
    %result = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %r, %result : f32, !llvm.ptr<1>
    llvm.return
  }
}
