//===- Routine.h - Routines as plain data -----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A routine is what no kernel computes: a function of whole tensors in memory,
// by its name, with attributes. Nothing here says who computes it; see
// RoutineRegistry.h.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_ROUTINES_ROUTINE_H
#define METAOPS_RUNTIME_ROUTINES_ROUTINE_H

#include "MetaOps/Runtime/Memory/DType.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace metaops {

/// An attribute of a routine: numbers or texts. A single one is a list of one.
struct RoutineAttribute {
  using Integers = std::vector<int64_t>;
  using Floats = std::vector<double>;
  using Texts = std::vector<std::string>;

  std::string name;
  std::variant<Integers, Floats, Texts> values;
};

/// A tensor that a routine reads or writes.
struct RoutineTensor {
  /// Names what it is to the routine, such as "source"; may be empty.
  std::string role;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  /// Elements from one index to the next, along each dimension.
  std::vector<int64_t> strides;
  /// Of a result: the number of the operand in whose memory it may be made. It
  /// is in that of none if this is -1.
  int64_t over = -1;

  int64_t countElements() const;
  /// Returns true if the elements follow each other in row-major order.
  bool isDense() const;
};

/// A call of a routine.
struct Routine {
  std::string name;
  std::vector<RoutineAttribute> attributes;
  std::vector<RoutineTensor> operands;
  /// Those that are made: a routine may have further ones that nobody reads.
  std::vector<RoutineTensor> results;

  /// Returns an integer of an attribute; none where it has not one integer.
  std::optional<int64_t> findInteger(llvm::StringRef attribute) const;
  /// Returns the first tensor of a role; null where there is none.
  const RoutineTensor *findOperand(llvm::StringRef role) const;
  const RoutineTensor *findResult(llvm::StringRef role) const;
};

/// Makes a tensor whose elements follow each other in row-major order.
RoutineTensor makeDenseTensor(llvm::StringRef role, DType dtype,
                              llvm::ArrayRef<int64_t> shape);

/// Returns the bytes from a tensor's first element to its last; nothing where
/// no memory can hold them.
std::optional<int64_t> countBytes(const RoutineTensor &tensor);

/// Fails unless tensors can be in memory, each element of a result is written
/// once, and results are made over operands that are like them.
llvm::Error verifyRoutine(const Routine &routine);

} // namespace metaops

#endif // METAOPS_RUNTIME_ROUTINES_ROUTINE_H
