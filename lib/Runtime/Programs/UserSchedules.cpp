//===- UserSchedules.cpp - Schedules from the user's file -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of schedules is read when the flag is set, and part of the keys of
// programs by its contents. An entry fits some kernels and not others, so it is
// only when another file takes its place that an entry is known to be of no
// use.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/UserSchedules.h"

#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace metaops;

std::string UserSchedules::read(llvm::StringRef newFile,
                                mlir::MLIRContext *context,
                                std::vector<std::string> &warnings) {
  std::string text;
  std::map<unsigned, std::string> entries;
  if (!newFile.empty()) {
    auto buffer = llvm::MemoryBuffer::getFile(newFile);
    if (!buffer)
      fail(ErrorKind::Value, "flag schedule_file: cannot read '" + newFile +
                                 "': " + buffer.getError().message());
    text = (*buffer)->getBuffer().str();
    auto parsed = mlir::metaop::parseScheduleFile(text, newFile, context);
    if (!parsed)
      fail(ErrorKind::Value,
           "flag schedule_file: " + llvm::toString(parsed.takeError()));
    for (const mlir::metaop::ScheduleEntry &entry : *parsed)
      entries[entry.line] = entry.identity;
  }
  for (std::string &warning : takeUnused())
    warnings.push_back(std::move(warning));
  file = newFile.str();
  unused = std::move(entries);
  // Without an entry, programs are those of no file.
  number = 0;
  if (unused.empty())
    return "";
  uint32_t next = numbers.size() + 1;
  number = numbers.try_emplace(file + '\0' + text, next).first->second;
  return text;
}

void UserSchedules::note(const Program &program) {
  if (unused.empty())
    return;
  for (const KernelInfo &call : program.getInfo().calls)
    for (unsigned line : call.scheduleLines)
      unused.erase(line);
}

void UserSchedules::forgetNamed(llvm::StringRef message) {
  for (auto it = unused.begin(); it != unused.end();) {
    std::string place = file + ":" + std::to_string(it->first) + ": ";
    it = message.contains(place) ? unused.erase(it) : std::next(it);
  }
}

std::vector<std::string> UserSchedules::takeUnused() {
  std::vector<std::string> result;
  for (const auto &[line, identity] : unused)
    result.push_back(file + ":" + std::to_string(line) +
                     (llvm::StringRef(identity).contains('.')
                          ? ": no kernel had the stage "
                          : ": there was no kernel ") +
                     identity);
  unused.clear();
  return result;
}
