//===- MemoryAccesses.cpp - Pointers, loads and stores --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access of global or shared memory asks the engine where in the host's
// memory it takes place; that checks it and writes it down. Pointers stay
// what they are on a GPU: addresses of global memory are the host's, those of
// shared memory count from the beginning of the block's (EmulatedThread.h).
//
// Accesses that are volatile or have an ordering meet with those of other
// threads: there the thread waits, so that others run before and after.
//
// Memory of one thread, and constants, are the host's; an access of those is
// known by the variable that its pointer comes from, whose bounds it is checked
// against.
//
//===----------------------------------------------------------------------===//

#include "MemoryAccesses.h"
#include "Instructions.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::InstructionClass;

static constexpr unsigned genericSpace = 0;
static constexpr unsigned globalSpace = 1;
static constexpr unsigned sharedSpace = 3;
static constexpr unsigned clusterSpace = 7;

static unsigned getSpace(Value pointer) {
  return cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
}

/// Returns the allocation, or the address of a variable outside of shared
/// memory, that a pointer comes from without a choice.
static Operation *findOwnVariable(Value pointer) {
  Operation *op = pointer.getDefiningOp();
  while (
      isa_and_nonnull<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  if (isa_and_nonnull<LLVM::AllocaOp>(op))
    return op;
  auto address = dyn_cast_or_null<LLVM::AddressOfOp>(op);
  return address && getSpace(address) != sharedSpace ? op : nullptr;
}

static int64_t getVariableBytes(Operation *variable) {
  DataLayout layout = DataLayout::closest(variable);
  if (auto alloca = dyn_cast<LLVM::AllocaOp>(variable)) {
    APInt count;
    matchPattern(alloca.getArraySize(), m_ConstantInt(&count));
    return count.getSExtValue() * layout.getTypeSize(alloca.getElemType());
  }
  auto address = cast<LLVM::AddressOfOp>(variable);
  auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
      address, address.getGlobalNameAttr());
  return global ? layout.getTypeSize(global.getGlobalType()) : 0;
}

/// Returns what an access that says nothing is aligned to: its own size, as in
/// NVPTX's data layout. MLIR's default has integers of 64 bits at multiples
/// of 4.
static uint64_t getNaturalAlignment(const DataLayout &layout, Type type) {
  if (isa<IntegerType>(type))
    return llvm::PowerOf2Ceil(layout.getTypeSize(type));
  return layout.getTypeABIAlignment(type);
}

void metaop::describeAccess(Operation *op, Value address, Type type,
                            std::optional<uint64_t> alignment,
                            InstructionSite &site) {
  DataLayout layout = DataLayout::closest(op);
  MLIRContext *context = op->getContext();
  site.addField("space", getSpace(address), context);
  site.addField("bytes", layout.getTypeSize(type), context);
  site.addField("alignment",
                alignment ? *alignment : getNaturalAlignment(layout, type),
                context);
}

//===----------------------------------------------------------------------===//
// Loads of inline PTX
//===----------------------------------------------------------------------===//

namespace {
/// A load by inline PTX: hints to the caches have no effect here.
struct PtxLoad {
  unsigned space;
  bool isInvariant;
};
} // namespace

/// Reads "ld.global.nc.L1::no_allocate.v2.f32 {$0, $1}, [$2];".
static std::optional<PtxLoad> parsePtxLoad(Operation *op) {
  if (!isa<LLVM::InlineAsmOp, NVVM::InlinePtxOp>(op) ||
      op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      !isa<LLVM::LLVMPointerType>(op->getOperand(0).getType()))
    return std::nullopt;
  std::string text = getInstructionKey(op);
  auto [mnemonic, operands] = StringRef(text).split(' ');
  SmallVector<StringRef> words;
  mnemonic.split(words, '.');
  if (words.size() < 3 || words[0] != "ld" || words[1] != "global")
    return std::nullopt;
  PtxLoad load = {globalSpace, false};
  for (StringRef word : ArrayRef(words).drop_front(2)) {
    bool isHint = word.starts_with("L1::") || word.starts_with("L2::") ||
                  word == "ca" || word == "cg" || word == "cs" || word == "lu";
    bool isType = word == "v2" || word == "v4" || word == "b16" ||
                  word == "b32" || word == "b64" || word == "b128" ||
                  word == "f32" || word == "f64" || word == "u16" ||
                  word == "u32" || word == "u64" || word == "s32" ||
                  word == "s64";
    if (word == "nc")
      load.isInvariant = true;
    else if (!isHint && !isType)
      return std::nullopt;
  }
  return load;
}

bool metaop::isPtxLoad(Operation *op) { return parsePtxLoad(op).has_value(); }

/// Reads the memory of a load by PTX: its registers, one after the other.
void metaop::emitPtxLoad(Operation *op, KernelEmitter &emitter) {
  PtxLoad load = *parsePtxLoad(op);
  OpBuilder &b = emitter.getBuilder();
  b.setInsertionPoint(op);
  Type type = op->getResult(0).getType();
  InstructionSite site;
  site.operands = {op->getOperand(0)};
  int64_t bytes = DataLayout::closest(op).getTypeSize(type);
  describeAccess(op, op->getOperand(0), type, bytes, site);
  if (load.isInvariant)
    site.addField("invariant", 1, op->getContext());
  Value place = emitter.emitEngineCall(
      op, "load", site, LLVM::LLVMPointerType::get(op->getContext()));
  auto value = LLVM::LoadOp::create(b, op->getLoc(), type, place);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// A load or a store.
struct Access {
  Value address;
  Type type;
  std::optional<uint64_t> alignment;
  LLVM::AtomicOrdering ordering;
  StringRef scope;
  bool isVolatile, isInvariant;
  /// The stored value; none of a load.
  Value value;

  /// Returns whether other threads may access the memory meanwhile.
  bool isStrong() const {
    return isVolatile || ordering != LLVM::AtomicOrdering::not_atomic;
  }
};
} // namespace

static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return Access{load.getAddr(),
                  load.getType(),
                  load.getAlignment(),
                  load.getOrdering(),
                  load.getSyncscope().value_or(""),
                  load.getVolatile_(),
                  load.getInvariant(),
                  Value()};
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return Access{store.getAddr(),
                  store.getValue().getType(),
                  store.getAlignment(),
                  store.getOrdering(),
                  store.getSyncscope().value_or(""),
                  store.getVolatile_(),
                  /*isInvariant=*/false,
                  store.getValue()};
  return std::nullopt;
}

static bool isShared(unsigned space) {
  return space == sharedSpace || space == clusterSpace;
}

std::string metaop::findAccessProblem(Operation *op) {
  Access access = *getAccess(op);
  if (findOwnVariable(access.address))
    return "";
  unsigned space = getSpace(access.address);
  if (space != genericSpace && space != globalSpace && !isShared(space))
    return "through a pointer in space " + std::to_string(space) +
           " whose variable is not known";
  uint64_t bits = DataLayout::closest(op).getTypeSizeInBits(access.type);
  if (access.isStrong() && bits > 64)
    return "that is volatile or atomic, of more than 64 bits";
  return "";
}

std::optional<InstructionClass> metaop::countAccess(Operation *op) {
  Access access = *getAccess(op);
  if (findOwnVariable(access.address))
    return InstructionClass::Local;
  return isShared(getSpace(access.address)) ? InstructionClass::Shared
                                            : InstructionClass::Global;
}

void metaop::emitAccess(Operation *op, KernelEmitter &emitter) {
  Access access = *getAccess(op);
  MLIRContext *context = op->getContext();
  emitter.getBuilder().setInsertionPoint(op);
  InstructionSite site;
  site.operands = {access.address};
  describeAccess(op, access.address, access.type, access.alignment, site);
  if (access.isInvariant)
    site.addField("invariant", 1, context);
  StringRef instruction = access.value ? "store" : "load";
  if (Operation *variable = findOwnVariable(access.address)) {
    site.operands.push_back(variable->getResult(0));
    site.addField("size", getVariableBytes(variable), context);
    instruction = "local";
  } else if (access.isStrong()) {
    describeOrder(access.ordering, access.scope, site, context);
    if (access.value)
      site.operands.push_back(access.value);
    return emitter.emitWait(op, access.value ? "strong_store" : "strong_load",
                            site);
  }
  Value place = emitter.emitEngineCall(op, instruction, site,
                                       LLVM::LLVMPointerType::get(context));
  op->setOperand(access.value ? 1 : 0, place);
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

void metaop::hoistAllocation(Operation *op, KernelEmitter &emitter) {
  emitter.hoist(cast<LLVM::AllocaOp>(op));
}

std::string metaop::findAllocationProblem(Operation *op) {
  bool isConstant =
      matchPattern(cast<LLVM::AllocaOp>(op).getArraySize(), m_Constant());
  return isConstant ? "" : "of a size that is not constant";
}

/// Replaces a cast by its operand, or that with the bits of the window changed.
/// The types of pointers become one only when all operations are replaced.
void metaop::emitCast(Operation *op, KernelEmitter &emitter) {
  auto spaceCast = cast<LLVM::AddrSpaceCastOp>(op);
  OpBuilder &b = emitter.getBuilder();
  b.setInsertionPoint(op);
  Location loc = op->getLoc();
  Value pointer = spaceCast.getArg();
  Value result = spaceCast.getRes();
  if (isShared(getSpace(pointer)) != isShared(getSpace(result))) {
    // Both ways: what is no address of shared memory becomes none of anything.
    Type i64 = b.getI64Type();
    Value bits = LLVM::PtrToIntOp::create(b, loc, i64, pointer);
    Value window = LLVM::ConstantOp::create(
        b, loc, i64,
        b.getI64IntegerAttr(static_cast<int64_t>(::metaops::sharedWindow)));
    bits = LLVM::XOrOp::create(b, loc, bits, window);
    pointer = LLVM::IntToPtrOp::create(b, loc, result.getType(), bits);
  }
  result.replaceAllUsesWith(pointer);
  op->erase();
}

void metaop::emitAddress(Operation *op, KernelEmitter &emitter) {
  OpBuilder &b = emitter.getBuilder();
  b.setInsertionPoint(op);
  auto address = cast<LLVM::AddressOfOp>(op);
  std::optional<int64_t> offset =
      emitter.getLayout().getOffset(address.getGlobalName());
  if (!offset)
    return;
  Value number = LLVM::ConstantOp::create(b, op->getLoc(), b.getI64Type(),
                                          b.getI64IntegerAttr(*offset));
  Value pointer =
      LLVM::IntToPtrOp::create(b, op->getLoc(), address.getType(), number);
  address.getRes().replaceAllUsesWith(pointer);
  op->erase();
}

std::string metaop::findAddressProblem(Operation *op) {
  auto address = cast<LLVM::AddressOfOp>(op);
  auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
      address, address.getGlobalNameAttr());
  return global ? "" : "of a function";
}
