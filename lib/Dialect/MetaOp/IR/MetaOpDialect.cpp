//===- MetaOpDialect.cpp - The metaop dialect -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/OpUtils.h"
#include "ScheduleSyntax.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.cpp.inc"

/// Options of a slot, which are printed only where they say something:
/// (`,` `offset` `=` offset)? (`,` `row` `=` row `,` `pitch` `=` pitch)?
static ParseResult parseSlotOptions(AsmParser &parser, int64_t &offset,
                                    int64_t &row, int64_t &pitch) {
  offset = row = pitch = 0;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (succeeded(parser.parseOptionalKeyword("offset"))) {
    if (parser.parseEqual() || parser.parseInteger(offset))
      return failure();
    if (failed(parser.parseOptionalComma()))
      return success();
  }
  return failure(parser.parseKeyword("row") || parser.parseEqual() ||
                 parser.parseInteger(row) || parser.parseComma() ||
                 parser.parseKeyword("pitch") || parser.parseEqual() ||
                 parser.parseInteger(pitch));
}

static void printSlotOptions(AsmPrinter &printer, int64_t offset, int64_t row,
                             int64_t pitch) {
  if (offset != 0)
    printer << ", offset = " << offset;
  if (pitch != 0)
    printer << ", row = " << row << ", pitch = " << pitch;
}

/// `[` words (`,` words)* `]`
static ParseResult parseScratch(AsmParser &parser,
                                SmallVector<int64_t> &scratch) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(scratch.emplace_back());
  });
}

static void printScratch(AsmPrinter &printer, ArrayRef<int64_t> scratch) {
  printer << '[' << scratch << ']';
}

#define GET_ATTRDEF_CLASSES
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.cpp.inc"

namespace {
/// Functions of meta-operators may be put into their callers.
struct MetaOpInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void MetaOpDialect::initialize() {
  addInterfaces<MetaOpInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.cpp.inc"
      >();
  addCheckOps();
  addCustomOps();
  addElementwiseOps();
  addExternOps();
  addFloatFunctionOps();
  addLeafOps();
  addLoopOps();
  addPlacementOps();
  addPrefixOps();
  addReduceOps();
  addReindexOps();
  addRoutineOps();
  addStructureOps();
}

Operation *MetaOpDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
