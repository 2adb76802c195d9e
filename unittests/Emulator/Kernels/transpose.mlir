// y[j, i] = x[i, j]: a block of 32 x 8 threads for each tile of 32 x 32, through
// rows of 33 in shared memory, so that no two lanes meet in a bank.
gpu.module @module {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<1056 x f32>
  llvm.func @transpose(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %rows: i32, %columns: i32)
      attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 8, 1>} {
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %pitch = llvm.mlir.constant(33 : i32) : i32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %tx = nvvm.read.ptx.sreg.tid.x range <i32, 0, 32> : i32
    %ty = nvvm.read.ptx.sreg.tid.y range <i32, 0, 8> : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %left = llvm.mul %bx, %c32 : i32
    %top = llvm.mul %by, %c32 : i32
    %column = llvm.add %left, %tx : i32
    llvm.br ^read(%ty : i32)
  ^read(%i: i32):
    %row = llvm.add %top, %i : i32
    %isRow = llvm.icmp "ult" %row, %rows : i32
    %isColumn = llvm.icmp "ult" %column, %columns : i32
    %isIn = llvm.and %isRow, %isColumn : i1
    llvm.cond_br %isIn, ^load, ^readNext
  ^load:
    %m0 = llvm.mul %row, %columns : i32
    %a0 = llvm.add %m0, %column : i32
    %p0 = llvm.getelementptr %x[%a0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %p0 : !llvm.ptr<1> -> f32
    %m1 = llvm.mul %i, %pitch : i32
    %a1 = llvm.add %m1, %tx : i32
    %p1 = llvm.getelementptr %tile[%a1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.store %v, %p1 : f32, !llvm.ptr<3>
    llvm.br ^readNext
  ^readNext:
    %i2 = llvm.add %i, %c8 : i32
    %moreRows = llvm.icmp "ult" %i2, %c32 : i32
    llvm.cond_br %moreRows, ^read(%i2 : i32), ^sync
  ^sync:
    nvvm.barrier0
    %toColumn = llvm.add %top, %tx : i32
    llvm.br ^write(%ty : i32)
  ^write(%j: i32):
    %toRow = llvm.add %left, %j : i32
    %isToRow = llvm.icmp "ult" %toRow, %columns : i32
    %isToColumn = llvm.icmp "ult" %toColumn, %rows : i32
    %isOut = llvm.and %isToRow, %isToColumn : i1
    llvm.cond_br %isOut, ^store, ^writeNext
  ^store:
    %m2 = llvm.mul %tx, %pitch : i32
    %a2 = llvm.add %m2, %j : i32
    %p2 = llvm.getelementptr %tile[%a2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %w = llvm.load %p2 : !llvm.ptr<3> -> f32
    %m3 = llvm.mul %toRow, %rows : i32
    %a3 = llvm.add %m3, %toColumn : i32
    %p3 = llvm.getelementptr %y[%a3] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %w, %p3 : f32, !llvm.ptr<1>
    llvm.br ^writeNext
  ^writeNext:
    %j2 = llvm.add %j, %c8 : i32
    %moreColumns = llvm.icmp "ult" %j2, %c32 : i32
    llvm.cond_br %moreColumns, ^write(%j2 : i32), ^end
  ^end:
    llvm.return
  }
}
