// The sum of some tiles of 64 x 4 floats. Threads copy 16 bytes each, two tiles
// ahead, into three buffers, and add what the thread at the other end copied.
gpu.module @module {
  llvm.mlir.global internal @ring() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<768 x f32>
  llvm.func @pipeline(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %tiles: i32)
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c63 = llvm.mlir.constant(63 : i32) : i32
    %tile = llvm.mlir.constant(256 : i32) : i32
    %buffers = llvm.mlir.constant(3 : i32) : i32
    %zero = llvm.mlir.zero : vector<4xf32>
    %ring = llvm.mlir.addressof @ring : !llvm.ptr<3>
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %own = llvm.mul %thread, %c4 : i32
    %reverse = llvm.sub %c63, %thread : i32
    %other = llvm.mul %reverse, %c4 : i32
    llvm.br ^fill(%c0 : i32)
  ^fill(%f: i32):
    %fillFrom = llvm.mul %f, %tile : i32
    %fillAt = llvm.add %fillFrom, %own : i32
    %fillSource = llvm.getelementptr %x[%fillAt] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %fillPlace = llvm.getelementptr %ring[%fillAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    nvvm.cp.async.shared.global %fillPlace, %fillSource, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    %fNext = llvm.add %f, %c1 : i32
    %isMore = llvm.icmp "ult" %fNext, %c2 : i32
    llvm.cond_br %isMore, ^fill(%fNext : i32), ^loop(%c0, %zero : i32, vector<4xf32>)
  ^loop(%k: i32, %sum: vector<4xf32>):
    nvvm.cp.async.wait.group 1
    nvvm.barrier0
    %slot = llvm.urem %k, %buffers : i32
    %slotFrom = llvm.mul %slot, %tile : i32
    %at = llvm.add %slotFrom, %other : i32
    %place = llvm.getelementptr %ring[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %v = llvm.load %place {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %next = llvm.fadd %sum, %v : vector<4xf32>
    nvvm.barrier0
    %ahead = llvm.add %k, %c2 : i32
    %isAhead = llvm.icmp "ult" %ahead, %tiles : i32
    llvm.cond_br %isAhead, ^copy, ^copied
  ^copy:
    %toSlot = llvm.urem %ahead, %buffers : i32
    %toFrom = llvm.mul %toSlot, %tile : i32
    %toAt = llvm.add %toFrom, %own : i32
    %to = llvm.getelementptr %ring[%toAt] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %from = llvm.mul %ahead, %tile : i32
    %fromAt = llvm.add %from, %own : i32
    %source = llvm.getelementptr %x[%fromAt] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    nvvm.cp.async.shared.global %to, %source, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    llvm.br ^copied
  ^copied:
    nvvm.cp.async.commit.group
    %j = llvm.add %k, %c1 : i32
    %more = llvm.icmp "ult" %j, %tiles : i32
    llvm.cond_br %more, ^loop(%j, %next : i32, vector<4xf32>), ^done
  ^done:
    %result = llvm.getelementptr %y[%own] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %next, %result {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}
