//===- GpuBackend.cpp - Code of kernels for GPUs --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuBackend.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace metaops {

static metaop::NvgpuTarget makeTarget(const metaop::Chip &chip,
                                      bool floatAtomics) {
  metaop::NvgpuTarget::Options options;
  options.chip = &chip;
  options.floatAtomics = floatAtomics;
  return metaop::NvgpuTarget(options);
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerEmulatorDialects(registry);
  return registry;
}

GpuBackend::GpuBackend(const metaop::Chip &chip)
    : KernelBackend(std::make_shared<metaop::NvgpuTarget>(
                        makeTarget(chip, /*floatAtomics=*/false)),
                    makeRegistry()),
      withFloatAtomics(makeTarget(chip, /*floatAtomics=*/true)) {}

const metaop::Target &
GpuBackend::getTarget(const CompileOptions &options) const {
  return options.floatAtomics ? withFloatAtomics : getTarget();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
GpuEmitter::emit(ModuleOp module, StopCheck) {
  if (llvm::Error error = finish(module))
    return std::move(error);
  std::string code;
  llvm::raw_string_ostream stream(code);
  // Writing cannot fail without a wish for an older version.
  (void)writeBytecodeToFile(module, stream);
  return llvm::MemoryBuffer::getMemBufferCopy(code);
}

llvm::Expected<std::unique_ptr<GpuCode>>
GpuCode::parse(const llvm::MemoryBuffer &code, ContextPool &contexts) {
  std::unique_ptr<GpuCode> parsed(new GpuCode(contexts));
  parsed->context.countKernels();
  parsed->module = parseSourceString<ModuleOp>(
      code.getBuffer(), ParserConfig(parsed->context.get()));
  if (!parsed->module)
    return llvm::createStringError("a kernel's code could not be read");
  return parsed;
}

llvm::Expected<std::unique_ptr<CodeEmitter>> GpuBackend::createEmitter() const {
  return std::make_unique<GpuEmitter>();
}

} // namespace metaops
