//===- NvJitLink.h - The assembler as a library -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_CUDA_NVJITLINK_H
#define METAOPS_LIB_RUNTIME_CUDA_NVJITLINK_H

#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "SharedLibrary.h"

namespace metaops {

/// NVIDIA's nvJitLink, which needs no driver.
class NvJitLink : public Assembler {
public:
  static llvm::Expected<std::shared_ptr<NvJitLink>>
  open(const std::string &library);

  /// As the driver counts: 1000 times the major number and ten times the minor.
  int getVersion() const { return version; }

  std::string getDescription() const override;
  std::string getBuild() const override;
  llvm::Expected<Cubin> assemble(llvm::StringRef ptx,
                                 const mlir::metaop::Chip &chip) override;

private:
  explicit NvJitLink(SharedLibrary library) : library(std::move(library)) {}
  llvm::Error load();

  // Of nvJitLink.h: results are 0 for success, links are opaque.
  using Handle = void *;
  int (*createLink)(Handle *, uint32_t, const char **) = nullptr;
  int (*destroyLink)(Handle *) = nullptr;
  int (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  int (*completeLink)(Handle) = nullptr;
  int (*getCubinSize)(Handle, size_t *) = nullptr;
  int (*getCubin)(Handle, void *) = nullptr;
  int (*getErrorSize)(Handle, size_t *) = nullptr;
  int (*getErrors)(Handle, char *) = nullptr;
  int (*getInfoSize)(Handle, size_t *) = nullptr;
  int (*getInfo)(Handle, char *) = nullptr;

  SharedLibrary library;
  int version = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_CUDA_NVJITLINK_H
