//===- ScheduleFile.h - Schedules that replace the heuristics' --*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text file with one entry a line; `#` opens a comment, but for the schedule
// itself:
//
//   # softmax, rows
//   3f0c5a91d2e4b677.0 = #metaop.schedule<[parallel(0), step(1, 16)], ...>
//
// The name is the identity of a stage: a hash of its kernel's text before it is
// scheduled, and the stage's number in the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_SCHEDULEFILE_H
#define METAOPS_TRANSFORMS_SCHEDULE_SCHEDULEFILE_H

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::metaop {

struct ScheduleEntry {
  unsigned line = 0;
  std::string identity;
  ScheduleAttr schedule;
};

/// The entries of a file's text. Fails, naming the file and the line, on a
/// malformed entry and where two have one identity.
llvm::Expected<std::vector<ScheduleEntry>>
parseScheduleFile(llvm::StringRef text, llvm::StringRef fileName,
                  MLIRContext *context);

/// The same for all stages that compute the same in kernels that do; does not
/// depend on schedules, locations or the process.
std::string getStageIdentity(FusedOp stage);

/// A location that says also which line of which file an operation's schedule
/// is from.
Location markOverride(Location location, llvm::StringRef fileName,
                      unsigned line);

/// "file:line" of `markOverride`; empty for others.
std::string getOverride(Location location);
/// The line alone; 0 for others.
unsigned getOverrideLine(Location location);

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_SCHEDULEFILE_H
