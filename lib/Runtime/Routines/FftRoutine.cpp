//===- FftRoutine.cpp - The host's Fourier transforms as a routine --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attributes  dims, different ones; inverse, 0 or 1; scale, a float
//   operands    real, imag; real alone where the numbers are real
//   results     real, imag; real alone where they are real
//
// All are f32 or f64. Where one side is real, the other has n / 2 + 1 elements
// along the last of `dims`, n being the extent of the real one.
//
//===----------------------------------------------------------------------===//

#include "FftRoutine.h"
#include "MetaOps/Support/Counts.h"
#include "RealFft.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <unistd.h>

using namespace metaops;

/// Picoseconds of an element for each bit of the length, and floating-point
/// operations of one.
static constexpr int64_t kWork = 150;
static constexpr int64_t kFlops = 5;

namespace {
/// A transform as numbers.
struct FftTask {
  DType dtype = DType::F32;
  /// Of the side that has all elements.
  std::vector<int64_t> shape;
  std::vector<int64_t> dims;
  bool isInverse = false, isFromReal = false, isToReal = false;
  double scale = 1;

  /// Returns the shape of the side that is not real.
  std::vector<int64_t> getComplexShape() const {
    std::vector<int64_t> result = shape;
    if (isFromReal || isToReal)
      result[dims.back()] = result[dims.back()] / 2 + 1;
    return result;
  }
  int64_t countElements() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }
};
} // namespace

/// Returns the lines along a dimension.
static AxisShape getAxis(llvm::ArrayRef<int64_t> shape, int64_t dim) {
  AxisShape axis{1, shape[dim], 1};
  for (int64_t extent : shape.take_front(dim))
    axis.outer *= extent;
  for (int64_t extent : shape.drop_front(dim + 1))
    axis.inner *= extent;
  return axis;
}

//===----------------------------------------------------------------------===//
// Routines as tasks
//===----------------------------------------------------------------------===//

/// Returns the values of an attribute; null where it has no such.
template <typename ListT>
static const ListT *findValues(const Routine &routine, llvm::StringRef name) {
  for (const RoutineAttribute &each : routine.attributes)
    if (each.name == name)
      return std::get_if<ListT>(&each.values);
  return nullptr;
}

/// Returns true if the dimensions are different ones with elements.
static bool hasDims(const FftTask &task) {
  llvm::SmallSet<int64_t, 4> seen;
  for (int64_t dim : task.dims)
    if (dim < 0 || dim >= static_cast<int64_t>(task.shape.size()) ||
        task.shape[dim] < 1 || !seen.insert(dim).second)
      return false;
  return !task.dims.empty();
}

/// Returns true if tensors are dense ones of a type, a shape and the roles.
static bool areTensors(llvm::ArrayRef<RoutineTensor> tensors, DType dtype,
                       llvm::ArrayRef<int64_t> shape) {
  for (auto [number, tensor] : llvm::enumerate(tensors))
    if (tensor.role != (number == 0 ? "real" : "imag") ||
        tensor.dtype != dtype || llvm::ArrayRef(tensor.shape) != shape ||
        !tensor.isDense() || tensor.over != -1)
      return false;
  return true;
}

/// Returns what a routine says; nothing where it is no Fourier transform.
static std::optional<FftTask> readTask(const Routine &routine) {
  const auto *dims = findValues<RoutineAttribute::Integers>(routine, "dims");
  const auto *scale = findValues<RoutineAttribute::Floats>(routine, "scale");
  auto inverse = routine.findInteger("inverse");
  size_t operands = routine.operands.size(), results = routine.results.size();
  if (!dims || !scale || scale->size() != 1 || !inverse || *inverse < 0 ||
      *inverse > 1 || routine.attributes.size() != 3 || operands < 1 ||
      operands > 2 || results < 1 || results > 2 || operands + results < 3)
    return std::nullopt;
  FftTask task;
  task.isInverse = *inverse == 1;
  task.isFromReal = operands == 1;
  task.isToReal = results == 1;
  task.dims = *dims;
  task.scale = scale->front();
  const RoutineTensor &full =
      (task.isToReal ? routine.results : routine.operands).front();
  task.dtype = full.dtype;
  task.shape = full.shape;
  if ((task.dtype != DType::F32 && task.dtype != DType::F64) ||
      (task.isFromReal && task.isInverse) ||
      (task.isToReal && !task.isInverse) || !hasDims(task))
    return std::nullopt;
  std::vector<int64_t> half = task.getComplexShape();
  if (!areTensors(routine.operands, task.dtype,
                  task.isFromReal ? task.shape : half) ||
      !areTensors(routine.results, task.dtype,
                  task.isToReal ? task.shape : half))
    return std::nullopt;
  return task;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Returns the bytes of a line, and of the tables of a convolution where its
/// length needs one, saturated.
static int64_t countLineBytes(int64_t length, DType dtype) {
  int64_t size = dtype == DType::F32 ? sizeof(float) : sizeof(double);
  int64_t line = multiplyCounts(2 * size, length);
  if (isSmooth(length))
    return line;
  // Of twice the length, and made in f64.
  int64_t convolved =
      multiplyCounts(4 * (size + int64_t(sizeof(double))), length);
  return addCounts(multiplyCounts(2, line), convolved);
}

/// Fails where a line is longer than any that the machine has memory for: else
/// its tables would be made, or nearly so, before anybody notices.
static llvm::Error checkLengths(const FftTask &task) {
  int64_t memory =
      multiplyCounts(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE));
  for (int64_t dim : task.dims) {
    int64_t length = task.shape[dim];
    int64_t bytes = countLineBytes(length, task.dtype);
    if (task.countElements() > 0 && memory > 0 && bytes > memory)
      return llvm::createStringError(
          "a transform of length " + std::to_string(length) + " takes " +
          std::to_string(bytes) + " bytes, and the machine has " +
          std::to_string(memory));
  }
  return llvm::Error::success();
}

namespace {
template <typename T> class FftPlan : public RoutinePlan {
public:
  FftPlan(const FftTask &task, FftTables &tables)
      : FftPlan(task, makeAxes(task, tables), makeReal(task, tables)) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    if (task.countElements() == 0)
      return std::nullopt;
    auto *memory = reinterpret_cast<T *>(run.scratch);
    Phases<T> phases;
    if (task.isFromReal)
      appendFromReal(phases, run, memory);
    else if (task.isToReal)
      appendToReal(phases, run, memory);
    else
      appendAxes(phases, getPlanes(run.operands), getPlanes(run.results),
                 memory, static_cast<T>(task.scale));
    return runPhases(phases, run, memory + shared, scratch);
  }

private:
  using Axes = std::vector<AxisFft<T>>;
  using Real = std::optional<RealFft<T>>;

  FftPlan(const FftTask &task, Axes axes, Real real)
      : RoutinePlan(estimate(task, axes, real)), task(task),
        axes(std::move(axes)), real(std::move(real)) {
    shared = countShared(task, this->axes, this->real);
    scratch = countScratch(this->axes, this->real);
  }

  /// Returns transforms along the dimensions of complex numbers. Without an
  /// element there are none: tables are as long as dimensions, which can be
  /// longer than any memory then.
  static Axes makeAxes(const FftTask &task, FftTables &tables) {
    if (task.countElements() == 0)
      return {};
    llvm::ArrayRef<int64_t> dims = task.dims;
    if (task.isFromReal || task.isToReal)
      dims = dims.drop_back();
    std::vector<int64_t> shape = task.getComplexShape();
    Axes axes;
    // The last one first, whose lines are dense.
    for (int64_t dim : llvm::reverse(dims))
      axes.emplace_back(getAxis(shape, dim), tables);
    return axes;
  }
  static Real makeReal(const FftTask &task, FftTables &tables) {
    if ((!task.isFromReal && !task.isToReal) || task.countElements() == 0)
      return std::nullopt;
    return RealFft<T>(getAxis(task.shape, task.dims.back()), tables);
  }

  /// Returns the elements of the results of other axes, before a last one whose
  /// results are real.
  static int64_t countHalves(const FftTask &task, const Axes &axes) {
    if (!task.isToReal || axes.empty())
      return 0;
    FftTask half;
    half.shape = task.getComplexShape();
    return 2 * half.countElements();
  }
  static int64_t countShared(const FftTask &task, const Axes &axes,
                             const Real &real) {
    int64_t count = real ? real->countMemory() : 0;
    for (const AxisFft<T> &axis : axes)
      count = std::max(count, axis.countMemory());
    // Of each thread's memory, the first element begins a line of the cache.
    return llvm::alignTo(count + countHalves(task, axes), kTileWidth<T>);
  }
  static int64_t countScratch(const Axes &axes, const Real &real) {
    int64_t count = real ? real->countScratch() : 0;
    for (const AxisFft<T> &axis : axes)
      count = std::max(count, axis.countScratch());
    return llvm::alignTo(count, kTileWidth<T>);
  }

  static RoutineEstimate estimate(const FftTask &task, const Axes &axes,
                                  const Real &real) {
    int64_t elements = task.countElements(), perElement = 0;
    for (int64_t dim : task.dims)
      perElement += llvm::Log2_64_Ceil(task.shape[dim]) + 1;
    RoutineEstimate known;
    known.work = multiplyCounts(elements, kWork * perElement);
    known.flops = multiplyCounts(elements, kFlops * perElement);
    if (elements > 0)
      known.scratchBytes = sizeof(T) * (countShared(task, axes, real) +
                                        kMaxWorkers * countScratch(axes, real));
    return known;
  }

  /// Returns both parts of complex numbers; those of an inverse transform are
  /// exchanged. Operands are only read.
  Planes<T> getPlanes(llvm::ArrayRef<void *> tensors) const {
    Planes<T> planes = {static_cast<T *>(tensors[0]),
                        static_cast<T *>(tensors[1]), 0};
    return task.isInverse ? planes.swapped() : planes;
  }

  void appendAxes(Phases<T> &phases, Planes<T> from, Planes<T> to, T *memory,
                  T scale) const {
    for (const AxisFft<T> &axis : axes) {
      axis.append(phases, from, to, memory, &axis == &axes.back() ? scale : 1);
      from = to;
    }
  }
  void appendFromReal(Phases<T> &phases, const RoutineRun &run,
                      T *memory) const {
    Planes<T> to = getPlanes(run.results);
    real->appendForward(phases, static_cast<const T *>(run.operands[0]), to,
                        memory, static_cast<T>(task.scale));
    appendAxes(phases, to, to, memory, 1);
  }
  void appendToReal(Phases<T> &phases, const RoutineRun &run, T *memory) const {
    Planes<T> from = getPlanes(run.operands);
    if (!axes.empty()) {
      int64_t count = countHalves(task, axes);
      Planes<T> halves = {memory, memory + count / 2, 0};
      memory += count;
      appendAxes(phases, from, halves, memory, 1);
      from = halves;
    }
    real->appendInverse(phases, from.swapped(),
                        static_cast<T *>(run.results[0]), memory,
                        static_cast<T>(task.scale));
  }

  FftTask task;
  Axes axes;
  /// The last one, where a side is real.
  Real real;
  /// Elements of memory, and of each thread's scratch memory.
  int64_t shared = 0, scratch = 0;
};

class FftRoutine : public RoutineImplementation {
public:
  llvm::StringRef getRoutine() const override { return "fft"; }
  llvm::StringRef getLibrary() const override { return "host"; }
  llvm::StringRef getVersion() const override { return "1"; }

  llvm::Error accept(const Routine &routine) const override {
    if (readTask(routine))
      return llvm::Error::success();
    return llvm::createStringError("it has other attributes, operands or "
                                   "results than a Fourier transform of dense "
                                   "tensors");
  }
  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    FftTask task = *readTask(routine);
    if (llvm::Error error = checkLengths(task))
      return std::move(error);
    if (task.dtype == DType::F32)
      return std::make_shared<FftPlan<float>>(task, tables);
    return std::make_shared<FftPlan<double>>(task, tables);
  }

private:
  mutable FftTables tables;
};
} // namespace

std::shared_ptr<const RoutineImplementation> metaops::createFftRoutine() {
  return std::make_shared<FftRoutine>();
}
