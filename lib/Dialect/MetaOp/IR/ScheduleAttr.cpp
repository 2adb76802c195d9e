//===- ScheduleAttr.cpp - Schedules of stages -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of a schedule, and what can be said of it without its stage. What
// its stage, and a target, ask of it are rules (ScheduleRules.h).
//
//===----------------------------------------------------------------------===//

#include "GpuLevels.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "ScheduleSyntax.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include <functional>

using namespace mlir;
using namespace mlir::metaop;

/// More loops are not a schedule but a mistake: sets of dimensions stay small.
static constexpr int64_t kMaxDim = 1024;
/// Larger steps than any extent, which products of some of them do not exceed.
static constexpr int64_t kMaxStep = int64_t(1) << 40;
/// Values that are added one after another, of which a product with such a step
/// is a number as well.
static constexpr int64_t kMaxPairwise = 1 << 10;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parseLevel(AsmParser &parser, LoopLevel &level) {
  FailureOr<LevelKind> kind = FieldParser<LevelKind>::parse(parser);
  if (failed(kind) || parser.parseLParen() || parser.parseInteger(level.dim))
    return failure();
  level.kind = *kind;
  bool hasComma = succeeded(parser.parseOptionalComma());
  if (hasComma) {
    if (auto step = parser.parseOptionalInteger(level.step); step.has_value()) {
      if (failed(*step))
        return failure();
      hasComma = succeeded(parser.parseOptionalComma());
    }
  }
  if (hasComma) {
    FailureOr<LevelTail> tail = FieldParser<LevelTail>::parse(parser);
    if (failed(tail))
      return failure();
    level.tail = *tail;
  }
  return parser.parseRParen();
}

ParseResult metaop::parseLevels(AsmParser &parser,
                                SmallVector<LoopLevel> &levels) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseLevel(parser, levels.emplace_back());
  });
}

void metaop::printLevels(AsmPrinter &printer, ArrayRef<LoopLevel> levels) {
  printer << "[";
  llvm::interleaveComma(levels, printer, [&](const LoopLevel &level) {
    printer << stringifyLevelKind(level.kind) << "(" << level.dim;
    if (level.step != 1)
      printer << ", " << level.step;
    if (level.tail != LevelTail::Mask)
      printer << ", " << stringifyLevelTail(level.tail);
    printer << ")";
  });
  printer << "]";
}

/// `first: second`
static ParseResult parsePair(AsmParser &parser, int64_t &first,
                             int64_t &second) {
  return failure(parser.parseInteger(first) || parser.parseColon() ||
                 parser.parseInteger(second));
}

static ParseResult parseTileDim(AsmParser &parser, TileDim &tile) {
  return parsePair(parser, tile.dim, tile.size);
}

static ParseResult parsePlace(AsmParser &parser, ResultPlace &place) {
  FailureOr<ResultPlace> parsed = FieldParser<ResultPlace>::parse(parser);
  if (failed(parsed))
    return failure();
  place = *parsed;
  return success();
}

template <typename Fn>
static ParseResult parseList(AsmParser &parser, Fn parseElement) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        parseElement);
}

ParseResult
metaop::parseScheduleOptions(AsmParser &parser, SmallVector<TileDim> &tile,
                             TileDim &lanes, int64_t &transpose,
                             SmallVector<int64_t> &unroll, int64_t &prefetch,
                             int64_t &pairwise, SmallVector<int64_t> &stream,
                             SmallVector<StagedRead> &staged,
                             SmallVector<ResultPlace> &place, int64_t &shared) {
  lanes = TileDim();
  transpose = -1;
  prefetch = 0;
  pairwise = 0;
  shared = 0;
  auto parseNumbers = [&](SmallVector<int64_t> &numbers) {
    return parseList(
        parser, [&] { return parser.parseInteger(numbers.emplace_back()); });
  };
  // Fields follow each other in this order, each at most once.
  std::pair<StringRef, std::function<ParseResult()>> fields[] = {
      {"tile",
       [&] {
         return parseList(
             parser, [&] { return parseTileDim(parser, tile.emplace_back()); });
       }},
      {"lanes", [&] { return parseTileDim(parser, lanes); }},
      {"transpose", [&] { return parser.parseInteger(transpose); }},
      {"unroll", [&] { return parseNumbers(unroll); }},
      {"prefetch", [&] { return parser.parseInteger(prefetch); }},
      {"pairwise", [&] { return parser.parseInteger(pairwise); }},
      {"stream", [&] { return parseNumbers(stream); }},
      {"staged",
       [&] {
         return parseList(parser, [&] {
           StagedRead &read = staged.emplace_back();
           return parsePair(parser, read.read, read.pad);
         });
       }},
      {"place",
       [&] {
         return parseList(
             parser, [&] { return parsePlace(parser, place.emplace_back()); });
       }},
      {"shared", [&] { return parser.parseInteger(shared); }},
  };
  auto *next = std::begin(fields);
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    next = std::find_if(next, std::end(fields),
                        [&](auto &field) { return field.first == name; });
    if (next == std::end(fields))
      return parser.emitError(loc)
             << "expects `tile`, `lanes`, `transpose`, `unroll`, `prefetch`, "
                "`pairwise`, `stream`, `staged`, `place` and `shared`, each "
                "once and in this order, given `"
             << name << "`";
    if (parser.parseEqual() || next->second())
      return failure();
    ++next;
  }
  if (llvm::all_of(place, [](ResultPlace result) {
        return result == ResultPlace::Memory;
      }))
    place.clear();
  return success();
}

void metaop::printScheduleOptions(AsmPrinter &printer, ArrayRef<TileDim> tile,
                                  TileDim lanes, int64_t transpose,
                                  ArrayRef<int64_t> unroll, int64_t prefetch,
                                  int64_t pairwise, ArrayRef<int64_t> stream,
                                  ArrayRef<StagedRead> staged,
                                  ArrayRef<ResultPlace> place, int64_t shared) {
  auto printTileDim = [&](TileDim tile) {
    printer << tile.dim << ": " << tile.size;
  };
  if (!tile.empty()) {
    printer << ", tile = [";
    llvm::interleaveComma(tile, printer, printTileDim);
    printer << "]";
  }
  if (lanes.dim != -1) {
    printer << ", lanes = ";
    printTileDim(lanes);
  }
  if (transpose != -1)
    printer << ", transpose = " << transpose;
  if (!unroll.empty())
    printer << ", unroll = [" << unroll << "]";
  if (prefetch != 0)
    printer << ", prefetch = " << prefetch;
  if (pairwise != 0)
    printer << ", pairwise = " << pairwise;
  if (!stream.empty())
    printer << ", stream = [" << stream << "]";
  if (!staged.empty()) {
    printer << ", staged = [";
    llvm::interleaveComma(staged, printer, [&](StagedRead read) {
      printer << read.read << ": " << read.pad;
    });
    printer << "]";
  }
  if (!place.empty()) {
    printer << ", place = [";
    llvm::interleaveComma(place, printer, [&](ResultPlace result) {
      printer << stringifyResultPlace(result);
    });
    printer << "]";
  }
  if (shared != 0)
    printer << ", shared = " << shared;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

/// In place of the last loop of a dimension that has none.
static constexpr LoopLevel kNoLoop{LevelKind::Step, -1, 0};

/// Each dimension below the largest is named, by loops of falling steps.
/// `last` becomes the last loop of each.
static LogicalResult verifyLevels(EmitError emitError,
                                  ArrayRef<LoopLevel> levels,
                                  SmallVectorImpl<LoopLevel> &last) {
  bool isParallel = true;
  for (const LoopLevel &level : levels) {
    if (level.dim < 0 || level.dim >= kMaxDim)
      return emitError() << "expects loops over dimensions from 0 to "
                         << kMaxDim - 1 << ", given " << level.dim;
    if (level.step < 1 || level.step > kMaxStep)
      return emitError() << "expects steps from 1 to " << kMaxStep << ", given "
                         << level.step;
    isParallel &= level.kind == LevelKind::Parallel;
    if (!isParallel && level.kind == LevelKind::Parallel)
      return emitError()
             << "expects parallel loops outside of all others, given one of "
                "dimension "
             << level.dim << " inside";
    if (level.dim >= static_cast<int64_t>(last.size()))
      last.resize(level.dim + 1, kNoLoop);
    LoopLevel &before = last[level.dim];
    if (before.step != 0 &&
        (level.step > before.step || before.step % level.step != 0))
      return emitError() << "expects a further loop of dimension " << level.dim
                         << " to divide the step before it, " << before.step
                         << ", given " << level.step;
    before = level;
  }
  for (auto [dim, level] : llvm::enumerate(last))
    if (level.step == 0)
      return emitError() << "expects loops over all " << last.size()
                         << " dimensions, but there is none over " << dim;
  return success();
}

/// Dimensions that a field names: each is one of the stage's, and named once.
template <typename Range, typename GetDim>
static LogicalResult verifyDims(EmitError emitError, StringRef field,
                                Range &&range, GetDim getDim, int64_t numDims) {
  llvm::SmallBitVector seen(numDims);
  for (auto &&entry : range) {
    int64_t dim = getDim(entry);
    if (dim < 0 || dim >= numDims || seen.test(dim))
      return emitError() << "expects `" << field << "` to name each of the "
                         << numDims << " dimensions at most once, given "
                         << dim;
    seen.set(dim);
  }
  return success();
}

static LogicalResult verifyTile(EmitError emitError, ArrayRef<TileDim> tile,
                                TileDim lanes, ArrayRef<LoopLevel> last) {
  int64_t numDims = last.size();
  if (failed(verifyDims(
          emitError, "tile", tile, [](TileDim t) { return t.dim; }, numDims)))
    return failure();
  for (TileDim entry : tile)
    if (entry.size < 2)
      return emitError() << "expects more than one iteration of each dimension "
                            "in `tile`, given "
                         << entry.size << " of " << entry.dim;
  SmallVector<int64_t> sizes(numDims, 1);
  for (TileDim entry : tile)
    sizes[entry.dim] = entry.size;
  for (auto [dim, size, level] : llvm::enumerate(sizes, last))
    if (size != level.step && !level.isDistributed())
      return emitError() << "expects the last loop of dimension " << dim
                         << " to step by its number in `tile`, " << size
                         << ", given " << level.step;
  if (lanes.dim == -1 && lanes.size == 1)
    return success();
  if (lanes.dim < 0 || lanes.dim >= numDims)
    return emitError() << "expects `lanes` along one of the " << numDims
                       << " dimensions, given " << lanes.dim;
  if (lanes.size < 2 || !llvm::isPowerOf2_64(lanes.size))
    return emitError() << "expects the number of `lanes` to be a power of two "
                          "and more than one, given "
                       << lanes.size;
  if (sizes[lanes.dim] % lanes.size != 0)
    return emitError() << "expects whole vectors of " << lanes.size
                       << " lanes in `tile`, given " << sizes[lanes.dim]
                       << " iterations of dimension " << lanes.dim;
  return success();
}

static LogicalResult verifyTranspose(EmitError emitError,
                                     ArrayRef<LoopLevel> levels,
                                     ArrayRef<TileDim> tile, TileDim lanes,
                                     int64_t transpose) {
  if (transpose == -1)
    return success();
  if (lanes.dim == -1 || transpose == lanes.dim ||
      !llvm::any_of(tile, [&](TileDim t) { return t.dim == transpose; }))
    return emitError() << "expects `transpose` to name a dimension of `tile` "
                          "besides that of the lanes, given "
                       << transpose;
  return success();
}

LogicalResult ScheduleAttr::verify(
    EmitError emitError, ArrayRef<LoopLevel> levels, ArrayRef<TileDim> tile,
    TileDim lanes, int64_t transpose, ArrayRef<int64_t> unroll,
    int64_t prefetch, int64_t pairwise, ArrayRef<int64_t> stream,
    ArrayRef<StagedRead> staged, ArrayRef<ResultPlace> place, int64_t shared) {
  SmallVector<LoopLevel> last;
  if (failed(verifyLevels(emitError, levels, last)) ||
      failed(verifyTile(emitError, tile, lanes, last)) ||
      failed(verifyDistributed(emitError, levels, tile, lanes)) ||
      failed(verifyStaged(emitError, staged)) ||
      failed(verifyTranspose(emitError, levels, tile, lanes, transpose)) ||
      failed(verifyDims(
          emitError, "unroll", unroll, [](int64_t dim) { return dim; },
          last.size())))
    return failure();
  for (int64_t dim : unroll)
    if (last[dim].step != 1)
      return emitError() << "expects dimension " << dim
                         << " in `tile` or in `unroll`, given in both";
  if (prefetch < 0 || prefetch > kMaxStep)
    return emitError() << "expects `prefetch` from 0 to " << kMaxStep
                       << " steps ahead, given " << prefetch;
  if (pairwise != 0 && (pairwise < 2 || pairwise > kMaxPairwise))
    return emitError() << "expects `pairwise` from 2 to " << kMaxPairwise
                       << " values, given " << pairwise;
  int64_t numLevels = levels.size();
  if (shared < 0 || shared > numLevels)
    return emitError() << "expects `shared` between 0 and the number of loops, "
                       << numLevels << ", given " << shared;
  for (auto [i, result] : llvm::enumerate(stream))
    if (result < 0 || (i > 0 && result <= stream[i - 1]))
      return emitError() << "expects `stream` to be numbers of results in "
                            "order, given ["
                         << stream << "]";
  if (!stream.empty() && lanes.dim == -1)
    return emitError() << "expects vectors where results are in `stream`";
  bool isForGpu = hasGpuLevels(levels) || !staged.empty() || !place.empty();
  bool isForCpu = transpose != -1 || prefetch != 0 || !stream.empty() ||
                  llvm::any_of(levels, [](const LoopLevel &level) {
                    return level.kind == LevelKind::Parallel ||
                           level.tail != LevelTail::Mask;
                  });
  if (isForGpu && isForCpu)
    return emitError()
           << "expects a schedule for a GPU or for a CPU, given `cluster`, "
              "`block`, `warp`, `thread`, `staged` or `place` and `parallel`, "
              "`body`, `sizes`, `transpose`, `prefetch` or `stream`";
  return success();
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

ScheduleAttr ScheduleAttr::getFlat(MLIRContext *context,
                                   ArrayRef<int64_t> order, int64_t parallel,
                                   ArrayRef<TileDim> tile, TileDim lanes,
                                   int64_t transpose, LevelTail tail) {
  SmallVector<LoopLevel> levels;
  SmallVector<TileDim> sizes;
  for (auto [depth, dim] : llvm::enumerate(order)) {
    LoopLevel level;
    level.dim = dim;
    if (static_cast<int64_t>(depth) < parallel)
      level.kind = LevelKind::Parallel;
    for (TileDim entry : tile)
      if (entry.dim == dim && entry.size > 1) {
        level.step = entry.size;
        if (dim != lanes.dim)
          level.tail = tail;
      }
    levels.push_back(level);
  }
  llvm::copy_if(tile, std::back_inserter(sizes),
                [](TileDim entry) { return entry.size > 1; });
  llvm::sort(sizes, [](TileDim a, TileDim b) { return a.dim < b.dim; });
  ScheduleFields fields;
  fields.levels = std::move(levels);
  fields.tile = std::move(sizes);
  fields.lanes = lanes.size > 1 ? lanes : TileDim();
  fields.transpose = transpose;
  return get(context, fields);
}

ScheduleFields ScheduleAttr::getFields() const {
  ScheduleFields fields;
  fields.levels.assign(getLevels().begin(), getLevels().end());
  fields.tile.assign(getTile().begin(), getTile().end());
  fields.lanes = getLanes();
  fields.transpose = getTranspose();
  fields.unrollDims.assign(getUnrollDims().begin(), getUnrollDims().end());
  fields.prefetch = getPrefetch();
  fields.pairwise = getPairwise();
  fields.stream.assign(getStream().begin(), getStream().end());
  fields.staged.assign(getStaged().begin(), getStaged().end());
  fields.place.assign(getPlace().begin(), getPlace().end());
  fields.shared = getShared();
  return fields;
}

ScheduleAttr ScheduleAttr::withUnrollDims(ArrayRef<int64_t> dims) const {
  ScheduleFields fields = getFields();
  fields.unrollDims.assign(dims.begin(), dims.end());
  return get(getContext(), fields);
}

ScheduleAttr ScheduleAttr::withPrefetch(int64_t steps) const {
  ScheduleFields fields = getFields();
  fields.prefetch = steps;
  return get(getContext(), fields);
}

ScheduleAttr ScheduleAttr::withPairwise(int64_t pairwise) const {
  ScheduleFields fields = getFields();
  fields.pairwise = pairwise;
  return get(getContext(), fields);
}

ScheduleAttr ScheduleAttr::withStream(ArrayRef<int64_t> stream) const {
  ScheduleFields fields = getFields();
  fields.stream.assign(stream.begin(), stream.end());
  return get(getContext(), fields);
}

ScheduleAttr ScheduleAttr::withShared(int64_t shared) const {
  ScheduleFields fields = getFields();
  fields.shared = shared;
  return get(getContext(), fields);
}

ScheduleAttr ScheduleAttr::withParallel(int64_t parallel) const {
  ScheduleFields fields = getFields();
  for (auto [depth, level] : llvm::enumerate(fields.levels))
    level.kind = static_cast<int64_t>(depth) < parallel ? LevelKind::Parallel
                                                        : LevelKind::Step;
  return get(getContext(), fields);
}

ScheduleAttr ScheduleAttr::withStep(unsigned depth, int64_t step) const {
  ScheduleFields fields = getFields();
  fields.levels[depth].step = step;
  return get(getContext(), fields);
}

unsigned ScheduleAttr::getNumDims() const {
  int64_t numDims = 0;
  for (const LoopLevel &level : getLevels())
    numDims = std::max(numDims, level.dim + 1);
  return numDims;
}

unsigned ScheduleAttr::getParallel() const {
  return llvm::count_if(getLevels(), [](const LoopLevel &level) {
    return level.kind == LevelKind::Parallel;
  });
}

SmallVector<int64_t> ScheduleAttr::getDims(unsigned numLevels) const {
  SmallVector<int64_t> dims;
  for (const LoopLevel &level :
       getLevels().take_front(std::min(numLevels, getNumLevels())))
    dims.push_back(level.dim);
  return dims;
}

bool ScheduleAttr::isOuter(unsigned depth) const {
  int64_t dim = getLevels()[depth].dim;
  return llvm::any_of(
      getLevels().drop_front(depth + 1),
      [dim](const LoopLevel &level) { return level.dim == dim; });
}

bool ScheduleAttr::isNest() const {
  unsigned numUnrolled = 0;
  for (TileDim entry : getTile())
    numUnrolled += entry.dim != getVectorDim() || entry.size > getVectorWidth();
  return numUnrolled <= 1;
}

bool ScheduleAttr::isFlat() const {
  return isNest() && getNumLevels() == getNumDims();
}

int64_t ScheduleAttr::getTileSize(int64_t dim) const {
  for (TileDim entry : getTile())
    if (entry.dim == dim)
      return entry.size;
  return 1;
}

int64_t ScheduleAttr::getUnrollDim() const {
  for (TileDim entry : getTile())
    if (entry.dim != getVectorDim() || entry.size > getVectorWidth())
      return entry.dim;
  return -1;
}

int64_t ScheduleAttr::getUnroll() const {
  int64_t dim = getUnrollDim();
  if (dim == -1)
    return 1;
  return getTileSize(dim) / (dim == getVectorDim() ? getVectorWidth() : 1);
}
