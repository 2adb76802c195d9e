//===- Error.h - What goes wrong by the user's hand -------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_ERROR_H
#define METAOPS_RUNTIME_GRAPH_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <stdexcept>

namespace metaops {

/// Which of Python's exceptions says it best. Interrupted is for what the
/// caller has stopped itself: the same call may be made again.
enum class ErrorKind {
  Value,
  Type,
  Index,
  Overflow,
  Memory,
  /// A matrix is singular, or not positive definite.
  LinearAlgebra,
  Runtime,
  /// Tangents are asked for of what knows gradients alone.
  NoForwardMode,
  /// A recorded function differentiates by a Var of which it is given another
  /// one that is made of it: only the function itself can be called.
  OutsideHistory,
  Interrupted
};

/// The exception of a session: the message says what was given and what was
/// expected. The session stays as it was before the call.
class SessionError : public std::runtime_error {
public:
  SessionError(ErrorKind kind, const llvm::Twine &message)
      : std::runtime_error(message.str()), kind(kind) {}

  ErrorKind getKind() const { return kind; }

private:
  ErrorKind kind;
};

[[noreturn]] inline void fail(ErrorKind kind, const llvm::Twine &message) {
  throw SessionError(kind, message);
}

/// Turns an error of a lower layer into an exception.
inline void check(llvm::Error error, ErrorKind kind = ErrorKind::Runtime) {
  if (error)
    fail(kind, llvm::toString(std::move(error)));
}

template <typename T>
T check(llvm::Expected<T> value, ErrorKind kind = ErrorKind::Runtime) {
  if (!value)
    fail(kind, llvm::toString(value.takeError()));
  return std::move(*value);
}

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_ERROR_H
