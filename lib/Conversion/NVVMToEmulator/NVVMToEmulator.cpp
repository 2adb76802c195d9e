//===- NVVMToEmulator.cpp - Kernels as coroutines of the host -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes of each kernel in the LLVM and NVVM dialects, the very one that becomes
// PTX, a function that runs on the host: one thread of the GPU is one call of
// it, a coroutine, which suspends wherever it would wait for other threads. The
// engine (lib/Runtime/Emulator) runs thousands of them by turns.
//
//   1. Every operation is looked up: it is arithmetic and stays as it is, or it
//      has a row in the table of instructions (EmulatedInstructions.def).
//      Anything else is an error that names it.
//   2. The kernel's body gets the beginning of a coroutine (KernelEmitter.cpp),
//      and each of these operations is replaced.
//   3. The head of each loop has threads yield now and then, so that one that
//      spins on memory lets others write it.
//   4. Pointers lose their spaces, which are in the addresses by now.
//
//===----------------------------------------------------------------------===//

#include "InstructionCounts.h"
#include "Instructions.h"
#include "KernelEmitter.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/DepthFirstIterator.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CONVERTNVVMTOEMULATORPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

static bool isKernel(LLVM::LLVMFuncOp function) {
  return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

//===----------------------------------------------------------------------===//
// What can be emulated
//===----------------------------------------------------------------------===//

/// Operations that mean on the host what they mean on a GPU.
static bool isPortable(Operation *op) {
  if (isa<LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp>(op))
    return true;
  return isa<LLVM::LLVMDialect>(op->getDialect()) &&
         !isa<LLVM::CallOp, LLVM::CallIntrinsicOp, LLVM::InlineAsmOp>(op) &&
         isMemoryEffectFree(op);
}

static LogicalResult verifyOp(Operation *op) {
  if (auto ptx = dyn_cast<NVVM::InlinePtxOp>(op); ptx && ptx.getPredicate())
    return op->emitOpError("with a predicate cannot be emulated");
  if (const InstructionRow *row = findInstruction(op)) {
    std::string problem = row->findProblem ? row->findProblem(op) : "";
    if (problem.empty())
      return success();
    return op->emitOpError(problem + " cannot be emulated");
  }
  if (isPortable(op))
    return success();
  std::string key = getInstructionKey(op);
  StringRef name = op->getName().getStringRef();
  if (key == name)
    return op->emitOpError("is no instruction that the emulator knows");
  return op->emitOpError("is of '" + key +
                         "', which the emulator does not know");
}

static LogicalResult verifyKernel(LLVM::LLVMFuncOp kernel) {
  for (Type type : kernel.getArgumentTypes())
    if (!type.isIntOrFloat() && !isa<LLVM::LLVMPointerType>(type))
      return kernel.emitOpError("takes ")
             << type << ", where the emulator expects pointers and numbers";
  bool isSound = true;
  kernel.getBody().walk(
      [&](Operation *op) { isSound &= succeeded(verifyOp(op)); });
  return success(isSound);
}

//===----------------------------------------------------------------------===//
// Conversion of a kernel
//===----------------------------------------------------------------------===//

/// Returns the blocks that some path leads back to: the heads of all loops.
static SetVector<Block *> findLoopHeads(Region &body) {
  SetVector<Block *> heads;
  DenseMap<Block *, bool> isOpen;
  SmallVector<std::pair<Block *, unsigned>> path = {{&body.front(), 0}};
  isOpen[&body.front()] = true;
  while (!path.empty()) {
    auto &[block, next] = path.back();
    if (next == block->getNumSuccessors()) {
      isOpen[block] = false;
      path.pop_back();
      continue;
    }
    Block *successor = block->getSuccessor(next++);
    auto [known, isNew] = isOpen.try_emplace(successor, true);
    if (isNew)
      path.emplace_back(successor, 0);
    else if (known->second)
      heads.insert(successor);
  }
  return heads;
}

/// Has all pointers of a function be the host's.
static void forgetSpaces(Operation *function) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](LLVM::LLVMPointerType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

static void convertKernel(LLVM::LLVMFuncOp kernel, ModuleOp module,
                          const SharedLayout &layout, bool countsInstructions) {
  using Instruction = std::pair<Operation *, const InstructionRow *>;
  SmallVector<Instruction> instructions, pointers;
  kernel.getBody().walk([&](Operation *op) {
    if (const InstructionRow *row = findInstruction(op))
      (row->emulation == Emulation::Pointer ? pointers : instructions)
          .emplace_back(op, row);
  });
  SmallVector<Block *> blocks;
  SmallVector<Attribute> counts;
  for (Block &block : kernel.getBody()) {
    blocks.push_back(&block);
    counts.push_back(countInstructions(block));
  }
  SetVector<Block *> heads = findLoopHeads(kernel.getBody());

  KernelEmitter emitter(module, layout);
  LLVM::LLVMFuncOp function = emitter.begin(kernel);
  for (auto [op, row] : llvm::concat<Instruction>(instructions, pointers))
    emitInstruction(*row, op, emitter);
  for (Block *head : heads)
    emitter.emitYield(head);
  if (countsInstructions) {
    for (auto [i, block] : llvm::enumerate(blocks))
      emitter.emitCount(block, i);
    MetaOpDialect::InstructionCountsAttrHelper(module.getContext())
        .setAttr(function, ArrayAttr::get(module.getContext(), counts));
  }
  emitter.finish(kernel);
  forgetSpaces(function);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Moves a constant, or a variable in global memory, out of its module, under a
/// name that no other has.
static void moveGlobal(LLVM::GlobalOp global, gpu::GPUModuleOp from,
                       ModuleOp module) {
  StringAttr name = StringAttr::get(module.getContext(),
                                    from.getName() + "." + global.getSymName());
  (void)SymbolTable::replaceAllSymbolUses(global.getSymNameAttr(), name, from);
  global.setSymNameAttr(name);
  global.setAddrSpace(0);
  global.setLinkage(LLVM::Linkage::Internal);
  global->moveBefore(&module.getBody()->front());
  forgetSpaces(global);
}

static bool hasFunction(ModuleOp module, StringRef name) {
  return llvm::any_of(
      module.getOps<LLVM::LLVMFuncOp>(),
      [&](LLVM::LLVMFuncOp function) { return function.getName() == name; });
}

namespace {
struct ConvertNVVMToEmulatorPass
    : metaop::impl::ConvertNVVMToEmulatorPassBase<ConvertNVVMToEmulatorPass> {
  using Base::Base;

  LogicalResult convertModule(gpu::GPUModuleOp gpuModule) {
    ModuleOp module = getOperation();
    SmallVector<LLVM::LLVMFuncOp> kernels;
    for (auto function : gpuModule.getOps<LLVM::LLVMFuncOp>()) {
      if (!isKernel(function))
        continue;
      if (failed(verifyKernel(function)))
        return failure();
      // A module may have the name of its kernel.
      if (hasFunction(module, function.getName()))
        return function.emitOpError("has the name of another kernel");
      kernels.push_back(function);
    }
    SharedLayout layout(gpuModule);
    for (auto global :
         llvm::make_early_inc_range(gpuModule.getOps<LLVM::GlobalOp>()))
      if (!layout.getOffset(global.getSymName()))
        moveGlobal(global, gpuModule, module);
    for (LLVM::LLVMFuncOp kernel : kernels)
      convertKernel(kernel, module, layout, countInstructions);
    gpuModule.erase();
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<gpu::GPUModuleOp> gpuModules(module.getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp gpuModule : gpuModules)
      if (failed(convertModule(gpuModule)))
        return signalPassFailure();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
