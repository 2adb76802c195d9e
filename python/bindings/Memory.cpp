//===- Memory.cpp - Who holds memory, and what a run will need ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "MetaOps/Runtime/Report/Inspector.h"
#include "MetaOps/Runtime/Run/MemoryHolders.h"

using namespace metaops;
using namespace metaops::python;

/// As Session::getHostMemory.
static Device &getHostDevice() {
  Device &device = getDevice();
  return device.hasHostMemory() ? device : getSession().getDevices().getFirst();
}

BufferRef metaops::python::allocate(size_t bytes) {
  try {
    return getHostDevice().getMemory().allocate(bytes);
  } catch (const OutOfMemory &) {
  }
  // Runs in the queue hold memory. Entering the session has it drop what is
  // dead, and scratch memory that no run needs.
  SignalWatch watch;
  {
    ReleasedGIL release;
    getSession().drain(watch);
  }
  watch.raise();
  return runWithoutGIL([&](Session &session) {
    try {
      return session.getHostMemory().allocate(bytes);
    } catch (const OutOfMemory &) {
      session.dropPacked();
    }
    try {
      return session.getHostMemory().allocate(bytes);
    } catch (const OutOfMemory &error) {
      throw explainShortage(session.getRecorder().getGraph(), error);
    }
  });
}

static const char *nameOf(MemoryReason use) {
  switch (use) {
  case MemoryReason::Held:
    return "held";
  case MemoryReason::Pending:
    return "pending";
  case MemoryReason::Gradients:
    return "gradients";
  }
  llvm_unreachable("all uses are handled");
}

static py::list listHolders() {
  std::vector<MemoryHolder> holders;
  {
    EnteredSession session;
    holders = Inspector(*session).getMemoryHolders();
  }
  py::list result;
  for (const MemoryHolder &holder : holders)
    result.append(py::make_tuple(
        holder.bytes, nameOf(holder.dtype).str(), toTuple(holder.shape),
        holder.vars, holder.line, nameOf(holder.use), holder.neededBy));
  return result;
}

static py::dict countMemory() {
  AllocatorStatistics statistics;
  {
    Entered session;
    statistics = session->getDevice().getMemory().getStatistics();
  }
  py::dict result;
  result["in_use"] = statistics.bytesInUse;
  result["peak"] = statistics.peakBytes;
  result["reserved"] = statistics.bytesReserved;
  result["cached"] = statistics.bytesReserved - statistics.bytesInUse;
  result["limit"] = statistics.limit;
  result["allocations"] = statistics.allocations;
  result["scratch"] = statistics.scratchBytes;
  result["packed"] = statistics.packedBytes;
  result["exported"] = statistics.exportedBytes;
  return result;
}

static int64_t estimate(py::handle object) {
  py::list owner;
  std::vector<const Var *> vars = toVars(object, owner);
  return runWithoutGIL(
      [&](Session &session) { return Inspector(session).estimatePeak(vars); });
}

void metaops::python::bindMemory(py::module_ &module) {
  define(module, "memory_holders()", &listHolders);
  define(module, "memory_counts()", &countMemory);
  define(module, "estimate(vars)", &estimate);
}
