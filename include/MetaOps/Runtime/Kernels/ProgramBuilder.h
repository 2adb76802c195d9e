//===- ProgramBuilder.h - Programs from modules -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_KERNELS_PROGRAMBUILDER_H
#define METAOPS_RUNTIME_KERNELS_PROGRAMBUILDER_H

#include "MetaOps/Runtime/Kernels/KernelCache.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace metaops {

/// A program and the op of each of its steps.
struct BuiltProgram {
  std::shared_ptr<CompiledProgram> program;
  std::vector<mlir::Operation *> ops;
};

/// Makes the program of a module in the phase `kernels`, and compiles what the
/// cache lacks. Its checks name the user's lines, which for the operations of a
/// slice are those in `lines`; none where there are no lines: one program is
/// for all places where the slice is recorded.
llvm::Expected<BuiltProgram>
buildProgram(mlir::ModuleOp module, KernelCache &kernels,
             StopCheck shouldStop = nullptr,
             llvm::ArrayRef<std::string> lines = {});

/// The position in the slice that a location is.
std::optional<unsigned> getNode(mlir::FileLineColLoc location);

} // namespace metaops

#endif // METAOPS_RUNTIME_KERNELS_PROGRAMBUILDER_H
