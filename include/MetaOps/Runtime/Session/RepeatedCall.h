//===- RepeatedCall.h - Calls that need not be recorded again ---*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_REPEATEDCALL_H
#define METAOPS_RUNTIME_SESSION_REPEATEDCALL_H

#include "MetaOps/Runtime/Graph/Promotion.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Plan/StepOutcome.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace metaops {

class RecordedFunction;

/// A step that a call takes. Of the call's numbers, `count` are its own, from
/// the place `first` on: `numInType` in one type, then the same in others.
struct StepOfCall {
  StepOutcomeRef outcome;
  unsigned first, count, numInType;

  /// Returns which of the step's numbers one of the call's is, if it is one.
  std::optional<unsigned> find(unsigned number) const {
    if (number < first || number >= first + count)
      return std::nullopt;
    return (number - first) % numInType;
  }
};

/// A call of a recorded function: its arguments, its numbers behind these, and
/// the steps that it takes.
struct CallRequest {
  const RecordedFunction &function;
  llvm::ArrayRef<Var *> arguments;
  llvm::ArrayRef<Number> numbers;
  llvm::ArrayRef<StepOfCall> steps;
  /// The arguments that are given away: the call may write over their values.
  llvm::ArrayRef<unsigned> donated;
};

/// The program that calls of a recorded function are, if they are one that can
/// be launched on other values of the same types. See RepeatedCall.cpp.
struct RepeatedCall {
  /// An argument that an output of the program replaces.
  struct Replacement {
    unsigned argument;
    /// It is the end of a history.
    bool isEnd;
    /// It is the value that the argument has last in the call, without its
    /// history.
    bool repeats;
    /// The history had a value that another argument has last in the call.
    bool isMadeOfRebound;
  };

  /// An argument of the program.
  struct Source {
    enum class Kind {
      Argument,
      Number,
      Constant,
      Scalar,
      RandomKey,
      RandomCounter
    };
    Kind kind;
    /// Of the call's argument or number, or of the function's constant.
    unsigned index = 0;
    /// Of a scalar, or how many random numbers come before.
    uint64_t bits = 0;
    /// An argument that an output of the program replaces, or that is given
    /// away.
    bool isReplaced = false;
  };

  /// A result: an output of the program, or the value that an argument has when
  /// the call has ended.
  struct Result {
    bool isOutput;
    unsigned index;
    /// Its history has been ended by the call.
    bool isEnded = false;
    /// The history had a value that an argument has had last in the call.
    bool isMadeOfRebound = false;
    /// Rebound arguments, or results beside it, are made of it.
    bool isLost = false;
    /// In the call its Var has had other values before.
    bool hadFormer = false;
  };

  std::vector<Source> arguments;
  /// By argument of the program: it may be written over.
  llvm::SmallVector<bool> donatable;
  /// By output of the program: the argument that it replaces, if it does.
  std::vector<std::optional<Replacement>> replaced;
  std::vector<Result> results;
  /// Some result or replacement is the end of a history, and the chain that
  /// these belong to.
  bool endsHistories = false;
  uint64_t chain = 0;
  ProgramFlags flags = {};
  /// Null where there is no such program, or none is known.
  std::shared_ptr<const RunRecord> record;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_REPEATEDCALL_H
