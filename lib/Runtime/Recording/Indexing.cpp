//===- Indexing.cpp - x[...] and x[...] = y -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An index is resolved to a window of the tensor (a start, a count and a step
// for each dimension) and the shape in which Python sees it (integers drop
// their dimension, None adds one). Reading is a `metaop.slice` and a reshape.
// Writing makes a new value by a `metaop.insert`. If the window has steps, the
// part is put where it belongs by a reindex, and chosen there by a mask that
// the same reindex makes of "true". Starts are operands, so a moving window
// makes no new program, and a 0-d tensor may stand for an integer: what is read
// and written is the part, wherever it turns out to be.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Runtime/Recording/Recorder.h"

using namespace mlir;
using namespace metaops;

struct metaops::StridedRange {
  int64_t start, count, step;
  /// A 0-d tensor that is added to the start, in the range of the dimension.
  Node *place = nullptr;

  bool isWhole(int64_t extent) const {
    return !place && start == 0 && count == extent && step == 1;
  }
};

namespace {
struct Window {
  /// Of each dimension of the tensor.
  llvm::SmallVector<StridedRange> ranges;
  /// As Python sees the part.
  llvm::SmallVector<int64_t> shape;

  llvm::SmallVector<int64_t> counts() const {
    return llvm::map_to_vector(
        ranges, [](const StridedRange &range) { return range.count; });
  }
};
} // namespace

static StridedRange resolveInteger(int64_t index, int64_t dim, int64_t extent) {
  if (index < -extent || index >= extent)
    fail(ErrorKind::Index,
         "index " + llvm::Twine(index) + " is out of range for dimension " +
             llvm::Twine(dim) + " of extent " + llvm::Twine(extent));
  return {index < 0 ? index + extent : index, 1, 1};
}

/// As Python's slice.indices.
static StridedRange resolveSlice(const IndexItem &item, int64_t extent) {
  int64_t step = item.step.value_or(1);
  if (step == 0)
    fail(ErrorKind::Value, "a slice's step is 0, expected another number");
  int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? extent - 1 : extent;
  auto resolve = [&](std::optional<int64_t> end, int64_t absent) {
    if (!end)
      return absent;
    int64_t position = *end < 0 ? *end + extent : *end;
    return std::clamp(position, lowest, highest);
  };
  int64_t start = resolve(item.start, step < 0 ? highest : lowest);
  int64_t stop = resolve(item.stop, step < 0 ? lowest : highest);
  int64_t distance = step < 0 ? start - stop : stop - start;
  int64_t size = std::abs(step);
  int64_t count = distance <= 0 ? 0 : (distance - 1) / size + 1;
  // A window without elements may start anywhere.
  return count ? StridedRange{start, count, step} : StridedRange{0, 0, 1};
}

static Window resolve(Recorder &recorder, llvm::ArrayRef<IndexItem> items,
                      llvm::ArrayRef<int64_t> shape) {
  using Kind = IndexItem::Kind;
  size_t used = llvm::count_if(items, [](const IndexItem &item) {
    return item.kind == Kind::Integer || item.kind == Kind::Slice;
  });
  size_t ellipses = llvm::count_if(
      items, [](const IndexItem &item) { return item.kind == Kind::Ellipsis; });
  if (ellipses > 1)
    fail(ErrorKind::Index, "an index has more than one ellipsis");
  if (used > shape.size())
    fail(ErrorKind::Index, "given " + llvm::Twine(used) +
                               " indices for a tensor of shape " +
                               formatShape(shape));

  Window window;
  auto take = [&](StridedRange range, bool keep) {
    window.ranges.push_back(range);
    if (keep)
      window.shape.push_back(range.count);
  };
  auto takeWhole = [&](size_t count) {
    for (; count > 0; --count)
      take({0, shape[window.ranges.size()], 1}, /*keep=*/true);
  };
  for (const IndexItem &item : items) {
    int64_t dim = window.ranges.size();
    if (item.kind == Kind::NewAxis)
      window.shape.push_back(1);
    else if (item.kind == Kind::Ellipsis)
      takeWhole(shape.size() - used);
    else if (item.place && shape[dim] == 0)
      // Nothing may be computed that would tell.
      fail(ErrorKind::Index, "an index is out of range for dimension " +
                                 llvm::Twine(dim) + " of extent 0");
    else if (item.place)
      take(
          {0, 1, 1, recorder.checkIndices(item.place, {dim, shape[dim], true})},
          /*keep=*/false);
    else if (item.kind == Kind::Integer)
      take(resolveInteger(*item.start, dim, shape[dim]), /*keep=*/false);
    else
      take(resolveSlice(item, shape[dim]), /*keep=*/true);
  }
  takeWhole(shape.size() - window.ranges.size());
  return window;
}

static bool isWhole(const Window &window, llvm::ArrayRef<int64_t> shape) {
  return llvm::all_of(llvm::zip_equal(window.ranges, shape), [](auto pair) {
    return std::get<0>(pair).isWhole(std::get<1>(pair));
  });
}

/// The start of each range as a value.
llvm::SmallVector<Value>
Recorder::recordStarts(llvm::ArrayRef<StridedRange> ranges,
                       llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Value> values;
  for (auto [range, extent] : llvm::zip_equal(ranges, shape)) {
    bool isWhole = range.start == 0 && range.count == extent;
    Node *number = range.place ? range.place
                   : isWhole   ? recordZeroIndex()
                               : recordInteger(range.start);
    values.push_back(number->value());
  }
  return values;
}

/// The smallest tensor that is known to hold the window: of a concat, the part.
Node *Recorder::narrow(Node *node, llvm::MutableArrayRef<StridedRange> ranges) {
  for (size_t dim = 0; dim < ranges.size();) {
    StridedRange &range = ranges[dim];
    int64_t last = range.start + (range.count - 1) * range.step;
    auto [part, begin] = range.place
                             ? std::pair<Node *, int64_t>()
                             : findPart(node, dim, std::min(range.start, last),
                                        std::max(range.start, last));
    if (!part || range.count == 0) {
      ++dim;
      continue;
    }
    node = part;
    range.start -= begin;
    dim = 0;
  }
  return node;
}

Node *Recorder::getItem(Node *x, llvm::ArrayRef<IndexItem> items) {
  Window window = resolve(*this, items, x->shape());
  llvm::SmallVector<int64_t> counts = window.counts(), steps;
  for (const StridedRange &range : window.ranges)
    steps.push_back(range.step);
  Node *part = narrow(x, window.ranges);
  if (!isWhole(window, part->shape()))
    part = adopt(metaop::SliceOp::create(
        at(), line, typeOf(counts, x->dtype), part->value(),
        recordStarts(window.ranges, part->shape()), ValueRange(), steps));
  return recordReshape(part, window.shape);
}

/// The window's place in the tensor as an access from the tensor's indices to
/// the window's. One symbol, listed in `starts`, for each dimension that is not
/// taken whole.
static metaop::IndexAccess
placeWindow(const Window &window, llvm::ArrayRef<int64_t> shape,
            MLIRContext *context, llvm::SmallVectorImpl<StridedRange> &starts) {
  llvm::SmallVector<AffineExpr> results, constraints;
  for (auto [dim, range] : llvm::enumerate(window.ranges)) {
    AffineExpr position = getAffineDimExpr(dim, context);
    if (range.isWhole(shape[dim])) {
      results.push_back(position);
      continue;
    }
    // Counted from the window's lowest element.
    int64_t last = (range.count - 1) * range.step, step = std::abs(range.step);
    AffineExpr start = getAffineSymbolExpr(starts.size(), context);
    int64_t lowest = range.step < 0 ? range.start + last : range.start;
    starts.push_back({lowest, 1, 1, range.place});
    AffineExpr offset = position - start;
    AffineExpr index = offset.floorDiv(step);
    results.push_back(range.step < 0 ? (range.count - 1) - index : index);
    if (step > 1)
      constraints.push_back(offset % step);
  }
  metaop::IndexAccess access;
  access.map = AffineMap::get(shape.size(), starts.size(), results, context);
  if (!constraints.empty())
    access.conditions =
        IntegerSet::get(shape.size(), starts.size(), constraints,
                        llvm::SmallVector<bool>(constraints.size(), true));
  return access;
}

/// The value as it is laid into a part of `shape`: leading extents of 1 beyond
/// its rank go, as NumPy allows in an assignment.
static llvm::SmallVector<int64_t> fitShape(llvm::ArrayRef<int64_t> value,
                                           llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> fitted(value);
  while (fitted.size() > shape.size() && fitted.front() == 1)
    fitted.erase(fitted.begin());
  bool fits = fitted.size() <= shape.size();
  for (size_t back = 1; fits && back <= fitted.size(); ++back) {
    int64_t extent = fitted[fitted.size() - back];
    fits = extent == 1 || extent == shape[shape.size() - back];
  }
  if (!fits)
    fail(ErrorKind::Value, "a value of shape " + formatShape(value) +
                               " cannot be assigned to a part of shape " +
                               formatShape(shape));
  return fitted;
}

Node *Recorder::replaceItem(Node *x, llvm::ArrayRef<IndexItem> items,
                            Operand value) {
  llvm::ArrayRef<int64_t> shape = x->shape();
  Window window = resolve(*this, items, shape);
  Node *part = value.getNode();
  if (part)
    part = recordReshape(part, fitShape(part->shape(), window.shape));
  else
    part = scalar(value.getNumber(), x->dtype);
  if (getNumElements(window.shape) == 0 || getNumElements(shape) == 0)
    return x;
  part = recordBroadcast(recordCast(part, x->dtype), window.shape);
  part = recordReshape(part, window.counts());
  if (isWhole(window, shape))
    return part;

  if (llvm::all_of(window.ranges, [](const StridedRange &range) {
        return range.step == 1 || range.count == 1;
      }))
    return adopt(metaop::InsertOp::create(at(), line, metaop::Combiner::None,
                                          part->value(), x->value(),
                                          recordStarts(window.ranges, shape)));
  llvm::SmallVector<StridedRange> starts;
  metaop::IndexAccess access = placeWindow(window, shape, context, starts);
  for (const StridedRange &start : starts) {
    Node *number = start.place ? start.place : recordInteger(start.start);
    access.symbols.push_back(number->value());
  }
  access.fill = fillOf(Number::ofInt(0), x->dtype);
  Node *placed = adopt(metaop::ReindexOp::create(
      at(), line, typeOf(shape, x->dtype), part->value(), access));
  access.fill = at().getBoolAttr(false);
  Node *inside = recordSplat(window.counts(), at().getBoolAttr(true));
  Node *mask = adopt(metaop::ReindexOp::create(
      at(), line, typeOf(shape, DType::Bool), inside->value(), access));
  return recordSelect(mask, placed, x);
}
