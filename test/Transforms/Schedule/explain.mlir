// RUN: metaop-opt %s -metaop-schedule -metaop-explain -o /dev/null | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule -metaop-explain="target={cpu processor=avx2}" -o /dev/null | FileCheck %s

// Options that stand by themselves belong to the target that is named.
// RUN: not metaop-opt %s -metaop-explain="target=cpu chip=sm_80" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: target 'cpu' has no option 'chip'; it has processor
// RUN: not metaop-opt %s -metaop-explain="target={cpu processor=avx2} processor=mmx" 2>&1 | FileCheck %s --check-prefix=PROCESSOR
// PROCESSOR: there is no processor 'mmx'
// RUN: not metaop-opt %s -metaop-explain=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: there is no target 'abacus'; expected cpu or cuda

// Kept and reduced loops, accesses with and without steps, and the figures.
// CHECK-LABEL: kernel of @rows
// CHECK-NEXT: stage [[ID:[0-9a-f]+]].0: S = 64x128
// CHECK-NEXT: operators: exp reduce
// CHECK: read tensor<64x128xf32> at (d0, d1) -> {{.*}}: unit stride
// CHECK-NEXT: write tensor<64xf32> at (d0, d1) -> (d0): invariant, reduced by add
// CHECK-NEXT: loops:
// CHECK-NEXT: for d0 < 64, parallel{{$}}
// CHECK-NEXT: for d1 < 128, reduced, vectors of 16
// CHECK-NEXT: schedule: #metaop.schedule<[parallel(0), step(1, 64)], tile = [1: 64], lanes = 1: 16>
// CHECK-NEXT: bytes: 32768 read, 256 written; FLOPs: 16384 (0.496 a byte)
// CHECK-NEXT: predicted: {{[0-9.e+-]+}} us
func.func @rows(%x: tensor<64x128xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%k = %x : tensor<64x128xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%a = %k : tensor<64x128xf32>) -> tensor<64xf32> {
      %2 = metaop.exp %a : tensor<64x128xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<64x128xf32> -> tensor<64xf32>
      metaop.yield %3 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// Of two loops of a dimension, the outer one steps by strips.
// CHECK-LABEL: kernel of @strips
// CHECK: for d1 < 32768 in steps of 4096, parallel{{$}}
// CHECK-NEXT: for d0 < 40, reduced, unrolled by 8
// CHECK-NEXT: for d1 < 32768, vectors of 16
func.func @strips(%x: tensor<40x32768xf32>) -> tensor<32768xf32> {
  %0 = metaop.kernel(%k = %x : tensor<40x32768xf32>) -> tensor<32768xf32> {
    %1 = metaop.fused(%a = %k : tensor<40x32768xf32>) -> tensor<32768xf32> {
      %2 = metaop.reduce add %a dims = [0] : tensor<40x32768xf32> -> tensor<32768xf32>
      metaop.yield %2 : tensor<32768xf32>
    }
    metaop.yield %1 : tensor<32768xf32>
  }
  return %0 : tensor<32768xf32>
}

// A padded read is guarded.
// CHECK-LABEL: kernel of @padded
// CHECK: S = 10
// CHECK: read tensor<8xf32> {{.*}}: unit stride, guarded
func.func @padded(%x: tensor<8xf32>) -> tensor<10xf32> {
  %0 = metaop.kernel(%k = %x : tensor<8xf32>) -> tensor<10xf32> {
    %1 = metaop.fused(%a = %k : tensor<8xf32>) -> tensor<10xf32> {
      %2 = metaop.pad %a low = [1] high = [1] fill 0.0 : f32 : tensor<8xf32> -> tensor<10xf32>
      metaop.yield %2 : tensor<10xf32>
    }
    metaop.yield %1 : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

// Of numbers out of tensors it says where they are from.
// CHECK-LABEL: kernel of @gathered
// CHECK: read tensor<9x64xf32> at (d0, d1)[s0] -> (s0, d1), s0 = tensor<16xi64> at (d0, d1) -> (d0): unit stride, guarded
// CHECK: read tensor<64xf32> at (d0, d1)[s0, s1] -> (s1), s1 = a mod of this stage: gathered, guarded
func.func @gathered(%x: tensor<9x64xf32>, %i: tensor<16xi64>, %y: tensor<64xf32>, %j: tensor<16x64xi64>) -> tensor<16x64xf32> {
  %0 = metaop.kernel(%kx = %x : tensor<9x64xf32>, %ki = %i : tensor<16xi64>, %ky = %y : tensor<64xf32>, %kj = %j : tensor<16x64xi64>) -> tensor<16x64xf32> {
    %1 = metaop.fused(%a = %kx : tensor<9x64xf32>, %b = %ki : tensor<16xi64>, %c = %ky : tensor<64xf32>, %d = %kj : tensor<16x64xi64>) -> tensor<16x64xf32> {
      %2 = metaop.broadcast %b dims = [0] : tensor<16xi64> -> tensor<16x64xi64>
      %3 = metaop.gather %a[%2] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill 0.0 : f32
          : (tensor<9x64xf32>, tensor<16x64xi64>) -> tensor<16x64xf32>
      %n = metaop.constant dense<70> : tensor<16x64xi64>
      %4 = metaop.mod %d, %n : tensor<16x64xi64>
      %5 = metaop.gather %c[%4] map affine_map<(d0, d1)[s0] -> (s0)> fill 0.0 : f32
          : (tensor<64xf32>, tensor<16x64xi64>) -> tensor<16x64xf32>
      %6 = metaop.add %3, %5 : tensor<16x64xf32>
      metaop.yield %6 : tensor<16x64xf32>
    }
    metaop.yield %1 : tensor<16x64xf32>
  }
  return %0 : tensor<16x64xf32>
}
