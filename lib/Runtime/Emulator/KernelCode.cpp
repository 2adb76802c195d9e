//===- KernelCode.cpp - An emulated kernel in machine code ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The module is converted (NVVMToEmulator), and compiled for this processor.
// LLVM simplifies the kernel as one function before it splits the coroutine
// into its beginning and the part that is resumed, and the latter once more.
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"
#include "HostFunctions.h"
#include "Instructions.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Support/Assertions.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace metaops;
using namespace metaops::emulator;

//===----------------------------------------------------------------------===//
// What the pass says of the kernel
//===----------------------------------------------------------------------===//

static std::string getLine(Location location) {
  auto line = location->findInstanceOf<FileLineColLoc>();
  if (!line)
    return "an unknown line";
  return line.getFilename().str() + ":" + std::to_string(line.getLine());
}

static llvm::Expected<Site> readSite(DictionaryAttr fields) {
  auto getNumber = [&](StringRef name, int64_t otherwise = 0) {
    auto value = fields.getAs<IntegerAttr>(name);
    return value ? value.getInt() : otherwise;
  };
  auto getText = [&](StringRef name) {
    auto value = fields.getAs<StringAttr>(name);
    return value ? value.getValue() : StringRef();
  };
  Site site;
  StringRef instruction = getText("instruction");
  site.instruction = findInstruction(instruction);
  if (!site.instruction)
    return llvm::createStringError("the emulator has no instruction '" +
                                   instruction + "'");
  site.operation = getText("operation");
  if (auto location = fields.getAs<LocationAttr>("at"))
    site.location = getLine(Location(location));
  site.space = static_cast<Space>(getNumber("space"));
  site.bytes = getNumber("bytes");
  site.alignment = getNumber("alignment", 1);
  site.kind = getNumber("kind", -1);
  site.type = llvm::StringSwitch<ValueType>(getText("type"))
                  .Case("i16", ValueType::I16)
                  .Case("i64", ValueType::I64)
                  .Case("f16", ValueType::F16)
                  .Case("bf16", ValueType::BF16)
                  .Case("f32", ValueType::F32)
                  .Case("f64", ValueType::F64)
                  .Case("v2f16", ValueType::V2F16)
                  .Case("v2bf16", ValueType::V2BF16)
                  .Default(ValueType::I32);
  site.scope = static_cast<SyncScope>(getNumber("scope"));
  site.order = getNumber("order");
  site.isAligned = getNumber("aligned");
  site.isInvariant = getNumber("invariant");
  site.takesMagnitudes = getNumber("abs");
  site.keepsNans = getNumber("nan");
  site.variableBytes = getNumber("size");
  site.source = getNumber("source");
  return site;
}

static SharedVariable readVariable(DictionaryAttr fields) {
  SharedVariable variable;
  variable.name = fields.getAs<StringAttr>("name").str();
  variable.offset = fields.getAs<IntegerAttr>("offset").getInt();
  if (auto bytes = fields.getAs<IntegerAttr>("bytes"))
    variable.bytes = bytes.getInt();
  return variable;
}

static Extent3 readExtent(DenseI32ArrayAttr values) {
  Extent3 extent = {0, 0, 0};
  uint32_t *places[] = {&extent.x, &extent.y, &extent.z};
  if (values && values.size() <= 3) {
    extent = {1, 1, 1};
    for (auto [place, value] : llvm::zip(places, values.asArrayRef()))
      *place = value;
  }
  return extent;
}

/// The notes of the conversion on kernels.
using Notes = metaop::MetaOpDialect;

static llvm::Error readKernel(LLVM::LLVMFuncOp function, KernelCode &code) {
  code.name = function.getName();
  MLIRContext *context = function.getContext();
  ArrayAttr parameters = Notes::ParametersAttrHelper(context).getAttr(function);
  ArrayAttr shared = Notes::SharedAttrHelper(context).getAttr(function);
  ArrayAttr sites = Notes::SitesAttrHelper(context).getAttr(function);
  ArrayAttr counts =
      Notes::InstructionCountsAttrHelper(context).getAttr(function);
  if (!parameters || !shared || !sites || !counts)
    return llvm::createStringError("the kernel '" + code.name +
                                   "' is not made for the emulator");
  for (Attribute type : parameters) {
    Type value = cast<TypeAttr>(type).getValue();
    code.parameters.push_back(
        value.isIntOrFloat() ? (value.getIntOrFloatBitWidth() + 7) / 8 : 8);
  }
  for (Attribute variable : shared)
    code.sharedVariables.push_back(
        readVariable(cast<DictionaryAttr>(variable)));
  for (Attribute fields : sites) {
    auto site = readSite(cast<DictionaryAttr>(fields));
    if (!site)
      return site.takeError();
    code.sites.push_back(std::move(*site));
  }
  for (auto block : counts.getAsRange<DenseI64ArrayAttr>()) {
    ClassCounts classes = {};
    llvm::copy(block.asArrayRef(), classes.begin());
    code.blockCounts.push_back(classes);
  }
  code.requiredThreads =
      readExtent(Notes::ReqntidAttrHelper(context).getAttr(function));
  code.maxThreads =
      readExtent(Notes::MaxntidAttrHelper(context).getAttr(function));
  code.clusterShape =
      readExtent(Notes::ClusterDimAttrHelper(context).getAttr(function));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void metaops::registerEmulatorDialects(DialectRegistry &registry) {
  // Functions may have attributes of ours, which say nothing here.
  registry.insert<DLTIDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  metaop::MetaOpDialect, NVVM::NVVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

namespace {
/// Collects what goes wrong in a context, as the end of a message.
class ErrorsOf {
public:
  explicit ErrorsOf(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            messages += ": " + getLine(diagnostic.getLocation()) + ": " +
                        diagnostic.str();
          return success();
        }) {}

  llvm::Error fail(StringRef what) const {
    return llvm::createStringError(what + messages);
  }

private:
  std::string messages;
  ScopedDiagnosticHandler handler;
};
} // namespace

llvm::Expected<OwningOpRef<ModuleOp>>
emulator::parseKernels(StringRef source, MLIRContext &context) {
  ErrorsOf errors(context);
  auto module = parseSourceString<ModuleOp>(source, ParserConfig(&context));
  if (!module)
    return errors.fail("a kernel could not be read");
  return module;
}

std::vector<std::string> emulator::listKernels(ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](LLVM::LLVMFuncOp function) {
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      names.push_back(function.getName().str());
  });
  return names;
}

/// The kernel of this name, or the only one.
static llvm::Expected<LLVM::LLVMFuncOp> findKernel(ModuleOp module,
                                                   StringRef name) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (Notes::SitesAttrHelper(module.getContext()).isAttrPresent(function) &&
        (name.empty() || function.getName() == name))
      kernels.push_back(function);
  if (kernels.size() == 1)
    return kernels.front();
  if (!name.empty())
    return llvm::createStringError("the module has no kernel '" + name + "'");
  return llvm::createStringError("the module has " +
                                 std::to_string(kernels.size()) +
                                 " kernels, expected one, or a name");
}

static llvm::Expected<std::unique_ptr<Jit>> makeJit(const CodeTarget &target) {
  auto jit = Jit::create(target);
  if (!jit)
    return jit.takeError();
  for (const HostFunction &function : getHostFunctions())
    if (llvm::Error error = (*jit)->define(function.name, function.address))
      return std::move(error);
  return jit;
}

llvm::Expected<KernelCode> emulator::compileKernel(ModuleOp source,
                                                   StringRef name) {
  MLIRContext &context = *source.getContext();
  ErrorsOf errors(context);
  OwningOpRef<ModuleOp> module = source.clone();
  PassManager passes(&context);
  passes.enableVerifier(kHasAssertions);
  passes.addPass(metaop::createConvertNVVMToEmulatorPass());
  passes.addPass(metaop::createBFloat16BitsPass());
  if (failed(passes.run(*module)))
    return errors.fail("a kernel cannot be emulated");
  auto kernel = findKernel(*module, name);
  if (!kernel)
    return kernel.takeError();
  KernelCode code;
  if (llvm::Error error = readKernel(*kernel, code))
    return std::move(error);

  llvm::LLVMContext llvmContext;
  auto llvmModule = translateModuleToLLVMIR(*module, llvmContext);
  if (!llvmModule)
    return errors.fail("a kernel could not be translated to LLVM");
  auto target = CodeTarget::detect();
  if (!target)
    return target.takeError();
  auto emitter = ObjectEmitter::create(*target);
  if (!emitter)
    return emitter.takeError();
  auto object = (*emitter)->compileCoroutines(*llvmModule);
  if (!object)
    return object.takeError();
  auto jit = makeJit(*target);
  if (!jit)
    return jit.takeError();
  code.jit = std::move(*jit);
  auto entry = code.jit->link(std::move(*object), code.name);
  if (!entry)
    return entry.takeError();
  code.start = reinterpret_cast<StartThread>(reinterpret_cast<void *>(*entry));
  return code;
}
