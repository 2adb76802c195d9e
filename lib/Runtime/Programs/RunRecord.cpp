//===- RunRecord.cpp - What one run was of --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/RunRecord.h"

#include "MetaOps/Runtime/Graph/Slice.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace metaops;

/// "recorded at", and the user's lines.
static std::string describeLines(const RunRecord &record,
                                 const KernelInfo &call) {
  llvm::SmallSetVector<llvm::StringRef, 4> known;
  std::vector<std::string> lines;
  for (unsigned node : call.nodes)
    if (node < record.locations.size())
      lines.push_back(formatLine(record.locations[node]));
  known.insert(lines.begin(), lines.end());
  return "recorded at " + llvm::join(known, ", ");
}

static std::string describeCall(const RunRecord &record,
                                const KernelInfo &call) {
  llvm::SmallSetVector<llvm::StringRef, 4> names;
  names.insert(call.operators.begin(), call.operators.end());
  return call.name + " (" + llvm::join(names, ", ") + "), " +
         describeLines(record, call);
}

RunFailure metaops::describeFailure(const RunRecord &record,
                                    llvm::Error error) {
  const std::vector<KernelInfo> &calls =
      record.cached->program->getInfo().calls;
  RunFailure failure;
  llvm::handleAllErrors(
      std::move(error),
      [&](const CheckFailure &check) {
        failure.message = check.getMessage() + ", " +
                          describeLines(record, calls[check.getCall()]);
        failure.kind = ErrorKind::Index;
      },
      [&](const MatrixFailure &matrix) {
        failure.message = matrix.getMessage() + ", " +
                          describeLines(record, calls[matrix.getCall()]);
        failure.kind = ErrorKind::LinearAlgebra;
      },
      [&](const KernelFailure &kernel) {
        failure.message = kernel.getMessage();
        if (kernel.isA(MemoryFailure::classID()))
          failure.kind = ErrorKind::Memory;
        if (kernel.getCall() < calls.size())
          failure.message +=
              ": " + describeCall(record, calls[kernel.getCall()]);
      },
      [&](const llvm::ErrorInfoBase &other) {
        failure.message = other.message();
      });
  return failure;
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
  areNotes = true;
}

std::shared_ptr<const RunFailure> FailureNotes::take(const Tickets &tickets) {
  if (!areNotes)
    return nullptr;
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
  areNotes = !notes.empty();
  return failure;
}
