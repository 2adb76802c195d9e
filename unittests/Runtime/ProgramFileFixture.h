//===- ProgramFileFixture.h - A program file without a compiler -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel of these files is a few instructions that the assembler has put
// into this process, so that nothing but MetaOpsExecute is needed, and tests
// run under any sanitizer.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_PROGRAMFILEFIXTURE_H
#define METAOPS_UNITTESTS_RUNTIME_PROGRAMFILEFIXTURE_H

#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "MetaOps/Runtime/Export/ProgramFile.h"
#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "MetaOps/Runtime/Program/ProgramData.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// out[i] = x[i] + y[i] of float32, for i from `begin` to `end`.
#if defined(__x86_64__)
asm(".text\n"
    ".local metaops_test_add\n"
    "metaops_test_add:\n"
    "  mov (%rdi), %rax\n"
    "  mov 8(%rdi), %r8\n"
    "  mov 16(%rdi), %r9\n"
    "1: cmp %rcx, %rdx\n"
    "  jge 2f\n"
    "  movss (%rax,%rdx,4), %xmm0\n"
    "  addss (%r8,%rdx,4), %xmm0\n"
    "  movss %xmm0, (%r9,%rdx,4)\n"
    "  inc %rdx\n"
    "  jmp 1b\n"
    "2: ret\n"
    ".local metaops_test_add_end\n"
    "metaops_test_add_end:\n");
#elif defined(__aarch64__)
asm(".text\n"
    ".balign 4\n"
    ".local metaops_test_add\n"
    "metaops_test_add:\n"
    "  ldr x4, [x0]\n"
    "  ldr x5, [x0, #8]\n"
    "  ldr x6, [x0, #16]\n"
    "1: cmp x2, x3\n"
    "  b.ge 2f\n"
    "  ldr s0, [x4, x2, lsl #2]\n"
    "  ldr s1, [x5, x2, lsl #2]\n"
    "  fadd s0, s0, s1\n"
    "  str s0, [x6, x2, lsl #2]\n"
    "  add x2, x2, #1\n"
    "  b 1b\n"
    "2: ret\n"
    ".local metaops_test_add_end\n"
    "metaops_test_add_end:\n");
#endif
extern "C" {
extern const char metaopsTestAdd asm("metaops_test_add");
extern const char metaopsTestAddEnd asm("metaops_test_add_end");
}

namespace metaops {

/// The value, or a failure of the test with what is wrong.
template <typename T> T valueOf(llvm::Expected<T> result) {
  if (result)
    return std::move(*result);
  throw std::runtime_error(toString(result.takeError()));
}

/// Returns what is wrong, or "no failure".
template <typename T> std::string failureOf(llvm::Expected<T> result) {
  return result ? "no failure" : toString(result.takeError());
}

inline testing::AssertionResult contains(llvm::StringRef text,
                                         llvm::StringRef part) {
  if (text.contains(part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "\"" << part.str() << "\" is not in: " << text.str();
}

/// A program of x, a 100 x 50 matrix, and a weight w of the same shape, which
/// gives
///   sum     x + 2 * w, in two steps
///   same    x
///   again   the sum once more
/// Between the weights and x there is another weight, `unused`, of three bytes.
struct ProgramFileExample {
  static constexpr int64_t kElements = 5000;
  static constexpr int64_t kBytes = kElements * sizeof(float);

  ProgramFileExample() {
    data.arguments = {kBytes, 3, kBytes};
    data.results.resize(3);
    data.results[0] = {data.getResult(0), kBytes};
    data.results[1] = {2, kBytes};
    data.results[2] = {data.getResult(0), kBytes};
    data.arenaBytes = kBytes;
    data.steps = {makeAddition(2, 0, data.getArena()),
                  makeAddition(data.getArena(), 0, data.getResult(0))};

    weight.resize(kElements);
    for (int64_t i = 0; i < kElements; ++i)
      weight[i] = float(i % 23) / 4 - 2;

    ProgramSignature &signature = contents.signature;
    signature.weights = {{"w", DType::F32, {100, 50}},
                         {"unused", DType::U8, {3}}};
    FunctionSignature &function = signature.functions.emplace_back();
    function.name = "main";
    function.inputs = {{"x", DType::F32, {100, 50}}};
    function.arguments = {0, 1, std::nullopt};
    function.outputs = {{"sum", DType::F32, {100, 50}},
                        {"same", DType::F32, {100, 50}},
                        {"again", DType::F32, {100, 50}}};
    signature.producer = "a test";
    signature.keys = {{"author", "Ada \"L\" \xc3\xa9"}, {"b", ""}};
    signature.targets = {{"far", {"x86-64", "no-such-feature", "avx9"}},
                         {"near", {getHostFeatures().front()}}};
    contents.weights = {
        llvm::ArrayRef(reinterpret_cast<const char *>(weight.data()), kBytes),
        llvm::ArrayRef("abc", 3)};
  }
  ProgramFileExample(const ProgramFileExample &) = delete;
  ProgramFileExample &operator=(const ProgramFileExample &) = delete;

  static Step makeAddition(int64_t x, int64_t y, int64_t to) {
    KernelCall call;
    call.kernel = std::make_shared<const Kernel>(Kernel{nullptr, "add"});
    call.parallelRange = kElements;
    call.workPerStep = 100'000;
    Step step;
    step.action = std::move(call);
    for (int64_t entry : {x, y, to})
      step.buffers.push_back({entry, 0, kBytes});
    step.numInputs = 2;
    return step;
  }

  static std::string makeImage() {
    ImageContents image;
    image.architecture = *getHostArchitecture();
    image.pageBytes = kMaxImagePageBytes;
    image.code =
        llvm::ArrayRef(&metaopsTestAdd, &metaopsTestAddEnd - &metaopsTestAdd);
    image.entries = {{"add", 0}};
    return writeImage(image);
  }

  /// Adds a function that does the same with the input `z`.
  void addFunction(std::string name) {
    FunctionSignature function = contents.signature.functions.front();
    function.name = std::move(name);
    function.inputs[0].name = "z";
    contents.signature.functions.push_back(std::move(function));
  }

  /// Has a function have programs for 1, 3 and 100 rows.
  void addSizes(llvm::StringRef name) {
    for (FunctionSignature &function : contents.signature.functions) {
      if (function.name != name)
        continue;
      function.extents = {{"rows", {{0, 0}}}};
      for (int64_t rows : kSizes)
        function.programs.push_back(
            {{rows},
             function.arguments,
             std::vector<std::vector<int64_t>>(3, {rows, 50})});
      function.arguments.clear();
      for (auto *tensors : {&function.inputs, &function.outputs})
        for (TensorSpec &tensor : *tensors)
          tensor.shape[0] = kAnyExtent;
    }
  }
  static constexpr std::array<int64_t, 3> kSizes = {1, 3, 100};

  /// Returns the program for so many rows, which reads as many of the weight.
  std::string writeRows(int64_t rows) const {
    ProgramData sized = data;
    int64_t bytes = rows * 50 * sizeof(float);
    sized.arguments[2] = sized.arenaBytes = bytes;
    for (ResultPlace &result : sized.results)
      result.bytes = bytes;
    for (Step &step : sized.steps) {
      std::get<KernelCall>(step.action).parallelRange = rows * 50;
      for (Slot &slot : step.buffers)
        slot.bytes = bytes;
    }
    ProgramInfo info;
    info.calls.resize(countSteps(data.steps));
    return writeProgram(sized, info);
  }

  llvm::Expected<std::string> tryWrite() {
    ProgramInfo info;
    info.calls.resize(countSteps(data.steps));
    program = writeProgram(data, info);
    sized.clear();
    bool hasSizes = llvm::any_of(
        contents.signature.functions,
        [](const FunctionSignature &each) { return !each.extents.empty(); });
    for (int64_t rows : kSizes)
      sized.push_back(hasSizes ? writeRows(rows) : "");
    contents.functions.clear();
    for (const FunctionSignature &function : contents.signature.functions) {
      auto &written = contents.functions.emplace_back();
      std::vector<llvm::StringRef> programs = {program};
      if (!function.extents.empty())
        programs.assign(sized.begin(), sized.end());
      written.code.assign(contents.signature.targets.size(),
                          {std::move(programs), image});
      written.ir = function.name == "main" ? "the IR" : "another IR";
    }
    return writeProgramFile(contents);
  }
  std::string write() { return valueOf(tryWrite()); }

  ProgramData data;
  ProgramFileContents contents;
  std::vector<float> weight;
  std::string image = makeImage(), program;
  std::vector<std::string> sized;
};

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_PROGRAMFILEFIXTURE_H
