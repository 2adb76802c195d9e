//===- Launch.cpp - One launch of a kernel --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Instructions.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace metaops;
using namespace metaops::emulator;

bool FaultList::isNew(FaultKind kind, uint32_t site, uint32_t otherSite) {
  std::lock_guard<std::mutex> guard(lock);
  return seen.size() < limit && seen.insert({kind, site, otherSite}).second;
}

void FaultList::add(Fault fault) {
  std::lock_guard<std::mutex> guard(lock);
  faults.push_back(std::move(fault));
}

/// The smallest size that accesses of shared memory, or of global memory, are
/// multiples of, and their addresses. Generic addresses may be of both.
static unsigned getGranule(const KernelCode &code, bool isShared) {
  unsigned granule = 16;
  for (const Site &site : code.sites) {
    bool isOther =
        isShared ? site.space == Space::Global
                 : site.space == Space::Shared || site.space == Space::Cluster;
    if (site.bytes == 0 || isOther)
      continue;
    unsigned size = site.bytes & -site.bytes;
    granule = std::min({granule, size, std::max(1u, site.alignment)});
  }
  return granule;
}

Launch::Launch(const KernelCode &code, const LaunchShape &shape,
               llvm::ArrayRef<KernelArgument> given,
               llvm::ArrayRef<Allocation> allocations,
               const EmulatorOptions &options)
    : code(code), shape(shape), options(options),
      threadsOfBlock(shape.threads.count()),
      warpsOfBlock((threadsOfBlock + warpSize - 1) / warpSize),
      blocksOfCluster(shape.cluster.count()),
      warpsOfCluster(warpsOfBlock * blocksOfCluster),
      clusters(shape.grid.count() / shape.cluster.count()), sharedSpan(0),
      sharedBytes(0), globalGranule(getGranule(code, /*isShared=*/false)),
      sharedGranule(getGranule(code, /*isShared=*/true)),
      memory(allocations, globalGranule), faults(options.maxFaults) {
  for (const KernelArgument &argument : given)
    arguments.push_back(argument.getBits());
  uint32_t dynamicBytes = 0;
  for (const SharedVariable &variable : code.sharedVariables) {
    uint32_t bytes = getBytes(variable);
    sharedSpan = std::max(sharedSpan, variable.offset + bytes);
    if (variable.bytes)
      sharedBytes += bytes;
    else
      dynamicBytes = bytes;
  }
  sharedBytes += dynamicBytes;
  sharedSpan = llvm::alignTo(sharedSpan, 1024);
  // Any stride without a common divisor visits each cluster once.
  Random random(options.seed);
  offset = random.below(clusters);
  for (stride = 1 + random.below(clusters); std::gcd(stride, clusters) != 1;)
    stride = 1 + random.below(clusters);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The n-th place of a box, x first.
static Extent3 unfold(uint32_t n, const Extent3 &box) {
  return {n % box.x, n / box.x % box.y, n / box.x / box.y};
}

Extent3 Launch::getBlock(uint32_t cluster, uint32_t rank) const {
  const Extent3 &box = shape.cluster;
  Extent3 clusterGrid = {shape.grid.x / box.x, shape.grid.y / box.y,
                         shape.grid.z / box.z};
  Extent3 outer = unfold(cluster, clusterGrid), inner = unfold(rank, box);
  return {outer.x * box.x + inner.x, outer.y * box.y + inner.y,
          outer.z * box.z + inner.z};
}

Extent3 Launch::getBlock(const ThreadPlace &place) const {
  return getBlock(place.cluster, place.warp / warpsOfBlock);
}

Extent3 Launch::getThread(const ThreadPlace &place) const {
  return unfold(place.warp % warpsOfBlock * warpSize + place.lane,
                shape.threads);
}

std::string Launch::describe(const ThreadPlace &place) const {
  return "thread " + getThread(place).str() + " of block " +
         getBlock(place).str();
}

std::string Launch::describeSite(uint32_t site) const {
  const Site &known = code.sites[site];
  return known.operation + " at " + known.location;
}

void Launch::report(FaultKind kind, const ThreadPlace &place, uint32_t site,
                    std::string address, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.kernel = code.name;
  fault.operation = code.sites[site].operation;
  fault.location = code.sites[site].location;
  fault.block = getBlock(place);
  fault.thread = getThread(place);
  fault.address = std::move(address);
  fault.message = std::move(message);
  faults.add(std::move(fault));
}
