//===- PtxArithmetic.h - Arithmetic with instructions of PTX ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_VECTORTOLLVM_PTXARITHMETIC_H
#define METAOPS_LIB_CONVERSION_VECTORTOLLVM_PTXARITHMETIC_H

#include "Arithmetic.h"

namespace mlir::metaop {

/// Arithmetic on f32, with what a GPU's special function unit computes. Its
/// errors are those of the PTX manual, relative if nothing else is said.
class PtxArithmetic : public Arithmetic {
public:
  PtxArithmetic(OpBuilder &builder, Location loc, Type floats)
      : Arithmetic(builder, loc, floats), builder(builder), loc(loc) {}

  /// Within 2^-22; the second of results that are no less than 2^-126.
  Value exp2(Value x) { return call("llvm.nvvm.ex2.approx.f32", x); }
  Value normalExp2(Value x) { return call("llvm.nvvm.ex2.approx.ftz.f32", x); }
  /// Within 2^-22, and that absolutely from 1/2 to 2.
  Value log2(Value x) { return call("llvm.nvvm.lg2.approx.f", x); }
  /// Within 2^-23 and 2^-22.9.
  Value sqrt(Value x) { return call("llvm.nvvm.sqrt.approx.f", x); }
  Value rsqrt(Value x) { return call("llvm.nvvm.rsqrt.approx.f", x); }
  /// 1 / x within one unit in the last place; 0 where it is less than 2^-126.
  Value reciprocal(Value x) { return call("llvm.nvvm.rcp.approx.ftz.f", x); }
  /// a / b within two units in the last place, of all numbers.
  Value quotient(Value a, Value b) {
    return call("llvm.nvvm.div.full", {a, b});
  }

  /// a / b, rounded to nearest as `div` is, but without its care for numbers
  /// near to the ends of f32: 1 / b, b and a / b are normal numbers, and a is
  /// no less than 2^-102, so that what a quotient leaves of it is exact.
  Value normalQuotient(Value a, Value b);

private:
  /// An instruction, lane by lane.
  Value call(StringRef intrinsic, ValueRange operands);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_VECTORTOLLVM_PTXARITHMETIC_H
