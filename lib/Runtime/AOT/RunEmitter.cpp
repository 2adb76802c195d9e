//===- RunEmitter.cpp - A program's steps as one function -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of a program as code that does what StepRunner does: the entries of the
// table of pointers are values of the function, those that steps set variables;
// calls are calls, branches and loops are such. All variables are in the first
// block, so that a run takes a fixed part of the stack.
//
// Results that may be kept from run to run are made in each: a model has no
// state. Results that are arguments, or other results, are copied in the end.
//
//===----------------------------------------------------------------------===//

#include "RunEmitter.h"
#include "CopyEmitter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

#include <algorithm>

using namespace metaops;
using llvm::BasicBlock;
using llvm::Function;
using llvm::IRBuilder;
using llvm::Value;

namespace {
class RunEmitter {
public:
  RunEmitter(const ProgramData &program, const ModelInterface &model,
             Function *function);

  void emit();

private:
  BasicBlock *addBlock(const llvm::Twine &name) {
    return BasicBlock::Create(function->getContext(), name, function);
  }
  llvm::AllocaInst *addVariable(llvm::Type *type, const llvm::Twine &name);
  BasicBlock *getReturn(int error);
  void failUnless(Value *condition, int error);
  void loadPointers(Value *array, llvm::ArrayRef<TensorSpec> tensors,
                    llvm::function_ref<int64_t(const TensorSpec &)> alignment,
                    int error);
  void passOnResults();

  Value *getAddress(const Slot &slot);
  Value *readCondition(const Step &step);
  void setPointer(int64_t entry, Value *address) {
    b.CreateStore(address, table[entry]);
  }
  Value *getPointer(int64_t entry) {
    return b.CreateLoad(b.getPtrTy(), table[entry]);
  }

  void emitList(const StepList &steps);
  void emitAction(const Step &step, const KernelCall &call);
  void emitAction(const Step &step, const Copies &copies);
  void emitAction(const Step &step, const View &view);
  void emitAction(const Step &step, const Check &check);
  void emitAction(const Step &step, const If &branches);
  void emitAction(const Step &step, const While &loop);
  void emitAction(const Step &step, const For &loop);
  void emitAction(const Step &, const RoutineCall &) {
    llvm_unreachable("a model has no routines");
  }
  void beginCarries(llvm::ArrayRef<Carry> carries);
  void handOn(llvm::ArrayRef<Carry> carries, Value *isOdd);
  void settle(llvm::ArrayRef<Carry> carries);
  void settle(const Carry &carry);
  Value *countTrips(const Step &step, const For &loop);
  Value *getRow(const For &loop, const LoopRows &rows, Value *trip,
                Value *count);
  void call(Function *kernel, Value *buffers, Value *scalars, int64_t range,
            bool flushesDenormals);

  const ProgramData &program;
  const ModelInterface &model;
  Function *function;
  BasicBlock *first;
  IRBuilder<> b;
  /// By entry: the pointer, or, where steps set it, the variable.
  std::vector<Value *> table;
  /// The buffers of a call.
  llvm::AllocaInst *callBuffers;
  /// Blocks that return, by what.
  llvm::DenseMap<int, BasicBlock *> returns;
  int nextCheck = ModelError::FirstIndex;
};
} // namespace

static uint64_t countBuffers(const ProgramData &program) {
  uint64_t most = 0;
  walkSteps(program.steps, [&](const Step &step) {
    most = std::max<uint64_t>(most, step.buffers.size());
  });
  return most;
}

RunEmitter::RunEmitter(const ProgramData &program, const ModelInterface &model,
                       Function *function)
    : program(program), model(model), function(function),
      first(addBlock("entry")), b(first) {
  callBuffers = addVariable(
      llvm::ArrayType::get(b.getPtrTy(), countBuffers(program)), "buffers");
}

llvm::AllocaInst *RunEmitter::addVariable(llvm::Type *type,
                                          const llvm::Twine &name) {
  IRBuilder<>::InsertPointGuard guard(b);
  b.SetInsertPoint(first, first->begin());
  return b.CreateAlloca(type, nullptr, name);
}

BasicBlock *RunEmitter::getReturn(int error) {
  BasicBlock *&block = returns[error];
  if (!block) {
    block = addBlock("return");
    IRBuilder<>(block).CreateRet(b.getInt32(error));
  }
  return block;
}

void RunEmitter::failUnless(Value *condition, int error) {
  BasicBlock *next = addBlock("");
  b.CreateCondBr(condition, next, getReturn(error));
  b.SetInsertPoint(next);
}

/// Returns whether memory may be used: it is there, and aligned.
static Value *isMemory(IRBuilder<> &b, Value *address, int64_t alignment) {
  Value *number = b.CreatePtrToInt(address, b.getInt64Ty());
  Value *low = b.CreateAnd(number, b.getInt64(alignment - 1));
  return b.CreateAnd(b.CreateIsNotNull(address), b.CreateIsNull(low));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Appends the pointers of an array to the table.
void RunEmitter::loadPointers(
    Value *array, llvm::ArrayRef<TensorSpec> tensors,
    llvm::function_ref<int64_t(const TensorSpec &)> alignment, int error) {
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    Value *pointer = b.CreateLoad(
        b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), array, number));
    table.push_back(pointer);
    if (tensor.getBytes() > 0)
      failUnless(isMemory(b, pointer, alignment(tensor)), error);
  }
}

void RunEmitter::emit() {
  loadPointers(
      function->getArg(0), model.inputs,
      [](const TensorSpec &tensor) { return sizeOf(tensor.dtype); },
      ModelError::Input);
  loadPointers(
      function->getArg(1), model.outputs,
      [](const TensorSpec &) { return kModelAlignment; }, ModelError::Output);
  Value *arena = function->getArg(2);
  table.push_back(arena);
  if (model.arenaBytes > 0)
    failUnless(isMemory(b, arena, kModelAlignment), ModelError::Arena);
  for (size_t i = 0; i < program.pointers.size(); ++i)
    table.push_back(addVariable(b.getPtrTy(), "pointer"));
  for (const PackedPlace &place : program.packed)
    table.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), arena, place.offset));
  emitList(program.steps);
  passOnResults();
  b.CreateBr(getReturn(ModelError::None));
}

void RunEmitter::passOnResults() {
  for (auto [number, place] : llvm::enumerate(program.results)) {
    int64_t own = program.getResult(number);
    if (place.entry != own && place.bytes > 0)
      b.CreateMemCpy(table[own], llvm::Align(kModelAlignment),
                     table[place.entry], llvm::MaybeAlign(), place.bytes);
  }
}

Value *RunEmitter::getAddress(const Slot &slot) {
  Value *base = program.isPointer(slot.entry) ? getPointer(slot.entry)
                                              : table[slot.entry];
  return b.CreateConstGEP1_64(b.getInt8Ty(), base, slot.offset);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void RunEmitter::emitList(const StepList &steps) {
  for (const Step &step : steps)
    std::visit([&](const auto &action) { emitAction(step, action); },
               step.action);
}

void RunEmitter::emitAction(const Step &step, const KernelCall &kernel) {
  for (auto [number, slot] : llvm::enumerate(step.buffers))
    b.CreateStore(getAddress(slot),
                  b.CreateConstGEP1_64(b.getPtrTy(), callBuffers, number));
  auto *numbers =
      llvm::ConstantDataArray::get(function->getContext(), kernel.scalars);
  auto *scalars = new llvm::GlobalVariable(
      *function->getParent(), numbers->getType(), /*isConstant=*/true,
      llvm::GlobalValue::PrivateLinkage, numbers, "scalars");
  call(function->getParent()->getFunction(kernel.kernel->name), callBuffers,
       scalars, kernel.parallelRange, kernel.flushesDenormals);
}

/// As FlushDenormals does around a call.
void RunEmitter::call(Function *kernel, Value *buffers, Value *scalars,
                      int64_t range, bool flushesDenormals) {
  bool flushes =
      flushesDenormals && function->getParent()->getTargetTriple().isX86();
  llvm::AllocaInst *before = nullptr;
  auto setState = [&](Value *address) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {address});
  };
  if (flushes) {
    before = addVariable(b.getInt32Ty(), "state");
    llvm::AllocaInst *during = addVariable(b.getInt32Ty(), "flushing");
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {before});
    constexpr uint32_t flushResults = 1U << 15, flushOperands = 1U << 6;
    Value *state = b.CreateLoad(b.getInt32Ty(), before);
    b.CreateStore(b.CreateOr(state, b.getInt32(flushResults | flushOperands)),
                  during);
    setState(during);
  }
  b.CreateCall(kernel, {buffers, scalars, b.getInt64(0), b.getInt64(range)});
  if (flushes)
    setState(before);
}

void RunEmitter::emitAction(const Step &step, const Copies &copies) {
  llvm::SmallVector<Value *> buffers;
  for (const Slot &slot : step.buffers)
    buffers.push_back(getAddress(slot));
  for (const Copy &copy : copies)
    emitCopy(b, copy, buffers, buffers.back());
}

void RunEmitter::emitAction(const Step &step, const View &view) {
  setPointer(view.entry, getAddress(step.buffers.front()));
}

/// Returns whether an index is in a range.
static Value *isInRange(IRBuilder<> &b, const IndexRange &range, Value *index) {
  int64_t least = range.hasNegative ? -range.extent : 0;
  Value *isFine = b.CreateAnd(b.CreateICmpSGE(index, b.getInt64(least)),
                              b.CreateICmpSLT(index, b.getInt64(range.extent)));
  if (!range.ignored)
    return isFine;
  return b.CreateOr(isFine, b.CreateICmpEQ(index, b.getInt64(*range.ignored)));
}

/// As describeOutOfRange.
void RunEmitter::emitAction(const Step &step, const Check &check) {
  Value *lowest = b.CreateLoad(b.getInt64Ty(), getAddress(step.buffers[0]));
  Value *highest = b.CreateLoad(b.getInt64Ty(), getAddress(step.buffers[1]));
  Value *areFine = b.CreateAnd(isInRange(b, check.range, lowest),
                               isInRange(b, check.range, highest));
  Value *isEmpty = b.CreateICmpSGT(lowest, highest);
  failUnless(b.CreateOr(isEmpty, areFine), nextCheck++);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// A bool is a byte, of which kernels write 0 or 1.
Value *RunEmitter::readCondition(const Step &step) {
  return b.CreateIsNotNull(
      b.CreateLoad(b.getInt8Ty(), getAddress(step.buffers.front())));
}

void RunEmitter::emitAction(const Step &step, const If &branches) {
  BasicBlock *onTrue = addBlock("then"), *onFalse = addBlock("else");
  BasicBlock *after = addBlock("");
  b.CreateCondBr(readCondition(step), onTrue, onFalse);
  b.SetInsertPoint(onTrue);
  emitList(branches.onTrue);
  b.CreateBr(after);
  b.SetInsertPoint(onFalse);
  emitList(branches.onFalse);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void RunEmitter::emitAction(const Step &step, const While &loop) {
  BasicBlock *condition = addBlock("while"), *body = addBlock("do");
  BasicBlock *after = addBlock("");
  llvm::AllocaInst *isOdd = addVariable(b.getInt1Ty(), "isOdd");
  beginCarries(loop.carries);
  b.CreateStore(b.getFalse(), isOdd);
  b.CreateBr(condition);
  b.SetInsertPoint(condition);
  emitList(loop.condition);
  b.CreateCondBr(readCondition(step), body, after);
  b.SetInsertPoint(body);
  emitList(loop.body);
  Value *wasOdd = b.CreateLoad(b.getInt1Ty(), isOdd);
  handOn(loop.carries, wasOdd);
  b.CreateStore(b.CreateNot(wasOdd), isOdd);
  b.CreateBr(condition);
  b.SetInsertPoint(after);
  settle(loop.carries);
}

void RunEmitter::emitAction(const Step &step, const For &loop) {
  BasicBlock *next = addBlock("for"), *body = addBlock("do");
  BasicBlock *after = addBlock("");
  llvm::AllocaInst *trips = addVariable(b.getInt64Ty(), "trips");
  Value *count = countTrips(step, loop);
  beginCarries(loop.carries);
  b.CreateStore(b.getInt64(0), trips);
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value *trip = b.CreateLoad(b.getInt64Ty(), trips);
  b.CreateCondBr(b.CreateICmpSLT(trip, count), body, after);
  b.SetInsertPoint(body);
  for (const LoopRows &rows : loop.rows)
    setPointer(rows.entry, getRow(loop, rows, trip, count));
  emitList(loop.body);
  handOn(loop.carries, b.CreateTrunc(trip, b.getInt1Ty()));
  b.CreateStore(b.CreateAdd(trip, b.getInt64(1)), trips);
  b.CreateBr(next);
  b.SetInsertPoint(after);
  settle(loop.carries);
}

Value *RunEmitter::countTrips(const Step &step, const For &loop) {
  if (step.buffers.empty())
    return b.getInt64(*loop.trips);
  Value *count = b.CreateLoad(b.getInt64Ty(), getAddress(step.buffers.front()));
  if (!loop.trips)
    return count;
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count,
                                 b.getInt64(*loop.trips));
}

/// The address of the row of a trip.
Value *RunEmitter::getRow(const For &loop, const LoopRows &rows, Value *trip,
                          Value *count) {
  int64_t bytes = program.pointers[rows.entry - program.getPointer(0)];
  Value *row = loop.isReverse
                   ? b.CreateSub(b.CreateSub(count, b.getInt64(1)), trip)
                   : trip;
  return b.CreateGEP(b.getInt8Ty(), getAddress(rows.whole),
                     b.CreateMul(row, b.getInt64(bytes)));
}

void RunEmitter::beginCarries(llvm::ArrayRef<Carry> carries) {
  for (const Carry &carry : carries) {
    setPointer(carry.current, getAddress(carry.initial));
    if (!carry.isRow)
      setPointer(carry.next, getAddress(carry.even));
  }
}

/// Hands the values that a trip has made to the next one, which makes its own
/// where the one before had it.
void RunEmitter::handOn(llvm::ArrayRef<Carry> carries, Value *isOdd) {
  for (const Carry &carry : carries) {
    setPointer(carry.current, getPointer(carry.next));
    if (!carry.isRow)
      setPointer(carry.next, b.CreateSelect(isOdd, getAddress(carry.even),
                                            getAddress(carry.odd)));
  }
}

void RunEmitter::settle(llvm::ArrayRef<Carry> carries) {
  for (const Carry &carry : carries)
    if (carry.settles)
      settle(carry);
}

/// Has the last value lie in `even`.
void RunEmitter::settle(const Carry &carry) {
  BasicBlock *move = addBlock("settle"), *after = addBlock("");
  Value *place = getAddress(carry.even), *last = getPointer(carry.current);
  b.CreateCondBr(b.CreateICmpEQ(last, place), after, move);
  b.SetInsertPoint(move);
  b.CreateMemMove(place, llvm::MaybeAlign(), last, llvm::MaybeAlign(),
                  carry.even.bytes);
  setPointer(carry.current, place);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Function *addFunction(llvm::Module &module, const std::string &name,
                             llvm::Type *result,
                             llvm::ArrayRef<llvm::Type *> arguments) {
  return Function::Create(
      llvm::FunctionType::get(result, arguments, /*isVarArg=*/false),
      Function::ExternalLinkage, name, module);
}

static void emitInit(const ModelInterface &model, llvm::Module &module) {
  llvm::Type *pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Type *i64 = llvm::Type::getInt64Ty(module.getContext());
  Function *function =
      addFunction(module, model.name + "_init",
                  llvm::Type::getInt32Ty(module.getContext()), {pointer, i64});
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "entry", function));
  Value *isFine = b.getTrue();
  if (model.arenaBytes > 0)
    isFine = b.CreateAnd(
        isMemory(b, function->getArg(0), kModelAlignment),
        b.CreateICmpUGE(function->getArg(1), b.getInt64(model.arenaBytes)));
  b.CreateRet(b.CreateSelect(isFine, b.getInt32(ModelError::None),
                             b.getInt32(ModelError::Arena)));
}

static void emitErrorString(const ModelInterface &model, llvm::Module &module) {
  llvm::Type *pointer = llvm::PointerType::getUnqual(module.getContext());
  Function *function =
      addFunction(module, model.name + "_error_string", pointer,
                  {llvm::Type::getInt32Ty(module.getContext())});
  auto addBlock = [&] {
    return BasicBlock::Create(module.getContext(), "", function);
  };
  IRBuilder<> b(addBlock());
  BasicBlock *unknown = addBlock();
  llvm::SwitchInst *cases = b.CreateSwitch(function->getArg(0), unknown);
  auto returnText = [&](BasicBlock *block, llvm::StringRef text) {
    b.SetInsertPoint(block);
    b.CreateRet(b.CreateGlobalString(text));
  };
  returnText(unknown, "no error of this model");
  for (auto [number, error] : llvm::enumerate(model.errors)) {
    BasicBlock *block = addBlock();
    cases->addCase(b.getInt32(number), block);
    returnText(block, error.message);
  }
}

void metaops::emitModelFunctions(const ProgramData &program,
                                 const ModelInterface &model,
                                 llvm::Module &module) {
  llvm::Type *pointer = llvm::PointerType::getUnqual(module.getContext());
  Function *run = addFunction(module, model.name + "_run",
                              llvm::Type::getInt32Ty(module.getContext()),
                              {pointer, pointer, pointer});
  RunEmitter(program, model, run).emit();
  emitInit(model, module);
  emitErrorString(model, module);
}
