//===- CompileModel.cpp - Modules into object files -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. @main goes through the passes to kernels, and becomes a program, by the
//    one memory plan that there is. Its kernels are compiled side by side, as
//    far as optimised bitcode.
// 2. The kernels are linked into one LLVM module, where nobody else sees them,
//    and the model's functions, made of the steps, call them.
// 3. That is emitted as an object file, which refers to the C library's memory
//    and math functions, and to nothing else.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ExternOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Pipelines/Pipelines.h"
#include "MetaOps/Runtime/AOT/ModelObject.h"
#include "MetaOps/Runtime/CPU/CpuBackend.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "MetaOps/Runtime/Kernels/ProgramBuilder.h"
#include "MetaOps/Target/CPU/CpuTarget.h"
#include "ModelInterface.h"
#include "RunEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace metaops {

llvm::Expected<CodeTarget> findModelTarget(StringRef name) {
  if (name == "native")
    return CodeTarget::detect();
  auto target = CodeTarget::find(name);
  if (!target)
    return llvm::createStringError(toString(target.takeError()) +
                                   ", and native, which is this machine");
  return target;
}

bool isModelName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// @main, alone in the module and with no argument that may be overwritten;
/// null where there is none that can be compiled.
static func::FuncOp takeMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration()) {
    Operation *place = module.getBody()->empty() ? module.getOperation()
                                                 : &module.getBody()->front();
    mlir::emitError(place->getLoc())
        << "expected a function @main with a body in the file";
    return nullptr;
  }
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (&op != main)
      op.erase();
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.removeArgAttr(
        i, metaop::MetaOpDialect::DonatableAttrHelper::getNameStr());
  return main;
}

/// Describes a tensor as C has it; nothing, and a diagnostic, where it is none
/// there.
static std::optional<TensorSpec> describe(func::FuncOp main, StringRef what,
                                          unsigned number, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<DType> dtype;
  if (tensor && tensor.hasStaticShape())
    dtype = fromElementType(tensor.getElementType());
  if (dtype)
    return TensorSpec{"", *dtype, tensor.getShape().vec()};
  main.emitError(what + " " + Twine(number) + " of @main is ")
      << type << "; expected a tensor of static shape, of booleans or numbers";
  return std::nullopt;
}

static LogicalResult describeAll(func::FuncOp main, StringRef what,
                                 TypeRange types,
                                 std::vector<TensorSpec> &tensors) {
  for (auto [number, type] : llvm::enumerate(types)) {
    std::optional<TensorSpec> tensor = describe(main, what, number, type);
    if (!tensor)
      return failure();
    tensors.push_back(std::move(*tensor));
  }
  return success();
}

/// Takes the module to the phase `kernels`.
static LogicalResult runPasses(ModuleOp module, const CodeTarget &target,
                               const ModelOptions &options) {
  PassManager passes(module.getContext());
  metaop::CpuTarget cpu(target.getProcessor());
  metaop::PipelineOptions pipeline;
  pipeline.target = &cpu;
  pipeline.scheduleFile = options.scheduleFile;
  pipeline.from = metaop::findPipelineStart(module);
  if (llvm::Error error =
          metaop::buildPipeline(passes, metaop::kKernelsPhase, pipeline))
    return module.emitError(toString(std::move(error)));
  return passes.run(module);
}

/// Routines are code of the runtime, which a model has none of.
static LogicalResult refuseRoutines(func::FuncOp main) {
  WalkResult result = main.walk([](metaop::RoutineOpInterface op) {
    if (isa<metaop::ExternOp>(*op))
      op.emitOpError("is code of a process, which object files do without");
    else
      op.emitOpError(
          "is a routine of the runtime, which object files do without; "
          "a program file (metaops.export) can have it");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The object file
//===----------------------------------------------------------------------===//

/// Lists what functions return, in the order of ModelError.
static std::vector<ModelError> listErrors(const ProgramData &program) {
  std::vector<ModelError> errors = {
      {"OK", "no error"},
      {"ERROR_ARENA", "the arena is null, too small, or not aligned"},
      {"ERROR_INPUT", "an input is null, or not aligned to its elements"},
      {"ERROR_OUTPUT", "an output is null, or not aligned"}};
  walkSteps(program.steps, [&](const Step &step) {
    const auto *check = std::get_if<Check>(&step.action);
    if (!check)
      return;
    const IndexRange &range = check->range;
    std::string message;
    if (range.areTrips)
      message = "a loop is to make more trips than its max_trips of " +
                std::to_string(range.extent - 1);
    else if (range.dim)
      message = "an index is out of range for dimension " +
                std::to_string(*range.dim) + " of extent " +
                std::to_string(range.extent);
    else
      message = "a label is out of range for " + std::to_string(range.extent) +
                " classes";
    if (!check->place.empty())
      message += ", recorded at " + check->place;
    size_t number = errors.size() - ModelError::FirstIndex;
    errors.push_back({"ERROR_INDEX_" + std::to_string(number), message});
  });
  return errors;
}

/// The names of the kernels that a program calls, in the order of their calls.
static llvm::SetVector<StringRef> listKernels(const ProgramData &program) {
  llvm::SetVector<StringRef> names;
  walkSteps(program.steps, [&](const Step &step) {
    if (const auto *call = std::get_if<KernelCall>(&step.action))
      names.insert(call->kernel->name);
  });
  return names;
}

/// Links kernels into one module.
static llvm::Error linkKernels(const llvm::SetVector<StringRef> &names,
                               const CpuBackend &backend,
                               llvm::Module &module) {
  for (StringRef name : names) {
    auto kernel = llvm::parseBitcodeFile(
        backend.getObject(name)->getMemBufferRef(), module.getContext());
    if (!kernel)
      return kernel.takeError();
    if (llvm::Linker::linkModules(module, std::move(*kernel)))
      return llvm::createStringError("a kernel could not be linked");
    module.getFunction(name)->setLinkage(llvm::Function::InternalLinkage);
  }
  return llvm::Error::success();
}

static llvm::Expected<std::string> emitModel(const ProgramData &program,
                                             const ModelInterface &model,
                                             const CpuBackend &backend) {
  auto emitter = ObjectEmitter::create(backend.getCodeTarget());
  if (!emitter)
    return emitter.takeError();
  llvm::LLVMContext context;
  llvm::Module module(model.name, context);
  (*emitter)->setTarget(module);
  llvm::SetVector<StringRef> names = listKernels(program);
  if (llvm::Error error = linkKernels(names, backend, module))
    return std::move(error);
  emitModelFunctions(program, model, module);
  for (auto [number, name] : llvm::enumerate(names))
    module.getFunction(name)->setName(model.name + "_kernel_" + Twine(number));
  (*emitter)->setTarget(module);
  auto object = (*emitter)->emitObject(module);
  if (!object)
    return object.takeError();
  return (*object)->getBuffer().str();
}

llvm::FailureOr<ModelObject> compileModel(ModuleOp module,
                                          const CodeTarget &target,
                                          const ModelOptions &options) {
  func::FuncOp main = takeMain(module);
  if (!main)
    return failure();
  ModelInterface model;
  model.name = options.name;
  model.macro = StringRef(options.name).upper();
  model.targetName = options.targetName;
  if (failed(describeAll(main, "argument", main.getArgumentTypes(),
                         model.inputs)) ||
      failed(
          describeAll(main, "result", main.getResultTypes(), model.outputs)) ||
      failed(runPasses(module, target, options)))
    return failure();
  main = module.lookupSymbol<func::FuncOp>("main");
  if (failed(refuseRoutines(main)))
    return failure();
  auto fail = [&](llvm::Error error) -> LogicalResult {
    return main.emitError(toString(std::move(error)));
  };
  auto backend = CpuBackend::createFor(target.forLinking());
  KernelCache kernels(backend);
  auto built = buildProgram(module, kernels);
  if (!built)
    return fail(built.takeError());
  const ProgramData &program = built->program->getData();
  model.arenaBytes = llvm::alignTo(program.arenaBytes, kModelAlignment);
  model.errors = listErrors(program);
  auto object = emitModel(program, model, *backend);
  if (!object)
    return fail(object.takeError());
  return ModelObject{std::move(*object), writeModelHeader(model)};
}

} // namespace metaops
