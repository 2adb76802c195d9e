//===- LoopOps.cpp - Loops over rows --------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/LoopOps.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

RankedTensorType metaop::getRowType(RankedTensorType type) {
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType());
}

RankedTensorType metaop::getStackedType(RankedTensorType row, int64_t count) {
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, row.getShape());
  return RankedTensorType::get(shape, row.getElementType());
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

/// Adds the region with its block, whose arguments follow from the operands.
static Block *addBody(OpBuilder &builder, OperationState &state,
                      ValueRange inits, ValueRange rows) {
  Block *body = builder.createBlock(state.addRegion());
  for (Value init : inits)
    body->addArgument(init.getType(), state.location);
  for (Value value : rows)
    body->addArgument(getRowType(cast<RankedTensorType>(value.getType())),
                      state.location);
  return body;
}

void ScanOp::build(OpBuilder &builder, OperationState &state, TypeRange outputs,
                   ValueRange inits, ValueRange rows, ScanTrips trips,
                   bool reverse) {
  OpBuilder::InsertionGuard guard(builder);
  addBody(builder, state, inits, rows);
  state.addOperands(inits);
  state.addOperands(rows);
  if (trips.count)
    state.addOperands(trips.count);
  Properties &properties = state.getOrAddProperties<Properties>();
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(inits.size()),
                               static_cast<int32_t>(rows.size()),
                               trips.count ? 1 : 0},
             properties.operandSegmentSizes.begin());
  if (trips.known)
    properties.trips = builder.getI64IntegerAttr(*trips.known);
  if (reverse)
    properties.reverse = builder.getUnitAttr();
  state.addTypes(outputs);
}

void ScanOp::build(
    OpBuilder &builder, OperationState &state, ScanTrips trips, bool reverse,
    ValueRange inits, ValueRange rows,
    function_ref<void(OpBuilder &, Location, ValueRange, ValueRange)>
        buildBody) {
  build(builder, state, inits.getTypes(), inits, rows, trips, reverse);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = state.regions.front()->front();
  builder.setInsertionPointToEnd(&body);
  ValueRange arguments = body.getArguments();
  buildBody(builder, state.location, arguments.take_front(inits.size()),
            arguments.drop_front(inits.size()));
  for (Value row : body.getTerminator()->getOperands().drop_front(inits.size()))
    state.addTypes(
        getStackedType(cast<RankedTensorType>(row.getType()), *trips.known));
}

//===----------------------------------------------------------------------===//
// Syntax
//
//   (trips | %count (`most` trips)?) `reverse`? (`unroll` number)?
//     (`carries` inputs)? (`rows` inputs)? (`->` types)?
//     (`attributes` {...})? region
//
// where the inputs are `(` %argument `=` %operand `:` type, ... `)`.
//===----------------------------------------------------------------------===//

namespace {
/// Parses inputs one after the other.
class InputParser {
public:
  explicit InputParser(OpAsmParser &parser) : parser(parser) {}

  /// A list of them, if the keyword stands there; their number is added to
  /// the segments.
  ParseResult parse(StringRef keyword, bool areRows);
  ParseResult resolve(OperationState &result) {
    return parser.resolveOperands(operands, types, parser.getCurrentLocation(),
                                  result.operands);
  }

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<int32_t> segments;

private:
  ParseResult parseInput(bool areRows);

  OpAsmParser &parser;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
};
} // namespace

ParseResult InputParser::parseInput(bool areRows) {
  OpAsmParser::Argument &argument = arguments.emplace_back();
  Type type;
  SMLoc loc;
  if (parser.parseArgument(argument) || parser.parseEqual() ||
      parser.parseOperand(operands.emplace_back()) || parser.parseColon() ||
      parser.getCurrentLocation(&loc) || parser.parseType(type))
    return failure();
  types.push_back(type);
  argument.type = type;
  if (!areRows)
    return success();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0)
    return parser.emitError(loc) << "expects a tensor of rows, given " << type;
  argument.type = getRowType(tensor);
  return success();
}

ParseResult InputParser::parse(StringRef keyword, bool areRows) {
  size_t before = arguments.size();
  if (succeeded(parser.parseOptionalKeyword(keyword)) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     [&] { return parseInput(areRows); }))
    return failure();
  segments.push_back(arguments.size() - before);
  return success();
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  Builder &builder = parser.getBuilder();
  int64_t trips;
  SmallVector<OpAsmParser::UnresolvedOperand> counts;
  OptionalParseResult hasTrips = parser.parseOptionalInteger(trips);
  if (!hasTrips.has_value()) {
    if (parser.parseOperand(counts.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("most")))
      hasTrips = parser.parseInteger(trips);
  }
  if (hasTrips.has_value()) {
    if (*hasTrips)
      return failure();
    properties.trips = builder.getI64IntegerAttr(trips);
  }
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.reverse = builder.getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("unroll"))) {
    int64_t unroll;
    if (parser.parseInteger(unroll))
      return failure();
    properties.unroll = builder.getI64IntegerAttr(unroll);
  }
  InputParser inputs(parser);
  if (inputs.parse("carries", /*areRows=*/false) ||
      inputs.parse("rows", /*areRows=*/true) || inputs.resolve(result))
    return failure();
  if (parser.resolveOperands(counts,
                             RankedTensorType::get({}, builder.getI64Type()),
                             result.operands))
    return failure();
  inputs.segments.push_back(counts.size());
  llvm::copy(inputs.segments, properties.operandSegmentSizes.begin());
  return failure(parser.parseOptionalArrowTypeList(result.types) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parser.parseRegion(*result.addRegion(), inputs.arguments));
}

void ScanOp::print(OpAsmPrinter &printer) {
  Value count = getCount();
  if (count)
    printer << ' ' << count;
  if (std::optional<int64_t> trips = getTrips())
    printer << (count ? " most " : " ") << *trips;
  if (getReverse())
    printer << " reverse";
  if (std::optional<int64_t> unroll = getUnroll())
    printer << " unroll " << *unroll;
  auto printInputs = [&](StringRef keyword, ValueRange arguments,
                         ValueRange operands) {
    if (operands.empty())
      return;
    printer << ' ' << keyword << '(';
    llvm::interleaveComma(
        llvm::zip_equal(arguments, operands), printer, [&](auto pair) {
          auto [argument, operand] = pair;
          printer.printRegionArgument(cast<BlockArgument>(argument),
                                      /*argAttrs=*/{}, /*omitType=*/true);
          printer << " = " << operand << " : " << operand.getType();
        });
    printer << ')';
  };
  printInputs("carries", getRegionIterArgs(), getInits());
  printInputs("rows", getRowArguments(), getRows());
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getOperandSegmentSizesAttrName(), getTripsAttrName(),
       getReverseAttrName(), getUnrollAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// (C3), (C4): values of the block are those of the loop.
static LogicalResult verifySameTypes(ScanOp op, StringRef name, TypeRange types,
                                     StringRef expectedName,
                                     ArrayRef<Type> expected) {
  if (types.size() != expected.size())
    return op.emitOpError() << "expects " << expected.size() << ' ' << name
                            << ", given " << types.size();
  for (auto [number, type, wanted] : llvm::enumerate(types, expected))
    if (type != wanted)
      return op.emitOpError()
             << "expects number " << number << " of its " << name
             << " to have type " << wanted << " as follows from its "
             << expectedName << ", given " << type;
  return success();
}

LogicalResult ScanOp::verify() {
  std::optional<int64_t> trips = getTrips();
  // (C1)
  if (!trips && !getCount())
    return emitOpError("expects `trips`, a `count` or both");
  if (trips && *trips < 0)
    return emitOpError("expects `trips` of at least 0, given ") << *trips;
  // (C5)
  if (!trips && !getRows().empty())
    return emitOpError("expects no rows without `trips`, given ")
           << getRows().size();
  std::optional<int64_t> unroll = getUnroll();
  if (getCount() && unroll)
    return emitOpError("expects no `unroll` beside a `count`, given ")
           << *unroll;
  // (C6)
  if (unroll && *unroll < 1)
    return emitOpError("expects `unroll` of at least 1, given ") << *unroll;
  // (C2)
  SmallVector<Type> expected(getInits().getTypes());
  for (auto [number, value] : llvm::enumerate(getRows())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != *trips)
      return emitOpError("expects number ")
             << number << " of its rows to be " << *trips << " of them, given "
             << type;
    expected.push_back(getRowType(type));
  }
  // (C3)
  return verifySameTypes(*this, "arguments", getBody().getArgumentTypes(),
                         "operands", expected);
}

/// The interface of loops verifies what is carried.
LogicalResult ScanOp::verifyRegions() {
  // (C5)
  TypeRange rows = getYieldedRows().getTypes();
  if (!getTrips() && !rows.empty())
    return emitOpError("yields no rows without `trips`, given ") << rows.size();
  // (C4)
  SmallVector<Type> expected(getInits().getTypes());
  for (Type row : rows)
    expected.push_back(
        getStackedType(cast<RankedTensorType>(row), *getTrips()));
  return verifySameTypes(*this, "results", getResultTypes(), "yielded values",
                         expected);
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

ScanTrips ScanOp::getNumTrips() { return {getCount(), getTrips()}; }

ScanYieldOp ScanOp::getYield() {
  return cast<ScanYieldOp>(getBody().front().getTerminator());
}

/// A loop that is not verified yet may yield too few.
static unsigned countYieldedCarries(ScanOp op) {
  return std::min(op.getNumCarries(), op.getYield()->getNumOperands());
}

OperandRange ScanOp::getNextCarries() {
  return getYield().getOperands().take_front(countYieldedCarries(*this));
}

OperandRange ScanOp::getYieldedRows() {
  return getYield().getOperands().drop_front(countYieldedCarries(*this));
}

SmallVector<Region *> ScanOp::getLoopRegions() { return {&getBody()}; }

Block::BlockArgListType ScanOp::getRegionIterArgs() {
  return getBody().getArguments().take_front(getNumCarries());
}

std::optional<MutableArrayRef<OpOperand>> ScanOp::getYieldedValuesMutable() {
  return getYield()->getOpOperands().take_front(countYieldedCarries(*this));
}

std::optional<ResultRange> ScanOp::getLoopResults() { return getLastCarries(); }

/// Rows are no successors' inputs, as the counter of an scf.for is none.
OperandRange ScanOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void ScanOp::getSuccessorRegions(RegionBranchPoint,
                                 SmallVectorImpl<RegionSuccessor> &regions) {
  regions.emplace_back(&getBody(), getRegionIterArgs());
  regions.emplace_back(getOperation(), getLastCarries());
}

MutableOperandRange ScanYieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  return MutableOperandRange(
      *this, 0, countYieldedCarries(cast<ScanOp>((*this)->getParentOp())));
}

//===----------------------------------------------------------------------===//
// Making trips
//===----------------------------------------------------------------------===//

/// Loops of no more operators than this in all are unrolled.
static constexpr uint64_t kMaxShortLoop = 64;

/// Returns whether nothing is gained by repeating an operation: a check names
/// the trip of its loop, and a loop that stays takes as long in any.
static bool staysInLoop(Operation *op) {
  if (auto scan = dyn_cast<ScanOp>(op))
    return scan.getCount() || scan.getTripsAtOnce() < scan.getTrips();
  return isa<CheckOp, CheckRangeOp, LoopLikeOpInterface>(op);
}

/// Returns how many operators a block has, each of a loop inside in each trip;
/// nothing if they are too many, or the block is not to be repeated.
static std::optional<uint64_t> countOperators(Block &block) {
  uint64_t count = 0;
  for (Operation &op : block.without_terminator()) {
    if (staysInLoop(&op))
      return std::nullopt;
    auto scan = dyn_cast<ScanOp>(op);
    count += !scan && !op.hasTrait<OpTrait::ConstantLike>();
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        std::optional<uint64_t> more = countOperators(inner);
        if (!more)
          return std::nullopt;
        count = llvm::SaturatingMultiplyAdd<uint64_t>(
            *more, scan ? *scan.getTrips() : 1, count);
      }
    if (count > kMaxShortLoop)
      return std::nullopt;
  }
  return count;
}

int64_t ScanOp::getTripsAtOnce() {
  std::optional<uint64_t> trips = getTrips();
  if (getCount() || *trips <= 1)
    return 1;
  if (std::optional<uint64_t> unroll = getUnroll())
    return std::min(*unroll, *trips);
  if (*trips > kMaxShortLoop)
    return 1;
  std::optional<uint64_t> count = countOperators(getBody().front());
  return count && *count * *trips <= kMaxShortLoop ? *trips : 1;
}

void ScanOp::makeTripsLike(ScanOp other) {
  MetaOpDialect::BlocksAttrHelper blocks(getContext());
  if (blocks.isAttrPresent(other))
    blocks.setAttr(*this, blocks.getAttr(other));
  MetaOpDialect::FirstTripAttrHelper firstTrip(getContext());
  if (firstTrip.isAttrPresent(other) && getReverse() == other.getReverse())
    firstTrip.setAttr(*this, firstTrip.getAttr(other));
  if (other.getUnroll())
    setUnrollAttr(other.getUnrollAttr());
  else if (int64_t trips = other.getTripsAtOnce(); trips > 1)
    setUnroll(trips);
}
