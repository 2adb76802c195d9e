//===- RecordIndirect.cpp - Indices out of tensors ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extra is read by a reindex to the iteration space, which fuses with the
// gather or scatter that it is for; where its own indices are computed, by a
// gather.
//
// Indices of x[i] are known to be in range when they are computed, so what
// reads by them reads what `metaop.check` gives. Labels of classes are checked
// likewise. Few indices that were given as data are looked at here.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Runtime/Recording/GivenData.h"
#include "RecordingTables.h"

using namespace mlir;
using namespace metaops;

/// Index that an extra gives outside of its own range. It is 2^64 over the
/// golden ratio, whose multiples stay away from 0 the longest: none by a factor
/// below 2^15 comes into the range of a tensor, though it wraps.
static constexpr int64_t kNowhere = 0x9e3779b97f4a7c15;

static void checkIndexType(llvm::StringRef what, DType dtype) {
  if (!isSignedInt(dtype) && !isUnsignedInt(dtype))
    fail(ErrorKind::Type,
         what + " is " + nameOf(dtype) + ", expected integers");
}

Node *Recorder::recordRead(const ComputedIndex &read,
                           llvm::ArrayRef<int64_t> iteration,
                           llvm::ArrayRef<Node *> extras,
                           llvm::ArrayRef<Node *> computed) {
  Node *extra = extras[read.extra];
  checkIndexType("extra " + std::to_string(read.extra), extra->dtype);
  Node *indices = recordCast(extra, DType::I64);
  unsigned numDims = iteration.size();
  AffineMap map =
      AffineMap::get(numDims + computed.size(), 0, read.operands, context);
  bool isAffine =
      llvm::none_of(llvm::seq<unsigned>(numDims, map.getNumDims()),
                    [&](unsigned dim) { return map.isFunctionOfDim(dim); });
  metaop::IndexAccess access;
  access.fill = at().getI64IntegerAttr(kNowhere);
  if (isAffine) {
    access.map = AffineMap::get(numDims, 0, read.operands, context);
    if (access.map.isIdentity() && extra->shape() == iteration)
      return indices;
    return adopt(metaop::ReindexOp::create(
        at(), line, typeOf(iteration, DType::I64), indices->value(), access));
  }
  access.map = toSymbols(map, numDims);
  return adopt(metaop::GatherOp::create(
      at(), line, typeOf(iteration, DType::I64), indices->value(),
      valuesOf(computed), access.map, access.fill));
}

/// The ops divide towards minus infinity, so magnitudes are divided.
Node *Recorder::recordDivision(Node *x, Node *y, bool isRemainder) {
  auto binary = [&](llvm::StringRef name, Node *lhs, Node *rhs) {
    return recordElementwise(lookUpElementwise(name, 2).name, {lhs, rhs});
  };
  auto unary = [&](llvm::StringRef name, Node *operand) {
    return recordElementwise(lookUpElementwise(name, 1).name, operand);
  };
  Node *zero = recordSplat(x->shape(), at().getI64IntegerAttr(0));
  Node *quotient = binary("floor_div", unary("abs", x), unary("abs", y));
  Node *isNegative =
      binary("xor", compare("lt", x, zero), compare("lt", y, zero));
  quotient = recordSelect(isNegative, unary("neg", quotient), quotient);
  Node *result =
      isRemainder ? binary("sub", x, binary("mul", quotient, y)) : quotient;
  return recordSelect(compare("eq", y, zero), recordNowhere(x->shape()),
                      result);
}

Node *Recorder::recordNowhere(llvm::ArrayRef<int64_t> shape) {
  return recordSplat(shape, at().getI64IntegerAttr(kNowhere));
}

llvm::SmallVector<Node *>
Recorder::recordComputed(const ParsedAccess &parsed,
                         llvm::ArrayRef<int64_t> iteration,
                         llvm::ArrayRef<Node *> extras) {
  using Kind = ComputedIndex::Kind;
  llvm::SmallVector<Node *> nodes;
  for (const ComputedIndex &index : parsed.computed) {
    if (index.kind == Kind::Read) {
      nodes.push_back(recordRead(index, iteration, extras, nodes));
      continue;
    }
    Node *lhs = recordAffine(index.operands[0], iteration, nodes);
    Node *rhs = recordAffine(index.operands[1], iteration, nodes);
    Node *result =
        index.kind == Kind::Product
            ? recordElementwise(lookUpElementwise("mul", 2).name, {lhs, rhs})
            : recordDivision(lhs, rhs, index.kind == Kind::Remainder);
    // An index that is nowhere stays there.
    Node *nowhere = recordNowhere(iteration);
    for (Node *operand : {lhs, rhs})
      result = recordSelect(compare("eq", operand, nowhere), nowhere, result);
    nodes.push_back(result);
  }
  return nodes;
}

template <typename T>
static bool areInRange(const Buffer &buffer, int64_t count, IndexRange range) {
  llvm::ArrayRef<T> elements(static_cast<const T *>(buffer.data()), count);
  return llvm::all_of(elements, [&](T element) {
    return range.contains(static_cast<int64_t>(element));
  });
}

/// Returns whether indices are data that was given, and in range.
static bool areKnownInRange(const Node &node, int64_t count, IndexRange range) {
  if (!isGivenData(node))
    return false;
  switch (node.dtype) {
  case DType::I8:
    return areInRange<int8_t>(*node.buffer, count, range);
  case DType::I16:
    return areInRange<int16_t>(*node.buffer, count, range);
  case DType::I32:
    return areInRange<int32_t>(*node.buffer, count, range);
  case DType::I64:
    return areInRange<int64_t>(*node.buffer, count, range);
  case DType::U8:
    return areInRange<uint8_t>(*node.buffer, count, range);
  case DType::U16:
    return areInRange<uint16_t>(*node.buffer, count, range);
  case DType::U32:
    return areInRange<uint32_t>(*node.buffer, count, range);
  case DType::U64:
    return areInRange<uint64_t>(*node.buffer, count, range);
  default:
    return false;
  }
}

/// The indices from the start; 0 for those that are ignored.
Node *Recorder::recordFromStart(Node *indices, IndexRange range) {
  llvm::ArrayRef<int64_t> shape = indices->shape();
  Node *zero = recordSplat(shape, at().getI64IntegerAttr(0));
  if (!range.hasNegative)
    return recordElementwise(lookUpElementwise("max", 2).name, {indices, zero});
  Node *isNegative = adopt(metaop::CmpOp::create(
      at(), line, typeOf(shape, DType::Bool), metaop::ComparePredicate::Lt,
      indices->value(), zero->value()));
  Node *fromEnd = recordElementwise(
      lookUpElementwise("add", 2).name,
      {indices, recordSplat(shape, at().getI64IntegerAttr(range.extent))});
  return recordSelect(isNegative, fromEnd, indices);
}

Node *Recorder::checkTrips(Node *count, int64_t most) {
  count = binary("max", count, Number::ofInt(0));
  return adopt(metaop::CheckOp::create(at(), line, count->value(),
                                       IndexRange::ofTrips(most)));
}

Node *Recorder::checkIndices(Node *indices, IndexRange range) {
  checkIndexType(range.dim ? "an index" : "a label", indices->dtype);
  // An index that is negative when it is cast was too large.
  if (indices->dtype == DType::U64)
    range.hasNegative = false;
  int64_t count = getNumElements(indices->shape());
  if (count > 0 && !areKnownInRange(*indices, count, range))
    indices =
        adopt(metaop::CheckOp::create(at(), line, indices->value(), range));
  return recordFromStart(recordCast(indices, DType::I64), range);
}
