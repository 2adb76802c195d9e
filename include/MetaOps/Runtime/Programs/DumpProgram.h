//===- DumpProgram.h - A program's IR in files ------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAMS_DUMPPROGRAM_H
#define METAOPS_RUNTIME_PROGRAMS_DUMPPROGRAM_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Programs/ProgramCache.h"
#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace metaops {

/// The files of one program: graph.mlir, fused.mlir and so on, each with the
/// IR after that phase, and summary.txt with the kernels. They are in a folder
/// of their own, program_NNN_FILE_LINE, where the program's first operation was
/// recorded at that line of FILE. Numbers go on from what is there.
///
/// A program runs whether or not its files can be written: the first failure
/// ends the writing, and is kept.
class ProgramDump {
public:
  /// `locations` are those of the slice's operations. Writes nothing where
  /// `parent`, the folder of all programs, is empty.
  ProgramDump(llvm::StringRef parent, Compiler &compiler,
              const CachedProgram &cached,
              llvm::ArrayRef<mlir::Location> locations);

  /// Writes the IR. To be called before the program is compiled: a phase that
  /// fails leaves those before it, and error.txt.
  void writePhases();
  /// Writes the summary, when the program is there.
  void writeSummary();

  /// Why not everything could be written; empty where it was.
  const std::string &getFailure() const { return failure; }

private:
  bool makeFolder(llvm::StringRef parent);
  bool writeFile(llvm::StringRef name, llvm::StringRef text);
  bool fail(llvm::StringRef what, llvm::StringRef name, std::error_code code);
  std::string summarize() const;

  Compiler &compiler;
  const CachedProgram &cached;
  std::vector<NodeLocation> lines;
  /// Empty where nothing is to be written.
  std::string folder;
  std::string failure;
};

/// Of each location the file and line; empty where there is none.
std::vector<NodeLocation>
toNodeLocations(llvm::ArrayRef<mlir::Location> locations);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAMS_DUMPPROGRAM_H
