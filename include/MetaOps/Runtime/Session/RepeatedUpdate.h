//===- RepeatedUpdate.h - A step that need not be recorded again -*- C++
//-*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_REPEATEDUPDATE_H
#define METAOPS_RUNTIME_SESSION_REPEATEDUPDATE_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace metaops {

/// The values that a step of an optimiser works on: those that it replaces, and
/// those that it reads.
struct UpdateValues {
  llvm::ArrayRef<const Var *> targets, operands;
};

/// A step of an optimiser that has been run once, and may be run again on other
/// values of the same types. See RepeatedUpdate.cpp.
struct RepeatedUpdate {
  /// What an argument of the program is: a value by its place among the targets
  /// and then the operands, or a number by its own, in some type.
  struct Source {
    unsigned index;
    std::optional<DType> numberType;
  };

  /// Of the values, and the values of the step that is being recorded.
  std::vector<mlir::Type> types;
  std::vector<const Node *> values;

  unsigned numNumbers = 0;
  std::vector<Source> arguments;
  /// By argument: whether the program may write over it.
  llvm::SmallVector<bool> donatable;
  /// By result: the target that it replaces.
  std::vector<unsigned> results;
  ProgramFlags flags = {};
  /// Null where no step has been run.
  std::shared_ptr<const RunRecord> record;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_REPEATEDUPDATE_H
