//===- ModelObjectTest.cpp - A program's steps as machine code ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of indices at the ends of their ranges. All other steps are tested by
// test/python/test_object_files.py.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/AOT/RunEmitter.h"
#include "MetaOps/Runtime/JIT/Jit.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace metaops;

namespace {

using RunFunction = int (*)(const void *const *, void *const *, void *);

/// The machine code of a model, in this process.
class LinkedModel {
public:
  LinkedModel(const ProgramData &program, const ModelInterface &model) {
    CodeTarget target = llvm::cantFail(CodeTarget::detect());
    auto emitter = llvm::cantFail(ObjectEmitter::create(target));
    llvm::LLVMContext context;
    llvm::Module module(model.name, context);
    emitter->setTarget(module);
    emitModelFunctions(program, model, module);
    jit = llvm::cantFail(Jit::create(target));
    auto object = llvm::cantFail(emitter->emitObject(module));
    run = reinterpret_cast<RunFunction>(reinterpret_cast<void *>(
        llvm::cantFail(jit->link(std::move(object), model.name + "_run"))));
  }

  RunFunction run;

private:
  std::unique_ptr<Jit> jit;
};

/// Passes two arguments on, the lowest and the highest of some indices, after
/// it has checked them.
ProgramData checkBoth(IndexRange range) {
  ProgramData program;
  program.arguments = {8, 8};
  program.results = {{0, 8}, {1, 8}};
  Step &step = program.steps.emplace_back();
  step.action = Check{range, "model.py:7"};
  step.buffers = {{0, 0, 8}, {1, 0, 8}};
  step.numInputs = 2;
  return program;
}

TEST(ModelObject, ChecksIndices) {
  TensorSpec number = {"", DType::I64, {}};
  ModelInterface model;
  model.name = "model";
  model.inputs = model.outputs = {number, number};
  model.errors.resize(ModelError::FirstIndex + 1);
  for (bool hasNegative : {false, true}) {
    IndexRange range = {0, 10, hasNegative, -100};
    LinkedModel linked(checkBoth(range), model);
    for (int64_t lowest : {-101, -100, -11, -10, -1, 0, 9, 10})
      for (int64_t highest : {-10, 0, 9, 10}) {
        const void *inputs[] = {&lowest, &highest};
        alignas(64) int64_t first = 77;
        alignas(64) int64_t second = 77;
        void *outputs[] = {&first, &second};
        int error = linked.run(inputs, outputs, nullptr);
        bool isFine = !describeOutOfRange(range, lowest, highest);
        EXPECT_EQ(error, isFine ? 0 : int(ModelError::FirstIndex))
            << lowest << ' ' << highest;
        EXPECT_EQ(first, isFine ? lowest : 77);
        EXPECT_EQ(second, isFine ? highest : 77);
      }
  }
}

} // namespace
