//===- Instructions.cpp - Emulated instructions ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion's half of the table of instructions: it finds the row of an
// operation, decodes the operation, and replaces it. What has no row, and is no
// plain arithmetic, cannot be emulated.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "MemoryAccesses.h"
#include "SpecialRegisters.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::InstructionClass;
using ::metaops::SyncOrder;
using ::metaops::SyncScope;

//===----------------------------------------------------------------------===//
// Decoders
//===----------------------------------------------------------------------===//

static void takeOperands(Operation *op, InstructionSite &site) {
  site.operands.append(op->operand_begin(), op->operand_end());
}

static void addField(Operation *op, InstructionSite &site, StringRef name,
                     int64_t value) {
  site.addField(name, value, op->getContext());
}

/// Tells the operands and the variant of an operation that has a kind.
template <typename Op>
static void decodeKind(Operation *op, InstructionSite &site, KernelEmitter &) {
  takeOperands(op, site);
  addField(op, site, "kind", static_cast<int64_t>(cast<Op>(op).getKind()));
}

static void decodeRedux(Operation *op, InstructionSite &site, KernelEmitter &) {
  auto redux = cast<NVVM::ReduxOp>(op);
  site.operands = {redux.getMaskAndClamp(), redux.getVal()};
  addField(op, site, "kind", static_cast<int64_t>(redux.getKind()));
  addField(op, site, "abs", redux.getAbs());
  addField(op, site, "nan", redux.getNan());
}

static void decodeElect(Operation *op, InstructionSite &site,
                        KernelEmitter &emitter) {
  Value mask = cast<NVVM::ElectSyncOp>(op).getMembermask();
  site.operands = {mask ? mask : emitter.emitConstant(-1, 32)};
}

/// Tells a barrier's number, how many threads meet (0 for all), and a
/// predicate.
static void decodeFullBarrier(Operation *op, InstructionSite &site,
                              KernelEmitter &emitter) {
  Value zero = emitter.emitConstant(0, 32);
  site.operands = {zero, zero, zero};
  addField(op, site, "aligned", 1);
}

static void decodeBarrier(Operation *op, InstructionSite &site,
                          KernelEmitter &emitter) {
  auto barrier = cast<NVVM::BarrierOp>(op);
  Value zero = emitter.emitConstant(0, 32);
  auto orZero = [&](Value value) { return value ? value : zero; };
  site.operands = {orZero(barrier.getBarrierId()),
                   orZero(barrier.getNumberOfThreads()),
                   orZero(barrier.getReductionPredicate())};
  addField(op, site, "aligned", 1);
  if (auto reduction = barrier.getReductionOp())
    addField(op, site, "kind", static_cast<int64_t>(*reduction));
}

static void decodeBarrierArrive(Operation *op, InstructionSite &site,
                                KernelEmitter &emitter) {
  auto arrive = cast<NVVM::BarrierArriveOp>(op);
  Value id = arrive.getBarrierId();
  site.operands = {id ? id : emitter.emitConstant(0, 32),
                   arrive.getNumberOfThreads()};
  addField(op, site, "aligned", 1);
}

/// Decodes llvm.nvvm.barrier.cta.sync[.aligned].{all,count}(id[, count]).
static void decodeBarrierIntrinsic(Operation *op, InstructionSite &site,
                                   KernelEmitter &emitter) {
  Value zero = emitter.emitConstant(0, 32);
  site.operands = {op->getOperand(0),
                   op->getNumOperands() > 1 ? op->getOperand(1) : zero, zero};
  addField(op, site, "aligned",
           StringRef(getInstructionKey(op)).contains(".aligned"));
}

static void decodeClusterArrive(Operation *op, InstructionSite &site,
                                KernelEmitter &) {
  addField(op, site, "aligned", op->hasAttr("aligned"));
  addField(op, site, "order",
           isa<NVVM::ClusterArriveRelaxedOp>(op) ? SyncOrder::Relaxed
                                                 : SyncOrder::Release);
}

static void decodeClusterWait(Operation *op, InstructionSite &site,
                              KernelEmitter &) {
  addField(op, site, "aligned", op->hasAttr("aligned"));
}

static void addFence(Operation *op, InstructionSite &site, SyncScope scope,
                     SyncOrder order) {
  addField(op, site, "scope", static_cast<int64_t>(scope));
  addField(op, site, "order", order);
}

static void decodeMembar(Operation *op, InstructionSite &site,
                         KernelEmitter &) {
  SyncScope scope = SyncScope::Device;
  switch (cast<NVVM::MembarOp>(op).getScope()) {
  case NVVM::MemScopeKind::CTA:
    scope = SyncScope::Block;
    break;
  case NVVM::MemScopeKind::CLUSTER:
    scope = SyncScope::Cluster;
    break;
  case NVVM::MemScopeKind::GPU:
  case NVVM::MemScopeKind::SYS:
    break;
  }
  addFence(op, site, scope, SyncOrder::Both);
}

static void decodeClusterFence(Operation *op, InstructionSite &site,
                               KernelEmitter &) {
  addFence(op, site, SyncScope::Cluster, SyncOrder::Both);
}

/// Tells the scope and order that the words of PTX, or of an intrinsic, say.
static void decodeTextualFence(Operation *op, InstructionSite &site,
                               KernelEmitter &) {
  std::string key = getInstructionKey(op);
  SyncScope scope = SyncScope::Device;
  for (StringRef word : llvm::split(StringRef(key).rtrim(';'), '.'))
    scope = llvm::StringSwitch<SyncScope>(word)
                .Case("cta", SyncScope::Block)
                .Case("cluster", SyncScope::Cluster)
                .Default(scope);
  addFence(op, site, scope, SyncOrder::Both);
}

static void decodeFence(Operation *op, InstructionSite &site, KernelEmitter &) {
  auto fence = cast<LLVM::FenceOp>(op);
  describeOrder(fence.getOrdering(), fence.getSyncscope().value_or(""), site,
                op->getContext());
}

static void decodeGridControl(Operation *op, InstructionSite &site,
                              KernelEmitter &) {
  auto control = dyn_cast<NVVM::GriddepcontrolOp>(op);
  bool waits = control ? control.getKind() == NVVM::GridDepActionKind::wait
                       : getInstructionKey(op) == "griddepcontrol.wait;";
  addField(op, site, "kind", waits ? 0 : 1);
}

/// Tells an asynchronous copy as two accesses: the source is checked as a load
/// is, and the destination is written when the thread has waited for it.
static void decodeCopy(Operation *op, InstructionSite &site,
                       KernelEmitter &emitter) {
  auto copy = cast<NVVM::CpAsyncOp>(op);
  int64_t size = copy.getSize();
  Type bytes =
      LLVM::LLVMArrayType::get(IntegerType::get(op->getContext(), 8), size);
  InstructionSite source;
  source.operands = {copy.getSrc()};
  describeAccess(op, copy.getSrc(), bytes, size, source);
  Value count = copy.getCpSize();
  site.operands = {copy.getDst(), copy.getSrc(),
                   count ? count : emitter.emitConstant(size, 32)};
  describeAccess(op, copy.getDst(), bytes, size, site);
  addField(op, site, "source", emitter.addSite(op, "copy_source", source));
}

static void decodeCopyWait(Operation *op, InstructionSite &site,
                           KernelEmitter &) {
  addField(op, site, "kind", cast<NVVM::CpAsyncWaitGroupOp>(op).getN());
}

static void decodeMapa(Operation *op, InstructionSite &site, KernelEmitter &) {
  takeOperands(op, site);
  auto type = cast<LLVM::LLVMPointerType>(op->getOperand(0).getType());
  addField(op, site, "space", type.getAddressSpace());
}

static void decodePermute(Operation *op, InstructionSite &site,
                          KernelEmitter &emitter) {
  auto permute = cast<NVVM::PermuteOp>(op);
  Value high = permute.getHi();
  site.operands = {permute.getLo(), high ? high : emitter.emitConstant(0, 32),
                   permute.getSelector()};
  addField(op, site, "kind", static_cast<int64_t>(permute.getMode()));
}

/// Adds what values of `type` an atomic instruction works on.
static void addType(Operation *op, InstructionSite &site, Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (isa<LLVM::LLVMPointerType>(type))
    stream << "i64";
  else if (auto vector = dyn_cast<VectorType>(type))
    stream << "v" << vector.getNumElements() << vector.getElementType();
  else
    stream << type;
  site.fields.emplace_back(StringAttr::get(op->getContext(), "type"),
                           StringAttr::get(op->getContext(), text));
}

static void decodeAtomic(Operation *op, InstructionSite &site,
                         KernelEmitter &) {
  auto atomic = cast<LLVM::AtomicRMWOp>(op);
  takeOperands(op, site);
  describeAccess(op, atomic.getPtr(), atomic.getVal().getType(),
                 /*alignment=*/std::nullopt, site);
  addType(op, site, atomic.getVal().getType());
  addField(op, site, "kind", static_cast<int64_t>(atomic.getBinOp()));
  describeOrder(atomic.getOrdering(), atomic.getSyncscope().value_or(""), site,
                op->getContext());
}

static void decodeExchange(Operation *op, InstructionSite &site,
                           KernelEmitter &) {
  auto exchange = cast<LLVM::AtomicCmpXchgOp>(op);
  takeOperands(op, site);
  describeAccess(op, exchange.getPtr(), exchange.getVal().getType(),
                 /*alignment=*/std::nullopt, site);
  describeOrder(exchange.getSuccessOrdering(),
                exchange.getSyncscope().value_or(""), site, op->getContext());
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Returns PTX with one blank between words, and operands as $0.
static std::string normalisePtx(StringRef text) {
  SmallVector<StringRef> words;
  llvm::SplitString(text, words, " \t\r\n");
  std::string result = llvm::join(words, " ");
  std::replace(result.begin(), result.end(), '%', '$');
  if (!StringRef(result).ends_with(";"))
    result += ";";
  return result;
}

std::string metaop::getInstructionKey(Operation *op) {
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return intrinsic.getIntrin().str();
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return call.getCallee().value_or("a pointer").str();
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return normalisePtx(assembly.getAsmString());
  if (auto assembly = dyn_cast<NVVM::InlinePtxOp>(op))
    return normalisePtx(assembly.getPtxCode());
  return op->getName().getStringRef().str();
}

//===----------------------------------------------------------------------===//
// Mathematical functions and the end of a thread
//===----------------------------------------------------------------------===//

/// Functions of libdevice that the C library has by the same name, those of f32
/// with the same "f" behind it.
static constexpr StringLiteral mathFunctions[] = {
    "acos",  "acosh", "asin",  "asinh",     "atan",  "atan2",  "atanh",
    "cbrt",  "ceil",  "cos",   "cosh",      "erf",   "erfc",   "exp",
    "exp10", "exp2",  "expm1", "copysign",  "fabs",  "fdim",   "floor",
    "fma",   "fmax",  "fmin",  "fmod",      "hypot", "lgamma", "log",
    "log10", "log1p", "log2",  "nearbyint", "pow",   "rint",   "round",
    "sin",   "sinh",  "sqrt",  "tan",       "tanh",  "tgamma", "trunc"};

/// Returns the name that the C library has for a function of libdevice, if it
/// has one.
static StringRef findMathFunction(Operation *op) {
  auto call = dyn_cast<LLVM::CallOp>(op);
  StringRef function = call ? call.getCallee().value_or("") : "";
  if (!function.consume_front("__nv_"))
    return "";
  StringRef name = function;
  bool isKnown =
      llvm::is_contained(mathFunctions, name) ||
      (name.consume_back("f") && llvm::is_contained(mathFunctions, name));
  return isKnown ? function : "";
}

static bool isMathFunction(Operation *op) {
  return !findMathFunction(op).empty();
}

static void emitMathFunction(Operation *op, KernelEmitter &emitter) {
  emitter.emitHostCall(op, findMathFunction(op));
}

static void emitEnd(Operation *op, KernelEmitter &emitter) {
  emitter.emitExit(op);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <InstructionClass counted>
static std::optional<InstructionClass> countAs(Operation *) {
  return counted;
}

static std::optional<InstructionClass> countNothing(Operation *) {
  return std::nullopt;
}

namespace {
/// An operation that is an instruction.
struct Form {
  StringRef key;
  Decoder decode = nullptr;
};

/// Operations that are too many for a row each.
struct Family {
  bool (*matches)(Operation *op);
  InstructionRow row;
};

/// The rows of the table by the keys of operations.
class InstructionTable {
public:
  InstructionTable();

  const InstructionRow *find(Operation *op) const {
    auto known = rows.find(getInstructionKey(op));
    if (known != rows.end())
      return &known->second;
    const auto *family = llvm::find_if(
        families, [&](const Family &family) { return family.matches(op); });
    return family == families.end() ? nullptr : &family->row;
  }

private:
  void add(StringRef key, const InstructionRow &row) {
    [[maybe_unused]] bool isNew = rows.try_emplace(key, row).second;
    assert(isNew && "two instructions have one key");
  }
  void add(InstructionRow row, std::initializer_list<Form> forms) {
    for (const Form &form : forms) {
      row.decode = form.decode;
      add(form.key, row);
    }
  }

  llvm::StringMap<InstructionRow> rows;
  SmallVector<Family, 4> families;
};
} // namespace

InstructionTable::InstructionTable() {
#define COUNT(counted) countAs<InstructionClass::counted>
#define WAITS(name, counted, access, strength, execute, waitsFor, ...)         \
  add({Emulation::Waits, name, COUNT(counted)}, {__VA_ARGS__});
#define CALLS(name, counted, access, function, ...)                            \
  add({Emulation::Called, name, COUNT(counted)}, {__VA_ARGS__});
#define COMPUTES(name, counted, function, ...)                                 \
  add({Emulation::Computed, name, COUNT(counted)}, {__VA_ARGS__});
#define LIBRARY(name, counted, ...)                                            \
  add({Emulation::Computed, name, COUNT(counted)}, {__VA_ARGS__});
#define REWRITES(key, count, rewrite, findProblem)                             \
  add(key, {Emulation::Rewritten, "", count, nullptr, rewrite, findProblem});
#define POINTER(key, rewrite, findProblem)                                     \
  add(key,                                                                     \
      {Emulation::Pointer, "", countNothing, nullptr, rewrite, findProblem});
#define FAMILY(matches, count, rewrite)                                        \
  families.push_back(                                                          \
      {matches, {Emulation::Rewritten, "", count, nullptr, rewrite}});
#define DROPS(key) add(key, {Emulation::Dropped, "", countNothing});
#include "MetaOps/Conversion/EmulatedInstructions.def"
#undef COUNT
}

const InstructionRow *metaop::findInstruction(Operation *op) {
  static const InstructionTable table;
  return table.find(op);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void metaop::emitInstruction(const InstructionRow &row, Operation *op,
                             KernelEmitter &emitter) {
  if (row.emulation == Emulation::Dropped)
    return op->erase();
  if (row.emulation == Emulation::Computed)
    return emitter.emitHostCall(op, row.name);
  if (row.rewrite)
    return row.rewrite(op, emitter);
  emitter.getBuilder().setInsertionPoint(op);
  InstructionSite site;
  if (row.decode)
    row.decode(op, site, emitter);
  else
    takeOperands(op, site);
  if (row.emulation == Emulation::Waits)
    emitter.emitWait(op, row.name, site);
  else
    emitter.emitCall(op, row.name, site);
}

void metaop::describeOrder(LLVM::AtomicOrdering ordering, StringRef scope,
                           InstructionSite &site, MLIRContext *context) {
  SyncOrder order = SyncOrder::Relaxed;
  switch (ordering) {
  case LLVM::AtomicOrdering::not_atomic:
  case LLVM::AtomicOrdering::unordered:
  case LLVM::AtomicOrdering::monotonic:
    break;
  case LLVM::AtomicOrdering::acquire:
    order = SyncOrder::Acquire;
    break;
  case LLVM::AtomicOrdering::release:
    order = SyncOrder::Release;
    break;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    order = SyncOrder::Both;
    break;
  }
  auto range = llvm::StringSwitch<SyncScope>(scope)
                   .Case("block", SyncScope::Block)
                   .Case("cluster", SyncScope::Cluster)
                   .Default(SyncScope::Device);
  site.addField("scope", static_cast<int64_t>(range), context);
  site.addField("order", order, context);
}
