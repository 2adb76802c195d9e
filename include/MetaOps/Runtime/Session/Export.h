//===- Export.h - Functions for other processes -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_EXPORT_H
#define METAOPS_RUNTIME_SESSION_EXPORT_H

#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

class Var;

/// A value and the name that it has in a program file.
using NamedVar = std::pair<std::string, const Var *>;

/// A kind of processors that there is to be code for; see
/// KernelTools::compileFor.
struct ExportTarget {
  std::string name;
  /// A file of schedules for its kernels; empty for that of the session's flag.
  std::string scheduleFile;
};

/// A Var that a recorded function rebinds.
struct Rebind {
  /// Its number among the function's arguments.
  unsigned argument;
  /// Of the last value that it is given.
  std::string line;
};

/// Returns what a function rebinds, each Var once.
std::vector<Rebind> findRebinds(const RecordedFunction &function);

/// A function as it was recorded once, and what its arguments and results are
/// in a program file.
struct ExportedRecording {
  /// An argument of a call. Where the name is not empty, it is an input, of
  /// which the type matters and not the value; the values of others are
  /// weights.
  using Argument = NamedVar;

  std::shared_ptr<const RecordedFunction> recorded;
  std::vector<Argument> arguments;
  /// The names of its results.
  std::vector<std::string> outputs;
  /// Numbers of arguments that are a state: inputs whose values in the end are
  /// outputs of the same names, and whose present ones are weights of these.
  std::vector<unsigned> state;
  /// Makes a state of the key and the counter of random numbers, too. Otherwise
  /// it is an error to draw some.
  bool drawsFromState = false;
  /// The sizes of the function's extents.
  std::vector<int64_t> sizes;
};

/// A function of a program file. The members are those of a FunctionSignature.
struct ExportedFunction {
  std::string name;
  std::string structure;
  std::vector<NamedExtent> extents;
  /// One, or one for each size, in their order.
  std::vector<ExportedRecording> recordings;
};

/// The names in a program file of what random numbers are made of.
inline constexpr llvm::StringLiteral kRandomKey = "random.key";
inline constexpr llvm::StringLiteral kRandomCounter = "random.counter";

/// A request for a program file of functions, which share weights.
struct ExportRequest {
  std::vector<ExportedFunction> functions;
  /// Names for weights; others are numbered.
  std::vector<NamedVar> weights;
  /// None for a file with IR and weights alone.
  std::vector<ExportTarget> targets;
  /// Texts of the user.
  std::map<std::string, std::string> keys;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_EXPORT_H
