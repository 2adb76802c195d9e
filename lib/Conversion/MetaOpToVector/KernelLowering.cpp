//===- KernelLowering.cpp - metaop.kernel to loops over buffers -----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that holds one metaop.kernel becomes a function over buffers:
//
//   func.func @k(%inputs: memref<?xT>..., %results: memref<?xT>...,
//                %extents: index..., %indices: index...,
//                %begin: index, %end: index)
//
// Buffers are one-dimensional; a boolean is a byte. `extents` are the dynamic
// extents of the inputs, in order; `indices` are the kernel's index operands.
// [begin, end) is the part of the kernel's parallel range that this call does:
// the leading loops that all stages mark as parallel, as one range. The length
// of the whole range stands in the attribute `metaop.parallel_range` (where it
// is known), and the predicted picoseconds of one step in
// `metaop.work_per_step`. `metaop.flushes_denormals` says that the kernel is to
// run where these count as 0.
//
// The body is a tree of the stages' loops (TreeKernel.cpp), or those of a
// contraction in blocks (BlockedKernel.cpp).
//
//===----------------------------------------------------------------------===//

#include "BlockedKernel.h"
#include "IdentityFill.h"
#include "LocalBuffers.h"
#include "LoopTree.h"
#include "MetaOps/Conversion/Passes.h"
#include "MetaOps/Dialect/MetaOp/TensorSize.h"
#include "MetaOps/Transforms/Schedule/Contraction.h"
#include "MetaOps/Transforms/Schedule/CostModel.h"
#include "MetaOps/Transforms/Schedule/Passes.h"
#include "MetaOps/Transforms/Schedule/SharedLoops.h"
#include "TreeKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_CONVERTMETAOPTOVECTORPASS
#include "MetaOps/Conversion/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp function, KernelOp kernel)
      : function(function), kernel(kernel), b(function.getContext()),
        loc(kernel.getLoc()) {}

  LogicalResult lower();

private:
  LogicalResult readStages();
  LogicalResult verifySignature();
  void createFunction();
  LogicalResult bindBuffers();
  FailureOr<StageBindings> bindStage(const ScheduledStage &scheduled);
  FailureOr<Value> emitSymbol(const Stage &stage, const StageSymbol &symbol,
                              const StageBindings &bindings);
  Value emitTable(ConstantOp op);

  int64_t getWork() const;
  void setNumber(StringRef name, int64_t value) {
    lowered->setAttr(name, b.getI64IntegerAttr(value));
  }
  LogicalResult emitStages();
  LogicalResult fillEmptyStages();
  void markFastMath();

  func::FuncOp function;
  KernelOp kernel;
  OpBuilder b;
  Location loc;
  func::FuncOp lowered;
  SmallVector<ScheduledStage, 1> stages;
  /// Buffers of the kernel's arguments and of its stages' results.
  llvm::DenseMap<Value, Value> buffers;
  /// Dynamic extents of arguments, and index arguments.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> extents;
  llvm::DenseMap<Value, Value> indices;
  /// The stages by what they are, where the kernel is a contraction in blocks.
  std::optional<BlockedStages> blocked;
  std::optional<BlockedKernel> blockedKernel;
  std::optional<TreeKernel> treeKernel;
};

/// The 1-d buffer that holds a tensor, which may lie in rows.
MemRefType getBufferType(RankedTensorType type, RowsAttr rows = {}) {
  int64_t size =
      type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  if (rows)
    size = rows.getSpan(size);
  return MemRefType::get({size}, getMemoryType(type.getElementType()));
}

} // namespace

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::readStages() {
  for (auto op : kernel.getBody().front().getOps<FusedOp>()) {
    FailureOr<Stage> stage = Stage::build(op);
    if (failed(stage))
      return failure();
    if (!op.getScheduleAttr())
      return op.emitOpError("has no schedule; run metaop-schedule before");
    if (stages.empty() && op.getScheduleAttr().getShared() != 0)
      return op.emitOpError("the first stage of a kernel shares no loops");
    stages.push_back({std::move(*stage), op.getScheduleAttr(), 0, nullptr});
  }
  // A stage without iterations is no part of any loop.
  if (llvm::none_of(stages, [](auto &s) { return s.stage.isEmpty(); }))
    blocked = BlockedStages::find(stages);
  if (blocked)
    blockedKernel.emplace(b, loc, *blocked);
  treeKernel.emplace(b, loc, stages);
  return verifyLoopTree(stages);
}

/// The function takes what a kernel can, and returns what it yields.
LogicalResult KernelLowering::verifySignature() {
  for (Type type : function.getArgumentTypes())
    if (!isa<RankedTensorType, IndexType>(type))
      return function.emitOpError("expects arguments that are tensors or of "
                                  "type index, given ")
             << type;
  if (kernel->getNextNode()->getOperands() != kernel.getResults())
    return function.emitOpError(
        "expects to return the results of its kernel in order");
  // A value that is yielded twice would need a second buffer and a copy.
  llvm::SmallDenseSet<Value> yielded;
  for (Value value : kernel.getYield().getOperands())
    if (!yielded.insert(value).second)
      return kernel.emitOpError("yields one value twice");
  return success();
}

//===----------------------------------------------------------------------===//
// The function and its buffers
//===----------------------------------------------------------------------===//

void KernelLowering::createFunction() {
  // An argument may be several operands of the kernel.
  llvm::DenseMap<Value, RowsAttr> rows;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
    if (RowsAttr found = kernel.getRowsOfInput(i))
      rows[input] = found;
  SmallVector<Type> types;
  for (BlockArgument argument : function.getArguments())
    if (auto tensor = dyn_cast<RankedTensorType>(argument.getType()))
      types.push_back(getBufferType(tensor, rows.lookup(argument)));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    types.push_back(
        getBufferType(cast<RankedTensorType>(type), kernel.getRowsOfResult(i)));
  unsigned numBuffers = types.size();
  Type index = b.getIndexType();
  for (Type type : function.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.append(tensor.getNumDynamicDims(), index);
  for (Type type : function.getArgumentTypes())
    if (type.isIndex())
      types.push_back(index);
  types.append(2, index);

  b.setInsertionPoint(function);
  lowered = func::FuncOp::create(b, function.getLoc(), function.getName(),
                                 b.getFunctionType(types, {}));
  lowered->setAttr("metaop.num_buffers", b.getI64IntegerAttr(numBuffers));
  b.setInsertionPointToStart(lowered.addEntryBlock());

  // Buffers and numbers of the function's arguments, by the kernel's operands.
  unsigned nextBuffer = 0, nextNumber = numBuffers;
  llvm::DenseMap<Value, Value> argumentBuffers;
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      argumentBuffers[argument] = lowered.getArgument(nextBuffer++);
  llvm::DenseMap<std::pair<Value, unsigned>, Value> argumentExtents;
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (auto [dim, extent] : llvm::enumerate(type.getShape()))
        if (ShapedType::isDynamic(extent))
          argumentExtents[{argument, dim}] = lowered.getArgument(nextNumber++);
  llvm::DenseMap<Value, Value> argumentIndices;
  for (BlockArgument argument : function.getArguments())
    if (argument.getType().isIndex())
      argumentIndices[argument] = lowered.getArgument(nextNumber++);

  for (auto [inner, outer] :
       llvm::zip_equal(kernel.getBody().getArguments(), kernel.getInputs())) {
    buffers[inner] = argumentBuffers.lookup(outer);
    indices[inner] = argumentIndices.lookup(outer);
    if (auto type = dyn_cast<RankedTensorType>(inner.getType()))
      for (unsigned dim = 0; dim < type.getRank(); ++dim)
        extents[{inner, dim}] = argumentExtents.lookup({outer, dim});
  }
  for (auto [i, yielded] : llvm::enumerate(kernel.getYield().getOperands()))
    buffers[yielded] = lowered.getArgument(nextBuffer + i);
}

LogicalResult KernelLowering::bindBuffers() {
  return blocked ? blockedKernel->bindBuffers(buffers)
                 : bindLocalBuffers(b, loc, stages, buffers);
}

Value KernelLowering::emitTable(ConstantOp op) {
  auto data = cast<DenseElementsAttr>(op.getValue());
  auto tensor = cast<RankedTensorType>(op.getType());
  MemRefType type = getBufferType(tensor);
  auto flat = RankedTensorType::get(type.getShape(), type.getElementType());
  DenseElementsAttr values;
  if (tensor.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool value : data.getValues<bool>())
      bytes.push_back(value);
    values = DenseElementsAttr::get(flat, ArrayRef<int8_t>(bytes));
  } else {
    values = DenseElementsAttr::getFromRawBuffer(flat, data.getRawData());
  }
  auto module = function->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  auto atTop = OpBuilder::atBlockBegin(module.getBody());
  auto global = memref::GlobalOp::create(
      atTop, loc, "table", b.getStringAttr("private"), type, values,
      /*constant=*/true, /*alignment=*/b.getI64IntegerAttr(64));
  symbols.insert(global);
  return memref::GetGlobalOp::create(b, loc, type, global.getName());
}

FailureOr<Value> KernelLowering::emitSymbol(const Stage &stage,
                                            const StageSymbol &symbol,
                                            const StageBindings &bindings) {
  // Another one in each iteration: the stage's emitter has it.
  if (symbol.kind == StageSymbol::Kind::Indirect)
    return Value();
  if (symbol.kind == StageSymbol::Kind::Scalar) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value number = memref::LoadOp::create(
        b, loc, bindings.sources.lookup(symbol.value), zero);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), number)
        .getResult();
  }
  FusedOp op = stage.op;
  Value outer =
      op.getInputs()[cast<BlockArgument>(symbol.value).getArgNumber()];
  Value number = symbol.kind == StageSymbol::Kind::Operand
                     ? indices.lookup(outer)
                     : extents.lookup({outer, symbol.dim});
  if (!number)
    return op.emitOpError("a dynamic extent inside of the kernel is not an "
                          "extent of its arguments");
  return number;
}

FailureOr<StageBindings>
KernelLowering::bindStage(const ScheduledStage &scheduled) {
  const Stage &stage = scheduled.stage;
  StageBindings bindings;
  FusedOp op = stage.op;
  for (auto [inner, outer] :
       llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    if (Value buffer = buffers.lookup(outer))
      bindings.sources[inner] = buffer;
  for (const StageRead &read : stage.reads)
    if (auto table = read.source.getDefiningOp<ConstantOp>())
      bindings.sources[read.source] = emitTable(table);
  for (Value result : op.getResults())
    bindings.results.push_back(buffers.lookup(result));
  for (const StageSymbol &symbol : stage.symbols) {
    FailureOr<Value> value = emitSymbol(stage, symbol, bindings);
    if (failed(value))
      return failure();
    bindings.symbols.push_back(*value);
  }
  return bindings;
}

//===----------------------------------------------------------------------===//
// Its body
//===----------------------------------------------------------------------===//

/// The time that the cost model predicts for one thread, in picoseconds.
int64_t KernelLowering::getWork() const {
  MachineFigures machine;
  machine.callNanoseconds = 0;
  // Schedules have the widths of vectors; f64 and i64 alone are clamped.
  auto description = describeKernel(kernel, Processor());
  if (failed(description))
    return 0;
  double picoseconds = predictSeconds(description->work, machine) * 1e12;
  return static_cast<int64_t>(std::min(picoseconds, 1e18));
}

/// A product that feeds an addition may become one instruction, and the largest
/// of two zeros may have either sign, which halves the instructions of a
/// maximum. No more of fast arithmetic is allowed.
void KernelLowering::markFastMath() {
  lowered.walk([&](arith::ArithFastMathInterface op) {
    auto mark = [&](arith::FastMathFlags flags) {
      op->setAttr(op.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(b.getContext(), flags));
    };
    // Not on conversions: there it would let a rounding be left out.
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
      mark(arith::FastMathFlags::contract);
    else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      mark(arith::FastMathFlags::nsz);
  });
}

/// Emits the stages without iterations and takes them out of the loop tree.
LogicalResult KernelLowering::fillEmptyStages() {
  for (auto [i, scheduled] : llvm::enumerate(stages)) {
    if (!scheduled.stage.isEmpty())
      continue;
    FailureOr<StageBindings> bindings = bindStage(scheduled);
    if (failed(bindings))
      return failure();
    // What is reduced over nothing is the identity.
    for (const StageWrite &write : scheduled.stage.writes)
      if (write.kind)
        fillWithIdentity(b, scheduled.stage, write, *bindings);
    if (i + 1 == stages.size())
      break;
    // The next stage shares with the previous one what both share with this.
    ScheduleAttr next = stages[i + 1].schedule;
    stages[i + 1].schedule = next.withShared(
        std::min(next.getShared(), scheduled.schedule.getShared()));
  }
  llvm::erase_if(stages, [](auto &s) { return s.stage.isEmpty(); });
  return success();
}

LogicalResult KernelLowering::emitStages() {
  if (stages.empty()) {
    setNumber("metaop.parallel_range", 1);
    return success();
  }
  int64_t range =
      blocked ? ContractionEmitter::getParallelRange(
                    blocked->contraction->stage, blocked->contraction->schedule)
              : treeKernel->getRange();
  if (!ShapedType::isDynamic(range)) {
    setNumber("metaop.parallel_range", range);
    setNumber("metaop.work_per_step", getWork() / std::max<int64_t>(range, 1));
  }
  // A product of a denormal number takes as long as a hundred others.
  if (blocked)
    setNumber("metaop.flushes_denormals", 1);
  auto bind = [this](const ScheduledStage &stage) { return bindStage(stage); };
  auto part = lowered.getArguments().take_back(2);
  return blocked ? blockedKernel->emit(part[0], part[1], bind)
                 : treeKernel->emit(part[0], part[1], bind);
}

LogicalResult KernelLowering::lower() {
  if (failed(verifySignature()) || failed(readStages()))
    return failure();
  createFunction();
  if (failed(bindBuffers()))
    return failure();
  if (failed(fillEmptyStages()))
    return failure();
  if (failed(emitStages()))
    return failure();
  func::ReturnOp::create(b, loc);
  markFastMath();
  function.erase();
  return success();
}

namespace {
struct ConvertMetaOpToVectorPass
    : metaop::impl::ConvertMetaOpToVectorPassBase<ConvertMetaOpToVectorPass> {
  void runOnOperation() override {
    llvm::StringSet<> lowered;
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.isDeclaration())
        continue;
      auto kernel = dyn_cast<KernelOp>(function.getBody().front().front());
      if (!kernel || !isa<func::ReturnOp>(kernel->getNextNode()))
        continue;
      lowered.insert(function.getName());
      if (failed(KernelLowering(function, kernel).lower()))
        return signalPassFailure();
    }
    // The program around the kernels is the runtime's.
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      bool calls = false;
      function.walk([&](func::CallOp call) {
        calls |= lowered.contains(call.getCallee());
      });
      if (calls)
        function.erase();
    }
  }
};
} // namespace
