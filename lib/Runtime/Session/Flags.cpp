//===- Flags.cpp - Settings of a session ----------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table says for each flag what it is called, what it takes, and what it
// changes. A flag's type is that of its value: booleans take 0 and 1, too.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Session.h"
#include "llvm/ADT/StringExtras.h"

using namespace metaops;

/// What a flag refuses a value with.
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

static int64_t toCount(llvm::StringRef name, const FlagValue &value) {
  auto *number = std::get_if<int64_t>(&value);
  if (!number || *number < 1 || *number > INT32_MAX)
    failBadValue(name, value, "a number from 1 to 2147483647");
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
  FlagValue (*get)(const Session &);
  void (*set)(Session &, llvm::StringRef name, const FlagValue &);
};
} // namespace

struct Session::FlagTable {
  static llvm::ArrayRef<FlagEntry> get();
  static const FlagEntry &lookUp(llvm::StringRef name);
};

llvm::ArrayRef<FlagEntry> Session::FlagTable::get() {
  using Name = llvm::StringRef;
  static const FlagEntry entries[] = {
      {"asynchronous",
       [](const Session &s) -> FlagValue { return s.isAsynchronous; },
       [](Session &s, Name name, const FlagValue &value) {
         s.isAsynchronous = toBool(name, value);
       }},
      {"backend",
       [](const Session &s) -> FlagValue {
         return std::string(s.useInterpreter ? "interpreter" : "compiled");
       },
       [](Session &s, Name name, const FlagValue &value) {
         llvm::SmallVector<llvm::StringRef, 2> choices{"interpreter"};
         if (s.compiler)
           choices.insert(choices.begin(), "compiled");
         s.useInterpreter = toChoice(name, value, choices) == "interpreter";
       }},
      {"cache_dir",
       [](const Session &s) -> FlagValue { return s.cacheDirectory; },
       [](Session &s, Name name, const FlagValue &value) {
         s.cacheDirectory = toFolder(name, value);
         if (s.compiler)
           s.compiler->setCacheDirectory(s.cacheDirectory);
       }},
      {"convolution",
       [](const Session &s) -> FlagValue { return s.convolution; },
       [](Session &s, Name name, const FlagValue &value) {
         s.convolution = toChoice(name, value, {"direct", "winograd"});
       }},
      {"dump_dir",
       [](const Session &s) -> FlagValue { return s.dumpDirectory; },
       [](Session &s, Name name, const FlagValue &value) {
         s.dumpDirectory = toFolder(name, value);
       }},
      {"fuse", [](const Session &s) -> FlagValue { return s.options.fuse; },
       [](Session &s, Name name, const FlagValue &value) {
         s.options.fuse = toBool(name, value);
       }},
      {"history_depth",
       [](const Session &s) -> FlagValue { return s.historyDepth; },
       [](Session &s, Name name, const FlagValue &value) {
         s.historyDepth = toCount(name, value);
       }},
      {"keep_packed",
       [](const Session &s) -> FlagValue { return s.keepsPacked; },
       [](Session &s, Name name, const FlagValue &value) {
         s.keepsPacked = toBool(name, value);
         if (!s.keepsPacked)
           s.programs.dropPacked(/*isShort=*/false);
       }},
      {"lazy_execution", [](const Session &s) -> FlagValue { return s.isLazy; },
       [](Session &s, Name name, const FlagValue &value) {
         s.isLazy = toBool(name, value);
       }},
      {"memory_limit",
       [](const Session &s) -> FlagValue { return s.memoryLimit; },
       [](Session &s, Name name, const FlagValue &value) {
         s.memoryLimit = toBytes(name, value);
         s.memory.setLimit(s.memoryLimit);
       }},
      {"reuse_memory",
       [](const Session &s) -> FlagValue { return s.options.reuseMemory; },
       [](Session &s, Name name, const FlagValue &value) {
         s.options.reuseMemory = toBool(name, value);
       }},
      {"rules", [](const Session &s) -> FlagValue { return s.options.rules; },
       [](Session &s, Name name, const FlagValue &value) {
         s.options.rules = toChoice(name, value, {"extended", "paper"});
       }},
      {"saved_values_budget",
       [](const Session &s) -> FlagValue { return s.savedValuesBudget; },
       [](Session &s, Name name, const FlagValue &value) {
         s.savedValuesBudget = toBytes(name, value);
       }},
      {"schedule_file",
       [](const Session &s) -> FlagValue { return s.options.scheduleFile; },
       [](Session &s, Name name, const FlagValue &value) {
         s.setScheduleFile(toFile(name, value));
       }},
  };
  return entries;
}

const FlagEntry &Session::FlagTable::lookUp(llvm::StringRef name) {
  for (const FlagEntry &entry : get())
    if (entry.name == name)
      return entry;
  fail(ErrorKind::Value, "no flag '" + name + "'; the flags are " +
                             llvm::join(getFlagNames(), ", "));
}

std::vector<std::string> Session::getFlagNames() {
  std::vector<std::string> names;
  for (const FlagEntry &entry : FlagTable::get())
    names.push_back(entry.name.str());
  return names;
}

FlagValue Session::getFlag(llvm::StringRef name) const {
  return FlagTable::lookUp(name).get(*this);
}

void Session::setFlag(llvm::StringRef name, const FlagValue &value) {
  FlagTable::lookUp(name).set(*this, name, value);
}
