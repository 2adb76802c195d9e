//===- FunctionCall.h - Functions with derivatives of their own -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_FUNCTIONCALL_H
#define METAOPS_RUNTIME_GRAPH_FUNCTIONCALL_H

#include <cstdint>
#include <string>
#include <vector>

namespace metaops {

class RecordingSession;
class Var;

/// A call of a function of the host's language that knows its derivatives. Its
/// results are those of a `metaop.custom_derivative`, which keeps the call.
///
/// May be destroyed on any thread, with the session entered.
class FunctionCall {
public:
  virtual ~FunctionCall() = default;

  /// The place of the last value before the call in the order of recording.
  uint64_t start = 0;

  /// The name by which errors tell of the function.
  virtual const std::string &getName() const = 0;
  /// Returns cotangents of its arguments, given those of its results. A Var
  /// without a value stands for zeros. The session is not entered, and the
  /// function may use it.
  virtual std::vector<Var> pullBack(std::vector<Var> cotangents) = 0;
  /// Returns tangents of its results, given those of its arguments. Throws
  /// where the function knows none.
  virtual std::vector<Var> pushForward(std::vector<Var> tangents) = 0;
  /// Locks a session again, as the caller has to whatever happens.
  virtual void lock(RecordingSession &session) noexcept = 0;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_FUNCTIONCALL_H
