//===- ProgramSizesTest.cpp - Functions of several sizes ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramFileFixture.h"

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace metaops;
using llvm::StringRef;

namespace {

class ProgramSizesTest : public testing::Test {
protected:
  ProgramSizesTest() {
    example.addSizes("main");
    program = valueOf(LoadedProgram::read(example.write()));
  }

  std::unique_ptr<LoadedProgram> open(int64_t rows) {
    return valueOf(program->openSizes(rows));
  }

  /// Runs the program for so many rows; returns whether the result is right.
  bool isRight(LoadedProgram &sized, int64_t rows) {
    std::vector<float> x(rows * 50);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i % 29) / 4 + rows;
    auto results = valueOf(sized.run(ConstMemory{x.data(), x.size() * 4}));
    const auto *sum = static_cast<const float *>(results[0]->data());
    for (size_t i = 0; i < x.size(); ++i)
      if (sum[i] != x[i] + 2 * example.weight[i])
        return false;
    return results[0]->bytes() == x.size() * 4;
  }

  ProgramFileExample example;
  std::unique_ptr<LoadedProgram> program;
};

TEST_F(ProgramSizesTest, SignaturesAreReadAsTheyAreWritten) {
  std::string text = writeSignature(example.contents.signature);
  EXPECT_TRUE(contains(text, "\"shape\":[\"rows\",50]"));
  EXPECT_TRUE(contains(text, "\"shape\":[null,50]"));
  ProgramSignature read = valueOf(readSignature(text));
  EXPECT_EQ(writeSignature(read), text);
  const FunctionSignature &function = read.functions[0];
  EXPECT_EQ(function.getNumPrograms(), 3u);
  EXPECT_EQ(findSizes(function, 3), 1u);
  EXPECT_EQ(findSizes(function, 4), std::nullopt);
  EXPECT_EQ(describeSizes(function), "rows of 1, 3, 100");
  FunctionSignature fixed = fixSizes(function, 1);
  EXPECT_TRUE(fixed.extents.empty());
  EXPECT_EQ(fixed.inputs[0].shape, (std::vector<int64_t>{3, 50}));
  EXPECT_EQ(fixed.outputs[2].shape, (std::vector<int64_t>{3, 50}));
  EXPECT_EQ(fixed.arguments.size(), 3u);
}

TEST_F(ProgramSizesTest, WhatCannotBeIsRefused) {
  auto spoil = [&](auto change) {
    ProgramSignature signature = example.contents.signature;
    change(signature.functions[0]);
    llvm::Error error = verifySignature(signature);
    return error ? toString(std::move(error)) : "no failure";
  };
  using Function = FunctionSignature &;
  EXPECT_EQ(spoil([](Function) {}), "no failure");
  EXPECT_TRUE(contains(spoil([](Function f) { f.programs.clear(); }),
                       "no programs for these"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.extents.clear(); }),
                       "an extent that has no name"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.arguments = {0u}; }),
                       "arguments beside them"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.extents[0].dims[0] = {0, 1}; }),
                       "of a dimension that there is not"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.extents[0].dims[0] = {1, 0}; }),
                       "of a dimension that there is not"));
  EXPECT_TRUE(contains(
      spoil([](Function f) { f.extents.push_back(f.extents.front()); }),
      "not different texts"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.extents[0].dims.clear(); }),
                       "that no input has"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.inputs[0].shape[0] = 7; }),
                       "of a dimension that there is not"));
  EXPECT_TRUE(contains(
      spoil([](Function f) { std::swap(f.programs[0], f.programs[1]); }),
      "not in the order of sizes"));
  EXPECT_TRUE(contains(spoil([](Function f) { f.programs[1] = f.programs[0]; }),
                       "not in the order of sizes"));
  EXPECT_TRUE(
      contains(spoil([](Function f) { f.programs[1].sizes.push_back(1); }),
               "a program of 2 sizes"));
  EXPECT_TRUE(
      contains(spoil([](Function f) { f.programs[1].arguments[0] = 9; }),
               "is weight number 9 of 2"));
  EXPECT_TRUE(
      contains(spoil([](Function f) { f.programs[1].arguments.pop_back(); }),
               "0 are no weights, and there are 1 inputs"));
  for (int64_t extent : {int64_t(-1), int64_t(1) << 62})
    EXPECT_TRUE(contains(
        spoil([&](Function f) { f.programs[1].outputs[0][0] = extent; }),
        "has an impossible shape"));
  EXPECT_TRUE(
      contains(spoil([](Function f) { f.programs[1].outputs[0][1] = 51; }),
               "has an impossible shape"));
  EXPECT_TRUE(contains(
      spoil([](Function f) { f.programs[2].sizes[0] = int64_t(1) << 60; }),
      "has an impossible shape"));
}

TEST_F(ProgramSizesTest, WrongJsonIsAnError) {
  std::string text = writeSignature(example.contents.signature);
  auto spoil = [&](StringRef from, StringRef to) {
    std::string wrong = text;
    size_t at = wrong.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    wrong.replace(at, from.size(), to.str());
    return failureOf(readSignature(wrong));
  };
  EXPECT_TRUE(contains(spoil("[\"rows\",50]", "[\"lines\",50]"),
                       "an extent 'lines', which is none of its function's"));
  EXPECT_TRUE(
      contains(spoil("[\"rows\",50]", "[null,50]"), "that no input has"));
  EXPECT_TRUE(contains(spoil("[null,50]", "[\"rows\",50]"),
                       "which is none of its function's"));
  EXPECT_TRUE(contains(spoil("\"extents\":[\"rows\"]", "\"extents\":[7]"),
                       "the name of an extent is no text"));
  EXPECT_TRUE(contains(spoil("\"programs\"", "\"others\""),
                       "extents with names and no programs"));
  EXPECT_TRUE(contains(spoil("\"sizes\":[3]", "\"sizes\":[-3]"),
                       "no number from 0 on"));
  EXPECT_TRUE(contains(
      spoil("\"arguments\":[0,1,null]", "\"arguments\":[0,\"1\",null]"),
      "the number of a weight is none"));
}

TEST_F(ProgramSizesTest, EachSizeHasItsProgram) {
  EXPECT_EQ(program->getInputs()[0].shape[0], kAnyExtent);
  std::vector<std::unique_ptr<LoadedProgram>> opened;
  for (int64_t rows : ProgramFileExample::kSizes) {
    opened.push_back(open(rows));
    EXPECT_EQ(opened.back()->getInputs()[0].shape[0], rows);
    EXPECT_EQ(opened.back()->getScratchBytes(), rows * 200);
  }
  for (auto [sized, rows] : llvm::zip_equal(opened, ProgramFileExample::kSizes))
    EXPECT_TRUE(isRight(*sized, rows));
}

TEST_F(ProgramSizesTest, WhatThereIsNotIsAnErrorByName) {
  EXPECT_EQ(failureOf(program->openSizes(4)),
            "the function 'main' has no program for rows 4; it has those for "
            "rows of 1, 3, 100");
  EXPECT_TRUE(contains(failureOf(program->openSizes({1, 2})),
                       "has 1 sizes (rows of 1, 3, 100), given 2"));
  EXPECT_TRUE(contains(failureOf(program->run(ConstMemory{})),
                       "expected one of them to be opened"));
  EXPECT_EQ(failureOf(open(3)->openSizes(3)), "no failure");
  ProgramFileExample fixed;
  auto other = valueOf(LoadedProgram::read(fixed.write()));
  EXPECT_EQ(failureOf(other->openSizes(3)),
            "the function 'main' has fixed shapes");
}

TEST_F(ProgramSizesTest, EachMayBeClosedBeforeTheOther) {
  auto one = open(1), three = open(3), same = open(3);
  three->close();
  EXPECT_TRUE(contains(failureOf(three->run(ConstMemory{})), "closed"));
  EXPECT_TRUE(isRight(*same, 3));
  program->close();
  EXPECT_TRUE(isRight(*one, 1));
  EXPECT_TRUE(contains(failureOf(program->openSizes(1)), "closed"));
  program.reset();
  EXPECT_TRUE(isRight(*one, 1));
  one->closeAllSizes();
  EXPECT_TRUE(contains(failureOf(same->run(ConstMemory{})), "closed"));
}

TEST_F(ProgramSizesTest, ThreadsAreShared) {
  auto sized = open(3);
  llvm::cantFail(sized->setThreads(3));
  EXPECT_EQ(program->getThreads(), 3u);
}

TEST_F(ProgramSizesTest, AreOpenedFromSeveralThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> others;
  for (int thread = 0; thread < 4; ++thread)
    others.emplace_back([&, thread] {
      for (int i = 0; i < 30; ++i) {
        int64_t rows = ProgramFileExample::kSizes[(i + thread) % 3];
        wrong += !isRight(*open(rows), rows);
      }
    });
  for (std::thread &other : others)
    other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ProgramSizesTest, WithoutCodeSizesAreDescribed) {
  LoadOptions options;
  options.code = false;
  auto described = valueOf(LoadedProgram::read(example.write(), options));
  auto sized = valueOf(described->openSizes(3));
  EXPECT_EQ(sized->getOutputs()[1].shape[0], 3);
  EXPECT_TRUE(contains(failureOf(sized->run(ConstMemory{})),
                       "was loaded without code"));
}

} // namespace
