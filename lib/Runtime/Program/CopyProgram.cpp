//===- CopyProgram.cpp - Programs of copies -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/CopyProgram.h"

using namespace metaops;

namespace {
class CopyProgram : public Program {
public:
  CopyProgram(unsigned numArguments, std::vector<CopyResult> results,
              ProgramInfo programInfo)
      : numArguments(numArguments), results(std::move(results)) {
    info = std::move(programInfo);
  }

  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory, BufferRef &) override {
    if (arguments.size() != numArguments)
      return llvm::createStringError(
          "the program takes %u arguments, given %zu", numArguments,
          arguments.size());
    ProgramRun run;
    run.arguments.assign(arguments.begin(), arguments.end());
    for (const CopyResult &result : results)
      run.results.push_back(memory.allocate(result.bytes));
    return run;
  }

  llvm::Error execute(const ProgramRun &run, ThreadPool &threads,
                      StopCheck shouldStop,
                      std::vector<CallTime> *times) override {
    std::vector<void *> buffers;
    for (const RunRef &argument : run.arguments)
      buffers.push_back(argument->data());
    for (auto [number, result] : llvm::enumerate(results)) {
      int64_t begin = times ? readClock() : 0;
      runCopies(result.copies, buffers, run.results[number]->data(), threads);
      if (times)
        times->push_back({static_cast<unsigned>(number), begin, readClock()});
      if (shouldStop && shouldStop())
        return llvm::make_error<Interrupted>();
    }
    return llvm::Error::success();
  }

private:
  unsigned numArguments;
  std::vector<CopyResult> results;
};
} // namespace

std::shared_ptr<Program>
metaops::createCopyProgram(unsigned numArguments,
                           std::vector<CopyResult> results, ProgramInfo info) {
  return std::make_shared<CopyProgram>(numArguments, std::move(results),
                                       std::move(info));
}
