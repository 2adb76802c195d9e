//===- ExpandMath.cpp - Expands transcendentals and conversions -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32 transcendentals become arithmetic (ElementaryFunctions.cpp and
// WideFunctions.cpp), and so does rounding to bf16 (RoundToBFloat16.cpp),
// first, while it can be told what is rounded; arith's floor and ceil division
// and conversions from bf16 are expanded by MLIR's own patterns. Functions of
// f64 become calls of the C library's vectors (VectorMath.cpp), where there are
// any. Else expm1 and log1p are called here, too: MLIR would later make of them
// differences and sums that lose the digits they are for.
//
// GPUs round to bf16 by an instruction, have shorter ways to what is rounded to
// halves (ApproximateFunctions.cpp), and f64's functions elsewhere
// (GPUToNVVM/CallLibdevice.cpp).
//
//===----------------------------------------------------------------------===//

#include "ApproximateFunctions.h"
#include "ElementaryFunctions.h"
#include "MetaOps/Conversion/Passes.h"
#include "RoundToBFloat16.h"
#include "VectorMath.h"
#include "WideFunctions.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;

namespace {
struct ExpandMathPass : metaop::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;

  LogicalResult callPrecise() {
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  /// Drops the mark of what has kept all its digits: LLVM would approximate it
  /// in its own way.
  void forgetApproximations() {
    getOperation()->walk([](arith::ArithFastMathInterface op) {
      arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr();
      if (flags && arith::bitEnumContainsAll(flags.getValue(),
                                             arith::FastMathFlags::afn))
        op->setAttr(op.getFastMathAttrName(),
                    arith::FastMathFlagsAttr::get(
                        op->getContext(),
                        arith::bitEnumClear(flags.getValue(),
                                            arith::FastMathFlags::afn)));
    });
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    metaop::populateElementaryFunctionPatterns(patterns, isForGpu);
    metaop::populateWideFunctionPatterns(patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (isForGpu) {
      metaop::populateApproximateFunctionPatterns(patterns);
    } else {
      metaop::expandRoundingToBFloat16(getOperation());
      arith::populateExpandBFloat16Patterns(patterns);
    }
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (vectorMathBits != 0 &&
        failed(metaop::callVectorMath(getOperation(), vectorMathBits)))
      return signalPassFailure();
    if (!isForGpu && failed(callPrecise()))
      return signalPassFailure();
    forgetApproximations();
  }
};
} // namespace
