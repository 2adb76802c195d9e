//===- VectorizingMap.h - Functions of all examples at once -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that was recorded of one example is replayed for all: what reads
// something batched takes the leading dimension, and all else is recorded once,
// as it is.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_TRACE_VECTORIZINGMAP_H
#define METAOPS_RUNTIME_TRACE_VECTORIZINGMAP_H

#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Trace/ControlFlow.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallBitVector.h"

#include <vector>

namespace metaops {

/// A result for all examples: with a leading dimension for these, or the same
/// for all.
struct MappedResult {
  Var var;
  bool isBatched;
};

/// The random numbers of examples.
enum class ExampleRandomness {
  /// A function that draws some is an error.
  Error,
  /// Each example has those behind the example before it, as in a loop.
  Different,
  /// All have those of the first.
  Same
};

/// Records a function of one example for `extent` of them. It is given the
/// arguments, of those that are batched a row, and then what it has captured,
/// which is the same for all. Throws where one of its operations cannot take
/// the dimension.
std::vector<MappedResult> recordMapped(RecordingSession &session,
                                       const RecordedBody &body,
                                       llvm::ArrayRef<const Var *> arguments,
                                       const llvm::SmallBitVector &areBatched,
                                       int64_t extent,
                                       ExampleRandomness randomness);

} // namespace metaops

#endif // METAOPS_RUNTIME_TRACE_VECTORIZINGMAP_H
