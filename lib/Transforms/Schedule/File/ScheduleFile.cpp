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
// Which line an override is from is kept in the stage's location, and what
// fusion had made in the kernel's. Locations are no part of what a kernel is
// found by: a kernel is compiled once, whoever decided how it runs.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"

#include "MetaOps/Dialect/MetaOp/Analysis/VaryingExtents.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
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

/// Parses "force PASS, forbid PASS".
static llvm::Expected<std::vector<std::pair<std::string, bool>>>
parseRewrites(StringRef text) {
  std::vector<std::pair<std::string, bool>> rewrites;
  for (StringRef part : llvm::split(text.split('#').first, ',')) {
    auto [verb, pass] = part.trim().split(' ');
    pass = pass.trim();
    if (verb != "force" && verb != "forbid")
      return llvm::createStringError(
          "expected 'force PASS' or 'forbid PASS', given '" + part.trim() +
          "'");
    if (!llvm::is_contained(getRewriteNames(), pass))
      return llvm::createStringError("there is no rewrite '" + pass +
                                     "'; expected one of " +
                                     llvm::join(getRewriteNames(), ", "));
    if (llvm::is_contained(llvm::make_first_range(rewrites), pass))
      return llvm::createStringError(pass + " is named twice");
    rewrites.emplace_back(pass, verb == "force");
  }
  return rewrites;
}

/// Returns the entry that a line says; fails saying what is wrong with it.
static llvm::Expected<ScheduleEntry>
parseEntry(StringRef identity, StringRef value, MLIRContext *context) {
  ScheduleEntry entry;
  entry.identity = identity.str();
  if (identity.empty() || !llvm::all_of(identity, [](char c) {
        return c == '.' || llvm::isAlnum(c);
      }))
    return llvm::createStringError(
        "expected the identity of a stage before the first '=', given '" +
        identity + "'");
  if (value.starts_with("for")) {
    if (identity.contains('.'))
      return llvm::createStringError(
          "rewrites are of a kernel, whose name has no number, given '" +
          identity + "'");
    auto rewrites = parseRewrites(value);
    if (!rewrites)
      return rewrites.takeError();
    entry.rewrites = std::move(*rewrites);
    return std::move(entry);
  }
  auto schedule = parseSchedule(value, context);
  if (!schedule)
    return schedule.takeError();
  entry.schedule = *schedule;
  return std::move(entry);
}

/// Checks the version that a line says, which is the first one that says
/// anything.
static llvm::Error checkVersion(StringRef value, bool isFirst) {
  value = value.split('#').first.trim();
  unsigned version = 0;
  if (value.getAsInteger(10, version) || version == 0)
    return llvm::createStringError("expected the number of a version, given '" +
                                   value + "'");
  if (!isFirst)
    return llvm::createStringError(
        "the version of a file stands before all entries, once");
  if (version > kScheduleFileVersion)
    return llvm::createStringError(
        "the file is of version " + llvm::Twine(version) +
        ", which a later MetaOps has written; versions up to " +
        llvm::Twine(kScheduleFileVersion) + " are read");
  return llvm::Error::success();
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
    auto [name, value] = line.split('=');
    StringRef identity = name.trim();
    bool isFirst = lines.empty();
    auto [it, isNew] = lines.try_emplace(identity, number);
    if (identity == "version") {
      if (llvm::Error error = checkVersion(value, isFirst))
        return failAt(fileName, number, toString(std::move(error)));
      continue;
    }
    if (!isNew)
      return failAt(fileName, number,
                    identity + " has a schedule already, in line " +
                        llvm::Twine(it->second));
    auto entry = parseEntry(identity, value.trim(), context);
    if (!entry)
      return failAt(fileName, number, toString(entry.takeError()));
    entry->line = number;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

llvm::Expected<std::vector<ScheduleEntry>>
metaop::readScheduleFile(StringRef file, StringRef text, MLIRContext *context) {
  if (!text.empty() || file.empty())
    return parseScheduleFile(text, file, context);
  auto opened = llvm::MemoryBuffer::getFile(file);
  if (!opened)
    return llvm::createStringError("cannot read '" + file +
                                   "': " + opened.getError().message());
  return parseScheduleFile((*opened)->getBuffer(), file, context);
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

/// A hash of the operation without what is decided about it.
static std::string getIdentity(Operation *root) {
  OwningOpRef<Operation *> copy(root->clone());
  if (auto kernel = dyn_cast<KernelOp>(*copy))
    kernel.removeRewritesAttr();
  (*copy)->walk([](FusedOp op) {
    op.removeScheduleAttr();
    op.removeRoleAttr();
    op->removeAttr(kVaryingAttr);
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*copy)->print(stream, OpPrintingFlags()
                             .useLocalScope()
                             .enableDebugInfo(false)
                             .assumeVerified());
  llvm::SHA1 hash;
  hash.update(text);
  auto digest = hash.final();
  return llvm::toHex(llvm::ArrayRef(digest).take_front(8), /*LowerCase=*/true);
}

std::string metaop::getKernelIdentity(KernelOp kernel) {
  return getIdentity(kernel);
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
  return getIdentity(root) + "." + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// Where a schedule and a kernel are from
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

Location metaop::markOrigin(Location location, const KernelOrigin &origin) {
  MLIRContext *context = location.getContext();
  auto metadata = DictionaryAttr::get(
      context,
      {NamedAttribute(StringAttr::get(context, "kernel"),
                      StringAttr::get(context, origin.identity)),
       NamedAttribute(StringAttr::get(context, "kernel_line"),
                      IntegerAttr::get(IntegerType::get(context, 64),
                                       static_cast<int64_t>(origin.line)))});
  return FusedLoc::get({location}, metadata, context);
}

std::vector<KernelOrigin> metaop::getOrigins(Location location) {
  std::vector<KernelOrigin> origins;
  location->walk([&](Location inner) {
    auto metadata = getMetadata(inner);
    auto name = metadata ? metadata.getAs<StringAttr>("kernel") : nullptr;
    auto line = metadata ? metadata.getAs<IntegerAttr>("kernel_line") : nullptr;
    if (!name || !line)
      return WalkResult::advance();
    auto number = static_cast<unsigned>(line.getInt());
    auto known = llvm::find_if(origins, [&](const KernelOrigin &origin) {
      return origin.identity == name.getValue();
    });
    if (known == origins.end())
      origins.push_back({name.str(), number});
    else
      known->line = std::max(known->line, number);
    return WalkResult::advance();
  });
  return origins;
}
