//===- GpuBackend.cpp - Code of kernels for GPUs --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuBackend.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Conversion/PtxEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Support/Assertions.h"
#include "MetaOps/Transforms/Schedule/GPU/DescribeGpuKernel.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuNeighbours.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>

using namespace mlir;

namespace metaops {

std::string GpuBackend::getDescription() const {
  return "cuda " + chip.name.str();
}

void GpuBackend::setTarget(metaop::PipelineOptions &options) const {
  options.target = metaop::PipelineTarget::CUDA;
  options.chip = &chip;
}

/// The PTX manual gives arguments 4352 bytes, of which each takes 8.
size_t GpuBackend::getMaxNumbers(size_t buffers) const {
  constexpr size_t arguments = 4352 / 8;
  return arguments - std::min(buffers, arguments);
}

FailureOr<metaop::KernelDescription>
GpuBackend::describe(metaop::KernelOp kernel) const {
  return metaop::describeGpuKernel(kernel, chip);
}

llvm::SmallVector<metaop::KernelSchedules>
GpuBackend::listNeighbours(llvm::ArrayRef<metaop::Stage> stages) const {
  return metaop::getGpuNeighbours(stages);
}

void GpuBackend::addLowering(OpPassManager &passes) const {
  metaop::ConvertMetaOpToGPUPassOptions lowering;
  lowering.chip = &chip;
  passes.addPass(metaop::createConvertMetaOpToGPUPass(lowering));
  // Before the numbers are known: the same for all kernels of a family.
  passes.addPass(metaop::createFormFmaPass());
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry
      .insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
              math::MathDialect, memref::MemRefDialect, metaop::MetaOpDialect,
              scf::SCFDialect, vector::VectorDialect>();
  metaop::registerPtxDialects(registry);
  registerEmulatorDialects(registry);
  return registry;
}

GpuBackend::GpuBackend(const metaop::Chip &chip)
    : chip(chip), contexts(std::make_unique<ContextPool>(makeRegistry())) {}

GpuWorker::GpuWorker(ContextPool &contexts)
    : context(contexts),
      handler(context.get(),
              [this](Diagnostic &diagnostic) {
                if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
                  messages += ": " + diagnostic.str();
                return success();
              }),
      passes(context.get()) {
  metaop::buildGPUToNVVMPipeline(passes);
  passes.enableVerifier(kHasAssertions);
}

CompiledCode GpuWorker::compile(const BoundKernel &kernel, StopCheck) {
  messages.clear();
  context.countKernel();
  auto module =
      parseSourceString<ModuleOp>(kernel.bytecode, ParserConfig(context.get()));
  if (!module)
    return {nullptr, "a kernel could not be read" + messages};
  if (failed(passes.run(*module)))
    return {nullptr, "a kernel could not be lowered to NVVM" + messages};
  if (llvm::Error error = finish(*module))
    return {nullptr, toString(std::move(error))};
  std::string code;
  llvm::raw_string_ostream stream(code);
  // Writing cannot fail without a wish for an older version.
  (void)writeBytecodeToFile(*module, stream);
  return {llvm::MemoryBuffer::getMemBufferCopy(code), ""};
}

llvm::Expected<std::unique_ptr<GpuCode>>
GpuCode::parse(const llvm::MemoryBuffer &code, ContextPool &contexts) {
  std::unique_ptr<GpuCode> parsed(new GpuCode(contexts));
  parsed->context.countKernel();
  parsed->module = parseSourceString<ModuleOp>(
      code.getBuffer(), ParserConfig(parsed->context.get()));
  if (!parsed->module)
    return llvm::createStringError("a kernel's code could not be read");
  return parsed;
}

std::unique_ptr<KernelWorker> GpuBackend::createWorker() const {
  return std::make_unique<GpuWorker>(*contexts);
}

} // namespace metaops
