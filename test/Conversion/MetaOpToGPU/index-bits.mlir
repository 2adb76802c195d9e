// RUN: metaop-opt %s -convert-metaop-to-gpu | FileCheck %s

// Indices have 32 bits where places fit. An index out of a tensor is cut off
// where it is no place in either direction.
// CHECK-LABEL: gpu.func @gather(
// CHECK-SAME:    index_bits = 32
// CHECK:         %[[LIMIT:.*]] = arith.constant 9 : index
// CHECK:         %[[MOST:.*]] = arith.index_cast %[[LIMIT]] : index to i64
// CHECK:         %[[BELOW:.*]] = arith.minsi %{{.*}}, %[[MOST]] : i64
// CHECK:         arith.constant -9 : index
// CHECK:         %[[BETWEEN:.*]] = arith.maxsi %[[BELOW]], %{{.*}} : i64
// CHECK:         arith.index_cast %[[BETWEEN]] : i64 to index
func.func private @gather(%x: tensor<9xf32>, %i: tensor<6xi64>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9xf32>, %ki = %i : tensor<6xi64>) -> tensor<6xf32> {
    %r = metaop.fused(%bx = %kx : tensor<9xf32>, %bi = %ki : tensor<6xi64>) -> tensor<6xf32>
        schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %y = metaop.gather %bx[%bi] map affine_map<(d0)[s0] -> (s0)> fill 2.0 : f32 : (tensor<9xf32>, tensor<6xi64>) -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// So do those of what is added by atomics.
// CHECK-LABEL: gpu.func @scatter(
// CHECK-SAME:    index_bits = 32
// CHECK:         arith.minsi
// CHECK:         %[[BASE:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<9xi32, 1> to !llvm.ptr<1>
// CHECK:         llvm.getelementptr %[[BASE]]
func.func private @scatter(%x: tensor<6xi32>, %i: tensor<6xi64>) -> tensor<9xi32> {
  %k = metaop.kernel(%kx = %x : tensor<6xi32>, %ki = %i : tensor<6xi64>) -> tensor<9xi32> {
    %r = metaop.fused(%bx = %kx : tensor<6xi32>, %bi = %ki : tensor<6xi64>) -> tensor<9xi32>
        schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %y = metaop.scatter add %bx[%bi] map affine_map<(d0)[s0] -> (s0)> : (tensor<6xi32>, tensor<6xi64>) -> tensor<9xi32>
      metaop.yield %y : tensor<9xi32>
    }
    metaop.yield %r : tensor<9xi32>
  }
  return %k : tensor<9xi32>
}

// Of a remainder all of a number matters.
// CHECK-LABEL: gpu.func @remainder(
// CHECK-NOT:     index_bits = 32
// CHECK-NOT:     arith.minsi
// CHECK:         gpu.return
func.func private @remainder(%x: tensor<9xf32>, %i: tensor<6xi64>) -> tensor<6xf32> {
  %k = metaop.kernel(%kx = %x : tensor<9xf32>, %ki = %i : tensor<6xi64>) -> tensor<6xf32> {
    %r = metaop.fused(%bx = %kx : tensor<9xf32>, %bi = %ki : tensor<6xi64>) -> tensor<6xf32>
        schedule(#metaop.schedule<[block(0, 32), thread(0)]>) {
      %y = metaop.gather %bx[%bi] map affine_map<(d0)[s0] -> (s0 mod 9)> fill 2.0 : f32 : (tensor<9xf32>, tensor<6xi64>) -> tensor<6xf32>
      metaop.yield %y : tensor<6xf32>
    }
    metaop.yield %r : tensor<6xf32>
  }
  return %k : tensor<6xf32>
}

// More than 2^31 elements: no offset of 32 bits.
// CHECK-LABEL: gpu.func @large(
// CHECK-NOT:     index_bits = 32
// CHECK:         gpu.return
func.func private @large(%x: tensor<3000000000xi8>) -> tensor<3000000000xi8> {
  %k = metaop.kernel(%kx = %x : tensor<3000000000xi8>) -> tensor<3000000000xi8> {
    %r = metaop.fused(%bx = %kx : tensor<3000000000xi8>) -> tensor<3000000000xi8>
        schedule(#metaop.schedule<[block(0, 4096), thread(0, 16)], tile = [0: 16], lanes = 0: 16>) {
      %y = metaop.neg %bx : tensor<3000000000xi8>
      metaop.yield %y : tensor<3000000000xi8>
    }
    metaop.yield %r : tensor<3000000000xi8>
  }
  return %k : tensor<3000000000xi8>
}

// Most iterations read no element, but each asks whether it does: of the last one,
// 8 * d0 takes 33 bits.
// CHECK-LABEL: gpu.func @far_outside(
// CHECK-SAME:    #metaop.launch<threads = 256>
func.func private @far_outside(%x: tensor<9xi8>) -> tensor<600000000xi8> {
  %k = metaop.kernel(%kx = %x : tensor<9xi8>) -> tensor<600000000xi8> {
    %r = metaop.fused(%bx = %kx : tensor<9xi8>) -> tensor<600000000xi8>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex %bx map affine_map<(d0) -> (d0 * 8)> fill 0 : i8 : tensor<9xi8> -> tensor<600000000xi8>
      metaop.yield %y : tensor<600000000xi8>
    }
    metaop.yield %r : tensor<600000000xi8>
  }
  return %k : tensor<600000000xi8>
}

// 8 * d0 + 8 takes 31 bits of the last iteration, but 32 of what threads of the
// last block ask behind it.
// CHECK-LABEL: gpu.func @behind_the_end(
// CHECK-SAME:    #metaop.launch<threads = 256>
func.func private @behind_the_end(%x: tensor<9xi8>) -> tensor<268435400xi8> {
  %k = metaop.kernel(%kx = %x : tensor<9xi8>) -> tensor<268435400xi8> {
    %r = metaop.fused(%bx = %kx : tensor<9xi8>) -> tensor<268435400xi8>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex %bx map affine_map<(d0) -> (d0 * 8)> fill 0 : i8 : tensor<9xi8> -> tensor<268435400xi8>
      metaop.yield %y : tensor<268435400xi8>
    }
    metaop.yield %r : tensor<268435400xi8>
  }
  return %k : tensor<268435400xi8>
}

// CHECK-LABEL: gpu.func @before_the_end(
// CHECK-SAME:    index_bits = 32
func.func private @before_the_end(%x: tensor<9xi8>) -> tensor<268435200xi8> {
  %k = metaop.kernel(%kx = %x : tensor<9xi8>) -> tensor<268435200xi8> {
    %r = metaop.fused(%bx = %kx : tensor<9xi8>) -> tensor<268435200xi8>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %y = metaop.reindex %bx map affine_map<(d0) -> (d0 * 8)> fill 0 : i8 : tensor<9xi8> -> tensor<268435200xi8>
      metaop.yield %y : tensor<268435200xi8>
    }
    metaop.yield %r : tensor<268435200xi8>
  }
  return %k : tensor<268435200xi8>
}

// All places are below 10^8, but they are computed as
// s0 * 1000000 - 10700000000.
// CHECK-LABEL: gpu.func @large_parts(
// CHECK-SAME:    #metaop.launch<threads = 256>
func.func private @large_parts(%x: tensor<100x1000000xi8>, %i: tensor<6xi64>) -> tensor<6x1000000xi8> {
  %k = metaop.kernel(%kx = %x : tensor<100x1000000xi8>, %ki = %i : tensor<6xi64>) -> tensor<6x1000000xi8> {
    %r = metaop.fused(%bx = %kx : tensor<100x1000000xi8>, %bi = %ki : tensor<6xi64>) -> tensor<6x1000000xi8>
        schedule(#metaop.schedule<[block(0), block(1, 256), thread(1)]>) {
      %j = metaop.reindex %bi map affine_map<(d0, d1) -> (d0)> fill 0 : i64 : tensor<6xi64> -> tensor<6x1000000xi64>
      %y = metaop.gather %bx[%j] map affine_map<(d0, d1)[s0] -> (s0 - 10700, d1)> fill 0 : i8 : (tensor<100x1000000xi8>, tensor<6x1000000xi64>) -> tensor<6x1000000xi8>
      metaop.yield %y : tensor<6x1000000xi8>
    }
    metaop.yield %r : tensor<6x1000000xi8>
  }
  return %k : tensor<6x1000000xi8>
}

// So are checks: d0 * 8 + s0 is beyond 2^31 before the constant is taken off.
// CHECK-LABEL: gpu.func @large_parts_of_a_check(
// CHECK-SAME:    #metaop.launch<threads = 256>
func.func private @large_parts_of_a_check(%x: tensor<9xi8>, %i: tensor<1xi64>) -> tensor<267000000xi8> {
  %k = metaop.kernel(%kx = %x : tensor<9xi8>, %ki = %i : tensor<1xi64>) -> tensor<267000000xi8> {
    %r = metaop.fused(%bx = %kx : tensor<9xi8>, %bi = %ki : tensor<1xi64>) -> tensor<267000000xi8>
        schedule(#metaop.schedule<[block(0, 256), thread(0)]>) {
      %j = metaop.reindex %bi map affine_map<(d0) -> (0)> fill 0 : i64 : tensor<1xi64> -> tensor<267000000xi64>
      %y = metaop.gather %bx[%j] map affine_map<(d0)[s0] -> (s0 + d0 * 8 - 1068000000)> fill 0 : i8 : (tensor<9xi8>, tensor<267000000xi64>) -> tensor<267000000xi8>
      metaop.yield %y : tensor<267000000xi8>
    }
    metaop.yield %r : tensor<267000000xi8>
  }
  return %k : tensor<267000000xi8>
}

// Quotients and remainders of small numbers are small.
// CHECK-LABEL: gpu.func @halves(
// CHECK-SAME:    index_bits = 32
func.func private @halves(%x: tensor<8x9xf32>) -> tensor<16x18xf32> {
  %k = metaop.kernel(%kx = %x : tensor<8x9xf32>) -> tensor<16x18xf32> {
    %r = metaop.fused(%bx = %kx : tensor<8x9xf32>) -> tensor<16x18xf32>
        schedule(#metaop.schedule<[block(0), block(1, 32), thread(1)]>) {
      %y = metaop.reindex %bx map affine_map<(d0, d1) -> (d0 floordiv 2, (d1 * 5) mod 9)> fill 0.0 : f32 : tensor<8x9xf32> -> tensor<16x18xf32>
      metaop.yield %y : tensor<16x18xf32>
    }
    metaop.yield %r : tensor<16x18xf32>
  }
  return %k : tensor<16x18xf32>
}
