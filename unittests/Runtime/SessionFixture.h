//===- SessionFixture.h - What the tests of sessions share ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_SESSIONFIXTURE_H
#define METAOPS_UNITTESTS_RUNTIME_SESSIONFIXTURE_H

#include "MetaOps/Runtime/Report/Inspector.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "gtest/gtest.h"

#include <cstring>
#include <vector>

namespace metaops {

inline std::vector<float> floats(std::vector<double> values) {
  return std::vector<float>(values.begin(), values.end());
}

inline testing::AssertionResult contains(llvm::StringRef text,
                                         llvm::StringRef part) {
  if (text.contains(part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "'" << text.str() << "' does not contain '" << part.str() << "'";
}

/// A program around another one, which prepares its runs.
struct WrappedProgram : Program {
  explicit WrappedProgram(std::shared_ptr<Program> given)
      : inner(std::move(given)) {
    info = inner->getInfo();
  }

  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory,
                                     BufferRef &scratch) override {
    return inner->prepare(arguments, memory, scratch);
  }

  std::shared_ptr<Program> inner;
};

/// Runs slices through the interpreter and then, as a memory plan may, moves
/// each result into the first donated argument of its size that is still free.
class DonatingCompiler : public Compiler {
public:
  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override {
    auto inner = interpretProgram(slice);
    if (!inner)
      return inner.takeError();
    return std::make_shared<Donating>(std::move(*inner),
                                      llvm::SmallVector<bool>(donatable));
  }

  llvm::Expected<std::string> print(llvm::StringRef slice,
                                    llvm::StringRef phase,
                                    llvm::ArrayRef<NodeLocation> locations,
                                    const CompileOptions &options) override {
    return llvm::createStringError("nothing to print");
  }

private:
  struct Donating : Program {
    Donating(std::shared_ptr<Program> inner, llvm::SmallVector<bool> donatable)
        : inner(std::move(inner)), donatable(std::move(donatable)) {
      info = this->inner->getInfo();
    }

    llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                       Allocator &memory,
                                       BufferRef &scratch) override {
      auto run = inner->prepare(arguments, memory, scratch);
      if (!run)
        return run.takeError();
      llvm::SmallVector<bool> free(donatable);
      for (RunRef &result : run->results)
        for (auto [argument, mayWrite] : llvm::zip_equal(arguments, free)) {
          if (!mayWrite || argument->bytes() != result->bytes())
            continue;
          result = argument;
          mayWrite = false;
          break;
        }
      return run;
    }

    llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                        StopCheck shouldStop,
                        std::vector<CallTime> *times) override {
      Allocator memory;
      ProgramRun innerRun;
      innerRun.arguments = run.arguments;
      for (const RunRef &result : run.results)
        innerRun.results.push_back(memory.allocate(result->bytes()));
      if (llvm::Error error = inner->execute(innerRun, threads, shouldStop))
        return error;
      for (auto [to, from] : llvm::zip_equal(run.results, innerRun.results))
        std::memcpy(to->data(), from->data(), from->bytes());
      return llvm::Error::success();
    }

    std::shared_ptr<Program> inner;
    llvm::SmallVector<bool> donatable;
  };
};

class SessionFixture : public testing::Test {
protected:
  std::shared_ptr<Session> session =
      Session::create(std::make_unique<DonatingCompiler>());

  /// Collects what the test has let go of: a function that waits to be
  /// collected keeps variables, and these the session.
  void TearDown() override {
    SessionScope scope(*session);
    recorder().getGraph().collect();
  }

  Recorder &recorder() { return session->getRecorder(); }

  // With the session entered.
  Var wrap(Node *node) { return session->wrap(node); }
  Var unary(llvm::StringRef name, Operand x) {
    return wrap(recorder().unary(name, x));
  }
  Var binary(llvm::StringRef name, Operand x, Operand y) {
    return wrap(recorder().binary(name, x, y));
  }
  Var stopGrad(const Var &x) { return wrap(recorder().stopGrad(x.getNode())); }
  Var share(const Var &x) { return wrap(x.getNode()); }
  void setLine(llvm::StringRef file, unsigned line) {
    recorder().setLine(recorder().makeLocation(file, line));
  }

  Var tensor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
    SessionScope scope(*session);
    return makeTensor(shape, values);
  }

  /// With the session entered.
  Var makeTensor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
    BufferRef buffer = session->getHostMemory().allocate(values.size() * 4);
    llvm::copy(values, static_cast<float *>(buffer->data()));
    return session->give(DType::F32, shape, buffer);
  }

  std::vector<float> values(const Var &var) {
    TensorData data;
    {
      SessionScope scope(*session);
      data = session->getData(var);
    }
    session->wait(data);
    auto *first = static_cast<const float *>(data.buffer->data());
    return std::vector<float>(first, first + getNumElements(data.shape));
  }

  /// When nothing is on its way.
  SessionStatistics statistics() {
    session->drain();
    SessionScope scope(*session);
    return Inspector(*session).getStatistics();
  }

  /// The message of the error that `call` throws with the session entered, with
  /// its kind before it.
  template <typename Call> std::string errorOf(Call call) {
    try {
      SessionScope scope(*session);
      call();
    } catch (const SessionError &error) {
      const char *kinds[] = {
          "value",           "type",           "index",   "overflow",
          "memory",          "linear algebra", "runtime", "no forward mode",
          "outside history", "interrupted"};
      return std::string(kinds[unsigned(error.getKind())]) + ": " +
             error.what();
    }
    return "no error";
  }

  static Number number(double value) { return Number::ofFloat(value); }
};

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_SESSIONFIXTURE_H
