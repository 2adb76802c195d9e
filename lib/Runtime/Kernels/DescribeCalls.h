//===- DescribeCalls.h - What programs do, for reports ----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_DESCRIBECALLS_H
#define METAOPS_LIB_RUNTIME_KERNELS_DESCRIBECALLS_H

#include "MetaOps/Runtime/Kernels/KernelBackend.h"
#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "MetaOps/Runtime/Program/ProgramInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace metaops {

/// Describes the kernel of a function, by its name.
llvm::Expected<mlir::metaop::KernelDescription>
describeKernel(mlir::func::FuncOp function, const KernelBackend &backend);

/// Describes each step of a program. `operators` are the names of the slice's
/// operations, by their positions.
llvm::Expected<std::vector<KernelInfo>>
describeCalls(const BuiltProgram &built, mlir::ModuleOp module,
              const KernelBackend &backend,
              const llvm::DenseMap<unsigned, llvm::StringRef> &operators);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_DESCRIBECALLS_H
