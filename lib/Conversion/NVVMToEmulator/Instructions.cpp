//===- Instructions.cpp - The table of emulated instructions --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row for each operation of the NVVM dialect, intrinsic, and line of PTX, and
// for each operation of the LLVM dialect that threads meet in. What has no row,
// and is no plain arithmetic, cannot be emulated. A new instruction is a row
// here, a function that says what it takes where that is not its operands, and
// a row with its semantics in lib/Runtime/Emulator/Instructions.cpp.
//
//===----------------------------------------------------------------------===//

#include "Instructions.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::metaop;
using ::metaops::InstructionClass;
using ::metaops::SyncOrder;
using ::metaops::SyncScope;

//===----------------------------------------------------------------------===//
// What instructions take
//===----------------------------------------------------------------------===//

static void takeOperands(Operation *op, InstructionSite &site) {
  site.operands.append(op->operand_begin(), op->operand_end());
}

static void addField(Operation *op, InstructionSite &site, StringRef name,
                     int64_t value) {
  site.addField(name, value, op->getContext());
}

static void describeShuffle(Operation *op, InstructionSite &site,
                            KernelEmitter &) {
  takeOperands(op, site);
  addField(op, site, "kind",
           static_cast<int64_t>(cast<NVVM::ShflOp>(op).getKind()));
}

static void describeVote(Operation *op, InstructionSite &site,
                         KernelEmitter &) {
  takeOperands(op, site);
  addField(op, site, "kind",
           static_cast<int64_t>(cast<NVVM::VoteSyncOp>(op).getKind()));
}

static void describeMatch(Operation *op, InstructionSite &site,
                          KernelEmitter &) {
  takeOperands(op, site);
  addField(op, site, "kind",
           static_cast<int64_t>(cast<NVVM::MatchSyncOp>(op).getKind()));
}

static void describeRedux(Operation *op, InstructionSite &site,
                          KernelEmitter &) {
  auto redux = cast<NVVM::ReduxOp>(op);
  site.operands = {redux.getMaskAndClamp(), redux.getVal()};
  addField(op, site, "kind", static_cast<int64_t>(redux.getKind()));
  addField(op, site, "abs", redux.getAbs());
  addField(op, site, "nan", redux.getNan());
}

static void describeElect(Operation *op, InstructionSite &site,
                          KernelEmitter &emitter) {
  Value mask = cast<NVVM::ElectSyncOp>(op).getMembermask();
  site.operands = {mask ? mask : emitter.emitConstant(-1, 32)};
}

/// A barrier takes its number, how many threads meet (0 for all), and a
/// predicate.
static void describeFullBarrier(Operation *op, InstructionSite &site,
                                KernelEmitter &emitter) {
  Value zero = emitter.emitConstant(0, 32);
  site.operands = {zero, zero, zero};
  addField(op, site, "aligned", 1);
}

static void describeBarrier(Operation *op, InstructionSite &site,
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

static void describeBarrierArrive(Operation *op, InstructionSite &site,
                                  KernelEmitter &emitter) {
  auto arrive = cast<NVVM::BarrierArriveOp>(op);
  Value id = arrive.getBarrierId();
  site.operands = {id ? id : emitter.emitConstant(0, 32),
                   arrive.getNumberOfThreads()};
  addField(op, site, "aligned", 1);
}

/// llvm.nvvm.barrier.cta.sync[.aligned].{all,count}(id[, count]).
static void describeBarrierIntrinsic(Operation *op, InstructionSite &site,
                                     KernelEmitter &emitter) {
  Value zero = emitter.emitConstant(0, 32);
  site.operands = {op->getOperand(0),
                   op->getNumOperands() > 1 ? op->getOperand(1) : zero, zero};
  addField(op, site, "aligned",
           StringRef(getInstructionKey(op)).contains(".aligned"));
}

static void describeClusterArrive(Operation *op, InstructionSite &site,
                                  KernelEmitter &) {
  addField(op, site, "aligned", op->hasAttr("aligned"));
  addField(op, site, "order",
           isa<NVVM::ClusterArriveRelaxedOp>(op) ? SyncOrder::Relaxed
                                                 : SyncOrder::Release);
}

static void describeClusterWait(Operation *op, InstructionSite &site,
                                KernelEmitter &) {
  addField(op, site, "aligned", op->hasAttr("aligned"));
}

static void addFence(Operation *op, InstructionSite &site, SyncScope scope,
                     SyncOrder order) {
  addField(op, site, "scope", static_cast<int64_t>(scope));
  addField(op, site, "order", order);
}

static void describeMembar(Operation *op, InstructionSite &site,
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

static void describeClusterFence(Operation *op, InstructionSite &site,
                                 KernelEmitter &) {
  addFence(op, site, SyncScope::Cluster, SyncOrder::Both);
}

/// The scope and order that the words of PTX, or of an intrinsic, say.
static void describeTextualFence(Operation *op, InstructionSite &site,
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

static void describeFence(Operation *op, InstructionSite &site,
                          KernelEmitter &) {
  auto fence = cast<LLVM::FenceOp>(op);
  describeOrder(fence.getOrdering(), fence.getSyncscope().value_or(""), site,
                op->getContext());
}

static void describeGridControl(Operation *op, InstructionSite &site,
                                KernelEmitter &) {
  auto control = dyn_cast<NVVM::GriddepcontrolOp>(op);
  bool waits = control ? control.getKind() == NVVM::GridDepActionKind::wait
                       : getInstructionKey(op) == "griddepcontrol.wait;";
  addField(op, site, "kind", waits ? 0 : 1);
}

static void describeCopyWait(Operation *op, InstructionSite &site,
                             KernelEmitter &) {
  addField(op, site, "kind", cast<NVVM::CpAsyncWaitGroupOp>(op).getN());
}

static void describeMapa(Operation *op, InstructionSite &site,
                         KernelEmitter &) {
  takeOperands(op, site);
  auto type = cast<LLVM::LLVMPointerType>(op->getOperand(0).getType());
  addField(op, site, "space", type.getAddressSpace());
}

static void describePermute(Operation *op, InstructionSite &site,
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

static void describeAtomic(Operation *op, InstructionSite &site,
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

static void describeExchange(Operation *op, InstructionSite &site,
                             KernelEmitter &) {
  auto exchange = cast<LLVM::AtomicCmpXchgOp>(op);
  takeOperands(op, site);
  describeAccess(op, exchange.getPtr(), exchange.getVal().getType(),
                 /*alignment=*/std::nullopt, site);
  describeOrder(exchange.getSuccessOrdering(),
                exchange.getSyncscope().value_or(""), site, op->getContext());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr InstructionRow rows[] = {
#define ROW(key, how, semantics, counted, ...)                                 \
  {key, Emulation::how, semantics, InstructionClass::counted, __VA_ARGS__}
    // Between the lanes of a warp.
    ROW("nvvm.shfl.sync", Waits, "shuffle", Exchange, describeShuffle),
    ROW("nvvm.vote.sync", Waits, "vote", Exchange, describeVote),
    ROW("nvvm.match.sync", Waits, "match", Exchange, describeMatch),
    ROW("nvvm.redux.sync", Waits, "redux", Exchange, describeRedux),
    ROW("nvvm.elect.sync", Waits, "elect", Exchange, describeElect),
    ROW("nvvm.bar.warp.sync", Waits, "warp_sync", Barrier),
    ROW("llvm.nvvm.activemask", Waits, "active_mask", Exchange),
    // Between the warps of a block.
    ROW("nvvm.barrier0", Waits, "barrier", Barrier, describeFullBarrier),
    ROW("nvvm.barrier", Waits, "barrier", Barrier, describeBarrier),
    ROW("nvvm.barrier.arrive", Waits, "barrier_arrive", Barrier,
        describeBarrierArrive),
    ROW("llvm.nvvm.barrier.cta.sync.all", Waits, "barrier", Barrier,
        describeBarrierIntrinsic),
    ROW("llvm.nvvm.barrier.cta.sync.count", Waits, "barrier", Barrier,
        describeBarrierIntrinsic),
    ROW("llvm.nvvm.barrier.cta.sync.aligned.all", Waits, "barrier", Barrier,
        describeBarrierIntrinsic),
    ROW("llvm.nvvm.barrier.cta.sync.aligned.count", Waits, "barrier", Barrier,
        describeBarrierIntrinsic),
    // Between the blocks of a cluster.
    ROW("nvvm.cluster.arrive", Waits, "cluster_arrive", Barrier,
        describeClusterArrive),
    ROW("nvvm.cluster.arrive.relaxed", Waits, "cluster_arrive", Barrier,
        describeClusterArrive),
    ROW("nvvm.cluster.wait", Waits, "cluster_wait", Barrier,
        describeClusterWait),
    ROW("nvvm.mapa", Called, "mapa", Integer, describeMapa),
    // The order of memory.
    ROW("nvvm.memory.barrier", Waits, "fence", Fence, describeMembar),
    ROW("nvvm.fence.sc.cluster", Waits, "fence", Fence, describeClusterFence),
    ROW("llvm.fence", Waits, "fence", Fence, describeFence),
    ROW("llvm.atomicrmw", Waits, "atomic", Atomic, describeAtomic),
    ROW("llvm.cmpxchg", Waits, "compare_exchange", Atomic, describeExchange),
    // Asynchronous copies; cp.async itself is in MemoryAccesses.cpp.
    ROW("nvvm.cp.async.commit.group", Called, "copy_commit", AsyncCopy),
    ROW("nvvm.cp.async.wait.group", Waits, "copy_wait", AsyncCopy,
        describeCopyWait),
    // Between grids.
    ROW("nvvm.griddepcontrol", Waits, "grid_control", Fence,
        describeGridControl),
    // The life of a thread.
    ROW("nvvm.exit", Waits, "exit", Control),
    ROW("llvm.intr.trap", Waits, "trap", Control),
    ROW("nvvm.nanosleep", Waits, "sleep", Control),
    // What has no effect on values.
    ROW("nvvm.prefetch", Dropped, "", Global),
    ROW("llvm.intr.assume", Dropped, "", Control),
    ROW("llvm.intr.lifetime.start", Dropped, "", Control),
    ROW("llvm.intr.lifetime.end", Dropped, "", Control),
    // Arithmetic that the LLVM dialect has no operation for.
    ROW("nvvm.prmt", Called, "permute", Integer, describePermute),
    ROW("nvvm.rcp.approx.ftz.f", Computed, "metaops.rcp.ftz", Function),
    ROW("llvm.nvvm.rcp.approx.ftz.f", Computed, "metaops.rcp.ftz", Function),
    ROW("llvm.nvvm.ex2.approx.f32", Computed, "metaops.ex2", Function),
    ROW("llvm.nvvm.ex2.approx.ftz.f32", Computed, "metaops.ex2.ftz", Function),
    ROW("llvm.nvvm.lg2.approx.f", Computed, "metaops.lg2", Function),
    ROW("llvm.nvvm.lg2.approx.ftz.f", Computed, "metaops.lg2.ftz", Function),
    ROW("llvm.nvvm.rsqrt.approx.f", Computed, "metaops.rsqrt", Function),
    ROW("llvm.nvvm.rsqrt.approx.ftz.f", Computed, "metaops.rsqrt.ftz",
        Function),
    ROW("__nv_rsqrtf", Computed, "metaops.rsqrt", Function),
    ROW("__nv_rsqrt", Computed, "metaops.rsqrt.f64", Function),
    ROW("__nv_powif", Computed, "metaops.powi", Function),
    ROW("__nv_powi", Computed, "metaops.powi.f64", Function),
    ROW("llvm.nvvm.sqrt.approx.f", Computed, "sqrtf", Function),
    ROW("llvm.nvvm.sqrt.approx.ftz.f", Computed, "metaops.sqrt.ftz", Function),
    ROW("llvm.nvvm.sqrt.rn.f", Computed, "sqrtf", Function),
    ROW("llvm.nvvm.sqrt.rn.d", Computed, "sqrt", Function),
    ROW("llvm.nvvm.sin.approx.f", Computed, "sinf", Function),
    ROW("llvm.nvvm.sin.approx.ftz.f", Computed, "metaops.sin.ftz", Function),
    ROW("llvm.nvvm.cos.approx.f", Computed, "cosf", Function),
    ROW("llvm.nvvm.cos.approx.ftz.f", Computed, "metaops.cos.ftz", Function),
    ROW("llvm.nvvm.div.approx.f", Computed, "metaops.div", Function),
    ROW("llvm.nvvm.div.approx.ftz.f", Computed, "metaops.div.ftz", Function),
    ROW("llvm.nvvm.div.full", Computed, "metaops.div", Function),
    ROW("llvm.nvvm.div.full.ftz", Computed, "metaops.div.ftz", Function),
    ROW("llvm.nvvm.mulhi.i", Computed, "metaops.mulhi.i", Integer),
    ROW("llvm.nvvm.mulhi.ui", Computed, "metaops.mulhi.ui", Integer),
    ROW("llvm.nvvm.mulhi.ll", Computed, "metaops.mulhi.ll", Integer),
    ROW("llvm.nvvm.mulhi.ull", Computed, "metaops.mulhi.ull", Integer),
    // Inline PTX; loads are in MemoryAccesses.cpp.
    ROW("griddepcontrol.wait;", Waits, "grid_control", Fence,
        describeGridControl),
    ROW("griddepcontrol.launch_dependents;", Waits, "grid_control", Fence,
        describeGridControl),
    ROW("membar.cta;", Waits, "fence", Fence, describeTextualFence),
    ROW("membar.gl;", Waits, "fence", Fence, describeTextualFence),
    ROW("fence.acq_rel.cta;", Waits, "fence", Fence, describeTextualFence),
    ROW("fence.acq_rel.cluster;", Waits, "fence", Fence, describeTextualFence),
    ROW("fence.acq_rel.gpu;", Waits, "fence", Fence, describeTextualFence),
    ROW("fence.sc.cta;", Waits, "fence", Fence, describeTextualFence),
    ROW("fence.sc.cluster;", Waits, "fence", Fence, describeTextualFence),
    ROW("fence.sc.gpu;", Waits, "fence", Fence, describeTextualFence),
    ROW("activemask.b32 $0;", Waits, "active_mask", Exchange),
    ROW("ex2.approx.f32 $0, $1;", Computed, "metaops.ex2", Function),
    ROW("ex2.approx.ftz.f32 $0, $1;", Computed, "metaops.ex2.ftz", Function),
    ROW("lg2.approx.f32 $0, $1;", Computed, "metaops.lg2", Function),
    ROW("lg2.approx.ftz.f32 $0, $1;", Computed, "metaops.lg2.ftz", Function),
    ROW("tanh.approx.f32 $0, $1;", Computed, "tanhf", Function),
#undef ROW
};

/// Functions of libdevice that the C library has by the same name, those of f32
/// with the same "f" behind it.
static constexpr StringLiteral mathFunctions[] = {
    "acos",  "acosh", "asin",  "asinh",     "atan",  "atan2",  "atanh",
    "cbrt",  "ceil",  "cos",   "cosh",      "erf",   "erfc",   "exp",
    "exp10", "exp2",  "expm1", "copysign",  "fabs",  "fdim",   "floor",
    "fma",   "fmax",  "fmin",  "fmod",      "hypot", "lgamma", "log",
    "log10", "log1p", "log2",  "nearbyint", "pow",   "rint",   "round",
    "sin",   "sinh",  "sqrt",  "tan",       "tanh",  "tgamma", "trunc"};

//===----------------------------------------------------------------------===//
// Finding and emitting
//===----------------------------------------------------------------------===//

/// PTX with one blank between words, and operands as $0.
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

/// The name that the C library has for a function of libdevice, if it has one.
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

std::optional<InstructionRow> metaop::findInstruction(Operation *op) {
  if (StringRef function = findMathFunction(op); !function.empty())
    return InstructionRow{"llvm.call", Emulation::Computed, function,
                          InstructionClass::Function};
  std::string key = getInstructionKey(op);
  const auto *row = llvm::find_if(
      rows, [&](const InstructionRow &row) { return row.key == key; });
  if (row == std::end(rows))
    return std::nullopt;
  return *row;
}

void metaop::emitInstruction(const InstructionRow &row, Operation *op,
                             KernelEmitter &emitter) {
  if (row.emulation == Emulation::Dropped)
    return op->erase();
  if (row.emulation == Emulation::Computed)
    return emitter.emitHostCall(op, row.semantics);
  emitter.getBuilder().setInsertionPoint(op);
  InstructionSite site;
  if (row.describe)
    row.describe(op, site, emitter);
  else
    takeOperands(op, site);
  if (row.emulation == Emulation::Waits)
    emitter.emitWait(op, row.semantics, site);
  else
    emitter.emitCall(op, row.semantics, site);
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
