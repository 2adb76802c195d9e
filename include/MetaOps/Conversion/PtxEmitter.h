//===- PtxEmitter.h - PTX of kernels ----------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_CONVERSION_PTXEMITTER_H
#define METAOPS_CONVERSION_PTXEMITTER_H

#include "MetaOps/Target/Description/Chip.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::metaop {

struct PtxOptions {
  const Chip *chip = Chip::getDefault();
  /// The file of libdevice, NVIDIA's library of mathematics; empty for none.
  std::string libdevice;
  /// The places where it was looked for in vain, and who brings it: what an
  /// error about a kernel that needs it ends with.
  std::string whyNoLibdevice;
};

/// The dialects that `emitPtx` takes, with what translates them.
void registerPtxDialects(DialectRegistry &registry);

/// Optimises a module in the phase `nvvm` and writes it as PTX. The module
/// stays what it is. Several threads may do so at once, each in a context of
/// its own. What MLIR reports on the way goes to the context's handler.
llvm::Expected<std::string> emitPtx(gpu::GPUModuleOp module,
                                    const PtxOptions &options);

/// Returns what calls of a module's kernels have to know, in the order in which
/// they run: a dictionary of each, with its `name` and what the dialect says of
/// it.
ArrayAttr describeKernels(gpu::GPUModuleOp module);

/// Puts a binary with a module's PTX in its place, as the phase `ptx` has it.
gpu::BinaryOp replaceByPtx(gpu::GPUModuleOp module, llvm::StringRef ptx,
                           const PtxOptions &options);

} // namespace mlir::metaop

#endif // METAOPS_CONVERSION_PTXEMITTER_H
