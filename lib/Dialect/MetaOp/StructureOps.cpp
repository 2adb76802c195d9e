//===- StructureOps.cpp - Fused stages and kernels ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::metaop;

//===----------------------------------------------------------------------===//
// Syntax, shared by both ops
//
//   `(` (%arg `=` %operand `:` type loc?),* `)` (`->` types)?
//     (`schedule` `(` attribute `)`)? (`attributes` {...})? region
//===----------------------------------------------------------------------===//

static ParseResult
parseInputs(OpAsmParser &parser, OperationState &result,
            SmallVectorImpl<OpAsmParser::Argument> &arguments) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput))
    return failure();
  return parser.resolveOperands(operands, types, loc, result.operands);
}

static void printInputs(OpAsmPrinter &printer, Operation *op) {
  printer << '(';
  llvm::interleaveComma(
      llvm::zip_equal(op->getRegion(0).getArguments(), op->getOperands()),
      printer, [&](auto pair) {
        auto [argument, operand] = pair;
        printer.printRegionArgument(argument, /*argAttrs=*/{},
                                    /*omitType=*/true);
        printer << " = " << operand << " : " << argument.getType();
      });
  printer << ')';
  printer.printOptionalArrowTypeList(op->getResultTypes());
}

template <typename OpTy>
static ParseResult
parseAttributesAndBody(OpAsmParser &parser, OperationState &result,
                       ArrayRef<OpAsmParser::Argument> arguments) {
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  OpTy::ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

ParseResult FusedOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseInputs(parser, result, arguments) ||
      parser.parseOptionalArrowTypeList(result.types))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    ScheduleAttr schedule;
    if (parser.parseLParen() || parser.parseAttribute(schedule) ||
        parser.parseRParen())
      return failure();
    result.getOrAddProperties<Properties>().schedule = schedule;
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parseAttributesAndBody<FusedOp>(parser, result, arguments))
    return failure();
  if (result.attributes.get(getScheduleAttrName(result.name)))
    return parser.emitError(loc) << "expects the schedule before the "
                                    "attributes, as `schedule(...)`";
  return success();
}

void FusedOp::print(OpAsmPrinter &printer) {
  printInputs(printer, *this);
  if (ScheduleAttr schedule = getScheduleAttr())
    printer << " schedule(" << schedule << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {getScheduleAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  if (parseInputs(parser, result, arguments) ||
      parser.parseOptionalArrowTypeList(result.types))
    return failure();
  return parseAttributesAndBody<KernelOp>(parser, result, arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printInputs(printer, *this);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verification, shared by both ops
//===----------------------------------------------------------------------===//

static LogicalResult verifySameTypes(Operation *op, StringRef innerName,
                                     TypeRange inner, StringRef outerName,
                                     TypeRange outer) {
  if (inner.size() != outer.size())
    return op->emitOpError()
           << "expects as many " << innerName << " as " << outerName << ", "
           << outer.size() << ", given " << inner.size();
  for (auto [number, types] : llvm::enumerate(llvm::zip_equal(inner, outer))) {
    auto [innerType, outerType] = types;
    if (innerType != outerType)
      return op->emitOpError()
             << "expects number " << number << " of its " << innerName
             << " to have type " << outerType << " as among its " << outerName
             << ", given " << innerType;
  }
  return success();
}

/// The arguments are verified before the body, which relies on them.
static LogicalResult verifyArguments(Operation *op) {
  return verifySameTypes(op, "arguments", op->getRegion(0).getArgumentTypes(),
                         "operands", op->getOperandTypes());
}

static LogicalResult verifyYield(Operation *op, YieldOp yield) {
  return verifySameTypes(op, "yielded values", yield.getOperandTypes(),
                         "results", op->getResultTypes());
}

//===----------------------------------------------------------------------===//
// FusedOp
//===----------------------------------------------------------------------===//

TypedValue<RankedTensorType> FusedOp::getIterationValue() {
  for (auto op : getBody().front().getOps<MetaOpInterface>())
    return op.getIterationValue();
  return nullptr;
}

YieldOp FusedOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult FusedOp::verify() {
  // (C7)
  return verifyArguments(*this);
}

/// (C3): what is read at another place than the iteration's comes from outside.
static LogicalResult verifyReads(MetaOpInterface op) {
  MetaOpClass kind = op.getMetaOpClass();
  if (kind == MetaOpClass::Elementwise)
    return success();
  if (auto indirect = dyn_cast<IndirectOpInterface>(op.getOperation())) {
    // Extents are never computed in a stage.
    if (kind == MetaOpClass::Reindex &&
        !isa<BlockArgument>(indirect.getSource()))
      return op->emitOpError(
          "in a stage expects its source to be an argument of the stage");
    return success();
  }
  // A reindex-reduce reads its source in place; its other operands are symbols.
  bool readsInPlace = kind == MetaOpClass::ReindexReduce;
  for (Value operand : op->getOperands().drop_front(readsInPlace ? 1 : 0))
    if (!isa<BlockArgument>(operand))
      return op->emitOpError()
             << "in a stage expects "
             << (readsInPlace ? "its symbols and extents" : "its operands")
             << " to be arguments of the stage";
  return success();
}

/// (C5): what is read in place has the shape of the iteration space.
static LogicalResult verifyPlace(MetaOpInterface op, ArrayRef<int64_t> space) {
  // The indices of a gather and of a scatter have that shape by themselves.
  MetaOpClass kind = op.getMetaOpClass();
  if (kind != MetaOpClass::Elementwise && kind != MetaOpClass::ReindexReduce)
    return success();
  unsigned count = kind == MetaOpClass::Elementwise ? op->getNumOperands() : 1;
  for (Value operand : op->getOperands().take_front(count)) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (failed(verifyCompatibleShape(type.getShape(), space)))
      return op->emitOpError()
             << "reads " << type
             << " at each point of an iteration space of another shape, ["
             << space << "]";
  }
  return success();
}

LogicalResult FusedOp::verifyRegions() {
  TypedValue<RankedTensorType> iteration;
  for (Operation &nested : getBody().front().without_terminator()) {
    // (C1)
    auto op = dyn_cast<MetaOpInterface>(nested);
    if (!op)
      return emitOpError() << "expects meta-operators only, given "
                           << nested.getName();
    // (C3)
    if (failed(verifyReads(op)))
      return failure();
    // (C2)
    TypedValue<RankedTensorType> value = op.getIterationValue();
    if (!iteration)
      iteration = value;
    ArrayRef<int64_t> space = iteration.getType().getShape();
    if (failed(verifyCompatibleShape(value.getType().getShape(), space)))
      return op->emitOpError()
             << "expects the iteration space of the stage's first op, ["
             << space << "], given [" << value.getType().getShape() << "]";
    // (C5)
    if (failed(verifyPlace(op, space)))
      return failure();
    // (C4)
    if (op.getMetaOpClass() == MetaOpClass::ReindexReduce)
      for (Operation *user : op->getUsers())
        if (!isa<YieldOp>(user))
          return op->emitOpError() << "in a stage expects to be used by the "
                                      "terminator only, but "
                                   << user->getName() << " uses it";
  }
  // (C2)
  if (!iteration)
    return emitOpError() << "expects at least one meta-operator";
  // (C6) How many loops there are is for the lowering to say: dimensions may be
  // collapsed into one loop, or split into two.
  int64_t maxLoops = 2 * iteration.getType().getRank();
  if (ScheduleAttr schedule = getScheduleAttr())
    if (static_cast<int64_t>(schedule.getOrder().size()) > maxLoops)
      return emitOpError() << "expects `schedule` to order at most " << maxLoops
                           << " loops, given " << schedule.getOrder().size();
  // (C7)
  if (failed(verifyYield(*this, getYield())))
    return failure();
  // (C8)
  for (Value value : getYield().getOperands())
    if (isa<BlockArgument>(value))
      return emitOpError() << "expects to yield values that the body computes, "
                              "given an argument";
  return success();
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

YieldOp KernelOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult KernelOp::verify() {
  // (C3)
  return verifyArguments(*this);
}

/// (C2): the loops that a stage shares with the one before it are the same.
static LogicalResult verifySharedLoops(FusedOp previous, FusedOp stage) {
  ScheduleAttr schedule = stage.getScheduleAttr();
  if (!schedule || schedule.getShared() == 0)
    return success();
  int64_t shared = schedule.getShared();
  if (!previous)
    return stage.emitOpError()
           << "is the first stage and expects to share no loops, given "
           << shared;
  ScheduleAttr before = previous.getScheduleAttr();
  int64_t available = before ? before.getOrder().size() : 0;
  if (shared > available)
    return stage.emitOpError()
           << "shares " << shared << " loops with a stage whose schedule has "
           << available;
  // Loops that are several collapsed dimensions are compared by the lowering.
  RankedTensorType space = stage.getIterationValue().getType();
  RankedTensorType spaceBefore = previous.getIterationValue().getType();
  if (static_cast<int64_t>(schedule.getOrder().size()) != space.getRank() ||
      available != spaceBefore.getRank())
    return success();
  for (int64_t loop = 0; loop < shared; ++loop) {
    int64_t dim = schedule.getOrder()[loop];
    int64_t dimBefore = before.getOrder()[loop];
    int64_t extent = space.getDimSize(dim);
    int64_t extentBefore = spaceBefore.getDimSize(dimBefore);
    if (failed(verifyCompatibleShape({extent}, {extentBefore})))
      return stage.emitOpError()
             << "shares loop " << loop << " of extent " << extentBefore
             << ", but its own has extent " << extent;
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  FusedOp previous;
  for (Operation &nested : getBody().front().without_terminator()) {
    // (C1)
    auto stage = dyn_cast<FusedOp>(nested);
    if (!stage)
      return emitOpError() << "expects fused stages only, given "
                           << nested.getName();
    // (C2)
    if (failed(verifySharedLoops(previous, stage)))
      return failure();
    previous = stage;
  }
  // (C3)
  if (failed(verifyYield(*this, getYield())))
    return failure();
  // (C4)
  for (Value value : getYield().getOperands())
    if (isa<BlockArgument>(value))
      return emitOpError() << "expects to yield results of its stages, given "
                              "an argument";
  return success();
}
