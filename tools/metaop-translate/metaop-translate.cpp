//===- metaop-translate.cpp - Kernels for GPUs out of modules -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   metaop-translate file.mlir --print-ptx
//   metaop-translate file.mlir --print-resources [--times] [--toolkit=folder]
//   metaop-translate file.mlir --write-cubin [--toolkit=folder] -o k.cubin
//
// Takes modules in the phase `ptx`, as `metaop-opt` writes them, and prints the
// PTX of their kernels; what an assembler says of the registers and the memory
// of each, how many blocks a multiprocessor has room for, and how long it took;
// or the machine code of the only one. docs/Gpu.md says where
// assemblers are looked for.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "MetaOps/Transforms/Schedule/GPU/GpuResources.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"

#include <chrono>

using namespace mlir;
using namespace metaops;

namespace {
struct Options {
  llvm::cl::list<std::string> toolkits{
      "toolkit", llvm::cl::value_desc("folder"),
      llvm::cl::desc("A folder laid out as a CUDA toolkit, before the usual "
                     "ones")};
  llvm::cl::opt<bool> times{
      "times", llvm::cl::desc("Print how long kernels take to assemble")};
};

/// The kernel of a binary.
struct PtxKernel {
  gpu::BinaryOp binary;
  const metaop::Chip *chip;
  StringRef ptx;
};
} // namespace

static FailureOr<PtxKernel> getKernel(gpu::BinaryOp binary) {
  ArrayRef<Attribute> objects = binary.getObjects().getValue();
  auto object = objects.size() == 1 ? dyn_cast<gpu::ObjectAttr>(objects.front())
                                    : gpu::ObjectAttr();
  auto target = object ? dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget())
                       : NVVM::NVVMTargetAttr();
  if (!target || object.getFormat() != gpu::CompilationTarget::Assembly)
    return binary.emitOpError("expects one object, which is PTX");
  auto chip = metaop::Chip::find(target.getChip());
  if (!chip)
    return binary.emitOpError() << toString(chip.takeError());
  return PtxKernel{binary, *chip, object.getObject().getValue()};
}

static LogicalResult walkKernels(Operation *module,
                                 function_ref<LogicalResult(PtxKernel)> visit) {
  WalkResult result = module->walk([&](gpu::BinaryOp binary) {
    FailureOr<PtxKernel> kernel = getKernel(binary);
    return succeeded(kernel) && succeeded(visit(*kernel))
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult printPtx(Operation *module, llvm::raw_ostream &os) {
  return walkKernels(module, [&](PtxKernel kernel) {
    os << kernel.ptx;
    return success();
  });
}

/// Assembles each binary and gives it to `visit`, with the milliseconds that it
/// took.
static LogicalResult assembleKernels(
    Operation *module, ArrayRef<std::string> toolkits,
    function_ref<void(const PtxKernel &, const Cubin &, double)> visit) {
  AssemblerSearch search;
  search.toolkits = Toolkits::detect(toolkits.vec());
  auto assembler = findAssembler(search);
  if (!assembler)
    return module->emitError(toString(assembler.takeError()));
  return walkKernels(module, [&](PtxKernel kernel) -> LogicalResult {
    auto begin = std::chrono::steady_clock::now();
    auto cubin = (*assembler)->assemble(kernel.ptx, *kernel.chip);
    std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (!cubin)
      return kernel.binary.emitError(toString(cubin.takeError()));
    visit(kernel, *cubin, taken.count());
    return success();
  });
}

/// Returns what the dialect says of a kernel of a binary; empty where it says
/// nothing.
static DictionaryAttr getFacts(gpu::BinaryOp binary, StringRef name) {
  if (auto kernels =
          metaop::MetaOpDialect::KernelsAttrHelper(binary.getContext())
              .getAttr(binary))
    for (auto facts : kernels.getAsRange<DictionaryAttr>())
      if (auto own = facts.getAs<StringAttr>("name"); own && own == name)
        return facts;
  return DictionaryAttr::get(binary.getContext());
}

/// Prints how many blocks of a kernel a multiprocessor holds.
static void printOccupancy(const PtxKernel &binary,
                           const KernelResources &kernel,
                           llvm::raw_ostream &os) {
  DictionaryAttr facts = getFacts(binary.binary, kernel.name);
  auto launch = facts.getAs<metaop::LaunchAttr>("launch");
  if (!launch)
    return;
  metaop::GpuResources block;
  block.threads = launch.getThreads();
  block.registers = kernel.registers;
  block.sharedBytes = kernel.sharedBytes;
  if (auto bytes = facts.getAs<IntegerAttr>("dynamic_shared_bytes"))
    block.sharedBytes += bytes.getInt();
  os << "; " << block.threads << " threads, " << block.sharedBytes
     << " bytes with the call's, " << block.countBlocks(*binary.chip)
     << " blocks a multiprocessor, "
     << llvm::format("%.0f%% of its threads",
                     100 * block.getOccupancy(*binary.chip));
}

static void printResources(const PtxKernel &binary, const Cubin &cubin,
                           llvm::raw_ostream &os) {
  for (const KernelResources &kernel : cubin.kernels) {
    os << kernel.name << ": registers " << kernel.registers << ", local "
       << kernel.localBytes << ", spilled " << kernel.spillStoreBytes << " + "
       << kernel.spillLoadBytes << ", shared " << kernel.sharedBytes
       << ", barriers " << kernel.barriers;
    printOccupancy(binary, kernel, os);
    os << '\n';
  }
}

static LogicalResult printAllResources(Operation *module,
                                       const Options &options,
                                       llvm::raw_ostream &os) {
  auto print = [&](const PtxKernel &kernel, const Cubin &cubin, double taken) {
    printResources(kernel, cubin, os);
    if (options.times)
      os << llvm::format("  assembled in %.1f ms\n", taken);
  };
  return assembleKernels(module, options.toolkits, print);
}

static LogicalResult printCode(Operation *module,
                               ArrayRef<std::string> toolkits,
                               llvm::raw_ostream &os) {
  int64_t count = 0;
  module->walk([&](gpu::BinaryOp) { ++count; });
  if (count != 1)
    return module->emitError("expects one kernel, given ") << count;
  return assembleKernels(
      module, toolkits,
      [&](const PtxKernel &, const Cubin &cubin, double) { os << cubin.code; });
}

static void registerDialects(DialectRegistry &registry) {
  registry.insert<func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  metaop::MetaOpDialect, NVVM::NVVMDialect>();
}

int main(int argc, char **argv) {
  Options options;
  TranslateFromMLIRRegistration ptx("print-ptx", "Print the PTX of kernels",
                                    printPtx, registerDialects);
  TranslateFromMLIRRegistration resources(
      "print-resources", "Print the registers and the memory of kernels",
      [&](Operation *module, llvm::raw_ostream &os) {
        return printAllResources(module, options, os);
      },
      registerDialects);
  TranslateFromMLIRRegistration cubin(
      "write-cubin", "Write the machine code of a kernel",
      [&](Operation *module, llvm::raw_ostream &os) {
        return printCode(module, options.toolkits, os);
      },
      registerDialects);
  return failed(mlirTranslateMain(argc, argv, "Kernels for GPUs"));
}
