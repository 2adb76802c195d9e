//===- StructureOps.cpp - Fused stages and kernels ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/StageRoles.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

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
  if (succeeded(parser.parseOptionalKeyword("role"))) {
    FailureOr<StageRole> role = failure();
    if (parser.parseLParen() ||
        failed(role = FieldParser<StageRole>::parse(parser)) ||
        parser.parseRParen())
      return failure();
    result.getOrAddProperties<Properties>().role =
        StageRoleAttr::get(parser.getContext(), *role);
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parseAttributesAndBody<FusedOp>(parser, result, arguments))
    return failure();
  for (StringAttr name :
       {getScheduleAttrName(result.name), getRoleAttrName(result.name)})
    if (result.attributes.get(name))
      return parser.emitError(loc)
             << "expects the " << name.getValue() << " before the attributes, "
             << "as `" << name.getValue() << "(...)`";
  return success();
}

void FusedOp::print(OpAsmPrinter &printer) {
  printInputs(printer, *this);
  if (ScheduleAttr schedule = getScheduleAttr())
    printer << " schedule(" << schedule << ')';
  if (std::optional<StageRole> role = getRole())
    printer << " role(" << stringifyStageRole(*role) << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getScheduleAttrName(), getRoleAttrName()});
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

/// The entry of one value in an array of rows; null where it has none.
static RowsAttr getRows(ArrayAttr rows, unsigned number) {
  return rows ? dyn_cast<RowsAttr>(rows[number]) : RowsAttr();
}

/// The array, of `count` values, with another entry; null where all are `unit`.
static ArrayAttr withRows(MLIRContext *ctx, ArrayAttr rows, unsigned count,
                          unsigned number, RowsAttr entry) {
  SmallVector<Attribute> entries(count, UnitAttr::get(ctx));
  if (rows)
    entries.assign(rows.begin(), rows.end());
  entries[number] = entry ? Attribute(entry) : UnitAttr::get(ctx);
  if (llvm::all_of(entries, llvm::IsaPred<UnitAttr>))
    return {};
  return ArrayAttr::get(ctx, entries);
}

RowsAttr FusedOp::getRowsOfInput(unsigned number) {
  return getRows(getInputRowsAttr(), number);
}

RowsAttr FusedOp::getRowsOfResult(unsigned number) {
  return getRows(getResultRowsAttr(), number);
}

void FusedOp::setRowsOfInput(unsigned number, RowsAttr rows) {
  setInputRowsAttr(withRows(getContext(), getInputRowsAttr(),
                            getInputs().size(), number, rows));
}

void FusedOp::setRowsOfResult(unsigned number, RowsAttr rows) {
  setResultRowsAttr(withRows(getContext(), getResultRowsAttr(), getNumResults(),
                             number, rows));
}

void FusedOp::eraseInputs(const llvm::BitVector &erased) {
  if (ArrayAttr rows = getInputRowsAttr()) {
    SmallVector<Attribute> left;
    for (auto [number, entry] : llvm::enumerate(rows))
      if (!erased.test(number))
        left.push_back(entry);
    setInputRowsAttr(ArrayAttr::get(getContext(), left));
  }
  (*this)->eraseOperands(erased);
  getBody().front().eraseArguments(erased);
}

/// (C9): rows are of tensors that have them.
static LogicalResult verifyRows(FusedOp op, ArrayAttr rows, TypeRange types,
                                StringRef name) {
  if (!rows)
    return success();
  if (rows.size() != types.size())
    return op.emitOpError()
           << "expects `" << name << "` to have " << types.size()
           << " entries, given " << rows.size();
  for (auto [attr, type] : llvm::zip_equal(rows, types)) {
    auto entry = dyn_cast<RowsAttr>(attr);
    if (!entry)
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t span;
    if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() == 0 ||
        !entry.getStrides(tensor.getShape()) ||
        llvm::MulOverflow(tensor.getNumElements() / entry.getRow(),
                          entry.getPitch(), span))
      return op.emitOpError() << "expects `" << name << "` to be rows of "
                              << type << ", given " << entry;
  }
  return success();
}

LogicalResult FusedOp::verify() {
  // (C9)
  if (failed(verifyRows(*this, getInputRowsAttr(), getOperandTypes(),
                        "input_rows")) ||
      failed(verifyRows(*this, getResultRowsAttr(), getResultTypes(),
                        "result_rows")))
    return failure();
  // (C7)
  return verifyArguments(*this);
}

/// Returns whether all operands are read at the iteration's place.
static bool readsInPlace(MetaOpClass kind) {
  return kind == MetaOpClass::Elementwise || kind == MetaOpClass::Prefix;
}

/// (C3): what is read at another place than the iteration's comes from outside.
static LogicalResult verifyReads(MetaOpInterface op) {
  MetaOpClass kind = op.getMetaOpClass();
  if (readsInPlace(kind))
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
  bool isReduced = kind == MetaOpClass::ReindexReduce;
  for (Value operand : op->getOperands().drop_front(isReduced ? 1 : 0))
    if (!isa<BlockArgument>(operand))
      return op->emitOpError()
             << "in a stage expects "
             << (isReduced ? "its symbols and extents" : "its operands")
             << " to be arguments of the stage";
  return success();
}

/// (C5): what is read in place has the shape of the iteration space.
static LogicalResult verifyPlace(MetaOpInterface op, ArrayRef<int64_t> space) {
  // The indices of a gather and of a scatter have that shape by themselves.
  MetaOpClass kind = op.getMetaOpClass();
  if (!readsInPlace(kind) && kind != MetaOpClass::ReindexReduce)
    return success();
  unsigned count = readsInPlace(kind) ? op->getNumOperands() : 1;
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

/// (C10): loops begin at dimensions of the iteration space, in order.
static LogicalResult verifyFirstDims(FusedOp op, int64_t rank) {
  std::optional<ArrayRef<int64_t>> dims = op.getFirstDims();
  if (!dims)
    return success();
  int64_t least = 0;
  for (int64_t dim : *dims) {
    if (dim < least || dim >= rank)
      return op.emitOpError()
             << "expects `first_dims` to be dimensions of a space of rank "
             << rank << ", in order, given [" << *dims << "]";
    least = dim + 1;
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
    if (static_cast<int64_t>(schedule.getNumDims()) > maxLoops)
      return emitOpError() << "expects `schedule` to order at most " << maxLoops
                           << " loops, given " << schedule.getNumDims();
  // (C10)
  if (failed(verifyFirstDims(*this, iteration.getType().getRank())))
    return failure();
  // (C11)
  if (failed(verifyRole(*this)))
    return failure();
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

/// Calls `fn(stage, number)` for each operand of a stage that is `value`.
template <typename Fn> static void forEachRead(Value value, Fn fn) {
  for (OpOperand &use : value.getUses())
    if (auto stage = dyn_cast<FusedOp>(use.getOwner()))
      fn(stage, use.getOperandNumber());
}

RowsAttr KernelOp::getRowsOfInput(unsigned number) {
  RowsAttr rows;
  forEachRead(getBody().getArgument(number), [&](FusedOp stage, unsigned i) {
    rows = stage.getRowsOfInput(i);
  });
  return rows;
}

RowsAttr KernelOp::getRowsOfResult(unsigned number) {
  auto yielded = cast<OpResult>(getYield().getOperand(number));
  return cast<FusedOp>(yielded.getOwner())
      .getRowsOfResult(yielded.getResultNumber());
}

void KernelOp::setRowsOfInput(unsigned number, RowsAttr rows) {
  forEachRead(getBody().getArgument(number), [&](FusedOp stage, unsigned i) {
    stage.setRowsOfInput(i, rows);
  });
}

void KernelOp::setRowsOfResult(unsigned number, RowsAttr rows) {
  auto yielded = cast<OpResult>(getYield().getOperand(number));
  cast<FusedOp>(yielded.getOwner())
      .setRowsOfResult(yielded.getResultNumber(), rows);
  forEachRead(yielded, [&](FusedOp stage, unsigned i) {
    stage.setRowsOfInput(i, rows);
  });
}

LogicalResult KernelOp::verify() {
  // (C6)
  if (failed(verifyRewrites(*this)))
    return failure();
  // (C3)
  return verifyArguments(*this);
}

/// (C5): who reads a value takes it from where it is.
static LogicalResult verifySameRows(KernelOp op) {
  auto verify = [&](Value value, RowsAttr rows) -> LogicalResult {
    LogicalResult result = success();
    forEachRead(value, [&](FusedOp stage, unsigned i) {
      if (stage.getRowsOfInput(i) != rows && succeeded(result))
        result = stage.emitOpError()
                 << "reads operand " << i
                 << " in other rows than those in which it lies";
    });
    return result;
  };
  for (auto [i, argument] : llvm::enumerate(op.getBody().getArguments()))
    if (failed(verify(argument, op.getRowsOfInput(i))))
      return failure();
  for (auto stage : op.getBody().front().getOps<FusedOp>())
    for (OpResult result : stage->getResults()) {
      RowsAttr rows = stage.getRowsOfResult(result.getResultNumber());
      if (failed(verify(result, rows)))
        return failure();
      if (rows && !llvm::is_contained(op.getYield().getOperands(), result))
        return stage.emitOpError()
               << "has rows for result " << result.getResultNumber()
               << ", which stays inside of the kernel";
    }
  return success();
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
  int64_t available = before ? before.getNumLevels() : 0;
  // The parts that a contraction in blocks and its neighbours share are
  // compared by the lowering.
  if (!schedule.isFlat() || (before && !before.isFlat()))
    return success();
  if (shared > available)
    return stage.emitOpError()
           << "shares " << shared << " loops with a stage whose schedule has "
           << available;
  // So are loops that are several collapsed dimensions.
  RankedTensorType space = stage.getIterationValue().getType();
  RankedTensorType spaceBefore = previous.getIterationValue().getType();
  if (static_cast<int64_t>(schedule.getNumLevels()) != space.getRank() ||
      available != spaceBefore.getRank())
    return success();
  for (int64_t loop = 0; loop < shared; ++loop) {
    int64_t dim = schedule.getLevels()[loop].dim;
    int64_t dimBefore = before.getLevels()[loop].dim;
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
  // (C7)
  if (failed(verifyRoles(*this)))
    return failure();
  // (C5)
  return verifySameRows(*this);
}
