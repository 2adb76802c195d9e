//===- Export.h - Programs for other processes ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_EXPORT_H
#define METAOPS_RUNTIME_SESSION_EXPORT_H

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

class Var;

/// A value and the name that it has in a program file.
using NamedVar = std::pair<std::string, const Var *>;

/// A kind of processors that there is to be code for; see Compiler::compileFor.
struct ExportTarget {
  std::string name;
  /// A file of schedules for its kernels; empty for that of the session's flag.
  std::string scheduleFile;
};

/// What is exported: how the outputs are computed from the inputs. Everything
/// else that they are made of, as far as it is in memory, is a weight.
struct ExportRequest {
  /// Values in memory, no two of them the same.
  std::vector<NamedVar> inputs;
  std::vector<NamedVar> outputs;
  /// Names for weights; others are numbered.
  std::vector<NamedVar> weights;
  /// None for a file with IR and weights alone.
  std::vector<ExportTarget> targets;
  /// Texts of the user.
  std::map<std::string, std::string> keys;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_EXPORT_H
