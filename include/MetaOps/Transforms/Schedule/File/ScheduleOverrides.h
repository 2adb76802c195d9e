//===- ScheduleOverrides.h - Schedules of a file ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULEOVERRIDES_H
#define METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULEOVERRIDES_H

#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::metaop {

/// The schedules of a file by the stages that they are of, which remembers
/// those that have found theirs.
class ScheduleOverrides {
public:
  /// Those of a file, or of its contents, if they have been read already. There
  /// are none where both are empty.
  static llvm::Expected<ScheduleOverrides>
  read(llvm::StringRef file, llvm::StringRef text, MLIRContext *context);

  /// The entry of a stage, if there is one.
  const ScheduleEntry *find(FusedOp op);
  /// Writes the schedule, and where it is from, on its stage.
  void apply(const ScheduleEntry &entry, FusedOp op) const;
  /// Says which schedules fit no stage, unless the contents were given.
  void warnOfUnused(Operation *op) const;

private:
  struct Override {
    ScheduleEntry entry;
    bool isUsed = false;
  };

  std::string file;
  bool isGiven = false;
  llvm::StringMap<Override> overrides;
};

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_SCHEDULE_FILE_SCHEDULEOVERRIDES_H
