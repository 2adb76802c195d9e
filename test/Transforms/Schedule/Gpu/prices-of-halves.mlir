// RUN: metaop-opt %s -metaop-schedule-gpu=chip=sm_90 -metaop-explain=target=cuda -o /dev/null | FileCheck %s

// Functions of halves that an instruction approximates take fewer instructions
// than those that are polynomials of f32: 6 and 14, 7 and 18 of each of 131072
// warps of elements.

// CHECK-LABEL: kernel of @exp2
// CHECK: warps: 1441792 instructions
func.func @exp2(%x: tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
  %r = metaop.kernel(%k = %x : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
    %0 = metaop.fused(%a = %k : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
      %1 = metaop.exp2 %a : tensor<65536x64xbf16>
      metaop.yield %1 : tensor<65536x64xbf16>
    }
    metaop.yield %0 : tensor<65536x64xbf16>
  }
  return %r : tensor<65536x64xbf16>
}

// CHECK-LABEL: kernel of @expm1
// CHECK: warps: 2490368 instructions
func.func @expm1(%x: tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
  %r = metaop.kernel(%k = %x : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
    %0 = metaop.fused(%a = %k : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
      %1 = metaop.expm1 %a : tensor<65536x64xbf16>
      metaop.yield %1 : tensor<65536x64xbf16>
    }
    metaop.yield %0 : tensor<65536x64xbf16>
  }
  return %r : tensor<65536x64xbf16>
}

// CHECK-LABEL: kernel of @log2
// CHECK: warps: 1572864 instructions
func.func @log2(%x: tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
  %r = metaop.kernel(%k = %x : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
    %0 = metaop.fused(%a = %k : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
      %1 = metaop.log2 %a : tensor<65536x64xbf16>
      metaop.yield %1 : tensor<65536x64xbf16>
    }
    metaop.yield %0 : tensor<65536x64xbf16>
  }
  return %r : tensor<65536x64xbf16>
}

// CHECK-LABEL: kernel of @log1p
// CHECK: warps: 3014656 instructions
func.func @log1p(%x: tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
  %r = metaop.kernel(%k = %x : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
    %0 = metaop.fused(%a = %k : tensor<65536x64xbf16>) -> tensor<65536x64xbf16> {
      %1 = metaop.log1p %a : tensor<65536x64xbf16>
      metaop.yield %1 : tensor<65536x64xbf16>
    }
    metaop.yield %0 : tensor<65536x64xbf16>
  }
  return %r : tensor<65536x64xbf16>
}
