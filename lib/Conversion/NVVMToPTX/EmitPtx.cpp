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
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_EMITPTXPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

ArrayAttr metaop::describeKernels(gpu::GPUModuleOp module) {
  Builder b(module.getContext());
  SmallVector<Attribute> kernels;
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      continue;
    NamedAttrList facts;
    facts.set("name", kernel.getSymNameAttr());
    for (NamedAttribute attribute : kernel->getDiscardableAttrs()) {
      auto [dialect, name] = attribute.getName().strref().split('.');
      if (dialect == MetaOpDialect::getDialectNamespace())
        facts.set(name, attribute.getValue());
    }
    kernels.push_back(facts.getDictionary(b.getContext()));
  }
  return b.getArrayAttr(kernels);
}

gpu::BinaryOp metaop::replaceByPtx(gpu::GPUModuleOp module, StringRef ptx,
                                   const PtxOptions &options) {
  OpBuilder b(module);
  std::string features = "+ptx" + std::to_string(options.chip->ptxVersion);
  auto target = NVVM::NVVMTargetAttr::get(
      b.getContext(), /*O=*/3, "nvptx64-nvidia-cuda", options.chip->name,
      features, /*flags=*/nullptr, /*link=*/nullptr);
  auto object = gpu::ObjectAttr::get(
      b.getContext(), target, gpu::CompilationTarget::Assembly,
      b.getStringAttr(ptx), /*properties=*/nullptr, /*kernels=*/nullptr);
  auto binary = gpu::BinaryOp::create(b, module.getLoc(), module.getName(),
                                      nullptr, b.getArrayAttr({object}));
  MetaOpDialect::KernelsAttrHelper(b.getContext())
      .setAttr(binary, describeKernels(module));
  module.erase();
  return binary;
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
    for (auto module : llvm::make_early_inc_range(
             getOperation().getOps<gpu::GPUModuleOp>())) {
      auto ptx = emitPtx(module, options);
      if (!ptx) {
        module.emitError(toString(ptx.takeError()));
        return signalPassFailure();
      }
      replaceByPtx(module, *ptx, options);
    }
  }
};
} // namespace
