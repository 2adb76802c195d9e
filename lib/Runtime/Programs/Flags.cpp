//===- Flags.cpp - Settings of a session ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table says for each flag what it is called, what it takes, and which
// setting it is. A flag's type is that of its value: booleans take 0 and 1,
// too.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace metaops;

/// Refuses a value of a flag.
[[noreturn]] static void failBadValue(llvm::StringRef name,
                                      const FlagValue &value,
                                      llvm::StringRef expected) {
  std::string given;
  if (auto *text = std::get_if<std::string>(&value))
    given = "'" + *text + "'";
  else if (auto *number = std::get_if<int64_t>(&value))
    given = std::to_string(*number);
  else
    given = std::get<bool>(value) ? "True" : "False";
  fail(ErrorKind::Value,
       "flag " + name + ": given " + given + ", expected " + expected);
}

static bool toBool(llvm::StringRef name, const FlagValue &value) {
  if (auto *truth = std::get_if<bool>(&value))
    return *truth;
  auto *number = std::get_if<int64_t>(&value);
  if (!number || (*number != 0 && *number != 1))
    failBadValue(name, value, "True or False");
  return *number == 1;
}

static int64_t toBytes(llvm::StringRef name, const FlagValue &value) {
  auto *number = std::get_if<int64_t>(&value);
  if (!number || *number < 0)
    failBadValue(name, value, "a number of bytes");
  return *number;
}

static std::string toChoice(llvm::StringRef name, const FlagValue &value,
                            llvm::ArrayRef<llvm::StringRef> choices) {
  auto *text = std::get_if<std::string>(&value);
  if (!text || !llvm::is_contained(choices, *text))
    failBadValue(name, value, "'" + llvm::join(choices, "' or '") + "'");
  return *text;
}

static std::string toFile(llvm::StringRef name, const FlagValue &value) {
  auto *text = std::get_if<std::string>(&value);
  if (!text || llvm::StringRef(*text).contains('\0'))
    failBadValue(name, value, "a file, or '' for none");
  return *text;
}

static std::string toFolder(llvm::StringRef name, const FlagValue &value) {
  auto *text = std::get_if<std::string>(&value);
  if (!text || llvm::StringRef(*text).contains('\0'))
    failBadValue(name, value, "a folder, or '' for none");
  return *text;
}

namespace {
struct FlagEntry {
  llvm::StringRef name;
  FlagValue (*get)(const Settings &);
  void (*set)(Settings &, llvm::StringRef name, const FlagValue &);
  Setting setting = Setting::Other;
};
} // namespace

static llvm::ArrayRef<FlagEntry> getTable() {
  using Name = llvm::StringRef;
  static const FlagEntry entries[] = {
      {"asynchronous",
       [](const Settings &s) -> FlagValue { return s.isAsynchronous; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.isAsynchronous = toBool(name, value);
       }},
      {"backend",
       [](const Settings &s) -> FlagValue {
         return std::string(s.useInterpreter ? "interpreter" : "compiled");
       },
       [](Settings &s, Name name, const FlagValue &value) {
         llvm::SmallVector<llvm::StringRef, 2> choices{"interpreter"};
         if (s.hasCompiler)
           choices.insert(choices.begin(), "compiled");
         s.useInterpreter = toChoice(name, value, choices) == "interpreter";
       }},
      {"cache_dir",
       [](const Settings &s) -> FlagValue { return s.cacheDirectory; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.cacheDirectory = toFolder(name, value);
       },
       Setting::CacheDirectory},
      {"convolution",
       [](const Settings &s) -> FlagValue { return s.convolution; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.convolution = toChoice(name, value, {"direct", "winograd"});
       }},
      {"dump_dir",
       [](const Settings &s) -> FlagValue { return s.dumpDirectory; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.dumpDirectory = toFolder(name, value);
       }},
      {"float_atomics",
       [](const Settings &s) -> FlagValue { return s.options.floatAtomics; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.options.floatAtomics = toBool(name, value);
       }},
      {"fuse", [](const Settings &s) -> FlagValue { return s.options.fuse; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.options.fuse = toBool(name, value);
       }},
      {"history_bytes",
       [](const Settings &s) -> FlagValue { return s.historyBytes; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.historyBytes = toBytes(name, value);
       }},
      {"jit", [](const Settings &s) -> FlagValue { return s.jit; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.jit = toChoice(name, value, {"on", "off", "check"});
       }},
      {"keep_packed",
       [](const Settings &s) -> FlagValue { return s.keepsPacked; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.keepsPacked = toBool(name, value);
       },
       Setting::KeepsPacked},
      {"lazy_execution",
       [](const Settings &s) -> FlagValue { return s.isLazy; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.isLazy = toBool(name, value);
       }},
      {"libraries",
       [](const Settings &s) -> FlagValue {
         return std::string(s.options.libraries ? "rules" : "off");
       },
       [](Settings &s, Name name, const FlagValue &value) {
         s.options.libraries =
             toChoice(name, value, {"off", "rules"}) == "rules";
       }},
      {"memory_limit",
       [](const Settings &s) -> FlagValue { return s.memoryLimit; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.memoryLimit = toBytes(name, value);
       },
       Setting::MemoryLimit},
      {"poison_memory",
       [](const Settings &s) -> FlagValue { return s.poisonsMemory; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.poisonsMemory = toBool(name, value);
       },
       Setting::PoisonsMemory},
      {"reuse_memory",
       [](const Settings &s) -> FlagValue { return s.options.reuseMemory; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.options.reuseMemory = toBool(name, value);
       }},
      {"rules", [](const Settings &s) -> FlagValue { return s.options.rules; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.options.rules = toChoice(name, value, {"extended", "paper"});
       }},
      {"saved_values_budget",
       [](const Settings &s) -> FlagValue { return s.savedValuesBudget; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.savedValuesBudget = toBytes(name, value);
       }},
      {"schedule_file",
       [](const Settings &s) -> FlagValue { return s.options.scheduleFile; },
       [](Settings &s, Name name, const FlagValue &value) {
         s.options.scheduleFile = toFile(name, value);
       },
       Setting::ScheduleFile},
  };
  return entries;
}

static const FlagEntry &lookUp(llvm::StringRef name) {
  for (const FlagEntry &entry : getTable())
    if (entry.name == name)
      return entry;
  fail(ErrorKind::Value, "no flag '" + name + "'; the flags are " +
                             llvm::join(getFlagNames(), ", "));
}

std::vector<std::string> metaops::getFlagNames() {
  std::vector<std::string> names;
  for (const FlagEntry &entry : getTable())
    names.push_back(entry.name.str());
  return names;
}

FlagValue metaops::getFlag(const Settings &settings, llvm::StringRef name) {
  return lookUp(name).get(settings);
}

Setting metaops::setFlag(Settings &settings, llvm::StringRef name,
                         const FlagValue &value) {
  const FlagEntry &entry = lookUp(name);
  entry.set(settings, name, value);
  return entry.setting;
}
