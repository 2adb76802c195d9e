//===- Callable.h - Recorded functions as Python calls them -----*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_CALLABLE_H
#define METAOPS_PYTHON_BINDINGS_CALLABLE_H

#include "MetaOps/Runtime/Session/RepeatedCall.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "pybind11/pybind11.h"

#include <memory>
#include <vector>

namespace metaops::python {

/// A recorded function as Python holds it, with the program of its calls.
struct Callable {
  std::shared_ptr<const RecordedFunction> function;
  RepeatedCall repeated;
  /// The arguments that its calls may write over.
  std::vector<unsigned> donated;
  /// The updates of the last call are made or pending, though it may have
  /// thrown.
  bool counts = false;
};

/// Has the traces that this thread records in keep a function which is replayed
/// there (Trace.cpp).
void keepInTraces(const std::shared_ptr<const RecordedFunction> &function);

/// Returns the Vars of a list. Throws where something else is in it.
std::vector<Var *> toArguments(pybind11::handle object);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_CALLABLE_H
