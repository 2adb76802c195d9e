// RUN: metaop-opt %s --convert-nvvm-to-emulator --split-input-file --verify-diagnostics

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    // expected-error @below {{'nvvm.wgmma.fence.aligned' op is no instruction that the emulator knows}}
    nvvm.wgmma.fence.aligned
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: i32) attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.call_intrinsic' op is of 'llvm.nvvm.fabs.f', which the emulator does not know}}
    %0 = llvm.call_intrinsic "llvm.nvvm.fabs.f"(%x) : (i32) -> i32
    // expected-error @below {{'llvm.inline_asm' op is of 'mov.u32 $0, $clock;', which the emulator does not know}}
    %1 = llvm.inline_asm "mov.u32 $0,  %clock;", "=r" : () -> i32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @printf(!llvm.ptr) -> i32
  llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.call' op is of 'printf', which the emulator does not know}}
    %0 = llvm.call @printf(%x) : (!llvm.ptr) -> i32
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.load' op that is volatile or atomic, of more than 64 bits cannot be emulated}}
    %0 = llvm.load volatile %x : !llvm.ptr<1> -> vector<4xf32>
    // expected-error @below {{'llvm.alloca' op of a size that is not constant cannot be emulated}}
    %1 = llvm.alloca %n x f32 : (i32) -> !llvm.ptr<5>
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%x: !llvm.ptr<5>) attributes {nvvm.kernel} {
    // expected-error @below {{'llvm.load' op through a pointer in space 5 whose variable is not known cannot be emulated}}
    %0 = llvm.load %x : !llvm.ptr<5> -> f32
    llvm.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{takes 'vector<4xf32>', where the emulator expects pointers and numbers}}
  llvm.func @k(%x: vector<4xf32>) attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}
gpu.module @n {
  // expected-error @below {{has the name of another kernel}}
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @m {
  llvm.func @k(%p: i1) attributes {nvvm.kernel} {
    // expected-error @below {{'nvvm.inline_ptx' op with a predicate cannot be emulated}}
    nvvm.inline_ptx "membar.cta;", predicate = %p
    llvm.return
  }
}
