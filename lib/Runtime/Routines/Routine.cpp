//===- Routine.cpp - Routines as plain data -------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Routines/Routine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace metaops;

/// Larger tensors are refused, so that sums of sizes do not overflow.
static constexpr int64_t kMaxTensorBytes =
    std::numeric_limits<int64_t>::max() / 128;
/// More dimensions than any tensor has.
static constexpr size_t kMaxRank = 64;

int64_t RoutineTensor::countElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

bool RoutineTensor::isDense() const {
  int64_t expected = 1;
  for (auto [extent, stride] : llvm::reverse(llvm::zip_equal(shape, strides))) {
    if (extent != 1 && stride != expected)
      return false;
    expected *= extent;
  }
  return true;
}

RoutineTensor metaops::makeDenseTensor(llvm::StringRef role, DType dtype,
                                       llvm::ArrayRef<int64_t> shape) {
  RoutineTensor tensor;
  tensor.role = role.str();
  tensor.dtype = dtype;
  tensor.shape = shape.vec();
  tensor.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    tensor.strides[dim] = stride;
    stride *= shape[dim];
  }
  return tensor;
}

static const RoutineTensor *findByRole(llvm::ArrayRef<RoutineTensor> tensors,
                                       llvm::StringRef role) {
  const auto *found = llvm::find_if(tensors, [&](const RoutineTensor &tensor) {
    return tensor.role == role;
  });
  return found == tensors.end() ? nullptr : found;
}

const RoutineTensor *Routine::findOperand(llvm::StringRef role) const {
  return findByRole(operands, role);
}
const RoutineTensor *Routine::findResult(llvm::StringRef role) const {
  return findByRole(results, role);
}

std::optional<int64_t> Routine::findInteger(llvm::StringRef attribute) const {
  for (const RoutineAttribute &each : attributes) {
    const auto *integers =
        std::get_if<RoutineAttribute::Integers>(&each.values);
    if (each.name == attribute && integers && integers->size() == 1)
      return integers->front();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

std::optional<int64_t> metaops::countBytes(const RoutineTensor &tensor) {
  if (tensor.dtype > DType::F64 || tensor.shape.size() > kMaxRank ||
      tensor.shape.size() != tensor.strides.size())
    return std::nullopt;
  int64_t size = sizeOf(tensor.dtype), elements = size, last = 0;
  for (auto [extent, stride] : llvm::zip_equal(tensor.shape, tensor.strides)) {
    int64_t distance;
    if (extent < 0 || stride < 0 ||
        llvm::MulOverflow(elements, std::max<int64_t>(extent, 1), elements) ||
        llvm::MulOverflow(std::max<int64_t>(extent - 1, 0), stride, distance) ||
        llvm::AddOverflow(last, distance, last))
      return std::nullopt;
  }
  if (elements > kMaxTensorBytes || last >= kMaxTensorBytes / size)
    return std::nullopt;
  return llvm::is_contained(tensor.shape, 0) ? 0 : (last + 1) * size;
}

/// Returns true if no two elements are in one place: going through dimensions
/// by rising strides, each goes beyond all of those before.
static bool hasPlaceForEach(const RoutineTensor &tensor) {
  llvm::SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [extent, stride] : llvm::zip_equal(tensor.shape, tensor.strides)) {
    if (extent == 0)
      return true;
    if (extent > 1)
      dims.push_back({stride, extent});
  }
  llvm::sort(dims);
  int64_t last = 0;
  for (auto [stride, extent] : dims) {
    if (stride <= last)
      return false;
    last += (extent - 1) * stride;
  }
  return true;
}

/// Returns true if a result may be made in the memory of an operand.
static bool isLike(const RoutineTensor &result, const RoutineTensor &operand) {
  return result.dtype == operand.dtype && result.shape == operand.shape &&
         result.strides == operand.strides;
}

llvm::Error metaops::verifyRoutine(const Routine &routine) {
  auto fail = [&](llvm::StringRef what, size_t number, llvm::StringRef why) {
    return llvm::createStringError("the routine '" + routine.name + "' has " +
                                   what + " " + llvm::Twine(number) + " " +
                                   why);
  };
  for (auto [number, operand] : llvm::enumerate(routine.operands))
    if (!countBytes(operand))
      return fail("an operand", number, "of an impossible size");
  std::vector<bool> isOver(routine.operands.size());
  for (auto [number, result] : llvm::enumerate(routine.results)) {
    if (!countBytes(result))
      return fail("a result", number, "of an impossible size");
    if (!hasPlaceForEach(result))
      return fail("a result", number, "with two elements in one place");
    if (result.over == -1)
      continue;
    if (result.over < 0 ||
        result.over >= static_cast<int64_t>(routine.operands.size()) ||
        isOver[result.over] || !isLike(result, routine.operands[result.over]))
      return fail("a result", number, "over an operand that is not like it");
    isOver[result.over] = true;
  }
  return llvm::Error::success();
}
