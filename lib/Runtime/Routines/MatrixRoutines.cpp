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
// told is chosen so that little has to be copied.
//
//   cholesky           a -> factor, info: A = L L^T, of the lower triangle of A
//   lu                 a -> factors, pivots, info: of the transposed of A
//   plu                a -> lower, upper, rows: A[rows] = lower upper
//   lu_solve           factors, pivots, rows -> solutions: each row b of `rows`
//                      becomes x of A x = b, or of A^T x = b if `transposed`
//   triangular_solve   a, b -> solutions, info: A X = B, by a triangle of A:
//                      `lower`, `transposed`, `unit`
//   pivot_product      factors, pivots -> product: the determinant, by `lu`
//   diagonal_form      a -> left, right, diagonal: left A right = diagonal,
//                      where determinants of left and right are 1
//   qr, qr_complete    a -> q, r: A = Q R, where Q is square if complete
//   eigh               a -> values, vectors, info: of the lower triangle of a
//                      symmetric A; values rise, vectors are rows
//   eigvalsh           a -> values, info
//   eig                a -> real, imag, vectors_real, vectors_imag, info: of
//                      any square A; values and vectors, in columns, are
//                      complex
//   eigvals            a -> real, imag, info
//   svd, svd_full      a -> u, values, vh, info: A = U diag(values) Vh, where
//                      values fall, and U and Vh are square if full
//   svdvals            a -> values, info
//
// `pivot_product` and `diagonal_form` are computed here, without LAPACK; so are
// triangular factors, and what is solved by them, of small matrices.
//
// `info` is 0 for each matrix with which nothing is wrong. Of cholesky, lu and
// triangular_solve it is else the number of the minor or of the row, from 1 on.
// Of eigenvalues and singular values it is 1 where an element is not finite,
// and 2 where the library has not found them; results are NaN then.
//
//===----------------------------------------------------------------------===//

#include "MatrixRoutines.h"
#include "Lapack.h"
#include "MatrixFunctions.h"
#include "OrthogonalFactors.h"
#include "SmallMatrixFunctions.h"
#include "Spectra.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace metaops;

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
  llvm::StringRef name;
  /// Functions of LAPACK; there are none where it is not needed.
  std::vector<llvm::StringRef> functions;
  std::vector<TensorForm> operands, results;
  std::vector<llvm::StringRef> flags;
  /// Makes the function of one matrix, by those of LAPACK. Null where the
  /// integers of these are too small for it.
  std::unique_ptr<const MatrixFunction> (*make)(const Routine &,
                                                const MatrixBatch &,
                                                llvm::ArrayRef<void *>,
                                                bool isWide);
  /// Makes that of a group of small matrices, which needs no LAPACK. Null where
  /// there is none.
  std::unique_ptr<const MatrixFunction> (*makeSmall)(
      const Routine &, const MatrixBatch &) = nullptr;
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
    // The lesser extent of a matrix that has been read.
    if (letter == 'k') {
      if (extent != batch.getRank())
        return false;
      continue;
    }
    int64_t &known = letter == 'm'   ? batch.m
                     : letter == 'n' ? batch.n
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
  if (batch.m == -1)
    batch.m = batch.n;
  for (int64_t extent : front)
    batch.count *= extent;
  batch.isEmpty = llvm::all_of(routine.results, [](const RoutineTensor &each) {
    return llvm::is_contained(each.shape, 0);
  });
  return batch;
}

namespace {
class MatrixRoutine : public RoutineImplementation {
public:
  MatrixRoutine(MatrixForm form, std::shared_ptr<LazyLapack> lapack,
                bool isSmall = false)
      : form(std::move(form)), lapack(std::move(lapack)), isSmall(isSmall) {}

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
    int64_t most = isSmall ? kMaxSmall : INT32_MAX - 1;
    if (batch &&
        std::max({batch->m, batch->n, batch->rows, batch->columns}) <= most)
      return llvm::Error::success();
    return llvm::createStringError(
        "it takes dense matrices of float32 or float64 whose sizes go together "
        "and are " +
        std::to_string(most) + " at most");
  }

  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    MatrixBatch batch = *readBatch(routine, form);
    if (isSmall)
      return makeMatrixPlan(batch, form.makeSmall(routine, batch));
    std::vector<void *> functions;
    bool isWide = true;
    if (isOfLapack()) {
      auto library = lapack->get();
      if (!library)
        return library.takeError();
      for (llvm::StringRef name : form.functions) {
        functions.push_back(library->lookUp(name, batch.dtype));
        if (!functions.back())
          return llvm::createStringError(library->getPath() + " has no " +
                                         name);
      }
      isWide = library->hasWideIntegers();
    }
    auto made = form.make(routine, batch, functions, isWide);
    if (!made)
      return llvm::createStringError("its matrices are too large for the "
                                     "32-bit integers of " +
                                     lapack->get()->getPath());
    return makeMatrixPlan(batch, std::move(made));
  }

private:
  bool isOfLapack() const { return !isSmall && !form.functions.empty(); }

  MatrixForm form;
  std::shared_ptr<LazyLapack> lapack;
  bool isSmall;
};
} // namespace

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static const TensorForm kInfo = {"info", "", /*isInteger=*/true};
static const TensorForm kPivots = {"pivots", "n", /*isInteger=*/true};

using Functions = llvm::ArrayRef<void *>;

template <template <typename, typename> class Function>
static std::unique_ptr<const MatrixFunction>
makeSmallOf(const Routine &routine, const MatrixBatch &batch) {
  return makeOfTypes<Function>(batch.dtype, /*isWide=*/true, routine, batch);
}

/// Returns the routines of triangular factors.
static std::vector<MatrixForm> listTriangles() {
  return {
      {"cholesky",
       {"potrf"},
       {{"a", "nn"}},
       {{"factor", "nn"}, kInfo},
       {},
       [](const Routine &, const MatrixBatch &batch, Functions functions,
          bool isWide) {
         return makeOfTypes<Cholesky>(batch.dtype, isWide, functions[0], batch);
       },
       makeSmallOf<SmallCholesky>},
      {"lu",
       {"getrf"},
       {{"a", "nn"}},
       {{"factors", "nn"}, kPivots, kInfo},
       {},
       [](const Routine &, const MatrixBatch &batch, Functions functions,
          bool isWide) {
         return makeOfTypes<Lu>(batch.dtype, isWide, functions[0], batch);
       },
       makeSmallOf<SmallLu>},
      {"plu",
       {"getrf"},
       {{"a", "mn"}},
       {{"lower", "mk"}, {"upper", "kn"}, {"rows", "m", /*isInteger=*/true}},
       {},
       [](const Routine &, const MatrixBatch &batch, Functions functions,
          bool isWide) {
         return makeOfTypes<RowLu>(batch.dtype, isWide, functions[0], batch);
       },
       makeSmallOf<SmallRowLu>},
      {"lu_solve",
       {"trsm"},
       {{"factors", "nn"}, kPivots, {"rows", "rn"}},
       {{"solutions", "rn"}},
       {"transposed"},
       [](const Routine &routine, const MatrixBatch &batch, Functions functions,
          bool isWide) {
         return makeOfTypes<LuSolve>(batch.dtype, isWide, functions[0], batch,
                                     routine.findInteger("transposed") == 1);
       },
       makeSmallOf<SmallLuSolve>},
      {"triangular_solve",
       {"trsm"},
       {{"a", "nn"}, {"b", "nc"}},
       {{"solutions", "nc"}, kInfo},
       {"lower", "transposed", "unit"},
       [](const Routine &routine, const MatrixBatch &batch, Functions functions,
          bool isWide) {
         return makeOfTypes<TriangularSolve>(
             batch.dtype, isWide, functions[0], batch,
             routine.findInteger("lower") == 1,
             routine.findInteger("transposed") == 1,
             routine.findInteger("unit") == 1);
       },
       makeSmallOf<SmallTriangularSolve>},
      {"pivot_product",
       {},
       {{"factors", "nn"}, kPivots},
       {{"product", ""}},
       {},
       [](const Routine &, const MatrixBatch &batch, Functions, bool isWide) {
         return makeOfTypes<PivotProduct>(batch.dtype, isWide, batch);
       }},
      {"diagonal_form",
       {},
       {{"a", "nn"}},
       {{"left", "nn"}, {"right", "nn"}, {"diagonal", "nn"}},
       {},
       [](const Routine &, const MatrixBatch &batch, Functions, bool isWide) {
         return makeOfTypes<Diagonalise>(batch.dtype, isWide, batch);
       }},
  };
}

/// Makes the function of a symmetric matrix's eigenvalues.
template <bool hasVectors>
static std::unique_ptr<const MatrixFunction>
makeEighOf(const Routine &, const MatrixBatch &batch, Functions functions,
           bool isWide) {
  return makeEigh(batch, functions[0], isWide, hasVectors);
}

template <bool hasVectors>
static std::unique_ptr<const MatrixFunction>
makeEigOf(const Routine &, const MatrixBatch &batch, Functions functions,
          bool isWide) {
  return makeEig(batch, functions[0], isWide, hasVectors);
}

template <SpectrumVectors vectors>
static std::unique_ptr<const MatrixFunction>
makeSvdOf(const Routine &, const MatrixBatch &batch, Functions functions,
          bool isWide) {
  return makeSvd(batch, functions[0], isWide, vectors);
}

template <bool isComplete>
static std::unique_ptr<const MatrixFunction>
makeQrOf(const Routine &, const MatrixBatch &batch, Functions functions,
         bool isWide) {
  return makeQr(batch, functions, isWide, isComplete);
}

/// Returns the routines of orthogonal factors.
static std::vector<MatrixForm> listDecompositions() {
  TensorForm a = {"a", "mn"}, square = {"a", "nn"};
  return {
      {"qr",
       {"geqrf", "orgqr"},
       {a},
       {{"q", "mk"}, {"r", "kn"}},
       {},
       makeQrOf</*isComplete=*/false>},
      {"qr_complete",
       {"geqrf", "orgqr"},
       {a},
       {{"q", "mm"}, {"r", "mn"}},
       {},
       makeQrOf</*isComplete=*/true>},
      {"eigh",
       {"syevd"},
       {square},
       {{"values", "n"}, {"vectors", "nn"}, kInfo},
       {},
       makeEighOf</*hasVectors=*/true>},
      {"eigvalsh",
       {"syevd"},
       {square},
       {{"values", "n"}, kInfo},
       {},
       makeEighOf</*hasVectors=*/false>},
      {"eig",
       {"geev"},
       {square},
       {{"real", "n"},
        {"imag", "n"},
        {"vectors_real", "nn"},
        {"vectors_imag", "nn"},
        kInfo},
       {},
       makeEigOf</*hasVectors=*/true>},
      {"eigvals",
       {"geev"},
       {square},
       {{"real", "n"}, {"imag", "n"}, kInfo},
       {},
       makeEigOf</*hasVectors=*/false>},
      {"svd",
       {"gesdd"},
       {a},
       {{"u", "mk"}, {"values", "k"}, {"vh", "kn"}, kInfo},
       {},
       makeSvdOf<SpectrumVectors::Thin>},
      {"svd_full",
       {"gesdd"},
       {a},
       {{"u", "mm"}, {"values", "k"}, {"vh", "nn"}, kInfo},
       {},
       makeSvdOf<SpectrumVectors::Full>},
      {"svdvals",
       {"gesdd"},
       {a},
       {{"values", "k"}, kInfo},
       {},
       makeSvdOf<SpectrumVectors::None>},
  };
}

void metaops::addMatrixRoutines(RoutineRegistry &registry) {
  auto lapack = std::make_shared<LazyLapack>();
  for (const auto &forms : {listTriangles(), listDecompositions()})
    for (const MatrixForm &form : forms)
      registry.add(std::make_shared<MatrixRoutine>(form, lapack));
  // The one that is added last comes first.
  for (const MatrixForm &form : listTriangles())
    if (form.makeSmall)
      registry.add(std::make_shared<MatrixRoutine>(form, lapack,
                                                   /*isSmall=*/true));
}
