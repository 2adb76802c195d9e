//===- Export.cpp - Programs for other processes --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. What was recorded before the inputs does not depend on them: it is
// computed,
//    such as the initial values of parameters. Nothing else is run.
// 2. The slice of the outputs is traced as for a run, with what checks its
//    indices. Its leaves become arguments: the inputs in their order, whether
//    they are read or not, then the weights. An output that is a leaf goes
//    through an operation that does nothing, so that it is no argument's
//    memory.
// 3. The slice is compiled for each target, and written into one file with the
//    signature and the weights, and as text for other compilers.
//
// A file has no state, so a program that draws random numbers is refused: it
// would draw the same ones in each run.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Export.h"
#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "MetaOps/Runtime/Compiler/ExportedIR.h"
#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace metaops;

namespace {
/// The weights of a program, by their leaves.
struct Weights {
  llvm::DenseMap<Node *, std::string> names;
  unsigned numUnnamed = 0;

  std::string nameOf(Node *leaf) {
    auto name = names.find(leaf);
    return name != names.end() ? name->second
                               : "constant_" + std::to_string(numUnnamed++);
  }
};
} // namespace

static TensorSpec describe(std::string name, const Node *node) {
  return {std::move(name), node->dtype, node->shape().vec()};
}

/// Fails where a name stands for a value that the file cannot have so.
static void checkInputs(const ExportRequest &request) {
  llvm::SmallPtrSet<Node *, 8> seen;
  for (const auto &[name, var] : request.inputs) {
    Node *node = var->getNode();
    if (!node->isLeaf() || node->isDonated)
      fail(ErrorKind::Value,
           "export: input '" + name + "' is computed; expected an array");
    if (!seen.insert(node).second)
      fail(ErrorKind::Value, "export: input '" + name +
                                 "' is another input, too; expected arrays of "
                                 "their own");
  }
}

/// A file has no numbers to draw from: the session's are scalars beside it.
static void checkNotRandom(const Graph &graph, const Slice &slice) {
  for (Node *op : slice.ops)
    if (graph.getInfo(op).isRandom &&
        llvm::all_of(op->operands,
                     [](Node *operand) { return operand->isScalar; }))
      fail(
          ErrorKind::Value,
          "export: the program draws random numbers at " +
              formatLine(op->op->getLoc()) +
              ", and would draw the same ones in each run; expected them as an "
              "input");
}

/// Computes what the outputs need that was recorded before the inputs.
void SessionImpl::computeConstants(const ExportRequest &request) {
  Slice slice;
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const NamedVar &input : request.inputs)
    first = std::min(first, input.second->node->order);
  llvm::SmallSetVector<Node *, 8> constants;
  auto add = [&](Node *node) {
    if (!node->isLeaf() && node->order < first)
      constants.insert(node);
  };
  llvm::SmallVector<Node *> outputs;
  for (const NamedVar &output : request.outputs)
    if (!output.second->node->isLeaf())
      outputs.push_back(output.second->node);
  traceSlice(graph, outputs, slice);
  llvm::for_each(outputs, add);
  for (Node *op : slice.ops)
    if (op->order >= first)
      llvm::for_each(op->operands, add);
  // Alone: what asking computes along might be an output.
  if (!constants.empty())
    runner.compute(constants.getArrayRef(), RunKind::Initial);
}

/// Traces what is exported. The leaves are the inputs, then the others.
Slice SessionImpl::traceExport(const ExportRequest &request) {
  Slice slice;
  llvm::SmallVector<Node *> outputs;
  for (const NamedVar &output : request.outputs) {
    Node *node = output.second->node;
    outputs.push_back(node->isLeaf() ? recorder.stopGrad(node) : node);
  }
  traceSlice(graph, outputs, slice);
  checkNotRandom(graph, slice);
  llvm::SmallSetVector<Node *, 8> leaves;
  for (const NamedVar &input : request.inputs)
    leaves.insert(input.second->node);
  leaves.insert(slice.leaves.begin(), slice.leaves.end());
  slice.leaves.assign(leaves.begin(), leaves.end());
  return slice;
}

/// What a program takes and gives.
static ProgramSignature describeExport(const ExportRequest &request,
                                       const Slice &slice) {
  ProgramSignature signature;
  for (const auto &[name, var] : request.inputs)
    signature.inputs.push_back(describe(name, var->getNode()));
  for (const auto &[name, var] : request.outputs)
    signature.outputs.push_back(describe(name, var->getNode()));
  Weights weights;
  for (const auto &[name, var] : request.weights)
    weights.names.try_emplace(var->getNode(), name);
  for (auto [number, leaf] : llvm::enumerate(slice.leaves)) {
    bool isWeight = number >= request.inputs.size();
    signature.isWeight.push_back(isWeight);
    if (isWeight)
      signature.weights.push_back(describe(weights.nameOf(leaf), leaf));
  }
  for (const ExportTarget &target : request.targets)
    signature.targets.push_back({target.name, getTargetFeatures(target.name)});
  if (auto identity = getBuildIdentity())
    signature.producer = "metaops " + *identity;
  signature.keys = request.keys;
  return signature;
}

/// Writes a file so that nobody sees a part of it.
static void writeWhole(const ProgramFileContents &contents,
                       llvm::StringRef path) {
  auto temporary = check(llvm::sys::fs::TempFile::create(path + ".%%%%%%"));
  {
    llvm::raw_fd_ostream stream(temporary.FD, /*shouldClose=*/false);
    llvm::Error error = writeProgramFile(contents, stream);
    stream.flush();
    if (!error && stream.has_error()) {
      error = llvm::createStringError(stream.error().message());
      stream.clear_error();
    }
    if (error) {
      llvm::consumeError(temporary.discard());
      check(std::move(error));
    }
  }
  check(temporary.keep(path));
}

/// The session's options, with the schedules of a target.
static CompileOptions getOptions(const ExportTarget &target,
                                 CompileOptions options) {
  if (target.scheduleFile.empty())
    return options;
  auto buffer = llvm::MemoryBuffer::getFile(target.scheduleFile);
  if (!buffer)
    fail(ErrorKind::Value, "export: cannot read '" + target.scheduleFile +
                               "', the schedules for " + target.name + ": " +
                               buffer.getError().message());
  options.scheduleFile = target.scheduleFile;
  options.schedules = (*buffer)->getBuffer().str();
  return options;
}

TargetCode SessionImpl::compileFor(const ExportTarget &target,
                                   llvm::StringRef bytecode,
                                   llvm::ArrayRef<std::string> lines) {
  Compiler &backend = *(settings.useInterpreter ? programs.getInterpreter()
                                                : programs.getCompiler());
  auto code = backend.compileFor(target.name, bytecode, lines,
                                 getOptions(target, settings.options),
                                 waiter.getStopCheck());
  if (!code && code.errorIsA<Interrupted>()) {
    llvm::consumeError(code.takeError());
    fail(ErrorKind::Interrupted, "interrupted while a program was compiled");
  }
  return check(std::move(code));
}

SuppliedCode SessionImpl::compileIR(const ProgramSignature &signature,
                                    llvm::StringRef ir) {
  std::string target = findHostTarget();
  if (target.empty())
    fail(ErrorKind::Value, "this processor is of no kind that program files "
                           "are compiled for");
  auto bytecode = readExportedIR(ir, signature);
  if (!bytecode)
    fail(ErrorKind::Value,
         "the IR of the program file: " + llvm::toString(bytecode.takeError()));
  TargetCode code = compileFor({target, ""}, *bytecode, /*lines=*/{});
  return {target, std::move(code.program), std::move(code.image)};
}

void SessionImpl::exportProgram(const ExportRequest &request,
                                llvm::StringRef path) {
  flushUpdates();
  checkInputs(request);
  computeConstants(request);
  Slice slice = traceExport(request);
  std::string bytecode = writeSlice(graph, slice);
  ProgramFileContents contents;
  contents.signature = describeExport(request, slice);
  std::vector<std::string> lines;
  for (Node *node : slice.ops)
    lines.push_back(formatLine(node->op->getLoc()));
  std::vector<TargetCode> codes;
  for (const ExportTarget &target : request.targets)
    codes.push_back(compileFor(target, bytecode, lines));
  for (const TargetCode &code : codes)
    contents.code.push_back({code.program, code.image});
  std::string ir = check(writeExportedIR(bytecode, lines));
  contents.ir = ir;
  waiter.drainInside();
  for (Node *leaf : llvm::drop_begin(slice.leaves, request.inputs.size())) {
    BufferRef buffer = memory.bufferOf(leaf);
    contents.weights.push_back(
        {static_cast<const char *>(buffer->data()),
         static_cast<size_t>(countBytes(leaf->shape(), leaf->dtype))});
  }
  writeWhole(contents, path);
}
