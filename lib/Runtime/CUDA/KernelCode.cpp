//===- KernelCode.cpp - A GPU's code of a kernel --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/KernelCode.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace metaops {

/// The lines that the operations of `module` are of: a.py:3, a.py:7.
static std::string getLines(gpu::GPUModuleOp module) {
  constexpr size_t maxLines = 16;
  llvm::SetVector<std::pair<StringRef, unsigned>> lines;
  module.walk([&](Operation *op) {
    op->getLoc()->walk([&](Location loc) {
      if (auto line = dyn_cast<FileLineColLoc>(loc))
        lines.insert({line.getFilename().getValue(), line.getLine()});
      return WalkResult::advance();
    });
  });
  std::string text;
  for (auto [file, line] : lines.getArrayRef().take_front(maxLines))
    text += (text.empty() ? "" : ", ") + (file + ":" + Twine(line)).str();
  return lines.size() > maxLines ? text + ", ..." : text;
}

static llvm::Error explain(gpu::GPUModuleOp module, llvm::Error error,
                           StringRef reports) {
  std::string lines = getLines(module);
  return llvm::createStringError(
      "kernel '" + module.getName() +
      "' has no code: " + toString(std::move(error)) + reports +
      (lines.empty() ? "" : "\nit is made of " + lines));
}

llvm::Expected<KernelCode> makeCode(gpu::GPUModuleOp module,
                                    const mlir::metaop::PtxOptions &options,
                                    CubinCache &cache) {
  std::string reports;
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    reports += "; " + diagnostic.str();
                                    return success();
                                  });
  KernelCode code;
  auto ptx = mlir::metaop::emitPtx(module, options);
  if (!ptx)
    return explain(module, ptx.takeError(), reports);
  code.ptx = std::move(*ptx);
  auto cubin = cache.get(code.ptx, *options.chip);
  if (!cubin)
    return explain(module, cubin.takeError(), reports);
  code.cubin = std::move(*cubin);
  return code;
}

} // namespace metaops
