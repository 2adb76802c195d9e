//===- KernelEmitter.cpp - Code of one emulated kernel --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel becomes a coroutine of LLVM's switched-resume kind, which takes the
// thread and its arguments, in words of eight bytes. It suspends once at its
// beginning, and then at each instruction that waits. The engine never destroys
// a coroutine: its frame is memory that the engine owns, and the way out of
// every suspension but the resumed one is the same end.
//
// An instruction that waits costs a few stores: operands go into the slots of
// the thread, the results are read from there.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::EmulatedThread;

KernelEmitter::KernelEmitter(ModuleOp module, const SharedLayout &layout)
    : module(module), layout(layout), builder(module.getContext()),
      loc(module.getLoc()) {}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp KernelEmitter::begin(LLVM::LLVMFuncOp kernel) {
  loc = kernel.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  function = LLVM::LLVMFuncOp::create(
      builder, loc, kernel.getName(),
      LLVM::LLVMFunctionType::get(pointer, {pointer, pointer}));
  function.setPassthroughAttr(builder.getStrArrayAttr({"presplitcoroutine"}));
  function.getBody().takeBody(kernel.getBody());
  emitPrologue(kernel);
  return function;
}

void KernelEmitter::emitPrologue(LLVM::LLVMFuncOp kernel) {
  Block *body = &function.getBody().front();
  Block *entry = builder.createBlock(body);
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  thread = entry->addArgument(pointer, loc);
  Value arguments = entry->addArgument(pointer, loc);

  Type token = LLVM::LLVMTokenType::get(builder.getContext());
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value id = LLVM::CoroIdOp::create(builder, loc, token, emitConstant(0, 32),
                                    null, null, null);
  Type i64 = builder.getI64Type();
  Value size = LLVM::CoroSizeOp::create(builder, loc, i64);
  // Vectors that are kept over a suspension ask for more than pointers do.
  Value alignment = LLVM::CoroAlignOp::create(builder, loc, i64);
  auto allocate =
      declare("metaops.emulator.frame", pointer, {pointer, i64, i64});
  Value memory = LLVM::CallOp::create(builder, loc, allocate,
                                      ValueRange{thread, size, alignment})
                     .getResult();
  auto coroutine = LLVM::CoroBeginOp::create(builder, loc, pointer, id, memory);
  handle = coroutine;
  prologueEnd = coroutine;

  suspended =
      builder.createBlock(&function.getBody(), function.getBody().end());
  Value none = LLVM::NoneTokenOp::create(builder, loc, token);
  LLVM::CoroEndOp::create(builder, loc, builder.getI1Type(), handle,
                          emitConstant(0, 1), none);
  LLVM::ReturnOp::create(builder, loc, handle);

  builder.setInsertionPointToEnd(entry);
  SmallVector<Value> values;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    Value address = LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI64Type(), arguments,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    values.push_back(LLVM::LoadOp::create(builder, loc, type, address));
  }
  auto start = LLVM::BrOp::create(builder, loc, values, body);
  builder.setInsertionPoint(start);
  emitSuspension(loc);
}

void KernelEmitter::finish(LLVM::LLVMFuncOp kernel) {
  SmallVector<Attribute> types;
  for (Type type : kernel.getArgumentTypes())
    types.push_back(TypeAttr::get(type));
  MLIRContext *context = builder.getContext();
  MetaOpDialect::ParametersAttrHelper(context).setAttr(
      function, builder.getArrayAttr(types));
  MetaOpDialect::SharedAttrHelper(context).setAttr(function,
                                                   layout.describe(context));
  MetaOpDialect::SitesAttrHelper(context).setAttr(function,
                                                  builder.getArrayAttr(sites));
  auto keep = [&](StringRef name, auto helper) {
    if (auto extents = kernel->getAttrOfType<DenseI32ArrayAttr>(name))
      helper.setAttr(function, extents);
  };
  keep(NVVM::NVVMDialect::getReqntidAttrName(),
       MetaOpDialect::ReqntidAttrHelper(context));
  keep(NVVM::NVVMDialect::getMaxntidAttrName(),
       MetaOpDialect::MaxntidAttrHelper(context));
  keep(NVVM::NVVMDialect::getClusterDimAttrName(),
       MetaOpDialect::ClusterDimAttrHelper(context));
}

void KernelEmitter::hoist(LLVM::AllocaOp alloca) {
  Operation *size = alloca.getArraySize().getDefiningOp();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(prologueEnd);
  alloca.getArraySizeMutable().assign(builder.clone(*size)->getResult(0));
  alloca->moveBefore(&*builder.getInsertionPoint());
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

unsigned KernelEmitter::addSite(Operation *op, StringRef instruction,
                                const InstructionSite &site) {
  SmallVector<NamedAttribute> fields = site.fields;
  fields.push_back(
      builder.getNamedAttr("instruction", builder.getStringAttr(instruction)));
  fields.push_back(builder.getNamedAttr(
      "operation", builder.getStringAttr(op->getName().getStringRef())));
  fields.push_back(builder.getNamedAttr("at", op->getLoc()));
  sites.push_back(builder.getDictionaryAttr(fields));
  return sites.size() - 1;
}

LLVM::LLVMFuncOp KernelEmitter::declare(StringRef name, Type result,
                                        ArrayRef<Type> arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), name,
      LLVM::LLVMFunctionType::get(result, arguments));
}

void KernelEmitter::emitSuspension(Location loc) {
  Type token = LLVM::LLVMTokenType::get(builder.getContext());
  Value save = LLVM::CoroSaveOp::create(builder, loc, token, handle);
  Value state = LLVM::CoroSuspendOp::create(builder, loc, builder.getI8Type(),
                                            save, emitConstant(0, 1));
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  builder.setInsertionPointToEnd(before);
  auto isResumed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                        state, emitConstant(0, 8));
  LLVM::CondBrOp::create(builder, loc, isResumed, after, suspended);
  builder.setInsertionPointToStart(after);
}

void KernelEmitter::emitWaitAt(Location loc, unsigned site,
                               ValueRange operands) {
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Value slot = toSlot(operand);
    unsigned offset = offsetof(EmulatedThread, values) + i * sizeof(uint64_t);
    LLVM::StoreOp::create(builder, loc, slot, emitThreadField(offset));
  }
  LLVM::StoreOp::create(builder, loc, emitConstant(site, 32),
                        emitThreadField(offsetof(EmulatedThread, site)));
  emitSuspension(loc);
}

void KernelEmitter::emitWait(Operation *op, StringRef instruction,
                             const InstructionSite &site) {
  loc = op->getLoc();
  builder.setInsertionPoint(op);
  emitWaitAt(loc, addSite(op, instruction, site), site.operands);
  auto read = [&](unsigned i, Type type) {
    unsigned offset = offsetof(EmulatedThread, values) + i * sizeof(uint64_t);
    Value slot = LLVM::LoadOp::create(builder, loc, builder.getI64Type(),
                                      emitThreadField(offset));
    return fromSlot(slot, type);
  };
  SmallVector<Value> results;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    auto fields = dyn_cast<LLVM::LLVMStructType>(type);
    if (!fields) {
      results.push_back(read(i, type));
      continue;
    }
    Value whole = LLVM::PoisonOp::create(builder, loc, type);
    for (auto [k, field] : llvm::enumerate(fields.getBody()))
      whole = LLVM::InsertValueOp::create(builder, loc, whole, read(k, field),
                                          ArrayRef<int64_t>(k));
    results.push_back(whole);
  }
  op->replaceAllUsesWith(results);
  op->erase();
}

Value KernelEmitter::emitEngineCall(Operation *op, StringRef instruction,
                                    const InstructionSite &site, Type result) {
  loc = op->getLoc();
  builder.setInsertionPoint(op);
  Type i64 = builder.getI64Type();
  SmallVector<Value> operands = {
      thread, emitConstant(addSite(op, instruction, site), 32)};
  SmallVector<Type> types = {thread.getType(), builder.getI32Type()};
  for (Value operand : site.operands) {
    operands.push_back(toSlot(operand));
    types.push_back(i64);
  }
  auto callee = declare(("metaops.emulator." + instruction).str(), i64, types);
  Value slot = LLVM::CallOp::create(builder, loc, callee, operands).getResult();
  return result ? fromSlot(slot, result) : Value();
}

void KernelEmitter::emitCall(Operation *op, StringRef instruction,
                             const InstructionSite &site) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  Value result = emitEngineCall(op, instruction, site, type);
  if (result)
    op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void KernelEmitter::emitExit(Operation *op) {
  loc = op->getLoc();
  builder.setInsertionPoint(op);
  emitWaitAt(loc, addSite(op, "exit", InstructionSite()), {});
  // Nobody resumes the thread.
  LLVM::UnreachableOp::create(builder, loc);
  op->erase();
}

void KernelEmitter::emitHostCall(Operation *op, StringRef function) {
  builder.setInsertionPoint(op);
  auto callee = declare(function, op->getResult(0).getType(),
                        SmallVector<Type>(op->getOperandTypes()));
  Value result =
      LLVM::CallOp::create(builder, op->getLoc(), callee, op->getOperands())
          .getResult();
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Blocks of code
//===----------------------------------------------------------------------===//

void KernelEmitter::emitCount(Block *block, unsigned number) {
  builder.setInsertionPointToStart(block);
  loc = block->front().getLoc();
  Type i64 = builder.getI64Type();
  Value table = LLVM::LoadOp::create(
      builder, loc, thread.getType(),
      emitThreadField(offsetof(EmulatedThread, executions)));
  Value place =
      LLVM::GEPOp::create(builder, loc, thread.getType(), i64, table,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  Value count = LLVM::LoadOp::create(builder, loc, i64, place);
  Value next = LLVM::AddOp::create(builder, loc, count, emitConstant(1));
  LLVM::StoreOp::create(builder, loc, next, place);
}

void KernelEmitter::emitYield(Block *block) {
  builder.setInsertionPointToStart(block);
  loc = block->front().getLoc();
  Value fuel =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                           emitThreadField(offsetof(EmulatedThread, fuel)));
  Value left = LLVM::SubOp::create(builder, loc, fuel, emitConstant(1, 32));
  LLVM::StoreOp::create(builder, loc, left,
                        emitThreadField(offsetof(EmulatedThread, fuel)));
  Value isEmpty = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                       left, emitConstant(0, 32));
  Block *before = builder.getInsertionBlock();
  Block *after = before->splitBlock(builder.getInsertionPoint());
  Block *pause = builder.createBlock(after);
  builder.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(builder, loc, isEmpty, pause, after);
  builder.setInsertionPointToEnd(pause);
  auto back = LLVM::BrOp::create(builder, loc, ValueRange{}, after);
  builder.setInsertionPoint(back);
  emitWaitAt(loc, addSite(&after->front(), "loop", InstructionSite()), {});
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value KernelEmitter::emitConstant(int64_t value, unsigned bits) {
  Type type = builder.getIntegerType(bits);
  return LLVM::ConstantOp::create(builder, loc, type,
                                  builder.getIntegerAttr(type, value));
}

Value KernelEmitter::emitThreadField(unsigned offset) {
  return LLVM::GEPOp::create(
      builder, loc, thread.getType(), builder.getI8Type(), thread,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value KernelEmitter::emitRegister(::metaops::ThreadRegister number) {
  unsigned offset = offsetof(EmulatedThread, ownRegisters) +
                    static_cast<unsigned>(number) * sizeof(uint32_t);
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                              emitThreadField(offset));
}

Value KernelEmitter::emitRegister(::metaops::BlockRegister number,
                                  unsigned dimension) {
  Value table = LLVM::LoadOp::create(
      builder, loc, thread.getType(),
      emitThreadField(offsetof(EmulatedThread, blockRegisters)));
  Value place = LLVM::GEPOp::create(
      builder, loc, thread.getType(), builder.getI32Type(), table,
      ArrayRef<LLVM::GEPArg>{
          static_cast<int32_t>(static_cast<unsigned>(number) + dimension)});
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), place);
}

/// The integer with the bits of a value.
static Type getBitsType(Type type) {
  unsigned bits = 0;
  if (auto vector = dyn_cast<VectorType>(type))
    bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  else
    bits = type.getIntOrFloatBitWidth();
  return IntegerType::get(type.getContext(), bits);
}

Value KernelEmitter::toSlot(Value value) {
  Type i64 = builder.getI64Type();
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return LLVM::PtrToIntOp::create(builder, loc, i64, value);
  Type bits = getBitsType(value.getType());
  if (value.getType() != bits)
    value = LLVM::BitcastOp::create(builder, loc, bits, value);
  return bits == i64 ? value : LLVM::ZExtOp::create(builder, loc, i64, value);
}

Value KernelEmitter::fromSlot(Value slot, Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(builder, loc, type, slot);
  Type bits = getBitsType(type);
  if (bits != slot.getType())
    slot = LLVM::TruncOp::create(builder, loc, bits, slot);
  return bits == type ? slot
                      : LLVM::BitcastOp::create(builder, loc, type, slot);
}
