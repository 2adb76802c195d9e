//===- RecordedFunction.h - Functions that are recorded once ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations that a trace has of a function, in the order in which they
// were recorded, and between them what else recording does: rebinding Vars, and
// preparing gradients. Replaying all that records what calling the function
// would, for a part of its time.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_TRACE_RECORDEDFUNCTION_H
#define METAOPS_RUNTIME_TRACE_RECORDEDFUNCTION_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Promotion.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Memory/DType.h"
#include "MetaOps/Runtime/Recording/OutsideHistories.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

class RecordingSession;
class Trace;

/// A function of Vars that may rebind some of them. It keeps its trace.
class RecordedFunction {
public:
  /// An operation, or something else that recording does. Operands are numbers
  /// of values: those of the arguments, of the constants, and then the results
  /// of all steps before.
  struct Step {
    enum class Kind {
      Operation,
      /// The source of random numbers; `scalar` is how many come before.
      RandomKey,
      RandomCounter,
      /// Rebinds an argument to the operand.
      Update,
      Assign,
      /// Derivatives of the first operand by the others follow.
      Differentiate,
    } kind = Kind::Operation;
    /// Null for kinds that record no operation.
    mlir::Operation *op = nullptr;
    SignatureTable::Id signature = 0;
    llvm::SmallVector<unsigned, 3> operands;
    uint64_t scalar = 0;
    bool isStopped = false;
    /// An update comes between the step and the last one that reads it.
    bool isKept = false;
    unsigned argument = 0;
    /// No later step rebinds the argument.
    bool isLast = true;
    /// It makes a result of the function, or a former value of one.
    bool isOfResult = false;
    /// An argument is assigned what it makes.
    bool isAssigned = false;

    unsigned getNumResults() const;
    /// Returns the operation, of other values: operands, and then what its
    /// regions capture. It is in no block. If it is of another line than it was
    /// recorded at, so is what is in its regions.
    mlir::Operation *clone(mlir::Location location,
                           mlir::ValueRange values) const;
    bool rebinds() const {
      return kind == Kind::Update || kind == Kind::Assign;
    }
  };

  enum class Mode {
    /// Operations belong to the line of the call, and each rebinding is done in
    /// its place.
    Inline,
    /// Operations belong to their own lines, and each Var that is rebound is
    /// updated, once, to the last of its values.
    Call
  };
  /// Is told of what a step has recorded.
  using Listener = llvm::function_ref<void(const Node *, const Step &)>;

  /// Returns whether the arguments are of the types that it was recorded of.
  bool takes(llvm::ArrayRef<Var *> arguments) const;
  /// Returns whether they are, where the last ones are given as numbers.
  bool takes(llvm::ArrayRef<Var *> arguments,
             llvm::ArrayRef<Number> numbers) const;
  /// Returns the arguments that stand for numbers. The session is entered.
  std::vector<Var> makeNumbers(RecordingSession &session,
                               llvm::ArrayRef<Number> numbers) const;
  /// Records the function's operations of other arguments, which it takes, in a
  /// session, which is entered, and rebinds these as the function did its own.
  /// Each is read as its Var was when the call began, until it is rebound as
  /// this argument: so it is where one Var is two arguments. Returns the
  /// results.
  std::vector<Var> replay(RecordingSession &session,
                          llvm::ArrayRef<Var *> arguments,
                          Mode mode = Mode::Inline,
                          Listener listener = nullptr) const;

  /// Returns how many Vars a call is given: arguments, captured Vars, numbers.
  size_t getNumArguments() const { return types.size(); }
  mlir::RankedTensorType getResultType(unsigned number) const {
    return resultTypes[number];
  }
  /// The types of the arguments that may be given as numbers, the last ones.
  llvm::ArrayRef<DType> getNumberTypes() const { return numberTypes; }
  /// Returns how many random numbers a call draws.
  int64_t getNumDrawn() const { return numDrawn; }
  /// Returns whether it draws random numbers. It may draw none of them, for a
  /// tensor without elements or in a loop without trips.
  bool drawsRandom() const { return readsStream || numDrawn != 0; }
  /// Returns the numbers of the arguments that it rebinds.
  llvm::ArrayRef<unsigned> getRebound() const { return rebound; }
  /// Returns the derivatives that the function records.
  llvm::ArrayRef<InsideDerivatives> getDifferentiated() const {
    return differentiated;
  }
  /// Returns how many operations a call records.
  size_t getNumOperations() const;
  llvm::ArrayRef<Step> getSteps() const { return steps; }
  /// Returns the numbers of the values that it returns.
  llvm::ArrayRef<unsigned> getResults() const { return results; }
  /// The values of arrays that the function makes.
  llvm::ArrayRef<Var> getConstants() const { return constants; }
  /// Extents of recordings: compared with the rest, or any.
  enum class Extents { Compared, Any };
  /// Returns what differs first from another recording of the same function,
  /// with the lines; empty where they agree. For any extents, numbers that
  /// count what is in tensors may differ, too. The host of both is entered.
  std::string findDifference(const RecordedFunction &other,
                             Extents extents = Extents::Compared) const;

private:
  friend class Trace;
  friend class TraceFinisher;
  class Replay;

  explicit RecordedFunction(std::shared_ptr<const Trace> trace)
      : trace(std::move(trace)) {}

  std::shared_ptr<const Trace> trace;
  std::vector<mlir::RankedTensorType> types;
  std::vector<DType> numberTypes;
  std::vector<Var> constants;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned> rebound;
  std::vector<InsideDerivatives> differentiated;
  std::vector<unsigned> results;
  std::vector<mlir::RankedTensorType> resultTypes;
  /// By result the numbers of the values that its Var has had before.
  std::vector<llvm::SmallVector<unsigned, 0>> formerOfResults;
  /// Pairs of values the first of which repeats the other one, in the order of
  /// the first (Node::repeated).
  std::vector<std::pair<unsigned, unsigned>> repeated;
  /// Some step rebinds an argument otherwise than by an update.
  bool assigns = false;
  int64_t numDrawn = 0;
  /// Some step reads the key or the counter of random numbers.
  bool readsStream = false;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_TRACE_RECORDEDFUNCTION_H
