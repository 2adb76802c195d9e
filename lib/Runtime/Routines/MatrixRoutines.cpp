//===- MatrixRoutines.cpp - Linear algebra by LAPACK ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices are dense and in row-major order, with any number of dimensions in
// front. LAPACK takes columns, and so sees the transposed of each: what it is
// told is chosen so that nothing has to be copied.
//
//   cholesky           a -> factor, info: A = L L^T, of the lower triangle of A
//   lu                 a -> factors, pivots, info: of the transposed of A
//   lu_solve           factors, pivots, rows -> solutions: each row b of `rows`
//                      becomes x of A x = b, or of A^T x = b if `transposed`
//   triangular_solve   a, b -> solutions, info: A X = B, by a triangle of A:
//                      `lower`, `transposed`, `unit`
//   pivot_product      factors, pivots -> product: the determinant, by `lu`
//   diagonal_form      a -> left, right, diagonal: left A right = diagonal,
//   where
//                      determinants of left and right are 1
//
// The last two are computed here, without LAPACK.
//
// `info` is 0 for each matrix with which nothing is wrong, else the number of
// the minor or of the row, from 1 on.
//
// A batch of small matrices is shared among the session's threads, since the
// library does not start its own for them. Large ones go one by one, so that
// the library may; a run can be stopped between these.
//
//===----------------------------------------------------------------------===//

#include "MatrixRoutines.h"
#include "Lapack.h"
#include "MatrixFunctions.h"
#include "MetaOps/Support/Counts.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace metaops;

/// Picoseconds of a floating-point operation on one thread.
static constexpr int64_t kWorkOfFlop = 100;
/// A thread is worth so much work, in picoseconds.
static constexpr int64_t kWorkOfThread = 8'000'000;

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

namespace {
class MatrixPlan : public RoutinePlan {
public:
  MatrixPlan(const MatrixBatch &batch, int64_t flops,
             std::unique_ptr<const MatrixFunction> function)
      : RoutinePlan(estimate(batch, flops)), batch(batch), flops(flops),
        function(std::move(function)) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    auto runAll = [&](int64_t begin, int64_t end) {
      for (int64_t number = begin; number < end; ++number)
        function->run(run, number);
    };
    // Any number of empty matrices is nothing.
    if (batch.isEmpty)
      return std::nullopt;
    if (batch.n <= kMaxShared) {
      int64_t work = std::max<int64_t>(flops * kWorkOfFlop, 1);
      return run.threads.parallelFor(
          batch.count, std::max<int64_t>(kWorkOfThread / work, 1), runAll,
          {run.shouldStop, /*range=*/std::max<int64_t>(batch.count / 64, 1),
           run.begin});
    }
    for (int64_t number = run.begin; number < batch.count; ++number) {
      if (run.shouldStop && run.shouldStop())
        return number;
      runAll(number, number + 1);
    }
    return std::nullopt;
  }

private:
  static RoutineEstimate estimate(const MatrixBatch &batch, int64_t flops) {
    RoutineEstimate known;
    known.flops = multiplyCounts(flops, batch.count);
    known.work = multiplyCounts(known.flops, kWorkOfFlop);
    return known;
  }

  MatrixBatch batch;
  int64_t flops;
  std::unique_ptr<const MatrixFunction> function;
};
} // namespace

//===----------------------------------------------------------------------===//
// Routines
//===----------------------------------------------------------------------===//

namespace {
/// The form of a routine's tensors: their extents behind those in front, by
/// letters of the sizes of the batch. Numbers of a matrix are i64.
struct TensorForm {
  llvm::StringRef role;
  llvm::StringRef extents;
  bool isInteger = false;
};

struct MatrixForm {
  /// The function of LAPACK is empty where none is needed.
  llvm::StringRef name, function;
  std::vector<TensorForm> operands, results;
  std::vector<llvm::StringRef> flags;
};
} // namespace

/// Reads the extents that a tensor has behind those in front.
static bool readForm(const RoutineTensor &tensor, const TensorForm &form,
                     llvm::ArrayRef<int64_t> front, MatrixBatch &batch) {
  llvm::ArrayRef<int64_t> shape = tensor.shape;
  DType expected = form.isInteger ? DType::I64 : batch.dtype;
  if (tensor.role != form.role || tensor.dtype != expected ||
      shape.size() != front.size() + form.extents.size() ||
      shape.take_front(front.size()) != front || !tensor.isDense())
    return false;
  for (auto [letter, extent] :
       llvm::zip_equal(form.extents, shape.drop_front(front.size()))) {
    int64_t &known = letter == 'n'   ? batch.n
                     : letter == 'r' ? batch.rows
                                     : batch.columns;
    if (known != -1 && known != extent)
      return false;
    known = extent;
  }
  return true;
}

/// Reads the sizes of a batch; nothing where a routine is of another form.
static std::optional<MatrixBatch> readBatch(const Routine &routine,
                                            const MatrixForm &form) {
  if (routine.operands.size() != form.operands.size() ||
      routine.results.size() != form.results.size() ||
      routine.attributes.size() != form.flags.size() ||
      !llvm::all_of(form.flags, [&](llvm::StringRef flag) {
        auto value = routine.findInteger(flag);
        return value && (*value == 0 || *value == 1);
      }))
    return std::nullopt;
  MatrixBatch batch;
  batch.n = batch.rows = batch.columns = -1;
  batch.dtype = routine.operands[0].dtype;
  llvm::ArrayRef<int64_t> shape = routine.operands[0].shape;
  if (shape.size() < 2 ||
      (batch.dtype != DType::F32 && batch.dtype != DType::F64))
    return std::nullopt;
  llvm::ArrayRef<int64_t> front = shape.drop_back(2);
  auto fits = [&](const RoutineTensor &tensor, const TensorForm &each) {
    return readForm(tensor, each, front, batch);
  };
  for (auto [tensor, each] : llvm::zip_equal(routine.operands, form.operands))
    if (!fits(tensor, each))
      return std::nullopt;
  for (auto [tensor, each] : llvm::zip_equal(routine.results, form.results))
    if (!fits(tensor, each))
      return std::nullopt;
  for (int64_t extent : front)
    batch.count *= extent;
  batch.isEmpty = llvm::all_of(routine.results, [](const RoutineTensor &each) {
    return llvm::is_contained(each.shape, 0);
  });
  return batch;
}

template <typename T, typename Int>
static std::unique_ptr<const MatrixFunction>
makeFunction(const Routine &routine, const MatrixBatch &batch, void *function) {
  auto has = [&](llvm::StringRef flag) {
    return routine.findInteger(flag) == 1;
  };
  if (routine.name == "cholesky")
    return std::make_unique<Cholesky<T, Int>>(function, batch);
  if (routine.name == "lu")
    return std::make_unique<Lu<T, Int>>(function, batch);
  if (routine.name == "pivot_product")
    return std::make_unique<PivotProduct<T>>(batch);
  if (routine.name == "diagonal_form")
    return std::make_unique<Diagonalise<T>>(batch);
  if (routine.name == "lu_solve")
    return std::make_unique<LuSolve<T, Int>>(function, batch,
                                             has("transposed"));
  return std::make_unique<TriangularSolve<T, Int>>(
      function, batch, has("lower"), has("transposed"), has("unit"));
}

/// Returns the operations of one matrix, saturated.
static int64_t countFlops(const Routine &routine, const MatrixBatch &batch) {
  int64_t square = multiplyCounts(batch.n, batch.n);
  if (routine.name == "lu_solve")
    return multiplyCounts(2 * batch.rows, square);
  if (routine.name == "triangular_solve")
    return multiplyCounts(batch.columns, square);
  if (routine.name == "pivot_product")
    return batch.n;
  int64_t cube = multiplyCounts(square, batch.n);
  if (routine.name == "diagonal_form")
    return multiplyCounts(3, cube);
  return cube / (routine.name == "cholesky" ? 3 : 2);
}

namespace {
class MatrixRoutine : public RoutineImplementation {
public:
  MatrixRoutine(MatrixForm form, std::shared_ptr<LazyLapack> lapack)
      : form(std::move(form)), lapack(std::move(lapack)) {}

  llvm::StringRef getRoutine() const override { return form.name; }
  llvm::StringRef getLibrary() const override {
    return isOfLapack() ? "lapack" : "host";
  }
  llvm::StringRef getVersion() const override {
    return isOfLapack() ? "3" : "1";
  }

  llvm::Error accept(const Routine &routine) const override {
    auto batch = readBatch(routine, form);
    // Integers of 32 bits are enough for rows, whose squares fit into memory.
    if (batch && std::max({batch->n, batch->rows, batch->columns}) < INT32_MAX)
      return llvm::Error::success();
    return llvm::createStringError("it takes dense matrices of float32 or "
                                   "float64 whose sizes go together");
  }

  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    MatrixBatch batch = *readBatch(routine, form);
    void *function = nullptr;
    bool isWide = true;
    if (isOfLapack()) {
      auto library = lapack->get();
      if (!library)
        return library.takeError();
      function = library->lookUp(form.function, batch.dtype);
      if (!function)
        return llvm::createStringError(library->getPath() + " has no " +
                                       form.function);
      isWide = library->hasWideIntegers();
    }
    bool isSingle = batch.dtype == DType::F32;
    std::unique_ptr<const MatrixFunction> made;
    if (isWide)
      made = isSingle ? makeFunction<float, int64_t>(routine, batch, function)
                      : makeFunction<double, int64_t>(routine, batch, function);
    else
      made = isSingle ? makeFunction<float, int32_t>(routine, batch, function)
                      : makeFunction<double, int32_t>(routine, batch, function);
    return std::make_shared<MatrixPlan>(batch, countFlops(routine, batch),
                                        std::move(made));
  }

private:
  bool isOfLapack() const { return !form.function.empty(); }

  MatrixForm form;
  std::shared_ptr<LazyLapack> lapack;
};
} // namespace

void metaops::addMatrixRoutines(RoutineRegistry &registry) {
  auto lapack = std::make_shared<LazyLapack>();
  TensorForm info = {"info", "", /*isInteger=*/true};
  TensorForm pivots = {"pivots", "n", /*isInteger=*/true};
  for (MatrixForm form :
       {MatrixForm{
            "cholesky", "potrf", {{"a", "nn"}}, {{"factor", "nn"}, info}, {}},
        MatrixForm{"lu",
                   "getrf",
                   {{"a", "nn"}},
                   {{"factors", "nn"}, pivots, info},
                   {}},
        MatrixForm{"lu_solve",
                   "trsm",
                   {{"factors", "nn"}, pivots, {"rows", "rn"}},
                   {{"solutions", "rn"}},
                   {"transposed"}},
        MatrixForm{"triangular_solve",
                   "trsm",
                   {{"a", "nn"}, {"b", "nc"}},
                   {{"solutions", "nc"}, info},
                   {"lower", "transposed", "unit"}},
        MatrixForm{"pivot_product",
                   "",
                   {{"factors", "nn"}, pivots},
                   {{"product", ""}},
                   {}},
        MatrixForm{"diagonal_form",
                   "",
                   {{"a", "nn"}},
                   {{"left", "nn"}, {"right", "nn"}, {"diagonal", "nn"}},
                   {}}})
    registry.add(std::make_shared<MatrixRoutine>(std::move(form), lapack));
}
