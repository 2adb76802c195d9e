//===- CallLibraries.cpp - Products that libraries compute ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. A kernel of one stage that is a contraction, whose factors are elements of
//    tensors as they lie in memory, is a product: a batch loop at most, and one
//    loop each of m, n and k. The places of its reads and of its write give the
//    strides of the three matrices.
// 2. It is left alone if it is small, by the classes of its extents, or of
//    other element types than libraries have faster instructions for.
// 3. If all that read the sums round them to bf16 first, the call rounds them,
//    and a reader that does nothing else goes.
// 4. It becomes a call of the routine if a library takes that, and should be
//    faster than a generated kernel by a margin, what it writes and others read
//    again included: a generated kernel may have that in registers.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "MetaOps/Support/Counts.h"
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h"
#include "MetaOps/Transforms/Schedule/Stage/Contraction.h"

#include <algorithm>
#include <array>

namespace mlir::metaop {
#define GEN_PASS_DEF_CALLLIBRARIESPASS
#include "MetaOps/Transforms/Schedule/Rewrites/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

/// Extents of a product of which two are at least the one, and all the other.
/// They are borders of classes (Stage::getClassExtent).
static constexpr int64_t kLargeExtent = 64, kLeastExtent = 8;
/// Picoseconds of a multiplication in generated kernels, by vectors of f32 of
/// 512 bits.
static constexpr int64_t kGeneratedWork = 10;
/// Picoseconds of a call of a library beside its multiplications, and how many
/// of these are one call where matrices are a batch.
static constexpr int64_t kPartStart = 3'000'000;
static constexpr int64_t kPartCount = 1 << 20;
/// Picoseconds of a byte that is written and read again.
static constexpr int64_t kTrafficWork = 100;
/// A library's time is this part of a kernel's at most, in hundredths.
static constexpr int64_t kMargin = 80;

namespace {
/// A product of matrices by its loops.
struct Product {
  /// Loops of the batch, m, n and k; -1 for no batch.
  std::array<int, 4> loops;
  std::array<Value, 2> factors;
  /// By factor, and of the result: elements from one index to the next, along
  /// the dimensions of its matrices.
  std::array<std::array<int64_t, 3>, 3> strides;
};
} // namespace

/// Returns the only one of a set of loops; -1 if there is none, nothing if
/// there are several.
static std::optional<int> getOnly(const llvm::SmallBitVector &loops) {
  if (loops.count() > 1)
    return std::nullopt;
  return loops.find_first();
}

/// Returns the strides of a place along loops; nothing where it is no element
/// of a matrix that begins where the tensor does.
static std::optional<std::array<int64_t, 3>>
getStrides(const Stage &stage, const StagePlace &place,
           std::array<int, 3> loops) {
  if (place.isGuarded())
    return std::nullopt;
  std::array<int64_t, 3> strides = {0, 0, 0};
  AffineExpr rest = place.offset;
  for (auto [stride, loop] : llvm::zip_equal(strides, loops)) {
    if (loop < 0)
      continue;
    auto factor = getConstantCoefficient(place.offset, loop);
    if (!factor || *factor < 0)
      return std::nullopt;
    stride = *factor;
    rest = rest - stride * getAffineDimExpr(loop, rest.getContext());
  }
  rest = simplifyAffineExpr(rest, stage.getNumLoops(), stage.symbols.size());
  if (rest != getAffineConstantExpr(0, rest.getContext()))
    return std::nullopt;
  return strides;
}

/// Returns the tensor that a factor of a product is read from, as it is or made
/// wider; null where it is computed.
static Value getTensor(const Contraction::Factor &factor, KernelOp kernel,
                       FusedOp fused) {
  if (factor.reads.size() != 1)
    return {};
  Value read = factor.reads.front()->value, value = factor.value;
  auto cast = value.getDefiningOp<CastOp>();
  if (value != read && !(cast && cast.getOperand() == read))
    return {};
  auto input = dyn_cast<BlockArgument>(factor.reads.front()->source);
  if (!input || input.getOwner() != &fused.getBody().front())
    return {};
  auto outer = dyn_cast<BlockArgument>(fused.getInputs()[input.getArgNumber()]);
  if (!outer || outer.getOwner() != &kernel.getBody().front())
    return {};
  return kernel.getInputs()[outer.getArgNumber()];
}

/// Returns the product that a stage is, if it is one and nothing else.
static std::optional<Product> matchProduct(const Stage &stage,
                                           KernelOp kernel) {
  std::optional<Contraction> contraction = Contraction::match(stage);
  if (!contraction || contraction->window.any() ||
      !stage.writes.front().place.conditions.empty())
    return std::nullopt;
  auto &[lhs, rhs] = contraction->factors;
  std::optional<int> batch = getOnly(contraction->batch), m = getOnly(lhs.own),
                     n = getOnly(rhs.own), k = getOnly(contraction->reduced);
  if (!batch || !m || !n || !k)
    return std::nullopt;
  Product product;
  product.loops = {*batch, *m, *n, *k};
  std::array<std::array<int, 3>, 3> dims = {
      {{*batch, *m, *k}, {*batch, *k, *n}, {*batch, *m, *n}}};
  for (auto [number, factor] : llvm::enumerate(contraction->factors)) {
    product.factors[number] = getTensor(factor, kernel, stage.op);
    if (!product.factors[number])
      return std::nullopt;
  }
  const StagePlace *places[] = {&lhs.reads.front()->place,
                                &rhs.reads.front()->place,
                                &stage.writes.front().place};
  for (unsigned number = 0; number < dims.size(); ++number) {
    auto strides = getStrides(stage, *places[number], dims[number]);
    if (!strides)
      return std::nullopt;
    product.strides[number] = *strides;
  }
  return product;
}

/// Returns whether libraries may have faster instructions for the elements.
static bool hasShortElements(const Product &product, KernelOp kernel) {
  auto isOf = [](Value value, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor && tensor.hasStaticShape() && tensor.getElementType() == type;
  };
  Type bf16 = BFloat16Type::get(kernel.getContext());
  Type f32 = Float32Type::get(kernel.getContext());
  return isOf(product.factors[0], bf16) && isOf(product.factors[1], bf16) &&
         isOf(kernel.getResult(0), f32);
}

/// Returns whether a product is large enough, whatever length of its class it
/// has.
static bool isLarge(const Product &product, const Stage &stage) {
  unsigned numLarge = 0;
  for (int loop : llvm::ArrayRef(product.loops).drop_front()) {
    int64_t extent = stage.getClassExtent(loop);
    if (extent < kLeastExtent)
      return false;
    numLarge += extent >= kLargeExtent;
  }
  return numLarge >= 2;
}

//===----------------------------------------------------------------------===//
// Readers of sums
//===----------------------------------------------------------------------===//

namespace {
/// The readers of a product's sums.
class Readers {
public:
  explicit Readers(KernelOp product);

  /// Returns whether all of them round the sums to bf16 first.
  bool areAllRounding() const { return areRounding && !casts.empty(); }
  /// Returns the bytes of each sum that are written and read beside what a
  /// generated kernel with its epilogue moves.
  int64_t countBytes() const;
  /// Has them read rounded sums. Erases those that are nothing more, and adds
  /// them to `gone`.
  void takeRounded(RoutineOp call, llvm::SmallPtrSetImpl<Operation *> &gone);

private:
  void add(FusedOp stage, BlockArgument argument);

  SmallVector<KernelOp> kernels;
  SmallVector<BlockArgument> arguments;
  SmallVector<CastOp> casts;
  bool areRounding = true;
};
} // namespace

Readers::Readers(KernelOp product) {
  for (OpOperand &use : product.getResult(0).getUses()) {
    auto kernel = dyn_cast<KernelOp>(use.getOwner());
    if (!kernel) {
      areRounding = false;
      return;
    }
    BlockArgument argument =
        kernel.getBody().front().getArgument(use.getOperandNumber());
    kernels.push_back(kernel);
    arguments.push_back(argument);
    for (OpOperand &inner : argument.getUses()) {
      auto stage = dyn_cast<FusedOp>(inner.getOwner());
      if (stage && !stage.getSchedule())
        add(stage,
            stage.getBody().front().getArgument(inner.getOperandNumber()));
      else
        areRounding = false;
    }
  }
}

void Readers::add(FusedOp stage, BlockArgument argument) {
  arguments.push_back(argument);
  for (Operation *user : argument.getUsers()) {
    auto cast = dyn_cast<CastOp>(user);
    if (cast && getElementTypeOrSelf(cast.getType()).isBF16())
      casts.push_back(cast);
    else
      areRounding = false;
  }
}

/// Returns the argument of a kernel that is its only result as it is; null if
/// there is none.
static BlockArgument getGiven(KernelOp kernel) {
  auto isOne = [](Block &block) { return llvm::hasNItems(block, 2); };
  Block &block = kernel.getBody().front();
  auto stage = dyn_cast<FusedOp>(block.front());
  if (!stage || !isOne(block) || kernel.getNumResults() != 1 ||
      stage.getNumResults() != 1 ||
      !llvm::hasSingleElement(stage.getBody().front()))
    return {};
  auto inner = dyn_cast<BlockArgument>(
      stage.getBody().front().getTerminator()->getOperand(0));
  return inner
             ? dyn_cast<BlockArgument>(stage.getInputs()[inner.getArgNumber()])
             : BlockArgument();
}

int64_t Readers::countBytes() const {
  auto roundsOnly = [](KernelOp kernel) {
    Block &block = kernel.getBody().front();
    auto stage = dyn_cast<FusedOp>(block.front());
    return stage && llvm::hasNItems(block, 2) &&
           llvm::hasNItems(stage.getBody().front(), 2);
  };
  if (!areAllRounding())
    return 2 * sizeof(float);
  return llvm::all_of(kernels, roundsOnly) ? 0 : sizeof(float);
}

void Readers::takeRounded(RoutineOp call,
                          llvm::SmallPtrSetImpl<Operation *> &gone) {
  Value result = call.getOutputs().front();
  auto sums = cast<RankedTensorType>(result.getType());
  auto type = sums.clone(BFloat16Type::get(call.getContext()));
  result.setType(type);
  for (BlockArgument argument : arguments)
    argument.setType(type);
  for (CastOp cast : casts) {
    cast.replaceAllUsesWith(cast.getOperand());
    cast.erase();
  }
  for (KernelOp kernel : kernels) {
    // One that reads the sums as two inputs is there twice.
    if (gone.contains(kernel))
      continue;
    if (BlockArgument given = getGiven(kernel)) {
      kernel.replaceAllUsesWith(
          ValueRange{kernel.getInputs()[given.getArgNumber()]});
      gone.insert(kernel);
      kernel.erase();
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct CallLibrariesPass
    : metaop::impl::CallLibrariesPassBase<CallLibrariesPass> {
  using CallLibrariesPassBase::CallLibrariesPassBase;
  CallLibrariesPass(const CallLibrariesPassOptions &options, LibraryWork workOf)
      : CallLibrariesPassBase(options), workOf(std::move(workOf)) {}

  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    gone.clear();
    for (KernelOp kernel : kernels)
      if (!gone.contains(kernel) && failed(visit(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult visit(KernelOp kernel);
  RoutineOp makeCall(const Product &product, const Stage &stage,
                     KernelOp kernel);
  bool isWorthwhile(RoutineOp call, const Product &product, const Stage &stage,
                    const Readers &readers) const;

  LibraryWork workOf;
  /// Kernels that have been erased.
  llvm::SmallPtrSet<Operation *, 8> gone;
};
} // namespace

/// Makes the call in front of the kernel.
RoutineOp CallLibrariesPass::makeCall(const Product &product,
                                      const Stage &stage, KernelOp kernel) {
  OpBuilder builder(kernel);
  std::array<int64_t, 4> extents;
  for (auto [extent, loop] : llvm::zip_equal(extents, product.loops))
    extent = loop < 0 ? 1 : stage.getStaticExtent(loop);
  auto name = [&](StringRef key, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(key, builder.getDenseI64ArrayAttr(values));
  };
  DictionaryAttr parameters = builder.getDictionaryAttr(
      {name("extents", extents), name("strides_a", product.strides[0]),
       name("strides_b", product.strides[1]),
       name("strides_product", product.strides[2])});
  return RoutineOp::create(
      builder, kernel.getLoc(), kernel.getResultTypes(), "product", parameters,
      builder.getStrArrayAttr({"a", "b", "product"}), /*over=*/nullptr,
      /*batched=*/false, /*total=*/true, product.factors);
}

/// Returns a usual extent of the class of one. Static extents are taken for it,
/// too: the first length of a program is not known to vary.
static int64_t getUsualExtent(int64_t extent) {
  if (extent < kLeastExtent)
    return extent;
  return extent < kLargeExtent ? 35 : 200;
}

/// Returns whether a library should be faster than a kernel, for all lengths of
/// a class.
bool CallLibrariesPass::isWorthwhile(RoutineOp call, const Product &product,
                                     const Stage &stage,
                                     const Readers &readers) const {
  if (!workOf)
    return true;
  std::optional<int64_t> work = workOf(call);
  if (!work)
    return false;
  int64_t done = 1;
  std::array<int64_t, 4> extents = {1, 1, 1, 1};
  for (auto [extent, loop] : llvm::zip_equal(extents, product.loops))
    if (loop >= 0) {
      extent = getUsualExtent(stage.getClassExtent(loop));
      done = metaops::multiplyCounts(done, stage.getStaticExtent(loop));
    }
  auto [batch, m, n, k] = extents;
  int64_t sums = metaops::multiplyCounts(batch, metaops::multiplyCounts(m, n));
  int64_t count = metaops::multiplyCounts(sums, k);
  int64_t parts = std::clamp<int64_t>(count / kPartCount, 1, batch);
  int64_t library = metaops::multiplyCounts(count, *work / done);
  library = metaops::addCounts(library, parts * kPartStart);
  library = metaops::addCounts(
      library,
      metaops::multiplyCounts(sums, readers.countBytes() * kTrafficWork));
  return library <=
         metaops::multiplyCounts(count, kGeneratedWork) / 100 * kMargin;
}

LogicalResult CallLibrariesPass::visit(KernelOp kernel) {
  StringRef reason;
  FusedOp fused = findStageToRewrite(kernel, reason);
  if (!fused || kernel.getNumResults() != 1)
    return success();
  FailureOr<Stage> stage = Stage::build(fused);
  if (failed(stage))
    return failure();
  std::optional<Product> product = matchProduct(*stage, kernel);
  if (!product || !hasShortElements(*product, kernel) ||
      !isLarge(*product, *stage))
    return success();
  RoutineOp call = makeCall(*product, *stage, kernel);
  Readers readers(kernel);
  if (!isWorthwhile(call, *product, *stage, readers)) {
    call.erase();
    return success();
  }
  if (report)
    kernel.emitRemark("a library computes the product");
  kernel.replaceAllUsesWith(call.getResults());
  kernel.erase();
  if (readers.areAllRounding())
    readers.takeRounded(call, gone);
  return success();
}

std::unique_ptr<Pass>
metaop::createCallLibrariesPass(const CallLibrariesPassOptions &options,
                                LibraryWork workOf) {
  return std::make_unique<CallLibrariesPass>(options, std::move(workOf));
}
