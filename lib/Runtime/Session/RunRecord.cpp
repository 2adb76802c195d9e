//===- RunRecord.cpp - What one run was of --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/RunRecord.h"

#include "MetaOps/Runtime/Session/Slice.h"
#include "llvm/ADT/StringExtras.h"

using namespace metaops;

static std::string describeCall(const RunRecord &record, unsigned index) {
  const KernelInfo &call = record.cached->program->getInfo().calls[index];
  std::vector<std::string> names, lines;
  auto addTo = [](std::vector<std::string> &texts, std::string text) {
    if (!llvm::is_contained(texts, text))
      texts.push_back(std::move(text));
  };
  for (const std::string &name : call.operators)
    addTo(names, name);
  for (unsigned node : call.nodes)
    if (node < record.locations.size())
      addTo(lines, formatLine(record.locations[node]));
  return call.name + " (" + llvm::join(names, ", ") + "), recorded at " +
         llvm::join(lines, ", ");
}

RunFailure metaops::describeFailure(const RunRecord &record,
                                    llvm::Error error) {
  RunFailure failure;
  llvm::handleAllErrors(
      std::move(error),
      [&](const KernelFailure &kernel) {
        failure.message = kernel.getMessage();
        if (kernel.getCall() < record.cached->program->getInfo().calls.size())
          failure.message += ": " + describeCall(record, kernel.getCall());
      },
      [&](const llvm::ErrorInfoBase &other) {
        failure.message = other.message();
      });
  return failure;
}

std::shared_ptr<const RunFailure>
metaops::evaluateChecks(const RunRecord &record,
                        llvm::function_ref<int64_t(unsigned)> getResult) {
  std::shared_ptr<const RunFailure> first;
  for (const IndexCheck &check : record.checks) {
    auto problem = describeOutOfRange(check.range, getResult(check.lowest),
                                      getResult(check.highest));
    if (!problem)
      continue;
    check.outcome->failure = std::make_shared<RunFailure>(
        RunFailure{*problem + ", recorded at " + formatLine(check.location),
                   ErrorKind::Index});
    if (!first)
      first = check.outcome->failure;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

void FailureNotes::add(const Queue &queue,
                       std::shared_ptr<const RunFailure> failure) {
  std::lock_guard<std::mutex> lock(mutex);
  auto isOfQueue = [&](const Note &note) { return note.queue == &queue; };
  if (llvm::none_of(notes, isOfQueue))
    notes.push_back({&queue, std::move(failure)});
}

std::shared_ptr<const RunFailure> FailureNotes::take(const Tickets &tickets) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = llvm::find_if(notes, [&](const Note &note) {
    return llvm::any_of(
        tickets, [&](Ticket ticket) { return ticket.queue == note.queue; });
  });
  if (found == notes.end())
    return nullptr;
  std::shared_ptr<const RunFailure> failure = found->failure;
  // A device that was to use the values has failed for the same reason.
  llvm::erase_if(notes,
                 [&](const Note &note) { return note.failure == failure; });
  return failure;
}
