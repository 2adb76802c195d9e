// The sum of n floats, by one block of 256 threads: each adds up every 256th,
// a warp its lanes by shuffles down, the first warp those of all warps.
gpu.module @module {
  llvm.mlir.global internal @partials() {addr_space = 3 : i32} : !llvm.array<8 x f32>
  llvm.func @sum(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32)
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
    %eight = llvm.mlir.constant(255 : i32) : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %partials = llvm.mlir.addressof @partials : !llvm.ptr<3>
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %warp = llvm.udiv %thread, %c32 : i32
    llvm.br ^head(%thread, %zero : i32, f32)
  ^head(%i: i32, %a: f32):
    %isIn = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %isIn, ^body, ^added
  ^body:
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    %b = llvm.fadd %a, %v : f32
    %next = llvm.add %i, %c256 : i32
    llvm.br ^head(%next, %b : i32, f32)
  ^added:
    %s0 = nvvm.shfl.sync down %all, %a, %c16, %c31 : f32 -> f32
    %a0 = llvm.fadd %a, %s0 : f32
    %s1 = nvvm.shfl.sync down %all, %a0, %c8, %c31 : f32 -> f32
    %a1 = llvm.fadd %a0, %s1 : f32
    %s2 = nvvm.shfl.sync down %all, %a1, %c4, %c31 : f32 -> f32
    %a2 = llvm.fadd %a1, %s2 : f32
    %s3 = nvvm.shfl.sync down %all, %a2, %c2, %c31 : f32 -> f32
    %a3 = llvm.fadd %a2, %s3 : f32
    %s4 = nvvm.shfl.sync down %all, %a3, %c1, %c31 : f32 -> f32
    %a4 = llvm.fadd %a3, %s4 : f32
    %isFirst = llvm.icmp "eq" %lane, %c0 : i32
    llvm.cond_br %isFirst, ^put, ^sync
  ^put:
    %to = llvm.getelementptr %partials[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %a4, %to : f32, !llvm.ptr<3>
    llvm.br ^sync
  ^sync:
    nvvm.barrier0
    %isLast = llvm.icmp "ult" %thread, %c8 : i32
    llvm.cond_br %isLast, ^last, ^end
  ^last:
    %place = llvm.getelementptr %partials[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %p = llvm.load %place : !llvm.ptr<3> -> f32
    %t0 = nvvm.shfl.sync bfly %eight, %p, %c4, %c31 : f32 -> f32
    %p0 = llvm.fadd %p, %t0 : f32
    %t1 = nvvm.shfl.sync bfly %eight, %p0, %c2, %c31 : f32 -> f32
    %p1 = llvm.fadd %p0, %t1 : f32
    %t2 = nvvm.shfl.sync bfly %eight, %p1, %c1, %c31 : f32 -> f32
    %p2 = llvm.fadd %p1, %t2 : f32
    %isOne = llvm.icmp "eq" %thread, %c0 : i32
    llvm.cond_br %isOne, ^write, ^end
  ^write:
    llvm.store %p2, %y : f32, !llvm.ptr<1>
    llvm.br ^end
  ^end:
    llvm.return
  }
}
