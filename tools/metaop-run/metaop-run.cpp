//===- metaop-run.cpp - Runs a function of a module -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   metaop-run file.mlir [--entry=main] [--interpret]
//              [--input=x.npy ... | --seed=N [--shape=0:4x8 ...]]
//              [--output=folder | --output=y.npy] [--print] [--times]
//              [--target=cuda [--chip=sm_90a] [--emulate | --toolkit=folder]]
//   metaop-run file.mlir --compare[=rtol,atol] [--entry=name]
//              [--input=x.npy ... | --seed=N]
//              [--target=cuda [--chip=sm_90a] [--emulate | --toolkit=folder]]
//
// Arguments come from .npy files or from a seed (RandomTensor.h says how).
// Results are printed, or saved as .npy files. A function of kernels (the
// phases fused and scheduled) is compiled with the schedules that it has. What
// is compiled runs on this machine's CPU or GPU, or as a GPU's code on the
// emulator, where a fault of a kernel is an error. --times prints how long each
// kernel took; on a GPU, by its own clock.
//
// --compare runs a function, or every public function of the file if none is
// named, both compiled and interpreted, and says how far the results are apart.
// The exit status is 1 if that is beyond the tolerance: by default 2e-5 for
// f32, 1e-11 for f64, 4e-3 for f16, 3e-2 for bf16, and 0 for all others, both
// relative to the interpreted result and absolute. It also says how many
// kernels ran, and for how many threads there was work. A function that fails a
// check of indices has to fail it both ways, and has overwritten no argument.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Interpreter/Npy.h"
#include "MetaOps/Interpreter/RandomTensor.h"
#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "MetaOps/Transforms/Simplify/WidenReductions.h"
#include "Target.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace mlir::metaop;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
namespace cl = llvm::cl;

namespace {

/// The command line.
struct Options {
  cl::OptionCategory category{"metaop-run options"};
  cl::opt<std::string> file{cl::Positional, cl::desc("<file.mlir, or - >"),
                            cl::init("-"), cl::cat(category)};
  cl::opt<std::string> entry{"entry", cl::desc("The function to run"),
                             cl::value_desc("name"), cl::init("main"),
                             cl::cat(category)};
  cl::opt<bool> interpret{"interpret",
                          cl::desc("Run the reference interpreter"),
                          cl::cat(category)};
  cl::opt<std::string> compare{
      "compare",
      cl::desc("Run compiled and interpreted, and fail where results differ by "
               "more than a tolerance; every public function without --entry"),
      cl::value_desc("rtol,atol"), cl::ValueOptional, cl::cat(category)};
  cl::list<std::string> inputs{"input",
                               cl::desc("The next argument, from a .npy file"),
                               cl::value_desc("x.npy"), cl::cat(category)};
  cl::opt<uint64_t> seed{"seed",
                         cl::desc("Make the arguments from a seed (default 0)"),
                         cl::value_desc("N"), cl::init(0), cl::cat(category)};
  cl::list<std::string> shapes{
      "shape",
      cl::desc("The shape of argument number N made from the seed, where its "
               "type has dynamic extents"),
      cl::value_desc("N:AxBx..."), cl::cat(category)};
  cl::opt<std::string> output{
      "output",
      cl::desc("Save the one result as a .npy file, or each as result<N>.npy "
               "in a folder"),
      cl::value_desc("y.npy or folder"), cl::cat(category)};
  cl::opt<bool> print{"print",
                      cl::desc("Print the results even if they are saved"),
                      cl::cat(category)};
  cl::opt<bool> times{"times", cl::desc("Print how long each kernel took"),
                      cl::cat(category)};
  cl::opt<std::string> target{"target",
                              cl::desc("What to compile for: cpu (the default) "
                                       "or cuda"),
                              cl::value_desc("cpu|cuda"), cl::init("cpu"),
                              cl::cat(category)};
  cl::opt<std::string> chip{
      "chip", cl::desc("The GPU to compile for (default sm_90a)"),
      cl::value_desc("sm_80|...|sm_90a"), cl::cat(category)};
  cl::list<std::string> toolkits{
      "toolkit", cl::value_desc("folder"),
      cl::desc("A folder laid out as a CUDA toolkit, before the usual ones"),
      cl::cat(category)};
  cl::opt<bool> emulate{"emulate", cl::desc("Run a GPU's code on the emulator"),
                        cl::cat(category)};
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The entry function of a module.
static Expected<func::FuncOp> findEntry(ModuleOp module, StringRef name) {
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  std::string names;
  llvm::raw_string_ostream os(names);
  llvm::interleaveComma(
      module.getOps<func::FuncOp>(), os,
      [&](func::FuncOp function) { os << function.getSymName(); });
  return createStringError("there is no function '" + name + "'; there is " +
                           (names.empty() ? "none" : names));
}

/// "0:4x8" as argument number and extents.
static Expected<std::pair<unsigned, SmallVector<int64_t>>>
parseShape(StringRef text) {
  auto [number, extents] = text.split(':');
  unsigned argument;
  bool isValid = !number.getAsInteger(10, argument) && text.contains(':');
  SmallVector<StringRef> parts;
  extents.split(parts, 'x');
  SmallVector<int64_t> shape(parts.size());
  for (auto [part, extent] : llvm::zip_equal(parts, shape))
    isValid &= !part.getAsInteger(10, extent) && extent >= 0;
  if (!isValid)
    return createStringError("--shape=" + text +
                             ": expected an argument's number and its extents, "
                             "as in --shape=0:4x8");
  return std::make_pair(argument, shape);
}

static Error checkArgument(const Tensor &value, Type type, unsigned number,
                           const Twine &source) {
  return checkType(value, type, "argument " + Twine(number) + source);
}

static Expected<Tensors> readArguments(ArrayRef<std::string> paths,
                                       TypeRange types) {
  if (paths.size() != types.size())
    return createStringError("the function takes " + Twine(types.size()) +
                             " arguments, given " + Twine(paths.size()) +
                             " by --input");
  Tensors arguments;
  for (size_t i = 0; i < types.size(); ++i) {
    Expected<Tensor> value = readNpy(paths[i], types[i].getContext());
    // Files know no `index`.
    if (value && types[i].isIndex() && value->getRank() == 0 &&
        value->getElementKind() == ElementKind::I64)
      value = Tensor::fromScalar(types[i], value->get(0));
    if (!value)
      return value.takeError();
    if (Error error =
            checkArgument(*value, types[i], i, " ('" + paths[i] + "')"))
      return error;
    arguments.push_back(std::move(*value));
  }
  return arguments;
}

static Expected<Tensors> makeArguments(uint64_t seed,
                                       ArrayRef<std::string> shapeOptions,
                                       TypeRange types) {
  llvm::DenseMap<unsigned, SmallVector<int64_t>> shapes;
  for (StringRef text : shapeOptions) {
    auto shape = parseShape(text);
    if (!shape)
      return shape.takeError();
    if (shape->first >= types.size())
      return createStringError("--shape=" + text + ": the function takes " +
                               Twine(types.size()) + " arguments");
    shapes[shape->first] = shape->second;
  }

  SplitMix64 generator(seed);
  Tensors arguments;
  for (unsigned i = 0; i < types.size(); ++i) {
    auto type = dyn_cast<RankedTensorType>(types[i]);
    auto given = shapes.find(i);
    if (given == shapes.end() && type && !type.hasStaticShape())
      return createStringError(
          "argument " + Twine(i) +
          " has dynamic extents: give --shape=" + Twine(i) + ":... or --input");
    SmallVector<int64_t> shape;
    if (given != shapes.end())
      shape = given->second;
    else if (type)
      shape.assign(type.getShape().begin(), type.getShape().end());
    Expected<Tensor> value = makeRandomTensor(
        type ? type.getElementType() : types[i], shape, generator);
    if (!value)
      return createStringError("argument " + Twine(i) + ": " +
                               toString(value.takeError()));
    if (Error error = checkArgument(*value, types[i], i, " (by --shape)"))
      return error;
    arguments.push_back(std::move(*value));
  }
  return arguments;
}

static Expected<Tensors> getArguments(const Options &options, TypeRange types) {
  if (options.inputs.empty())
    return makeArguments(options.seed, options.shapes, types);
  if (options.seed.getNumOccurrences() || options.shapes.getNumOccurrences())
    return createStringError(
        "--input gives the arguments, so --seed and --shape cannot");
  return readArguments(options.inputs, types);
}

//===----------------------------------------------------------------------===//
// Execution and results
//===----------------------------------------------------------------------===//

namespace {
/// Report of what ran, and how long each call took.
struct RunReport {
  metaops::ProgramInfo info;
  std::vector<metaops::CallTime> times;
};
} // namespace

/// Compiles the entry function and runs it.
static Expected<Tensors> runCompiled(func::FuncOp entry,
                                     ArrayRef<Tensor> arguments, Target &target,
                                     RunReport &report) {
  func::CallOp call;
  entry.walk([&](func::CallOp found) { call = call ? call : found; });
  if (call) {
    call.emitError("calls @")
        << call.getCallee()
        << "; a function that is compiled calls no other: inline it first "
           "(metaop-opt --inline), or run it with --interpret";
    return createStringError("the function cannot be compiled");
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(entry.getLoc());
  auto copy = cast<func::FuncOp>(entry->clone());
  copy.setName("main");
  copy.setPublic();
  module->push_back(copy);
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (failed(writeBytecodeToFile(*module, stream)))
    return createStringError("the function could not be written as bytecode");

  llvm::SmallVector<bool> donatable(arguments.size(), false);
  auto program =
      target.compiler->compile(bytecode, donatable, metaops::CompileOptions());
  if (!program)
    return program.takeError();
  report.info = (*program)->getInfo();
  metaops::Allocator memory(target.memory);
  metaops::ThreadPool threads;
  llvm::SmallVector<metaops::BufferRef> inputs, outputs;
  for (const Tensor &argument : arguments) {
    ArrayRef<char> data = argument.getData();
    inputs.push_back(memory.allocate(data.size()));
    inputs.back()->write(data.data(), data.size());
  }
  if (Error error =
          (*program)->run(inputs, outputs, memory, threads, &report.times)) {
    for (auto [argument, input] : llvm::zip_equal(arguments, inputs)) {
      std::vector<char> now(input->bytes());
      input->read(now.data(), now.size());
      if (argument.getData() != ArrayRef(now))
        return llvm::joinErrors(
            std::move(error),
            createStringError("the program has overwritten an argument"));
    }
    return std::move(error);
  }
  Tensors results;
  for (auto [output, type] : llvm::zip_equal(outputs, entry.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    auto result = Tensor::create(tensor.getElementType(), tensor.getShape());
    if (!result)
      return result.takeError();
    llvm::MutableArrayRef<char> data = result->getMutableData();
    output->read(data.data(), data.size());
    results.push_back(std::move(*result));
  }
  return results;
}

static void printTimes(const RunReport &report) {
  for (const metaops::CallTime &time : report.times)
    if (time.statistics.runs > 0)
      llvm::outs() << report.info.calls[time.call].name << ": "
                   << llvm::format("%.3f us\n",
                                   double(time.statistics.total) / 1000);
}

static void printResults(ArrayRef<Tensor> results, TypeRange types) {
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::outs() << "result " << i << ": ";
    if (types[i].isIndex())
      llvm::outs() << types[i] << '\n';
    else
      llvm::outs() << results[i].getType() << '\n';
    results[i].print(llvm::outs());
    llvm::outs() << '\n';
  }
}

static Error saveResults(ArrayRef<Tensor> results, StringRef output) {
  if (output.ends_with(".npy")) {
    if (results.size() != 1)
      return createStringError("--output=" + output + " is one file, but " +
                               Twine(results.size()) +
                               " results are to be saved; name a folder");
    return writeNpy(output, results.front());
  }
  if (std::error_code error = llvm::sys::fs::create_directories(output))
    return createStringError("cannot make the folder '" + output +
                             "': " + error.message());
  for (size_t i = 0; i < results.size(); ++i) {
    SmallString<128> path(output);
    llvm::sys::path::append(path, "result" + Twine(i) + ".npy");
    if (Error error = writeNpy(path, results[i]))
      return error;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// "N thing" or "N things".
static std::string countNoun(int64_t count, StringRef noun) {
  return (Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

/// Prints what was found for one function; whether all is within tolerance.
/// Says how many kernels agree, and how many threads had work, since a test
/// that meant to share a loop among threads cannot tell otherwise.
static bool reportDifferences(StringRef name, ArrayRef<Tensor> computed,
                              ArrayRef<Tensor> expected,
                              std::optional<Tolerance> given,
                              const metaops::ProgramInfo &info) {
  bool isFine = true;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    ElementKind kind = expected[i].getElementKind();
    Tolerance tolerance = given ? *given : Tolerance::ofType(kind);
    Difference difference = findDifference(computed[i], expected[i], tolerance);
    largest = std::max(largest, difference.largest);
    if (difference.beyond == 0)
      continue;
    isFine = false;
    llvm::outs() << name << ": result " << i << " differs in "
                 << difference.beyond << " of " << difference.elements
                 << " elements, most at [";
    llvm::interleaveComma(difference.place, llvm::outs());
    llvm::outs() << llvm::format("]: compiled %.9g, interpreted %.9g\n",
                                 difference.computed, difference.expected);
  }
  if (!isFine)
    return false;
  int64_t threads = 1;
  for (const metaops::KernelInfo &call : info.calls)
    threads = std::max(threads, call.maxThreads);
  llvm::outs() << name << ": " << expected.size()
               << llvm::format(" results agree, largest difference %.2g; ",
                               largest)
               << countNoun(info.calls.size(), "kernel") << ", work for "
               << countNoun(threads, "thread") << '\n';
  return true;
}

/// Returns whether a function whose indices the interpreter finds out of range
/// is found so when it is compiled.
static Expected<bool> compareFailures(StringRef name, Error expected,
                                      Expected<Tensors> computed) {
  std::string message;
  if (Error other = llvm::handleErrors(std::move(expected),
                                       [&](const IndicesOutOfRange &indices) {
                                         message = indices.getMessage();
                                       })) {
    llvm::consumeError(computed.takeError());
    return std::move(other);
  }
  if (computed) {
    llvm::outs() << name << ": interpreted, " << message
                 << "; compiled, it does not fail\n";
    return false;
  }
  bool isSame = false;
  if (Error other = llvm::handleErrors(
          computed.takeError(), [&](const metaops::CheckFailure &failure) {
            isSame = StringRef(failure.getMessage()).starts_with(message);
            llvm::outs() << name << ": both fail, which "
                         << (isSame ? "agrees: " : "differs: ") << message
                         << "; " << failure.getMessage() << '\n';
          }))
    return std::move(other);
  return isSame;
}

/// Returns whether a function gives the same compiled and interpreted.
static Expected<bool> compareFunction(func::FuncOp function,
                                      const Options &options,
                                      std::optional<Tolerance> tolerance,
                                      Target &target) {
  Expected<Tensors> arguments =
      getArguments(options, function.getArgumentTypes());
  if (!arguments)
    return arguments.takeError();
  Expected<Tensors> expected = Interpreter().run(function, *arguments);
  if (!expected && !expected.errorIsA<IndicesOutOfRange>())
    return expected.takeError();
  RunReport report;
  Expected<Tensors> computed =
      runCompiled(function, *arguments, target, report);
  if (!expected)
    return compareFailures(function.getName(), expected.takeError(),
                           std::move(computed));
  if (!computed)
    return computed.takeError();
  if (options.times)
    printTimes(report);
  return reportDifferences(function.getName(), *computed, *expected, tolerance,
                           report.info);
}

static Error compare(const Options &options, ModuleOp module, Target &target) {
  std::optional<Tolerance> tolerance;
  if (!options.compare.empty()) {
    Expected<Tolerance> given = Tolerance::parse(options.compare);
    if (!given)
      return given.takeError();
    tolerance = *given;
  }
  SmallVector<func::FuncOp> functions;
  if (options.entry.getNumOccurrences()) {
    Expected<func::FuncOp> entry = findEntry(module, options.entry);
    if (!entry)
      return entry.takeError();
    functions.push_back(*entry);
  } else {
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        functions.push_back(function);
  }
  if (functions.empty())
    return createStringError("there is no public function to compare");

  unsigned failures = 0;
  for (func::FuncOp function : functions) {
    Expected<bool> isFine =
        compareFunction(function, options, tolerance, target);
    if (!isFine)
      llvm::outs() << function.getName()
                   << ": error: " << toString(isFine.takeError()) << '\n';
    failures += !isFine || !*isFine;
  }
  llvm::outs().flush();
  if (failures)
    return createStringError(Twine(failures) + " of " +
                             Twine(functions.size()) +
                             " functions do not agree");
  return Error::success();
}

static Error checkOptions(const Options &options) {
  if (options.compare.getNumOccurrences() &&
      (options.interpret || options.print || !options.output.empty()))
    return createStringError(
        "--compare runs both ways and keeps no results, so --interpret, "
        "--output and --print cannot be given");
  if (options.interpret &&
      (options.target.getNumOccurrences() || options.chip.getNumOccurrences() ||
       options.emulate || options.times))
    return createStringError("--interpret compiles nothing, so --target, "
                             "--chip, --emulate and --times cannot be given");
  return Error::success();
}

static Error run(const Options &options, ModuleOp module) {
  if (Error error = checkOptions(options))
    return error;
  Expected<Target> target =
      Target::create({options.target,
                      options.chip,
                      options.emulate,
                      {options.toolkits.begin(), options.toolkits.end()}});
  if (!target)
    return target.takeError();
  // The interpreter runs ops as they are; this is part of what programs mean.
  for (auto function : module.getOps<func::FuncOp>())
    walkBlocks(function.getBody(), widenAddends);
  if (options.compare.getNumOccurrences())
    return compare(options, module, *target);
  Expected<func::FuncOp> entry = findEntry(module, options.entry);
  if (!entry)
    return entry.takeError();
  FunctionType type = entry->getFunctionType();
  Expected<Tensors> arguments = getArguments(options, type.getInputs());
  if (!arguments)
    return arguments.takeError();
  RunReport report;
  Expected<Tensors> results =
      options.interpret ? Interpreter().run(*entry, *arguments)
                        : runCompiled(*entry, *arguments, *target, report);
  if (!results)
    return results.takeError();
  if (options.times)
    printTimes(report);
  if (options.output.empty() || options.print)
    printResults(*results, type.getResults());
  return options.output.empty() ? Error::success()
                                : saveResults(*results, options.output);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialise(argc, argv);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::ParseCommandLineOptions(
      argc, argv, "Runs a function of a MetaOps module on given inputs\n");

  DialectRegistry registry;
  registry.insert<MetaOpDialect, func::FuncDialect, arith::ArithDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      openInputFile(options.file, &message);
  if (!buffer) {
    llvm::WithColor::error(llvm::errs(), "metaop-run") << message << '\n';
    return 1;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return 1;

  try {
    if (Error error = run(options, *module)) {
      llvm::WithColor::error(llvm::errs(), "metaop-run")
          << toString(std::move(error)) << '\n';
      return 1;
    }
  } catch (const std::bad_alloc &error) {
    llvm::WithColor::error(llvm::errs(), "metaop-run") << error.what() << '\n';
    return 1;
  }
  return 0;
}
