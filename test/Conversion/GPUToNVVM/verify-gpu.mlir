// RUN: metaop-opt %s -split-input-file -verify-diagnostics -metaop-verify-gpu=chip=sm_80

// A sound one.
gpu.module @m {
  gpu.func @k(%x: memref<?xf32, 1>, %y: memref<4xi8, 1>, %n: index) workgroup(%s: memref<2x4xf32, 3>) kernel
      attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 32>} {
    %0 = gpu.thread_id x
    gpu.return
  }
}

// -----

// expected-error @below {{expects functions, each of them a kernel}}
gpu.module @m {
}

// -----

// expected-error @below {{expects functions, each of them a kernel}}
gpu.module @m {
  gpu.func @k() attributes {metaop.entry = #metaop.entry<buffers = 0>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects `metaop.entry`}}
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects 1 1-d buffers in memory space 1, then numbers of type index, given}}
  gpu.func @k(%x: memref<?xf32>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects 1 1-d buffers in memory space 1, then numbers of type index, given}}
  gpu.func @k(%x: memref<?x?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects 1 1-d buffers in memory space 1, then numbers of type index, given}}
  gpu.func @k(%x: memref<?xf32, strided<[2]>, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has 1 buffers by `metaop.entry`, but arguments of types 'index', 'memref<?xf32, 1>'}}
  gpu.func @k(%n: index, %x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects 1 1-d buffers in memory space 1, then numbers of type index, given}}
  gpu.func @k(%x: memref<?xf32, 1>, %n: i64) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has 1 buffers by `metaop.entry`, but arguments of types 'memref<?xf32, 1>', 'memref<?xf32, 1>'}}
  gpu.func @k(%x: memref<?xf32, 1>, %y: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has 2 buffers by `metaop.entry`, but arguments of types 'memref<?xf32, 1>'}}
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 2>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects shared memory of static shapes in memory space 3, given}}
  gpu.func @k() workgroup(%s: memref<?xf32, 3>) kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects shared memory of static shapes in memory space 3, given}}
  gpu.func @k() workgroup(%s: memref<4xf32>) kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects shared memory of static shapes in memory space 3, given}}
  gpu.func @k() workgroup(%s: memref<4xf32, strided<[2]>, 3>) kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects `metaop.launch`}}
  gpu.func @k() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{expects clusters of at most 1 blocks on sm_80, given 2}}
  gpu.func @k() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32, cluster = 2>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    // expected-error @below {{is no instruction of GPUs: expected an access of a whole vector, or of scalars, inside of a branch}}
    %0 = vector.maskedload %x[%c0], %m, %v : memref<?xf32, 1>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    // expected-error @below {{is no instruction of GPUs: expected an access of a whole vector, or of scalars, inside of a branch}}
    vector.maskedstore %x[%c0], %m, %v : memref<?xf32, 1>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    %i = vector.step : vector<4xindex>
    // expected-error @below {{is no instruction of GPUs: expected an access of a whole vector, or of scalars, inside of a branch}}
    %0 = vector.gather %x[%c0] [%i], %m, %v : memref<?xf32, 1>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    // expected-error @below {{is no instruction of GPUs: expected an access of a whole vector, or of scalars, inside of a branch}}
    vector.transfer_write %v, %x[%c0] : vector<4xf32>, memref<?xf32, 1>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    // expected-error @below {{expects blocks and threads to be numbered along x}}
    %0 = gpu.thread_id y
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @k() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<4xi1>
    %v = arith.constant dense<0.0> : vector<4xf32>
    // expected-error @below {{expects blocks and threads to be numbered along x}}
    %0 = gpu.block_id z
    gpu.return
  }
}

// -----

// 160 KB, and 3 KB and 4 bytes.
gpu.module @m {
  // expected-error @below {{expects at most 166912 bytes of shared memory on sm_80, given 166916}}
  gpu.func @k() workgroup(%s: memref<160x256xf32, 3>, %t: memref<3076xi8, 3>) kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
}

// -----

// Kernels that a call runs one after another.
gpu.module @m {
  gpu.func @fill(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
  gpu.func @k(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 64>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @fill(%x: memref<?xf32, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
  // expected-error @below {{expects the arguments of '@fill'}}
  gpu.func @k(%x: memref<?xf64, 1>) kernel attributes {metaop.entry = #metaop.entry<buffers = 1>, metaop.launch = #metaop.launch<threads = 64>} {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @fill() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 32>} {
    gpu.return
  }
  // expected-error @below {{expects the indices of '@fill'}}
  gpu.func @k() kernel attributes {metaop.entry = #metaop.entry<buffers = 0>, metaop.launch = #metaop.launch<threads = 64, index_bits = 32>} {
    gpu.return
  }
}
