//===- TransferProgram.h - From one device's memory to another's -*- C++-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_DEVICE_TRANSFERPROGRAM_H
#define METAOPS_RUNTIME_DEVICE_TRANSFERPROGRAM_H

#include "MetaOps/Runtime/Program/Program.h"

namespace metaops {

/// Copies its argument, which has as many bytes, to its result. It runs on the
/// argument's device; the result may belong to any.
class TransferProgram : public Program {
public:
  explicit TransferProgram(int64_t bytes);

  /// The result is from `memory`.
  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory,
                                     BufferRef &scratch) override;
  bool isLong(unsigned threads) const override;
  llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                      StopCheck shouldStop,
                      std::vector<CallTime> *times) override;

private:
  int64_t bytes;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_DEVICE_TRANSFERPROGRAM_H
