//===- ScheduleFile.h - Schedules that replace the heuristics' --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text file with one entry a line, behind the version of the file's form; `#`
// opens a comment, but for the schedule itself:
//
//   version = 1
//   # softmax, rows
//   3f0c5a91d2e4b677.0 = #metaop.schedule<[parallel(0), step(1, 16)], ...>
//   90a7b14c33d05e12 = forbid join-stages, force split-reductions
//
// Names are hashes of a kernel's text. Rewrites are of a kernel as fusion made
// it. A schedule is of a stage of a kernel as it is before it is scheduled, and
// the number of the stage is part of its name. A kernel that nothing rewrites
// has one hash. A file without a version, as they were first written, is of
// version 1; one of a later version is refused.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULEFILE_H
#define METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULEFILE_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::metaop {

/// The version of the form in which files are written. It counts up where what
/// is in older files would mean something else.
inline constexpr unsigned kScheduleFileVersion = 1;

struct ScheduleEntry {
  unsigned line = 0;
  std::string identity;
  /// Of a stage; null in an entry of a kernel.
  ScheduleAttr schedule;
  /// Of a kernel, which passes are forced (true) and forbidden; see Rewrites.h.
  std::vector<std::pair<std::string, bool>> rewrites;
};

/// The entries of a file's text. Fails, naming the file and the line, on a
/// malformed entry and where two have one identity.
llvm::Expected<std::vector<ScheduleEntry>>
parseScheduleFile(llvm::StringRef text, llvm::StringRef fileName,
                  MLIRContext *context);

/// The same of `file`, or of its contents if they have been read already.
llvm::Expected<std::vector<ScheduleEntry>>
readScheduleFile(llvm::StringRef file, llvm::StringRef text,
                 MLIRContext *context);

/// The same for all kernels that compute the same; does not depend on
/// schedules, locations or the process.
std::string getKernelIdentity(KernelOp kernel);
/// Returns the identity of the stage's kernel, and the stage's number there.
std::string getStageIdentity(FusedOp stage);

/// A kernel as fusion made it, of which a kernel is a part, or the whole.
struct KernelOrigin {
  std::string identity;
  /// Of the file of schedules where something is decided for it; else 0.
  unsigned line = 0;
};

/// A location that says also what fusion made here.
Location markOrigin(Location location, const KernelOrigin &origin);
/// All that `markOrigin` has put into a location, each once.
std::vector<KernelOrigin> getOrigins(Location location);

/// A location that says also which line of which file an operation's schedule
/// is from.
Location markOverride(Location location, llvm::StringRef fileName,
                      unsigned line);

/// "file:line" of `markOverride`; empty for others.
std::string getOverride(Location location);
/// The line alone; 0 for others.
unsigned getOverrideLine(Location location);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULEFILE_H
