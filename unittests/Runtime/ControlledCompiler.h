//===- ControlledCompiler.h - Programs that wait or fail --------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_CONTROLLEDCOMPILER_H
#define METAOPS_UNITTESTS_RUNTIME_CONTROLLEDCOMPILER_H

#include "SessionFixture.h"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace metaops {

/// Makes programs of another compiler wait, or fail, on demand.
class ControlledCompiler : public DonatingCompiler {
public:
  struct Control {
    std::mutex mutex;
    std::condition_variable changed;
    bool isHeld = false;
    bool fails = false;
    int runs = 0;

    void set(bool isHeld, bool fails = false) {
      {
        std::lock_guard<std::mutex> lock(mutex);
        this->isHeld = isHeld;
        this->fails = fails;
      }
      changed.notify_all();
    }
  };

  explicit ControlledCompiler(std::shared_ptr<Control> control)
      : control(std::move(control)) {}

  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override {
    auto inner =
        DonatingCompiler::compile(slice, donatable, options, shouldStop);
    if (!inner)
      return inner.takeError();
    return std::make_shared<Controlled>(std::move(*inner), control);
  }

private:
  struct Controlled : WrappedProgram {
    Controlled(std::shared_ptr<Program> given, std::shared_ptr<Control> control)
        : WrappedProgram(std::move(given)), control(std::move(control)) {}

    llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                        StopCheck shouldStop,
                        std::vector<CallTime> *times) override {
      {
        std::unique_lock<std::mutex> lock(control->mutex);
        control->changed.wait(lock, [&] { return !control->isHeld; });
        ++control->runs;
        if (control->fails)
          return llvm::make_error<KernelFailure>(0, "an index is out of range");
      }
      return inner->execute(run, threads, shouldStop, times);
    }

    std::shared_ptr<Control> control;
  };

  std::shared_ptr<Control> control;
};

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_CONTROLLEDCOMPILER_H
