//===- StepsFixture.h - What the tests of steps share -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of these programs are functions of C++, so that a program is what
// it says and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_STEPSFIXTURE_H
#define METAOPS_UNITTESTS_RUNTIME_STEPSFIXTURE_H

#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace metaops {

//===----------------------------------------------------------------------===//
// Kernels: of float32 but for conditions and numbers
//===----------------------------------------------------------------------===//

template <typename T> T *at(void **buffers, unsigned number) {
  return static_cast<T *>(buffers[number]);
}

/// z = x + y.
inline void addKernel(void **buffers, const int64_t *, int64_t begin,
                      int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    at<float>(buffers, 2)[i] =
        at<float>(buffers, 0)[i] + at<float>(buffers, 1)[i];
}

/// y = x * a number.
inline void scaleKernel(void **buffers, const int64_t *scalars, int64_t begin,
                        int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    at<float>(buffers, 1)[i] =
        at<float>(buffers, 0)[i] * static_cast<float>(scalars[0]);
}

/// c = x[0] < a number.
inline void lessKernel(void **buffers, const int64_t *scalars, int64_t,
                       int64_t) {
  *at<bool>(buffers, 1) =
      *at<float>(buffers, 0) < static_cast<float>(scalars[0]);
}

inline constexpr int64_t kElements = 5;
inline constexpr int64_t kBytes = kElements * sizeof(float);

//===----------------------------------------------------------------------===//
// Making programs
//===----------------------------------------------------------------------===//

inline KernelCall call(KernelFunction function,
                       std::vector<int64_t> scalars = {},
                       int64_t range = kElements) {
  KernelCall made;
  made.kernel = std::make_shared<const Kernel>(Kernel{function, "a kernel"});
  made.scalars = std::move(scalars);
  made.parallelRange = range;
  return made;
}

inline Step makeStep(Step::Action action, std::vector<Slot> inputs,
                     std::vector<Slot> outputs = {}) {
  Step step;
  step.action = std::move(action);
  step.numInputs = inputs.size();
  step.buffers = std::move(inputs);
  step.buffers.insert(step.buffers.end(), outputs.begin(), outputs.end());
  return step;
}

inline Slot slot(int64_t entry, int64_t offset = 0, int64_t bytes = kBytes) {
  return {entry, offset, bytes};
}
inline Slot number(int64_t entry, int64_t offset = 0) {
  return {entry, offset, sizeof(int64_t)};
}
inline Slot flag(int64_t entry, int64_t offset) { return {entry, offset, 1}; }

class StepsFixture : public ::testing::Test {
protected:
  StepsFixture() {
    data.arguments = {kBytes, kBytes};
    data.results.resize(1);
    data.results[0] = {data.getResult(0), kBytes};
    data.arenaBytes = 1024;
  }

  int64_t x() const { return 0; }
  int64_t y() const { return 1; }
  int64_t result() const { return data.getResult(0); }
  int64_t arena() const { return data.getArena(); }

  BufferRef makeBuffer(const std::vector<float> &values) {
    BufferRef buffer = memory.allocate(values.size() * sizeof(float));
    llvm::copy(values, static_cast<float *>(buffer->data()));
    return buffer;
  }
  static std::vector<float> read(const Buffer &buffer) {
    std::vector<float> values(kElements);
    std::memcpy(values.data(), buffer.data(), kBytes);
    return values;
  }

  std::shared_ptr<CompiledProgram> compile() {
    return llvm::cantFail(CompiledProgram::create(data));
  }
  llvm::Expected<std::vector<float>> tryRun(const std::vector<float> &first,
                                            const std::vector<float> &second) {
    llvm::SmallVector<BufferRef> results;
    if (llvm::Error error = compile()->run(
            {makeBuffer(first), makeBuffer(second)}, results, memory, threads))
      return std::move(error);
    return read(*results[0]);
  }
  std::vector<float> run(const std::vector<float> &first,
                         const std::vector<float> &second) {
    return llvm::cantFail(tryRun(first, second));
  }
  std::string findProblem() { return llvm::toString(verifyProgram(data)); }

  /// A value is doubled as long as its first element is under a limit: a loop
  /// that carries it, from the first argument to the result.
  Step makeDoubling(int64_t limit) {
    data.pointers = {kBytes, kBytes};
    While loop;
    Carry &carry = loop.carries.emplace_back();
    carry.current = data.getPointer(0);
    carry.next = data.getPointer(1);
    carry.initial = slot(x());
    carry.even = slot(result());
    carry.odd = slot(arena(), 64);
    carry.settles = true;
    loop.condition = {makeStep(call(lessKernel, {limit}, 1),
                               {slot(carry.current)}, {flag(arena(), 0)})};
    loop.body = {makeStep(call(scaleKernel, {2}), {slot(carry.current)},
                          {slot(carry.next)})};
    return makeStep(std::move(loop), {flag(arena(), 0)});
  }

  ProgramData data;
  Allocator memory;
  ThreadPool threads{2};
};

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_STEPSFIXTURE_H
