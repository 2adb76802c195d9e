//===- InterpretedProgram.cpp - Slices run op by op -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slow and sure way: each run copies the arguments into the interpreter's
// tensors, evaluates @main, and copies its results out. No kernel is made, so
// the report lists one call per operation; a branch or a loop is one, with all
// that is inside. A run that was stopped has written nothing, and begins anew.
// The only pass is that which is part of what a program means
// (WidenAddends.cpp). What the interpreter does not know is refused before
// anything is run.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Dialect/MetaOp/IR/TensorSize.h"
#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Compiler/ReadSlice.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Transforms/Simplify/WidenReductions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstring>

using namespace mlir;
using namespace metaops;

namespace {
class InterpretedProgram : public Program {
public:
  llvm::Error load(llvm::StringRef slice);
  /// Makes a slice that was loaded a program that can run.
  llvm::Error begin();

  llvm::Expected<ProgramRun> prepare(llvm::ArrayRef<BufferRef> arguments,
                                     Allocator &memory,
                                     BufferRef &scratch) override;
  llvm::Error execute(ProgramRun &run, ThreadPool &threads,
                      StopCheck shouldStop,
                      std::vector<CallTime> *times) override;

  llvm::Expected<std::string> print(llvm::ArrayRef<NodeLocation> locations);

private:
  void describe();

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
};

class InterpreterCompiler : public Compiler {
public:
  llvm::Expected<std::shared_ptr<Program>>
  compile(llvm::StringRef slice, llvm::ArrayRef<bool> donatable,
          const CompileOptions &options, StopCheck shouldStop) override {
    return interpretProgram(slice);
  }

  llvm::Expected<std::string> print(llvm::StringRef slice,
                                    llvm::StringRef phase,
                                    llvm::ArrayRef<NodeLocation> locations,
                                    const CompileOptions &options) override;
};
} // namespace

llvm::Error InterpretedProgram::load(llvm::StringRef slice) {
  auto read = readSlice(slice, context);
  if (!read)
    return read.takeError();
  module = std::move(*read);
  main = module->lookupSymbol<func::FuncOp>("main");
  return llvm::Error::success();
}

/// Returns whether the interpreter has a meaning for all operations.
static llvm::Error checkKnown(Block &block) {
  metaop::Interpreter interpreter;
  Operation *unknown = nullptr;
  block.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || interpreter.knows(op))
      return WalkResult::advance();
    unknown = op;
    return WalkResult::interrupt();
  });
  if (!unknown)
    return llvm::Error::success();
  return llvm::createStringError("'" + unknown->getName().getStringRef() +
                                 "' is unknown to the interpreter");
}

llvm::Error InterpretedProgram::begin() {
  if (llvm::Error error = checkKnown(main.getBody().front()))
    return error;
  metaop::walkBlocks(main.getBody(), metaop::widenAddends);
  describe();
  return llvm::Error::success();
}

void InterpretedProgram::describe() {
  for (Operation &op : main.getBody().front().without_terminator()) {
    KernelInfo call;
    call.name = op.getName().getStringRef().str();
    call.operators.push_back(op.getName().stripDialect().str());
    if (auto line = op.getLoc()->findInstanceOf<FileLineColLoc>())
      call.nodes.push_back(line.getLine());
    for (Type type : op.getOperandTypes())
      call.bytesRead =
          metaop::addCounts(call.bytesRead, metaop::countBytes(type));
    for (Type type : op.getResultTypes())
      call.bytesWritten =
          metaop::addCounts(call.bytesWritten, metaop::countBytes(type));
    info.calls.push_back(std::move(call));
    ++info.metaOps;
  }
}

llvm::Expected<ProgramRun>
InterpretedProgram::prepare(llvm::ArrayRef<BufferRef> arguments,
                            Allocator &memory, BufferRef &scratch) {
  ProgramRun run;
  run.arguments.assign(arguments.begin(), arguments.end());
  for (Type type : main.getResultTypes())
    run.results.push_back(memory.allocate(metaop::countBytes(type)));
  return run;
}

/// Turns the failure of a check into one of a program, whose calls have the
/// lines.
static llvm::Error toCheckFailure(unsigned call, llvm::Error error) {
  return llvm::handleErrors(
      std::move(error),
      [&](const metaop::MatrixIsInvalid &matrix) -> llvm::Error {
        return llvm::make_error<MatrixFailure>(call, matrix.getMessage());
      },
      [&](const metaop::IndicesOutOfRange &indices) -> llvm::Error {
        return llvm::make_error<CheckFailure>(call, indices.getMessage());
      });
}

static llvm::Error toMemoryFailure(unsigned call, llvm::Error error) {
  return llvm::make_error<MemoryFailure>(call,
                                         llvm::toString(std::move(error)));
}

llvm::Error InterpretedProgram::execute(ProgramRun &run, ThreadPool &,
                                        StopCheck shouldStop,
                                        std::vector<CallTime> *) {
  metaop::Interpreter::Values values;
  for (auto [argument, buffer] :
       llvm::zip_equal(main.getArguments(), run.arguments)) {
    auto tensor = cast<RankedTensorType>(argument.getType());
    auto input =
        metaop::Tensor::create(tensor.getElementType(), tensor.getShape());
    if (!input && input.errorIsA<metaop::ShortOfMemory>())
      return toMemoryFailure(info.calls.size(), input.takeError());
    if (!input)
      return input.takeError();
    MutableArrayRef<char> data = input->getMutableData();
    if (!data.empty())
      std::memcpy(data.data(), buffer->data(), data.size());
    values[argument] = std::move(*input);
  }

  metaop::Interpreter interpreter;
  if (shouldStop)
    interpreter.stopWhen([&] { return shouldStop(); });
  Block &block = main.getBody().front();
  for (auto [call, op] : llvm::enumerate(block.without_terminator())) {
    if (shouldStop && shouldStop())
      return llvm::make_error<Interrupted>();
    auto results = interpreter.evaluateAmong(&op, values);
    if (!results && results.errorIsA<metaop::InterpreterStopped>()) {
      llvm::consumeError(results.takeError());
      return llvm::make_error<Interrupted>();
    }
    if (!results && results.errorIsA<metaop::IndicesOutOfRange>())
      return toCheckFailure(call, results.takeError());
    if (!results && results.errorIsA<metaop::ShortOfMemory>())
      return toMemoryFailure(call, results.takeError());
    if (!results)
      return llvm::make_error<KernelFailure>(
          call, llvm::toString(results.takeError()));
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
      values[result] = std::move(value);
  }
  // Copied out in the end, so that what fails before has no effect.
  for (auto [output, buffer] :
       llvm::zip_equal(block.back().getOperands(), run.results))
    if (ArrayRef<char> data = values.at(output).getData(); !data.empty())
      std::memcpy(buffer->data(), data.data(), data.size());
  return llvm::Error::success();
}

llvm::Expected<std::string>
InterpretedProgram::print(llvm::ArrayRef<NodeLocation> locations) {
  main.getBody().walk([&](Operation *op) {
    auto line = op->getLoc()->findInstanceOf<FileLineColLoc>();
    if (!line || line.getLine() >= locations.size())
      return;
    const NodeLocation &location = locations[line.getLine()];
    op->setLoc(FileLineColLoc::get(&context, location.file, location.line, 0));
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo().useLocalScope());
  return text;
}

static llvm::Expected<std::shared_ptr<InterpretedProgram>>
load(llvm::StringRef slice) {
  auto program = std::make_shared<InterpretedProgram>();
  if (llvm::Error error = program->load(slice))
    return std::move(error);
  return program;
}

llvm::Expected<std::string>
InterpreterCompiler::print(llvm::StringRef slice, llvm::StringRef phase,
                           llvm::ArrayRef<NodeLocation> locations,
                           const CompileOptions &options) {
  if (phase != "graph")
    return llvm::createStringError(
        "the interpreter has the phase 'graph' only, not '" + phase + "'");
  auto program = load(slice);
  if (!program)
    return program.takeError();
  return (*program)->print(locations);
}

llvm::Expected<std::shared_ptr<Program>>
metaops::interpretProgram(llvm::StringRef sliceBytecode) {
  auto program = load(sliceBytecode);
  if (!program)
    return program.takeError();
  if (llvm::Error error = (*program)->begin())
    return std::move(error);
  return program;
}

std::unique_ptr<Compiler> metaops::createInterpreterCompiler() {
  return std::make_unique<InterpreterCompiler>();
}
