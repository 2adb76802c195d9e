//===- EmitPtx.cpp - PTX in place of kernels ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module of a kernel becomes a binary of the same name, which has the text
// and what a call of the kernel has to know.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Conversion/PtxEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EMITPTXPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// What the dialect says of the kernel.
static SmallVector<NamedAttribute> getFacts(gpu::GPUModuleOp module) {
  SmallVector<NamedAttribute> facts;
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>())
    if (kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      llvm::copy_if(kernel->getDiscardableAttrs(), std::back_inserter(facts),
                    [](NamedAttribute attribute) {
                      return attribute.getName().getValue().starts_with(
                          "metaop.");
                    });
  return facts;
}

static LogicalResult replaceByPtx(gpu::GPUModuleOp module,
                                  const PtxOptions &options) {
  auto text = emitPtx(module, options);
  if (!text)
    return module.emitError(toString(text.takeError()));
  OpBuilder b(module);
  std::string features = "+ptx" + std::to_string(options.chip->ptxVersion);
  auto target = NVVM::NVVMTargetAttr::get(
      b.getContext(), /*O=*/3, "nvptx64-nvidia-cuda", options.chip->name,
      features, /*flags=*/nullptr, /*link=*/nullptr);
  auto object = gpu::ObjectAttr::get(
      b.getContext(), target, gpu::CompilationTarget::Assembly,
      b.getStringAttr(*text), /*properties=*/nullptr, /*kernels=*/nullptr);
  auto binary = gpu::BinaryOp::create(b, module.getLoc(), module.getName(),
                                      nullptr, b.getArrayAttr({object}));
  binary->setDiscardableAttrs(getFacts(module));
  module.erase();
  return success();
}

namespace {
struct EmitPtxPass : metaop::impl::EmitPtxPassBase<EmitPtxPass> {
  using EmitPtxPassBase::EmitPtxPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerPtxDialects(registry);
  }

  void runOnOperation() override {
    PtxOptions options;
    options.chip = chip;
    options.libdevice = libdevice;
    options.whyNoLibdevice = "; its file is named by the option libdevice";
    for (auto module :
         llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
      if (failed(replaceByPtx(module, options)))
        return signalPassFailure();
  }
};
} // namespace
