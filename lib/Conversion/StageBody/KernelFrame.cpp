//===- KernelFrame.cpp - What surrounds the stages of a kernel ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value of the kernel's operands is an argument of the function, by which its
// buffer, its dynamic extents and its number are found.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/KernelFrame.h"
#include "MetaOps/Conversion/StageBody/AffineEmitter.h"
#include "MetaOps/Conversion/StageBody/MemoryAccess.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::metaop;

KernelOp metaop::getOnlyKernel(func::FuncOp function) {
  if (function.isDeclaration())
    return nullptr;
  auto kernel = dyn_cast<KernelOp>(function.getBody().front().front());
  return kernel && isa<func::ReturnOp>(kernel->getNextNode()) ? kernel
                                                              : KernelOp();
}

LogicalResult metaop::lowerKernels(
    ModuleOp module,
    function_ref<LogicalResult(func::FuncOp, KernelOp)> lower) {
  llvm::StringSet<> lowered;
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    KernelOp kernel = getOnlyKernel(function);
    if (!kernel)
      continue;
    lowered.insert(function.getName());
    if (failed(lower(function, kernel)))
      return failure();
  }
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    bool calls = false;
    function.walk([&](func::CallOp call) {
      calls |= lowered.contains(call.getCallee());
    });
    if (calls)
      function.erase();
  }
  return success();
}

void metaop::markFastMath(Operation *lowered) {
  lowered->walk([&](arith::ArithFastMathInterface op) {
    auto mark = [&](arith::FastMathFlags flags) {
      op->setAttr(op.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), flags));
    };
    // Not on conversions: there it would let a rounding be left out.
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
      mark(arith::FastMathFlags::contract);
    else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      mark(arith::FastMathFlags::nsz);
  });
}

LogicalResult KernelFrame::verify() {
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
// Arguments
//===----------------------------------------------------------------------===//

/// The 1-d buffer that holds a tensor, which may lie in rows.
MemRefType KernelFrame::getBufferType(RankedTensorType type,
                                      RowsAttr rows) const {
  int64_t size =
      type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  if (rows)
    size = rows.getSpan(size);
  return MemRefType::get({size}, getMemoryType(type.getElementType()),
                         MemRefLayoutAttrInterface(), memorySpace);
}

unsigned KernelFrame::getNumBuffers() {
  return llvm::count_if(function.getArgumentTypes(),
                        [](Type type) { return isa<RankedTensorType>(type); }) +
         function.getNumResults();
}

SmallVector<Type> KernelFrame::getTypes() {
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
  Type index = IndexType::get(function.getContext());
  for (Type type : function.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.append(tensor.getNumDynamicDims(), index);
  for (Type type : function.getArgumentTypes())
    if (type.isIndex())
      types.push_back(index);
  return types;
}

void KernelFrame::bind(ValueRange arguments) {
  // Buffers and numbers of the function's arguments, by the kernel's operands.
  unsigned nextBuffer = 0, nextNumber = getNumBuffers();
  llvm::DenseMap<Value, Value> argumentBuffers, argumentIndices;
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      argumentBuffers[argument] = arguments[nextBuffer++];
  llvm::DenseMap<std::pair<Value, unsigned>, Value> argumentExtents;
  for (BlockArgument argument : function.getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (auto [dim, extent] : llvm::enumerate(type.getShape()))
        if (ShapedType::isDynamic(extent))
          argumentExtents[{argument, dim}] = arguments[nextNumber++];
  for (BlockArgument argument : function.getArguments())
    if (argument.getType().isIndex())
      argumentIndices[argument] = arguments[nextNumber++];

  for (auto [inner, outer] :
       llvm::zip_equal(kernel.getBody().getArguments(), kernel.getInputs())) {
    buffers[inner] = argumentBuffers.lookup(outer);
    indices[inner] = argumentIndices.lookup(outer);
    if (auto type = dyn_cast<RankedTensorType>(inner.getType()))
      for (unsigned dim = 0; dim < type.getRank(); ++dim)
        extents[{inner, dim}] = argumentExtents.lookup({outer, dim});
  }
  for (auto [i, yielded] : llvm::enumerate(kernel.getYield().getOperands()))
    buffers[yielded] = arguments[nextBuffer + i];
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Value KernelFrame::emitTable(OpBuilder &b, ConstantOp op, Operation *symbols) {
  Location loc = kernel.getLoc();
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
  SymbolTable names(symbols);
  auto atTop = OpBuilder::atBlockBegin(&symbols->getRegion(0).front());
  auto global = memref::GlobalOp::create(
      atTop, loc, "table", b.getStringAttr("private"), type, values,
      /*constant=*/true, /*alignment=*/b.getI64IntegerAttr(64));
  names.insert(global);
  return memref::GetGlobalOp::create(b, loc, type, global.getName());
}

FailureOr<Value> KernelFrame::emitSymbol(OpBuilder &b, const Stage &stage,
                                         unsigned number,
                                         const StageBindings &bindings) {
  Location loc = kernel.getLoc();
  const StageSymbol &symbol = stage.symbols[number];
  // Another one in each iteration: the stage's emitter has it.
  if (symbol.kind == StageSymbol::Kind::Indirect)
    return Value();
  if (symbol.kind == StageSymbol::Kind::Scalar) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value scalar = memref::LoadOp::create(
        b, loc, bindings.sources.lookup(symbol.value), zero);
    return emitIndexOf(b, loc, scalar, bindings.getLimit(number));
  }
  FusedOp op = stage.op;
  Value outer =
      op.getInputs()[cast<BlockArgument>(symbol.value).getArgNumber()];
  Value value = symbol.kind == StageSymbol::Kind::Operand
                    ? indices.lookup(outer)
                    : extents.lookup({outer, symbol.dim});
  if (!value)
    return op.emitOpError("a dynamic extent inside of the kernel is not an "
                          "extent of its arguments");
  return value;
}

FailureOr<StageBindings> KernelFrame::bindStage(OpBuilder &b,
                                                const Stage &stage,
                                                Operation *symbols,
                                                ArrayRef<int64_t> limits) {
  StageBindings bindings;
  bindings.limits.assign(limits.begin(), limits.end());
  FusedOp op = stage.op;
  for (auto [inner, outer] :
       llvm::zip_equal(op.getBody().getArguments(), op.getInputs()))
    if (Value buffer = buffers.lookup(outer))
      bindings.sources[inner] = buffer;
  for (const StageRead &read : stage.reads)
    if (auto table = read.source.getDefiningOp<ConstantOp>())
      bindings.sources[read.source] = emitTable(b, table, symbols);
  for (Value result : op.getResults())
    bindings.results.push_back(buffers.lookup(result));
  for (unsigned number = 0; number < stage.symbols.size(); ++number) {
    FailureOr<Value> value = emitSymbol(b, stage, number, bindings);
    if (failed(value))
      return failure();
    bindings.symbols.push_back(*value);
  }
  return bindings;
}
