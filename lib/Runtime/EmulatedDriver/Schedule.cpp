//===- Schedule.cpp - Work in the order that events allow -----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation is before another one if a chain of streams and events leads
// from it there, or if the host knew that it was done when it enqueued the
// other. Each has the set of those before it, so a pair without order is found
// however it is run here.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace metaops::emulated;

/// Of so many steps, one is of an operation that nobody waits for.
static constexpr size_t kStepsOfAnother = 4;

static Access makeAccess(const void *memory, size_t bytes, bool isWrite) {
  auto begin = reinterpret_cast<uint64_t>(memory);
  return {begin, begin + bytes, isWrite};
}

OperationRef metaops::emulated::makeCopy(std::string description, void *to,
                                         const void *from, size_t bytes) {
  auto operation = std::make_shared<Operation>();
  operation->description = std::move(description);
  operation->accesses = {makeAccess(from, bytes, /*isWrite=*/false),
                         makeAccess(to, bytes, /*isWrite=*/true)};
  operation->run = [to, from, bytes] { std::memcpy(to, from, bytes); };
  return operation;
}

OperationRef metaops::emulated::makeFill(std::string description, void *to,
                                         unsigned char value, size_t bytes) {
  auto operation = std::make_shared<Operation>();
  operation->description = std::move(description);
  operation->accesses = {makeAccess(to, bytes, /*isWrite=*/true)};
  operation->run = [to, value, bytes] { std::memset(to, value, bytes); };
  return operation;
}

Schedule::~Schedule() {
  // A chain of thousands would be destroyed by as many nested calls.
  for (const OperationRef &operation : unknown)
    operation->before.clear();
}

/// Returns true for two operations that need an order.
static bool areInConflict(const Operation &a, const Operation &b) {
  for (const Access &left : a.accesses)
    for (const Access &right : b.accesses)
      if ((left.isWrite || right.isWrite) &&
          left.overlaps(right.begin, right.end))
        return true;
  return false;
}

OperationRef Schedule::add(const OperationRef &operation,
                           llvm::ArrayRef<OperationRef> before) {
  Set ancestors;
  for (const OperationRef &other : before)
    if (other && !other->isKnown) {
      ancestors |= other->ancestors;
      ancestors.set(other->number);
    }
  for (const OperationRef &other : unknown)
    if (!ancestors.test(other->number) && areInConflict(*operation, *other))
      return other;
  for (const OperationRef &other : before)
    if (other && !other->isDone)
      operation->before.push_back(other);
  operation->ancestors = std::move(ancestors);
  operation->number = nextNumber++;
  unknown.push_back(operation);
  return nullptr;
}

std::vector<OperationRef> Schedule::listReady() const {
  std::vector<OperationRef> ready;
  for (const OperationRef &operation : unknown)
    if (!operation->isDone &&
        llvm::all_of(operation->before,
                     [](const OperationRef &other) { return other->isDone; }))
      ready.push_back(operation);
  return ready;
}

void Schedule::run(Operation &operation) {
  operation.before.clear();
  if (operation.run)
    operation.run();
  operation.run = nullptr;
  operation.time = std::chrono::steady_clock::now();
  operation.isDone = true;
}

void Schedule::runOne() {
  std::vector<OperationRef> ready = listReady();
  if (!ready.empty())
    run(*ready[draw(ready.size())]);
}

void Schedule::complete(const OperationRef &operation) {
  if (operation->isKnown)
    return;
  Set needed = operation->ancestors;
  needed.set(operation->number);
  while (!operation->isDone) {
    std::vector<OperationRef> ready = listReady(), wanted;
    llvm::copy_if(
        ready, std::back_inserter(wanted),
        [&](const OperationRef &other) { return needed.test(other->number); });
    auto &choice = draw(kStepsOfAnother) == 0 ? ready : wanted;
    run(*choice[draw(choice.size())]);
  }
  llvm::erase_if(unknown, [&](const OperationRef &other) {
    if (needed.test(other->number))
      other->isKnown = true;
    return other->isKnown;
  });
}

OperationRef Schedule::completeUses(uint64_t begin, uint64_t end) {
  std::vector<OperationRef> found;
  llvm::copy_if(
      unknown, std::back_inserter(found), [&](const OperationRef &operation) {
        return llvm::any_of(operation->accesses, [&](const Access &access) {
          return access.overlaps(begin, end);
        });
      });
  for (const OperationRef &operation : found)
    complete(operation);
  return found.empty() ? nullptr : found.back();
}
