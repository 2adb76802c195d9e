//===- ScheduleFile.cpp - Schedules that replace the heuristics' ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage is told from others by its kernel, as stages of one kernel share
// loops. The kernel is printed without schedules and locations, and hashed.
// Which line an override is from is kept in the stage's location, which is no
// part of what a kernel is found by: a kernel is compiled once, whoever decided
// how it runs.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/ScheduleFile.h"

#include "MetaOps/Dialect/MetaOp/GrowingExtents.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA1.h"

using namespace mlir;
using namespace mlir::metaop;

static llvm::Error failAt(StringRef fileName, unsigned line,
                          const llvm::Twine &reason) {
  return llvm::createStringError(fileName + ":" + llvm::Twine(line) + ": " +
                                 reason);
}

/// The schedule, or what is wrong with its text.
static llvm::Expected<ScheduleAttr> parseSchedule(StringRef text,
                                                  MLIRContext *context) {
  std::string messages;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    messages += (messages.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  size_t length = 0;
  Attribute attr = parseAttribute(text, context, Type(), &length);
  if (!attr)
    return llvm::createStringError(messages);
  auto schedule = dyn_cast<ScheduleAttr>(attr);
  if (!schedule)
    return llvm::createStringError("expected #metaop.schedule<...>");
  StringRef rest = text.drop_front(length).trim();
  if (!rest.empty() && !rest.starts_with("#"))
    return llvm::createStringError("expected the end of the line, given '" +
                                   rest + "'");
  return schedule;
}

llvm::Expected<std::vector<ScheduleEntry>>
metaop::parseScheduleFile(StringRef text, StringRef fileName,
                          MLIRContext *context) {
  std::vector<ScheduleEntry> entries;
  llvm::StringMap<unsigned> lines;
  unsigned number = 0;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    if (!line.contains('='))
      return failAt(fileName, number,
                    "expected IDENTITY = #metaop.schedule<...>, given '" +
                        line + "'");
    auto [identity, value] = line.split('=');
    identity = identity.trim();
    if (identity.empty() || !llvm::all_of(identity, [](char c) {
          return c == '.' || llvm::isAlnum(c);
        }))
      return failAt(fileName, number,
                    "expected the identity of a stage before the first '=', "
                    "given '" +
                        identity + "'");
    auto [it, isNew] = lines.try_emplace(identity, number);
    if (!isNew)
      return failAt(fileName, number,
                    identity + " has a schedule already, in line " +
                        llvm::Twine(it->second));
    auto schedule = parseSchedule(value.trim(), context);
    if (!schedule)
      return failAt(fileName, number, toString(schedule.takeError()));
    entries.push_back({number, identity.str(), *schedule});
  }
  return entries;
}

std::string metaop::getStageIdentity(FusedOp stage) {
  Operation *root = stage->getParentOfType<KernelOp>();
  unsigned number = 0;
  if (!root)
    root = stage;
  else
    for (auto other : stage->getBlock()->getOps<FusedOp>()) {
      if (other == stage)
        break;
      ++number;
    }
  OwningOpRef<Operation *> copy(root->clone());
  (*copy)->walk([](FusedOp op) {
    op.removeScheduleAttr();
    op->removeAttr(kGrowingAttr);
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*copy)->print(stream,
                 OpPrintingFlags().useLocalScope().enableDebugInfo(false));
  llvm::SHA1 hash;
  hash.update(text);
  auto digest = hash.final();
  return llvm::toHex(llvm::ArrayRef(digest).take_front(8), /*LowerCase=*/true) +
         "." + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Where a schedule is from
//===----------------------------------------------------------------------===//

Location metaop::markOverride(Location location, StringRef fileName,
                              unsigned line) {
  MLIRContext *context = location.getContext();
  auto metadata = DictionaryAttr::get(
      context,
      {NamedAttribute(StringAttr::get(context, "schedule_file"),
                      StringAttr::get(context, fileName)),
       NamedAttribute(StringAttr::get(context, "schedule_line"),
                      IntegerAttr::get(IntegerType::get(context, 64), line))});
  return FusedLoc::get({location}, metadata, context);
}

static DictionaryAttr getMetadata(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  return fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
               : nullptr;
}

unsigned metaop::getOverrideLine(Location location) {
  auto metadata = getMetadata(location);
  auto line = metadata ? metadata.getAs<IntegerAttr>("schedule_line") : nullptr;
  return line ? line.getInt() : 0;
}

std::string metaop::getOverride(Location location) {
  unsigned line = getOverrideLine(location);
  auto file =
      line ? getMetadata(location).getAs<StringAttr>("schedule_file") : nullptr;
  return file ? file.str() + ":" + std::to_string(line) : "";
}
