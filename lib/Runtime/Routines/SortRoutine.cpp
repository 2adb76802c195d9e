//===- SortRoutine.cpp - The host's sort as a routine ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attributes  dim, descending: integers
//   operands    source; begin, an i64, where it is not 0
//   results     values, of the source's elements; indices, of i64; one or both
//
//===----------------------------------------------------------------------===//

#include "SortRoutine.h"
#include "MetaOps/Support/Counts.h"
#include "SortTask.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace metaops;

/// Picoseconds of an element: for each bit of the extent, without
/// and with indices; and in the selection of a part of the order.
static constexpr int64_t kSortWork = 130;
static constexpr int64_t kArgsortWork = 230;
static constexpr int64_t kSelectWork = 500;

static int64_t getWork(const SortTask &task) {
  int64_t perElement = (task.givesIndices ? kArgsortWork : kSortWork) *
                       llvm::bit_width(uint64_t(task.extent));
  if (task.count < task.extent / 8)
    perElement = kSelectWork;
  return multiplyCounts(task.countElements(), perElement);
}

static int64_t multiply(llvm::ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

/// Returns what a routine says, as numbers; nothing where it is no sort. What
/// its tensors need has been verified to fit into memory.
static std::optional<SortTask> readTask(const Routine &routine) {
  auto dim = routine.findInteger("dim");
  auto descending = routine.findInteger("descending");
  size_t numOperands = routine.operands.size();
  if (!dim || !descending || routine.attributes.size() != 2 ||
      numOperands == 0 || numOperands > 2 || routine.results.empty())
    return std::nullopt;
  const RoutineTensor &source = routine.operands.front();
  if (*dim < 0 || *dim >= static_cast<int64_t>(source.shape.size()) ||
      *descending < 0 || *descending > 1 || source.role != "source")
    return std::nullopt;
  SortTask task;
  task.dtype = source.dtype;
  llvm::ArrayRef<int64_t> shape = source.shape;
  task.outer = multiply(shape.take_front(*dim));
  task.extent = shape[*dim];
  task.inner = multiply(shape.drop_front(*dim + 1));
  task.isReverse = *descending == 1;
  task.givesValues = routine.findResult("values");
  task.givesIndices = routine.findResult("indices");
  if (routine.results.front().shape.size() != shape.size())
    return std::nullopt;
  task.count = routine.results.front().shape[*dim];
  return task;
}

/// Returns true if a tensor is dense and of this role, type and shape.
static bool isTensor(const RoutineTensor &tensor, llvm::StringRef role,
                     DType dtype, llvm::ArrayRef<int64_t> shape) {
  return tensor.role == role && tensor.dtype == dtype &&
         llvm::ArrayRef(tensor.shape) == shape && tensor.isDense() &&
         tensor.over == -1;
}

/// Returns true if the tensors of a routine are those of the task.
static bool hasTensors(const Routine &routine, const SortTask &task) {
  const RoutineTensor &source = routine.operands.front();
  if (!source.isDense() || task.count > task.extent)
    return false;
  if (routine.operands.size() == 2 &&
      !isTensor(routine.operands[1], "begin", DType::I64, {}))
    return false;
  std::vector<int64_t> shape = source.shape;
  shape[*routine.findInteger("dim")] = task.count;
  const RoutineTensor *result = routine.results.data();
  if (task.givesValues && !isTensor(*result++, "values", task.dtype, shape))
    return false;
  if (task.givesIndices &&
      (result == routine.results.data() + routine.results.size() ||
       !isTensor(*result++, "indices", DType::I64, shape)))
    return false;
  return result == routine.results.data() + routine.results.size();
}

namespace {
class SortPlan : public RoutinePlan {
public:
  explicit SortPlan(const SortTask &task)
      : RoutinePlan(estimate(task)), task(task) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    if (task.countResults() == 0)
      return std::nullopt;
    return runSort(task, run.operands.front(), readBegin(run.operands),
                   run.results, run.scratch, run.threads, run.shouldStop,
                   run.begin);
  }

private:
  static RoutineEstimate estimate(const SortTask &task) {
    RoutineEstimate known;
    known.scratchBytes = task.countResults() > 0 ? getSortScratch(task) : 0;
    known.work = getWork(task);
    return known;
  }

  /// Returns the place at which the results begin in the order of each line:
  /// wherever the number leads, there are elements.
  int64_t readBegin(llvm::ArrayRef<void *> operands) const {
    if (operands.size() == 1)
      return 0;
    int64_t place = *static_cast<const int64_t *>(operands.back());
    return std::clamp<int64_t>(place, 0, task.extent - task.count);
  }

  SortTask task;
};

class SortRoutine : public RoutineImplementation {
public:
  llvm::StringRef getRoutine() const override { return "sort"; }
  llvm::StringRef getLibrary() const override { return "host"; }
  llvm::StringRef getVersion() const override { return "1"; }

  llvm::Error accept(const Routine &routine) const override {
    auto task = readTask(routine);
    if (task && hasTensors(routine, *task))
      return llvm::Error::success();
    return llvm::createStringError(
        "it has other attributes, operands or results than a sort of dense "
        "lines");
  }
  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    return std::make_shared<SortPlan>(*readTask(routine));
  }
};
} // namespace

std::shared_ptr<const RoutineImplementation> metaops::createSortRoutine() {
  return std::make_shared<SortRoutine>();
}
