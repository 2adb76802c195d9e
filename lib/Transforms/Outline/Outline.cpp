//===- Outline.cpp - Make each kernel a function --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel of a function that is no outlined kernel itself, in order:
// 1. inputs that are the same value become one, in the kernel and then in its
//    stages, so that equal kernels are equal however they were called;
// 2. a private function with the kernel's inputs as arguments is made behind
//    the others, and the kernel moves into it;
// 3. a call takes the kernel's place, with the kernel's location: the function
//    may serve several calls, and each still names the lines it came from.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Outline/Passes.h"

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_OUTLINEPASS
#include "MetaOps/Transforms/Outline/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Returns whether the function is a kernel and a return: what this pass makes.
static bool isKernelFunction(func::FuncOp func) {
  if (!func.isPrivate() || !llvm::hasSingleElement(func.getBody()))
    return false;
  Block &body = func.getBody().front();
  return llvm::hasNItems(body, 2) && isa<KernelOp>(body.front());
}

/// Has the arguments of equal operands of a kernel or a stage be the first of
/// them. Returns those that are left without uses.
static llvm::BitVector mergeEqualInputs(Operation *op) {
  Block &body = op->getRegion(0).front();
  llvm::DenseMap<Value, unsigned> firstOf;
  llvm::BitVector repeated(op->getNumOperands());
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto [first, isNew] = firstOf.try_emplace(operand, number);
    if (isNew)
      continue;
    repeated.set(number);
    body.getArgument(number).replaceAllUsesWith(
        body.getArgument(first->second));
  }
  return repeated;
}

static void mergeEqualInputs(KernelOp kernel) {
  llvm::BitVector repeated = mergeEqualInputs(kernel.getOperation());
  kernel->eraseOperands(repeated);
  kernel.getBody().front().eraseArguments(repeated);
  for (auto fused : kernel.getBody().front().getOps<FusedOp>())
    fused.eraseInputs(mergeEqualInputs(fused.getOperation()));
}

static std::string getFreeName(SymbolTable &symbols, unsigned &number) {
  std::string name;
  do
    name = "kernel_" + std::to_string(number++);
  while (symbols.lookup(name));
  return name;
}

static func::FuncOp outline(KernelOp kernel, StringRef name,
                            SymbolTable &symbols) {
  Location loc = kernel.getLoc();
  OpBuilder builder(kernel);
  auto type = builder.getFunctionType(kernel.getOperandTypes(),
                                      kernel.getResultTypes());
  auto func = func::FuncOp::create(loc, name, type);
  func.setPrivate();
  symbols.insert(func);

  auto call = func::CallOp::create(builder, loc, func, kernel.getOperands());
  kernel.replaceAllUsesWith(call.getResults());

  Block *entry = func.addEntryBlock();
  kernel->moveBefore(entry, entry->end());
  kernel->setOperands(entry->getArguments());
  builder.setInsertionPointToEnd(entry);
  func::ReturnOp::create(builder, loc, kernel.getResults());
  return func;
}

namespace {

struct Outline : metaop::impl::OutlinePassBase<Outline> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<KernelOp> kernels;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!isKernelFunction(func))
        func.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    unsigned number = 0;
    for (KernelOp kernel : kernels) {
      mergeEqualInputs(kernel);
      outline(kernel, getFreeName(symbols, number), symbols);
    }
  }
};

} // namespace
