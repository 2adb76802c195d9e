//===- UserSchedules.h - Schedules from the user's file ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_USERSCHEDULES_H
#define METAOPS_RUNTIME_PROGRAMS_USERSCHEDULES_H

#include "MetaOps/Runtime/Program/Program.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace metaops {

/// The schedules that replace those of the heuristics, by the file that they
/// are in, and which of them no program has made use of.
class UserSchedules {
public:
  /// Reads a file, "" for none, in place of the one before. Returns its
  /// contents; nothing where there are no schedules in it. Says of which
  /// entries of the one before there was no use. Throws, and changes nothing,
  /// where the file cannot be read.
  std::string read(llvm::StringRef file, mlir::MLIRContext *context,
                   std::vector<std::string> &warnings);

  /// Distinguishes the contents of files in keys of programs; 0 for none.
  uint32_t getNumber() const { return number; }

  /// A program is about to run.
  void note(const Program &program);
  /// An error has told of entries.
  void forgetNamed(llvm::StringRef message);
  void forgetAll() { unused.clear(); }
  /// Says of which entries no program has made use, each once.
  std::vector<std::string> takeUnused();

private:
  std::string file;
  uint32_t number = 0;
  llvm::StringMap<uint32_t> numbers;
  /// By line, the identities that have fitted no stage.
  std::map<unsigned, std::string> unused;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_USERSCHEDULES_H
