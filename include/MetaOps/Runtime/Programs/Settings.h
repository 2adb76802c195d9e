//===- Settings.h - What a session's flags set ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_SETTINGS_H
#define METAOPS_RUNTIME_PROGRAMS_SETTINGS_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace metaops {

/// A flag's value.
using FlagValue = std::variant<bool, int64_t, std::string>;

/// Plain values; docs/Environment.md says what each flag means.
struct Settings {
  CompileOptions options;
  /// True if there is a compiler: without one, the interpreter computes.
  bool hasCompiler = false;
  bool useInterpreter = true;
  bool isLazy = true;
  bool isAsynchronous = true;
  bool keepsPacked = true;
  bool poisonsMemory = false;
  int64_t savedValuesBudget = int64_t(1) << 30;
  /// Four of the cuts of a loop that asks for nothing (Loops.cpp).
  int64_t historyBytes = int64_t(1) << 28;
  int64_t memoryLimit = 0;
  /// The form in which the Python package records convolutions.
  std::string convolution = "direct";
  /// Use of functions that are recorded once, in the Python package.
  std::string jit = "on";
  std::string cacheDirectory;
  std::string dumpDirectory;
};

/// A setting that somebody has to be told of, or any other.
enum class Setting {
  Other,
  CacheDirectory,
  KeepsPacked,
  MemoryLimit,
  PoisonsMemory,
  ScheduleFile
};

std::vector<std::string> getFlagNames();
FlagValue getFlag(const Settings &settings, llvm::StringRef name);
/// Throws where there is no such flag, or it does not take the value.
Setting setFlag(Settings &settings, llvm::StringRef name,
                const FlagValue &value);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_SETTINGS_H
