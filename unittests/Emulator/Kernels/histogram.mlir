// How often each of 64 numbers is among n: each block counts in shared memory,
// and adds what it has to the sums of all.
gpu.module @module {
  llvm.mlir.global internal @bins() {addr_space = 3 : i32} : !llvm.array<64 x i32>
  llvm.func @histogram(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: i32)
      attributes {gpu.kernel, nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %bins = llvm.mlir.addressof @bins : !llvm.ptr<3>
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %threads = nvvm.read.ptx.sreg.ntid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
    %own = llvm.getelementptr %bins[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %isBin = llvm.icmp "ult" %thread, %c64 : i32
    llvm.cond_br %isBin, ^clear, ^cleared
  ^clear:
    llvm.store %c0, %own : i32, !llvm.ptr<3>
    llvm.br ^cleared
  ^cleared:
    nvvm.barrier0
    %first = llvm.mul %block, %threads : i32
    %start = llvm.add %first, %thread : i32
    %step = llvm.mul %blocks, %threads : i32
    llvm.br ^head(%start : i32)
  ^head(%i: i32):
    %isIn = llvm.icmp "ult" %i, %n : i32
    llvm.cond_br %isIn, ^count, ^counted
  ^count:
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load %from : !llvm.ptr<1> -> i32
    %bin = llvm.getelementptr %bins[%v] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %old = llvm.atomicrmw add %bin, %c1 syncscope("block") monotonic : !llvm.ptr<3>, i32
    %next = llvm.add %i, %step : i32
    llvm.br ^head(%next : i32)
  ^counted:
    nvvm.barrier0
    llvm.cond_br %isBin, ^add, ^end
  ^add:
    %sum = llvm.load %own : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %y[%thread] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %before = llvm.atomicrmw add %to, %sum monotonic : !llvm.ptr<1>, i32
    llvm.br ^end
  ^end:
    llvm.return
  }
}
