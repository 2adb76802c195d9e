//===- CompiledProgram.h - Steps that run on the host -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_COMPILEDPROGRAM_H
#define METAOPS_RUNTIME_PROGRAM_COMPILEDPROGRAM_H

#include "MetaOps/Runtime/Program/Program.h"
#include "MetaOps/Runtime/Program/ProgramData.h"

#include <memory>

namespace metaops {

class PackedResults;
struct StepPlan;

/// Runs the steps of a program on the host.
class CompiledProgram : public Program {
public:
  /// Fails where the data is not sound; see verifyProgram.
  static llvm::Expected<std::shared_ptr<CompiledProgram>>
  create(ProgramData data, ProgramInfo info = {});
  ~CompiledProgram() override;

  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory,
                                     BufferRef &scratch) override;
  void keepPacked(ProgramRun &run, Allocator &memory) override;
  void dropPacked(bool isShort) override;
  llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                      StopCheck shouldStop,
                      std::vector<CallTime> *times) override;
  bool isLong(unsigned threads) const override;
  bool isShort(unsigned threads) const override;

  const ProgramData &getData() const { return data; }
  /// Of intermediate values, and of what routines take beside.
  int64_t getScratchBytes() const;
  void setInfo(ProgramInfo value) { info = std::move(value); }

private:
  CompiledProgram(ProgramData data, ProgramInfo info);

  ProgramData data;
  std::unique_ptr<StepPlan> plan;
  std::unique_ptr<PackedResults> packed;
  /// Arguments that are written.
  llvm::SmallVector<unsigned> overwritten;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_COMPILEDPROGRAM_H
