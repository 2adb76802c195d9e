//===- ScheduleOverrides.cpp - Schedules of a file ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/File/ScheduleOverrides.h"

using namespace mlir;
using namespace mlir::metaop;

llvm::Expected<ScheduleOverrides>
ScheduleOverrides::read(StringRef file, StringRef text, MLIRContext *context) {
  auto entries = readScheduleFile(file, text, context);
  if (!entries)
    return entries.takeError();
  ScheduleOverrides result;
  result.file = file.str();
  result.isGiven = !text.empty();
  for (ScheduleEntry &entry : *entries) {
    // The rewrites have been decided.
    if (!entry.schedule)
      continue;
    std::string identity = entry.identity;
    result.overrides[identity].entry = std::move(entry);
  }
  return result;
}

const ScheduleEntry *ScheduleOverrides::find(FusedOp op) {
  auto found = overrides.empty() ? overrides.end()
                                 : overrides.find(getStageIdentity(op));
  if (found == overrides.end())
    return nullptr;
  found->second.isUsed = true;
  return &found->second.entry;
}

void ScheduleOverrides::apply(const ScheduleEntry &entry, FusedOp op) const {
  op.setScheduleAttr(entry.schedule);
  op->setLoc(markOverride(op.getLoc(), file, entry.line));
}

void ScheduleOverrides::warnOfUnused(Operation *op) const {
  if (isGiven)
    return;
  SmallVector<const ScheduleEntry *> unused;
  for (const auto &override : overrides)
    if (!override.second.isUsed)
      unused.push_back(&override.second.entry);
  llvm::sort(unused, [](auto *a, auto *b) { return a->line < b->line; });
  for (const ScheduleEntry *entry : unused)
    op->emitWarning(file + ":" + llvm::Twine(entry->line))
        << ": there is no stage " << entry->identity;
}
