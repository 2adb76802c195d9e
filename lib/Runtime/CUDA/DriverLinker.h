//===- DriverLinker.h - The driver's assembler ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CUDA_DRIVERLINKER_H
#define METAOPS_LIB_RUNTIME_CUDA_DRIVERLINKER_H

#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "MetaOps/Runtime/CUDA/Driver.h"

namespace metaops {

/// The assembler in NVIDIA's driver. It needs a GPU, but not the one that code
/// is made for.
class DriverLinker : public Assembler {
public:
  explicit DriverLinker(std::unique_ptr<DriverContext> context)
      : context(std::move(context)) {}

  std::string getDescription() const override;
  std::string getBuild() const override;
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                 const mlir::metaop::Chip &chip) override;

private:
  std::unique_ptr<DriverContext> context;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CUDA_DRIVERLINKER_H
