//===- ProductRoutine.cpp - Products of matrices as a routine -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attributes  extents: batch, m, n, k
//               strides_a, strides_b, strides_product: elements from one index
//               to the next, of (batch, m, k), (batch, k, n), (batch, m, n)
//   operands    a, b: bf16
//   results     product: f32, or bf16 for sums that are rounded
//
// The work is divided by its shape alone, so results are the same for any
// number of threads: a batch into groups of matrices, a single product into
// parts of its rows, or of its columns where there are more of these. Each part
// is a product of its own, which one thread computes.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Routines/ProductLibrary.h"
#include "MetaOps/Support/Counts.h"
#include "OneDnn.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <mutex>

using namespace metaops;

/// Rows or columns of a part at least, and a number that parts are multiples
/// of; the most parts; and multiplications of a part of a batch.
static constexpr int64_t kPartRows = 512;
static constexpr int64_t kPartUnit = 32;
static constexpr int64_t kMaxParts = 16;
static constexpr int64_t kPartWork = 1 << 20;
/// Products that are kept made.
static constexpr size_t kMaxProducts = 256;

//===----------------------------------------------------------------------===//
// Reading the routine
//===----------------------------------------------------------------------===//

/// Returns an attribute that is so many integers, none below 0; or null.
static const std::vector<int64_t> *
findIntegers(const Routine &routine, llvm::StringRef name, size_t count) {
  for (const RoutineAttribute &each : routine.attributes) {
    const auto *values = std::get_if<RoutineAttribute::Integers>(&each.values);
    if (each.name == name && values && values->size() == count &&
        llvm::all_of(*values, [](int64_t value) { return value >= 0; }))
      return values;
  }
  return nullptr;
}

/// Returns whether all elements are inside of a tensor.
static bool isInside(const RoutineTensor &tensor,
                     std::array<int64_t, 3> extents,
                     std::array<int64_t, 3> strides) {
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides))
    last = addCounts(last, multiplyCounts(extent - 1, stride));
  return last < tensor.countElements();
}

/// Returns whether each place is that of one element.
static bool areApart(std::array<int64_t, 3> extents,
                     std::array<int64_t, 3> strides) {
  llvm::SmallVector<std::pair<int64_t, int64_t>, 3> dims;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides))
    if (extent > 1)
      dims.emplace_back(stride, extent);
  llvm::sort(dims);
  int64_t next = 1;
  for (auto [stride, extent] : dims) {
    if (stride < next)
      return false;
    next = multiplyCounts(stride, extent);
  }
  return true;
}

static bool isMatrix(const RoutineTensor &tensor, llvm::StringRef role,
                     DType dtype) {
  return tensor.role == role && tensor.dtype == dtype && tensor.isDense() &&
         tensor.over == -1;
}

static bool isResult(DType dtype) {
  return dtype == DType::F32 || dtype == DType::BF16;
}

static std::array<int64_t, 3> toStrides(const std::vector<int64_t> &values) {
  return {values[0], values[1], values[2]};
}

/// Returns what a routine says; nothing where it is no product.
static std::optional<ProductForm> readForm(const Routine &routine) {
  const auto *extents = findIntegers(routine, "extents", 4);
  const auto *a = findIntegers(routine, "strides_a", 3);
  const auto *b = findIntegers(routine, "strides_b", 3);
  const auto *c = findIntegers(routine, "strides_product", 3);
  if (!extents || !a || !b || !c || routine.attributes.size() != 4 ||
      routine.operands.size() != 2 || routine.results.size() != 1 ||
      !isMatrix(routine.operands[0], "a", DType::BF16) ||
      !isMatrix(routine.operands[1], "b", DType::BF16) ||
      !isMatrix(routine.results[0], "product", routine.results[0].dtype) ||
      !isResult(routine.results[0].dtype) || llvm::is_contained(*extents, 0))
    return std::nullopt;
  ProductForm form;
  form.result = routine.results[0].dtype;
  form.batch = (*extents)[0];
  form.m = (*extents)[1];
  form.n = (*extents)[2];
  form.k = (*extents)[3];
  form.a = toStrides(*a);
  form.b = toStrides(*b);
  form.c = toStrides(*c);
  std::array<int64_t, 3> made = {form.batch, form.m, form.n};
  int64_t count = multiplyCounts(form.batch, multiplyCounts(form.m, form.n));
  if (!isInside(routine.operands[0], {form.batch, form.m, form.k}, form.a) ||
      !isInside(routine.operands[1], {form.batch, form.k, form.n}, form.b) ||
      !isInside(routine.results[0], made, form.c) || !areApart(made, form.c) ||
      count != routine.results[0].countElements())
    return std::nullopt;
  return form;
}

namespace {
/// A product whose rows are contiguous.
struct OrientedForm : ProductForm {
  /// The factors have been exchanged, as columns were contiguous.
  bool isExchanged = false;
};
} // namespace

static OrientedForm orient(const ProductForm &given) {
  OrientedForm form{given};
  if (form.c[2] == 1 || form.c[1] != 1)
    return form;
  std::swap(form.m, form.n);
  std::swap(form.c[1], form.c[2]);
  std::swap(form.a[1], form.a[2]);
  std::swap(form.b[1], form.b[2]);
  std::swap(form.a, form.b);
  form.isExchanged = true;
  return form;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Picoseconds of a multiplication by the library, about: by tiles, and by
/// other instructions, which take longer than generated kernels.
static constexpr int64_t kTileWork = 2, kOtherWork = 20;

namespace {
/// A dimension of a product in parts: the batch, the rows or the columns.
struct Division {
  int64_t ProductForm::*extent = &ProductForm::m;
  /// The places of its strides; -1 where a matrix lacks it.
  int inA = 1, inB = -1, inC = 1;
  /// Of all parts but the last.
  int64_t part = 1;
};
} // namespace

/// Chooses how a product is divided.
static Division divide(const ProductForm &form) {
  Division division;
  if (form.batch > 1) {
    int64_t work = multiplyCounts(form.m, multiplyCounts(form.n, form.k));
    int64_t least = llvm::divideCeil(form.batch, kMaxParts);
    int64_t part = llvm::divideCeil(kPartWork, std::min(work, kPartWork));
    division = {&ProductForm::batch, 0, 0, 0, std::max(least, part)};
  } else {
    if (form.n > form.m)
      division = {&ProductForm::n, -1, 2, 2, 1};
    int64_t extent = form.*division.extent;
    int64_t part = llvm::divideCeil(extent, kMaxParts);
    division.part =
        std::max<int64_t>(kPartRows, llvm::alignTo(part, kPartUnit));
  }
  division.part = std::min(division.part, form.*division.extent);
  return division;
}

namespace {
class ProductPlan : public RoutinePlan {
public:
  using Product = std::shared_ptr<const OneDnnProduct>;

  /// `rest` is the last part where it is smaller than the others, or null.
  ProductPlan(const OrientedForm &form, const Division &division, Product part,
              Product rest)
      : RoutinePlan(estimate(form, division, *part, rest.get())), form(form),
        division(division), part(std::move(part)), rest(std::move(rest)),
        scratch(countScratch(*this->part, this->rest.get())) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    std::mutex mutex;
    std::string failure;
    auto compute = [&](int64_t begin, int64_t end) {
      for (int64_t number = begin; number < end; ++number)
        if (llvm::Error error = runPart(run, number)) {
          std::lock_guard<std::mutex> lock(mutex);
          failure = toString(std::move(error));
        }
    };
    std::optional<int64_t> left =
        run.threads.parallelFor(countParts(form, division), /*grain=*/1,
                                compute, {run.shouldStop, 1, run.begin});
    if (!failure.empty())
      return llvm::createStringError(failure);
    return left;
  }

private:
  static int64_t countParts(const ProductForm &form, const Division &division) {
    return llvm::divideCeil(form.*division.extent, division.part);
  }
  static int64_t countScratch(const OneDnnProduct &part,
                              const OneDnnProduct *rest) {
    int64_t most = part.getScratchBytes();
    if (rest)
      most = std::max(most, rest->getScratchBytes());
    return llvm::alignTo(most, 64);
  }
  static RoutineEstimate estimate(const ProductForm &form,
                                  const Division &division,
                                  const OneDnnProduct &part,
                                  const OneDnnProduct *rest) {
    int64_t work = multiplyCounts(multiplyCounts(form.batch, form.m),
                                  multiplyCounts(form.n, form.k));
    RoutineEstimate known;
    known.scratchBytes = countScratch(part, rest) * countParts(form, division);
    known.work = multiplyCounts(work, part.hasTiles() ? kTileWork : kOtherWork);
    known.flops = multiplyCounts(work, 2);
    return known;
  }

  llvm::Error runPart(const RoutineRun &run, int64_t number) const {
    int64_t begin = number * division.part;
    bool isRest = rest && begin + division.part > form.*division.extent;
    auto moved = [&](void *data, const std::array<int64_t, 3> &strides,
                     int place, int64_t bytes) {
      int64_t distance = place < 0 ? 0 : begin * strides[place] * bytes;
      return static_cast<char *>(data) + distance;
    };
    int64_t bytes = sizeOf(form.dtype);
    void *a = run.operands[form.isExchanged ? 1 : 0];
    void *b = run.operands[form.isExchanged ? 0 : 1];
    return (isRest ? rest : part)
        ->run(moved(a, form.a, division.inA, bytes),
              moved(b, form.b, division.inB, bytes),
              moved(run.results[0], form.c, division.inC, sizeOf(form.result)),
              run.scratch + number * scratch);
  }

  OrientedForm form;
  Division division;
  Product part, rest;
  /// Bytes of a part.
  int64_t scratch;
};
} // namespace

//===----------------------------------------------------------------------===//
// The routine
//===----------------------------------------------------------------------===//

namespace {
/// The products of a library that have been made: making one takes as long as
/// thousands of small ones.
class Products {
public:
  explicit Products(std::shared_ptr<const OneDnn> library)
      : library(std::move(library)) {}

  const OneDnn &getLibrary() const { return *library; }
  llvm::Expected<std::shared_ptr<const OneDnnProduct>>
  get(const ProductForm &form);

private:
  using Key = std::array<int64_t, 15>;
  static Key getKey(const ProductForm &form) {
    return {int64_t(form.dtype),
            int64_t(form.result),
            form.batch,
            form.m,
            form.n,
            form.k,
            form.a[0],
            form.a[1],
            form.a[2],
            form.b[0],
            form.b[1],
            form.b[2],
            form.c[0],
            form.c[1],
            form.c[2]};
  }

  std::shared_ptr<const OneDnn> library;
  std::mutex mutex;
  /// The one that was asked for last stands last.
  std::vector<std::pair<Key, std::shared_ptr<const OneDnnProduct>>> known;
};
} // namespace

llvm::Expected<std::shared_ptr<const OneDnnProduct>>
Products::get(const ProductForm &form) {
  std::lock_guard<std::mutex> lock(mutex);
  Key key = getKey(form);
  auto found =
      llvm::find_if(known, [&](const auto &each) { return each.first == key; });
  if (found != known.end()) {
    std::rotate(found, std::next(found), known.end());
    return known.back().second;
  }
  auto made = OneDnnProduct::create(library, form);
  if (!made)
    return made.takeError();
  if (known.size() >= kMaxProducts)
    known.erase(known.begin());
  known.emplace_back(key, *made);
  return std::move(*made);
}

namespace {
class ProductRoutine : public RoutineImplementation {
public:
  explicit ProductRoutine(std::shared_ptr<const OneDnn> library)
      : products(std::make_unique<Products>(std::move(library))) {}

  llvm::StringRef getRoutine() const override { return "product"; }
  llvm::StringRef getLibrary() const override { return "onednn"; }
  llvm::StringRef getVersion() const override {
    return products->getLibrary().getVersion();
  }

  llvm::Error accept(const Routine &routine) const override {
    std::optional<ProductForm> form = readForm(routine);
    if (!form)
      return llvm::createStringError(
          "it has other attributes, operands or results than a product of "
          "dense tensors of bf16");
    if (orient(*form).c[2] != 1)
      return llvm::createStringError(
          "neither rows nor columns of its result are contiguous");
    return llvm::Error::success();
  }

  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    OrientedForm form = orient(*readForm(routine));
    Division division = divide(form);
    ProductForm one = form;
    one.*division.extent = division.part;
    auto part = products->get(one);
    if (!part)
      return part.takeError();
    std::shared_ptr<const OneDnnProduct> last;
    if (int64_t rest = form.*division.extent % division.part) {
      one.*division.extent = rest;
      auto made = products->get(one);
      if (!made)
        return made.takeError();
      last = std::move(*made);
    }
    return std::make_shared<ProductPlan>(form, division, std::move(*part),
                                         std::move(last));
  }

private:
  std::unique_ptr<Products> products;
};
} // namespace

llvm::Expected<ProductLibrary>
metaops::addProductLibrary(RoutineRegistry &registry, llvm::StringRef path,
                           llvm::ArrayRef<std::string> folders) {
  auto library = OneDnn::find(path, folders);
  if (!library)
    return library.takeError();
  ProductLibrary found{(*library)->getPath(), (*library)->getVersion()};
  bool isThere = llvm::any_of(registry.list(), [&](const auto &each) {
    return each->getLibrary() == "onednn" &&
           each->getVersion() == found.version;
  });
  // Products that it has made are kept.
  if (!isThere)
    registry.add(std::make_shared<ProductRoutine>(std::move(*library)));
  return found;
}
