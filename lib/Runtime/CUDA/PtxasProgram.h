//===- PtxasProgram.h - The assembler as a program --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CUDA_PTXASPROGRAM_H
#define METAOPS_LIB_RUNTIME_CUDA_PTXASPROGRAM_H

#include "MetaOps/Runtime/CUDA/Assembler.h"

namespace metaops {

/// NVIDIA's ptxas, run as a process for each piece of PTX.
class PtxasProgram : public Assembler {
public:
  static llvm::Expected<std::shared_ptr<PtxasProgram>> open(std::string path);

  std::string getDescription() const override { return "ptxas " + release; }
  std::string getBuild() const override;
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                 const mlir::metaop::Chip &chip) override;

private:
  PtxasProgram(std::string path, std::string release)
      : path(std::move(path)), release(std::move(release)) {}

  std::string path, release;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CUDA_PTXASPROGRAM_H
