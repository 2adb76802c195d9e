//===- metaop-fuzz.cpp - Hostile programs, until something breaks ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   metaop-fuzz folder/ -max_total_time=60     mutates the programs of a folder
//   metaop-fuzz file.mlir                      runs one
//
// A target of libFuzzer: each input is a program, as text or bytecode, and goes
// through all that metaop-opt and metaop-run do short of machine code, in one
// process. It is parsed and verified, printed and parsed again, sent through
// the passes that its own RUN line names and through the phases of compilation,
// and interpreted. Diagnostics are what is expected. A crash, an assertion,
// what the sanitizers find, a program that is refused without a word or does
// not read back as it was printed stop the process.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Interpreter/RandomTensor.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Target/AllTargets.h"
#include "MetaOps/Target/CPU/CpuTarget.h"
#include "Mutators.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::metaop;

/// Elements of all types of a program that is interpreted. The interpreter
/// keeps every value, and takes as long as there are elements.
static constexpr int64_t maxElements = 20000;
/// Operations of a program that is compiled, for the sake of time.
static constexpr unsigned maxOperations = 400;

//===----------------------------------------------------------------------===//
// Contexts and diagnostics
//===----------------------------------------------------------------------===//

/// Those of metaop-opt.
static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry.insert<MetaOpDialect, affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  return registry;
}

namespace {
/// A context that keeps count of errors, which are told to nobody. It prints
/// them nevertheless, as the text of a broken program can break the printer.
struct Reader {
  static MLIRContext &makeContext(MLIRContext &context) {
    context.printOpOnDiagnostic(false);
    return context;
  }

  Reader()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED),
        handler(&makeContext(context), [this](Diagnostic &diagnostic) {
          diagnostic.print(stream);
          text.clear();
          errors += diagnostic.getSeverity() == DiagnosticSeverity::Error;
        }) {}

  MLIRContext context;
  std::string text;
  llvm::raw_string_ostream stream{text};
  unsigned errors = 0;
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Stops the process for what no sanitizer can see.
static void stop(const Twine &message, Operation *op) {
  llvm::errs() << "metaop-fuzz: " << message << '\n';
  if (op)
    op->print(llvm::errs(), OpPrintingFlags().assumeVerified());
  abort();
}

//===----------------------------------------------------------------------===//
// What is done with a program
//===----------------------------------------------------------------------===//

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// Checks that a valid module is printed such that it can be read, and is the
/// same then.
static void checkRoundTrip(ModuleOp module) {
  std::string text = print(module);
  Reader reader;
  OwningOpRef<ModuleOp> read =
      parseSourceString<ModuleOp>(text, &reader.context);
  if (!read)
    stop("a valid program is printed as text that is not:\n" + text, module);
  if (print(*read) != text)
    stop("a program is another one after it was printed and read", *read);
}

static void runPasses(ModuleOp module, PassManager &passes, Reader &reader,
                      const Twine &what) {
  OwningOpRef<ModuleOp> copy = module.clone();
  unsigned before = reader.errors;
  if (failed(passes.run(*copy)) && reader.errors == before)
    stop(what + " refuses a program without a word", module);
}

/// The passes that a test's RUN line gives to metaop-opt. Their options may be
/// mutants, too.
static void runNamedPasses(StringRef text, ModuleOp module, Reader &reader) {
  StringRef line = text.split("metaop-opt ").second.split('\n').first;
  SmallVector<StringRef> words;
  line.split(words, ' ', /*MaxSplit=*/8, /*KeepEmpty=*/false);
  PassManager passes(&reader.context);
  std::string names;
  auto ignore = [](const Twine &) { return failure(); };
  for (StringRef word : words) {
    if (word == "|")
      break;
    auto [name, options] = word.ltrim('-').split('=');
    if (options.contains("file"))
      continue;
    const PassRegistryEntry *pass = PassInfo::lookup(name);
    if (!pass)
      pass = PassPipelineInfo::lookup(name);
    if (!pass)
      continue;
    if (failed(pass->addToPipeline(passes, options.trim("\"'"), ignore)))
      return;
    names += (name + " ").str();
  }
  if (!names.empty())
    runPasses(module, passes, reader, names);
}

static void runPhases(ModuleOp module, Reader &reader, size_t seed) {
  const char *const rules[] = {"extended", "extended", "paper", "none"};
  CpuTarget target{Processor()};
  PipelineOptions options;
  options.target = &target;
  options.from = findPipelineStart(module);
  options.rules = rules[seed % std::size(rules)];
  options.reuseMemory = seed / 8 % 4 != 0;
  options.report = seed / 32 % 8 == 0;
  PassManager passes(&reader.context);
  if (llvm::Error error = buildPipeline(passes, "llvm", options))
    stop(toString(std::move(error)), module);
  runPasses(module, passes, reader, "the compiler");
}

/// The elements of a type; too many where that is not known.
static int64_t countElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return 1;
  if (!shaped.hasStaticShape())
    return maxElements + 1;
  int64_t count = 1;
  for (int64_t extent : shaped.getShape())
    count =
        std::min(count * std::min(extent, maxElements + 1), maxElements + 1);
  return count;
}

/// Returns whether no value has many elements, and they do not together.
static bool isSmall(ModuleOp module) {
  int64_t total = 0;
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      total += countElements(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          total += countElements(type);
  });
  return total <= maxElements;
}

static void interpret(func::FuncOp function) {
  SplitMix64 generator(0);
  Tensors arguments;
  for (Type type : function.getArgumentTypes()) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    llvm::Expected<Tensor> value = makeRandomTensor(
        shaped ? shaped.getElementType() : type,
        shaped ? shaped.getShape() : ArrayRef<int64_t>(), generator);
    if (!value) {
      llvm::consumeError(value.takeError());
      return;
    }
    arguments.push_back(std::move(*value));
  }
  llvm::Expected<Tensors> results = Interpreter().run(function, arguments);
  if (!results)
    llvm::consumeError(results.takeError());
}

/// Returns whether MLIR 22 itself breaks on this: its parser of arrays asks an
/// index for its width.
static bool breaksMLIR(StringRef data) { return data.contains("array<index"); }

static void run(StringRef data) {
  if (breaksMLIR(data))
    return;
  Reader reader;
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(data, &reader.context);
  if (!module)
    return;
  checkRoundTrip(*module);
  unsigned operations = 0;
  module->walk([&](Operation *) { ++operations; });
  if (operations > maxOperations)
    return;
  if (!metaops::fuzz::isBytecode(data))
    runNamedPasses(data, *module, reader);
  runPhases(*module, reader, llvm::hash_value(data));
  if (isSmall(*module))
    for (auto function : module->getOps<func::FuncOp>())
      if (!function.isExternal())
        interpret(function);
}

//===----------------------------------------------------------------------===//
// The interface of libFuzzer
//===----------------------------------------------------------------------===//

/// The operations of all dialects that programs hold, and their attributes.
static const metaops::fuzz::Dictionary &getDictionary() {
  static const metaops::fuzz::Dictionary words = [] {
    MLIRContext context(makeRegistry(), MLIRContext::Threading::DISABLED);
    context.loadDialect<MetaOpDialect, func::FuncDialect, arith::ArithDialect,
                        tensor::TensorDialect>();
    metaops::fuzz::Dictionary names;
    for (StringRef dialect : {"metaop", "metaop", "func", "arith", "tensor"})
      for (RegisteredOperationName op :
           context.getRegisteredOperationsByDialect(dialect)) {
        names.push_back(op.getStringRef().str());
        if (dialect == "metaop")
          for (StringAttr attribute : op.getAttributeNames())
            names.push_back(attribute.str());
      }
    return names;
  }();
  return words;
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  auto targets = std::make_shared<TargetRegistry>();
  registerAllTargets(*targets);
  registerMetaOpsPasses(std::move(targets));
  registerTransformsPasses();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // MLIR's lexer reads the zero behind the end.
  run(std::string(reinterpret_cast<const char *>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  metaops::fuzz::Random random(seed);
  // The first numbers of neighbouring seeds are alike.
  random.discard(4);
  StringRef old(reinterpret_cast<const char *>(data), size);
  std::string mutant =
      metaops::fuzz::isBytecode(old)
          ? metaops::fuzz::mutateBytecode(old, random)
          : metaops::fuzz::mutateText(old, getDictionary(), random);
  size_t count = std::min(mutant.size(), maxSize);
  std::copy_n(mutant.data(), count, data);
  return count;
}
