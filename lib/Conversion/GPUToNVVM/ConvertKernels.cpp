//===- ConvertKernels.cpp - Kernels into the LLVM and NVVM dialects -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's patterns of all dialects at once, under one type converter: each of
// its own passes would have indices of 64 bits, and memrefs of others would not
// fit. First, operations on vectors become those that LLVM has.
//
// Atomic operations are no fences here. What they combine is read by the next
// kernel, or behind a barrier, and the strongest order would be one fence each.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/AtomicKinds.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CONVERTKERNELSTONVVMPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Rewrites what LLVM has no operation on vectors for.
static LogicalResult expandVectors(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorInterleaveToShufflePatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

/// Marks arithmetic of indices, which does not wrap: they have 32 bits where
/// nothing that is computed of them takes more: not the places, from their
/// parts on (NumberLimits.cpp), nor extents and numbers of threads and blocks.
/// This lets the constants of places into the instructions that access memory.
static void markNoWrap(gpu::GPUModuleOp module) {
  module.walk([](arith::ArithIntegerOverflowFlagsInterface op) {
    if (getElementTypeOrSelf(op->getResult(0).getType()).isIndex())
      op->setAttr(op.getIntegerOverflowAttrName(),
                  arith::IntegerOverflowFlagsAttr::get(
                      op->getContext(), arith::IntegerOverflowFlags::nsw));
  });
}

namespace {
struct LowerAtomic : ConvertOpToLLVMPattern<memref::AtomicRMWOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    std::optional<LLVM::AtomicBinOp> kind = findAtomicInstruction(op.getKind());
    if (!kind)
      return rewriter.notifyMatchFailure(op, "is no atomic instruction");
    Value address = getStridedElementPtr(
        rewriter, op.getLoc(), op.getMemRefType(), adaptor.getMemref(),
        adaptor.getIndices(), LLVM::GEPNoWrapFlags::none);
    auto space = cast<LLVM::LLVMPointerType>(address.getType());
    bool isShared = space.getAddressSpace() ==
                    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
    rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(
        op, *kind, address, adaptor.getValue(), LLVM::AtomicOrdering::monotonic,
        isShared ? "block" : "device");
    return success();
  }
};

/// Replaces a cast of a memref to a pointer by the address that it begins at.
struct LowerAddress : ConvertOpToLLVMPattern<UnrealizedConversionCastOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  static bool isAddress(UnrealizedConversionCastOp op) {
    return op.getNumOperands() == 1 && op.getNumResults() == 1 &&
           isa<MemRefType>(op.getOperand(0).getType()) &&
           isa<LLVM::LLVMPointerType>(op.getResult(0).getType());
  }

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isAddress(op))
      return rewriter.notifyMatchFailure(op, "is no address");
    MemRefDescriptor memory(adaptor.getInputs().front());
    rewriter.replaceOp(op, memory.alignedPtr(rewriter, op.getLoc()));
    return success();
  }
};

struct ConvertKernelsToNVVMPass
    : metaop::impl::ConvertKernelsToNVVMPassBase<ConvertKernelsToNVVMPass> {
  void runOnOperation() override {
    if (getIndexBits() == 32)
      markNoWrap(getOperation());
    if (failed(expandVectors(getOperation())) || failed(convert()))
      signalPassFailure();
  }

private:
  unsigned getIndexBits() {
    MetaOpDialect::LaunchAttrHelper launchOf(&getContext());
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (LaunchAttr launch = launchOf.getAttr(kernel))
        return launch.getIndexBits();
    return 64;
  }
  LogicalResult convert();
};
} // namespace

LogicalResult ConvertKernelsToNVVMPass::convert() {
  LowerToLLVMOptions options(&getContext());
  options.overrideIndexBitwidth(getIndexBits());
  LLVMTypeConverter converter(&getContext(), options);
  configureGpuToNVVMTypeConverter(converter);

  RewritePatternSet patterns(&getContext());
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  patterns.add<LowerAtomic>(converter, /*benefit=*/2);
  patterns.add<LowerAddress>(converter);

  ConversionTarget target(getContext());
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.addDynamicallyLegalOp<UnrealizedConversionCastOp>(
      [](UnrealizedConversionCastOp op) {
        return !LowerAddress::isAddress(op);
      });
  return applyFullConversion(getOperation(), target, std::move(patterns));
}
