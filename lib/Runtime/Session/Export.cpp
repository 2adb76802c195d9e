//===- Export.cpp - Programs for other processes --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. A function's recording becomes a slice of its own (ExportTrace.cpp).
// 2. The slices are compiled for each target, and written into one file with
//    the signature and the weights, each once, and as text for other compilers.
//    Values of weights that are not there yet are computed.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Export.h"
#include "ExportTrace.h"
#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "MetaOps/Runtime/Compiler/ExportedIR.h"
#include "MetaOps/Runtime/Export/HostFeatures.h"
#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace metaops;

//===----------------------------------------------------------------------===//
// Rebinding by functions
//===----------------------------------------------------------------------===//

std::vector<Rebind> metaops::findRebinds(const RecordedFunction &function) {
  using Step = RecordedFunction::Step;
  // Of each value, the step that makes it, if one does.
  std::vector<const Step *> makers(function.getNumArguments() +
                                   function.getConstants().size());
  llvm::MapVector<unsigned, std::string> lines;
  for (const Step &step : function.getSteps()) {
    if (step.kind == Step::Kind::Update || step.kind == Step::Kind::Assign) {
      const Step *made = step.op ? &step : makers[step.operands.front()];
      lines[step.argument] =
          made ? formatLine(made->op->getLoc()) : "an unknown line";
    }
    makers.insert(makers.end(), step.getNumResults(), &step);
  }
  std::vector<Rebind> rebinds;
  for (auto &[argument, line] : lines)
    rebinds.push_back({argument, line});
  return rebinds;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Fails where a slice calls a function of this process, or any code of a
/// user's where the file has none. Loops and branches may have it inside.
static void checkExterns(const Slice &slice, bool hasCode) {
  for (Node *node : slice.ops)
    node->op->walk([&](mlir::metaop::ExternOp op) {
      llvm::StringRef kind = op.getFunction().split('.').first;
      if (hasCode && kind == "code")
        return;
      fail(ErrorKind::Value,
           "export: " + kind + " is called at " + formatLine(op.getLoc()) +
               (hasCode ? ", which is a function of this process; expected "
                          "meta-operators, or mo.code"
                        : ", and a file without machine code has none of your "
                          "own; expected meta-operators alone"));
    });
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// The weights of a file, in their order.
class Weights {
public:
  explicit Weights(llvm::ArrayRef<NamedVar> named) {
    for (const auto &[name, var] : named)
      names.try_emplace(var->getNode(), name);
  }

  /// Returns the number of a value's weight. Those of no name are numbered;
  /// numbers that are equal are one.
  unsigned add(Node *value) {
    value = getFirst(value);
    auto [place, isNew] = numbers.try_emplace(value, weights.size());
    if (isNew) {
      auto name = names.find(value);
      weights.emplace_back(name != names.end()
                               ? name->second
                               : "constant_" + std::to_string(numUnnamed++),
                           value);
    }
    return place->second;
  }

  /// Adds a value by a name of its own.
  void add(llvm::StringRef name, Node *value) {
    auto found = llvm::find_if(
        weights, [&](const auto &each) { return each.first == name; });
    // Each recording of a function makes the same number anew.
    if (found != weights.end() &&
        (found->second == value ||
         (value->isScalar && found->second->isScalar &&
          found->second->scalar == value->scalar)))
      return;
    numbers.try_emplace(value, weights.size());
    weights.emplace_back(name.str(), value);
  }

  llvm::ArrayRef<std::pair<std::string, Node *>> list() const {
    return weights;
  }

private:
  /// Returns the first of the numbers without a name that are equal to one.
  Node *getFirst(Node *value) {
    if (!value->isScalar || names.contains(value))
      return value;
    return scalars.try_emplace({value->dtype, value->scalar}, value)
        .first->second;
  }

  llvm::DenseMap<Node *, std::string> names;
  llvm::DenseMap<Node *, unsigned> numbers;
  /// The first of equal numbers, by their bits.
  std::map<std::pair<DType, uint64_t>, Node *> scalars;
  std::vector<std::pair<std::string, Node *>> weights;
  unsigned numUnnamed = 0;
};
} // namespace

/// Describes what is not of one function.
static void describe(const ExportRequest &request, const Weights &weights,
                     ProgramSignature &signature) {
  for (const auto &[name, value] : weights.list())
    signature.weights.push_back(describeTensor(name, value));
  for (const ExportTarget &target : request.targets)
    signature.targets.push_back({target.name, getTargetFeatures(target.name)});
  if (auto identity = getBuildIdentity())
    signature.producer = "metaops " + *identity;
  signature.keys = request.keys;
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

/// The session's options, with the schedules of a target, and without
/// libraries: the file's machine may have none.
static CompileOptions getOptions(const ExportTarget &target,
                                 CompileOptions options) {
  options.libraries = false;
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
                                   llvm::ArrayRef<ExportedSlice> slices,
                                   llvm::ArrayRef<VaryingDim> varying) {
  Compiler &backend = *(settings.useInterpreter ? programs.getInterpreter()
                                                : programs.getCompiler());
  KernelTools *tools = backend.getTools();
  if (!tools)
    fail(ErrorKind::Runtime, "the interpreter has no code to export; set the "
                             "flag backend to compiled");
  CompileOptions options = getOptions(target, settings.options);
  options.varying.assign(varying.begin(), varying.end());
  auto code =
      tools->compileFor(target.name, slices, options, waiter.getStopCheck());
  if (!code && code.errorIsA<Interrupted>()) {
    llvm::consumeError(code.takeError());
    fail(ErrorKind::Interrupted, "interrupted while a program was compiled");
  }
  return check(std::move(code));
}

SuppliedCode SessionImpl::compileIR(const ProgramSignature &signature,
                                    const FunctionSignature &function,
                                    llvm::StringRef ir) {
  std::string target = findHostTarget();
  if (target.empty())
    fail(ErrorKind::Value, "this processor is of no kind that program files "
                           "are compiled for");
  auto bytecode = readExportedIR(ir, signature, function);
  if (!bytecode)
    fail(ErrorKind::Value,
         "the IR of the program file: " + llvm::toString(bytecode.takeError()));
  TargetCode code =
      compileFor({target, ""}, ExportedSlice{std::move(*bytecode), {}});
  return {target, std::move(code.programs.front()), std::move(code.image)};
}

static ExportedSlice writeExport(const ExportTrace &traced) {
  const Slice &slice = traced.getSlice();
  ExportedSlice written;
  written.bytecode = writeSlice(traced.getGraph(), slice);
  for (Node *node : slice.ops)
    written.lines.push_back(formatLine(node->op->getLoc()));
  return written;
}

CompiledFunction
SessionImpl::compileExport(llvm::ArrayRef<ExportedSlice> slices,
                           llvm::ArrayRef<NamedExtent> extents,
                           llvm::ArrayRef<ExportTarget> targets) {
  // Inputs are a slice's first arguments. A single size has kernels of its own.
  std::vector<VaryingDim> varying;
  if (slices.size() > 1)
    for (const NamedExtent &extent : extents)
      for (auto [input, dim] : extent.dims)
        varying.push_back({input, dim});
  CompiledFunction compiled;
  for (const ExportTarget &target : targets)
    compiled.code.push_back(compileFor(target, slices, varying));
  if (extents.empty())
    compiled.ir =
        check(writeExportedIR(slices.front().bytecode, slices.front().lines));
  return compiled;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Returns "batch 1, length 16".
static std::string formatSizes(const ExportedFunction &function,
                               llvm::ArrayRef<int64_t> sizes) {
  std::string text;
  for (auto [extent, size] : llvm::zip_equal(function.extents, sizes))
    text +=
        (text.empty() ? "" : ", ") + extent.name + " " + std::to_string(size);
  return text;
}

/// Fails where a function takes or gives other tensors at one size than at the
/// first.
static void checkAlike(const ExportedFunction &function,
                       llvm::ArrayRef<int64_t> sizes, llvm::StringRef what,
                       llvm::ArrayRef<TensorSpec> first,
                       llvm::ArrayRef<TensorSpec> found) {
  auto describeAll = [](llvm::ArrayRef<TensorSpec> tensors) {
    std::string text;
    for (const TensorSpec &tensor : tensors)
      text +=
          (text.empty() ? "" : ", ") + tensor.name + ": " + formatType(tensor);
    return text;
  };
  bool isAlike = first.size() == found.size();
  for (size_t i = 0; isAlike && i < first.size(); ++i)
    isAlike = first[i].name == found[i].name &&
              first[i].dtype == found[i].dtype &&
              first[i].shape.size() == found[i].shape.size();
  if (!isAlike)
    fail(ErrorKind::Value,
         "export: the function " + what + " (" + describeAll(first) +
             ") with " +
             formatSizes(function, function.recordings.front().sizes) +
             ", and (" + describeAll(found) + ") with " +
             formatSizes(function, sizes) +
             "; expected tensors of the same names, dtypes and ranks");
}

/// Adds a program's signature to that of a function of several sizes.
static void addSizes(const ExportedFunction &function,
                     llvm::ArrayRef<int64_t> sizes, FunctionSignature fixed,
                     FunctionSignature &signature) {
  if (signature.programs.empty()) {
    signature.inputs = fixed.inputs;
    signature.outputs = fixed.outputs;
    signature.extents = function.extents;
    for (const NamedExtent &extent : function.extents)
      for (auto [input, dim] : extent.dims)
        signature.inputs[input].shape[dim] = kAnyExtent;
  }
  checkAlike(function, sizes, "takes", signature.inputs, fixed.inputs);
  checkAlike(function, sizes, "returns", signature.outputs, fixed.outputs);
  SizedProgram &program = signature.programs.emplace_back();
  program.sizes = sizes;
  program.arguments = std::move(fixed.arguments);
  for (auto [all, output] : llvm::zip_equal(signature.outputs, fixed.outputs)) {
    for (auto [extent, own] : llvm::zip_equal(all.shape, output.shape))
      if (extent != own)
        extent = kAnyExtent;
    program.outputs.push_back(std::move(output.shape));
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Adds the weights that a function reads to its signature.
static void addWeights(const ExportTrace &traced, Weights &weights,
                       FunctionSignature &signature) {
  llvm::ArrayRef<Node *> leaves = traced.getSlice().leaves;
  for (Node *leaf : leaves.drop_front(traced.getNumInputs()))
    signature.arguments.push_back(weights.add(traced.getSource(leaf)));
}

/// Adds what a function's state begins with.
static void addState(const ExportedRecording &function, Recorder &recorder,
                     Weights &weights) {
  for (unsigned number : function.state) {
    const auto &[name, var] = function.arguments[number];
    weights.add(name, var->getNode());
  }
  if (!function.drawsFromState || !function.recorded->drawsRandom())
    return;
  weights.add(kRandomKey, recorder.randomKey());
  weights.add(kRandomCounter, recorder.randomCounter(0));
}

void SessionImpl::exportProgram(const std::shared_ptr<RecordingSession> &own,
                                const ExportRequest &request,
                                llvm::StringRef path) {
  flushUpdates();
  Weights weights(request.weights);
  ProgramFileContents contents;
  // They have leaves that are weights.
  std::vector<std::unique_ptr<ExportTrace>> traces;
  std::vector<CompiledFunction> compiled;
  for (const ExportedFunction &function : request.functions) {
    FunctionSignature signature;
    std::vector<ExportedSlice> slices;
    for (const ExportedRecording &recording : function.recordings) {
      traces.push_back(std::make_unique<ExportTrace>(own, recording));
      checkExterns(traces.back()->getSlice(), !request.targets.empty());
      FunctionSignature fixed = traces.back()->describe();
      addState(recording, recorder, weights);
      addWeights(*traces.back(), weights, fixed);
      if (function.extents.empty())
        signature = std::move(fixed);
      else
        addSizes(function, recording.sizes, std::move(fixed), signature);
      slices.push_back(writeExport(*traces.back()));
    }
    signature.name = function.name;
    signature.structure = function.structure;
    contents.signature.functions.push_back(std::move(signature));
    compiled.push_back(
        compileExport(slices, function.extents, request.targets));
  }
  describe(request, weights, contents.signature);
  for (const CompiledFunction &function : compiled) {
    auto &written = contents.functions.emplace_back();
    written.ir = function.ir;
    for (const TargetCode &code : function.code)
      written.code.push_back({std::vector<llvm::StringRef>(
                                  code.programs.begin(), code.programs.end()),
                              code.image});
  }
  computeWeights(llvm::to_vector(llvm::make_second_range(weights.list())));
  for (const auto &[name, value] : weights.list()) {
    BufferRef buffer = memory.bufferOf(value);
    contents.weights.push_back(
        {static_cast<const char *>(buffer->data()),
         static_cast<size_t>(getNumBytes(value->shape(), value->dtype))});
  }
  writeWhole(contents, path);
}

void SessionImpl::computeWeights(llvm::ArrayRef<Node *> values) {
  llvm::SmallSetVector<Node *, 8> missing;
  for (Node *value : values) {
    if (value->isDonated)
      failOverwritten(value);
    if (!value->isLeaf())
      missing.insert(value);
  }
  // Alone: what asking computes along might be an output.
  if (!missing.empty())
    runner.compute(missing.getArrayRef(), RunKind::Initial);
  waiter.drainInside();
}
