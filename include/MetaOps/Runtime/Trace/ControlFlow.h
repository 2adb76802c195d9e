//===- ControlFlow.h - Branches and loops of recorded bodies ----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A branch or a loop is one operation, whose regions are made of functions that
// have been recorded. Each is given, and returns, values of the same types.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_TRACE_CONTROLFLOW_H
#define METAOPS_RUNTIME_TRACE_CONTROLFLOW_H

#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <vector>

namespace metaops {

class FunctionCall;
class FunctionRecorder;
class RecordingSession;

/// A function that a region is made of. It rebinds nothing.
struct RecordedBody {
  std::shared_ptr<const RecordedFunction> function;
  /// Its last arguments: the captured Vars, as they were then.
  std::vector<Var> captured;
};

/// Records the results of a function, as FunctionRecorder does, with rules: for
/// gradients, and for tangents if there are two. These are of the values that
/// the operation's blocks are given.
std::vector<Var> recordCustom(RecordingSession &session,
                              FunctionRecorder &recorder,
                              llvm::ArrayRef<const Var *> results,
                              llvm::ArrayRef<bool> areGivenUp,
                              std::shared_ptr<FunctionCall> call,
                              llvm::ArrayRef<const RecordedBody *> rules);

/// Records a body as a checkpoint: of what it computes, nothing but the results
/// is kept for a gradient, which computes it again, but reads so many of the
/// last results.
std::vector<Var> recordCheckpoint(RecordingSession &session,
                                  const RecordedBody &body, int64_t numKept);

/// Records one of two bodies of the operands, by a condition, which is a 0-d
/// boolean. Both return values of the same types, one at least. The random
/// numbers of both begin where they would without the branch, and those behind
/// it where the longer one ends.
std::vector<Var> recordIf(RecordingSession &session, const Var &condition,
                          const RecordedBody &onTrue,
                          const RecordedBody &onFalse,
                          llvm::ArrayRef<const Var *> operands);

/// Records trips of a body from the first values on, as long as the condition,
/// which is asked before each, returns true. The body returns values of the
/// types that it is given. As nobody knows how many trips there are, random
/// numbers are of a stream of the loop's own, which begins anew with each loop:
/// its key is drawn, and trips and draws in them are counted. With `maxTrips`
/// it has gradients, and the program fails before it would make more trips.
std::vector<Var> recordWhile(RecordingSession &session,
                             llvm::ArrayRef<const Var *> first,
                             const RecordedBody &condition,
                             const RecordedBody &body,
                             std::optional<int64_t> maxTrips);

/// The trips of a loop that counts, as many as a number from memory says.
struct CountedRange {
  /// 0-d tensors of int64: how many trips, none if that is less than 0, and the
  /// number of the first one.
  const Var &count, &lower;
  /// As for recordWhile.
  std::optional<int64_t> maxTrips;
};

/// Records trips of a body of the carries and of the trip's number, which
/// returns the next carries. Random numbers are as in recordWhile.
std::vector<Var> recordCounted(RecordingSession &session, CountedRange range,
                               llvm::ArrayRef<const Var *> first,
                               const RecordedBody &body);

/// The trips of a scan.
struct ScanRange {
  int64_t trips = 0;
  /// The last row first.
  bool isReverse = false;
  /// Trips that one iteration makes; 0 where the loop's length decides.
  int64_t unroll = 0;
};

/// Records trips of a body of carries and of a row of each of `rows`, whose
/// leading extent is the number of trips. The body returns the next carries,
/// and rows: the results are the last carries, and tensors of all rows. Random
/// numbers are those of the trips one after the other.
std::vector<Var> recordScan(RecordingSession &session, ScanRange range,
                            llvm::ArrayRef<const Var *> first,
                            llvm::ArrayRef<const Var *> rows,
                            const RecordedBody &body);

} // namespace metaops

#endif // METAOPS_RUNTIME_TRACE_CONTROLFLOW_H
