// LLVM's copysign of numbers that are rounded to bf16 by an instruction lost the sign
// when the emulator's code was compiled.
// RUN: metaop-run %s --compare --target=cuda --emulate --seed=5 | FileCheck %s
// RUN: metaop-run %s --compare --seed=5 | FileCheck %s
// CHECK: results agree

func.func @main(%x: tensor<2xbf16>, %y: tensor<4xbf16>, %z: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = metaop.pad %x low = [2] high = [0] fill 0.0 : bf16 : tensor<2xbf16> -> tensor<4xbf16>
  %1 = metaop.add %0, %z : tensor<4xbf16>
  %2 = metaop.add %y, %z : tensor<4xbf16>
  %3 = metaop.copysign %1, %2 : tensor<4xbf16>
  return %3 : tensor<4xbf16>
}
