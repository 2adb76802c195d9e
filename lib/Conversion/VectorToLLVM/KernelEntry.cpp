//===- KernelEntry.cpp - Entry points of kernels --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel over buffers, emits the function that the runtime calls: it
// reads the buffers' addresses and the numbers from two arrays, makes a memref
// descriptor of each address, and calls the kernel. Nobody else calls that, so
// LLVM inlines it: of each descriptor it needs the address alone, and a call
// with five words for each of some hundred buffers takes it seconds.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_KERNELENTRYPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// Returns a memref of the given 1-d type at `address`, as the LLVM descriptor.
Value emitBuffer(OpBuilder &b, Location loc, Value address, MemRefType type) {
  Type i64 = b.getI64Type();
  MLIRContext *ctx = b.getContext();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto descriptor = LLVM::LLVMStructType::getLiteral(
      ctx, {address.getType(), address.getType(), i64, array, array});
  Value result = LLVM::PoisonOp::create(b, loc, descriptor);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    result = LLVM::InsertValueOp::create(b, loc, result, value, position);
  };
  auto number = [&](int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
  };
  insert(address, {0});
  insert(address, {1});
  insert(number(0), {2});
  // The length of a dynamic buffer is asked by nobody.
  insert(number(type.hasStaticShape() ? type.getDimSize(0) : 0), {3, 0});
  insert(number(1), {4, 0});
  return UnrealizedConversionCastOp::create(b, loc, type, result).getResult(0);
}

/// Non-temporal stores may be seen by other threads later than stores that
/// follow, by which these learn that the kernel is done: on x86 they wait in
/// buffers that a release does not empty. A full fence does.
bool storesPastCaches(func::FuncOp kernel) {
  return kernel
      .walk([](vector::StoreOp store) {
        return store.getNontemporal() ? WalkResult::interrupt()
                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

void addEntry(func::FuncOp kernel) {
  OpBuilder b(kernel);
  b.setInsertionPointAfter(kernel);
  Location loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto type = b.getFunctionType({pointer, pointer, i64, i64}, {});
  auto entry =
      func::FuncOp::create(b, loc, (kernel.getName() + "_entry").str(), type);
  b.setInsertionPointToStart(entry.addEntryBlock());
  auto load = [&](Value array, Type element, int32_t position) {
    Value address = LLVM::GEPOp::create(b, loc, pointer, element, array,
                                        ArrayRef<LLVM::GEPArg>{position});
    return LLVM::LoadOp::create(b, loc, element, address);
  };
  SmallVector<Value> arguments;
  int32_t nextBuffer = 0, nextScalar = 0;
  for (Type argument : kernel.getArgumentTypes().drop_back(2)) {
    if (auto buffer = dyn_cast<MemRefType>(argument))
      arguments.push_back(emitBuffer(
          b, loc, load(entry.getArgument(0), pointer, nextBuffer++), buffer));
    else
      arguments.push_back(arith::IndexCastOp::create(
          b, loc, b.getIndexType(),
          load(entry.getArgument(1), i64, nextScalar++)));
  }
  for (unsigned bound : {2, 3})
    arguments.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                                   entry.getArgument(bound)));
  func::CallOp::create(b, loc, kernel, arguments);
  if (storesPastCaches(kernel))
    LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst);
  func::ReturnOp::create(b, loc);
  // The dialect's attributes of the kernel are for those who call the entry,
  // and has no place in a module that others translate.
  kernel->removeAttr(MetaOpDialect::KernelAttrHelper::getNameStr());
  kernel->removeAttr(MetaOpDialect::EntryAttrHelper::getNameStr());
  // Only the entry is called from outside.
  kernel.setPrivate();
  kernel->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(b.getContext(), LLVM::linkage::Linkage::Internal));
  kernel->setAttr("passthrough", b.getStrArrayAttr({"alwaysinline"}));
}

/// Verifies that the arguments are buffers and numbers, then the two bounds, as
/// KernelLowering.cpp makes them.
LogicalResult verifyKernel(func::FuncOp kernel) {
  auto isBuffer = [](Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return buffer && buffer.getRank() == 1 && buffer.getLayout().isIdentity();
  };
  ArrayRef<Type> types = kernel.getArgumentTypes();
  bool isKernel = types.size() >= 2 && kernel.getNumResults() == 0;
  for (auto [i, type] : llvm::enumerate(types))
    isKernel &= type.isIndex() || (isBuffer(type) && i + 2 < types.size());
  if (!isKernel)
    return kernel.emitOpError("expects 1-d buffers and numbers and two bounds "
                              "as arguments of a kernel, and no result");
  return success();
}

struct KernelEntryPass : metaop::impl::KernelEntryPassBase<KernelEntryPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(MetaOpDialect::KernelAttrHelper::getNameStr()))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels) {
      if (failed(verifyKernel(kernel)))
        return signalPassFailure();
      addEntry(kernel);
    }
  }
};

} // namespace
