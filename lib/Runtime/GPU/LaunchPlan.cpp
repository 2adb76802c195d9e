//===- LaunchPlan.cpp - How a GPU's kernel is launched --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches of a kernel's functions. A call has the grid of the first one as its
// parallel range, and those of the others beside it.
//
//===----------------------------------------------------------------------===//

#include "LaunchPlan.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace metaops {

llvm::Expected<LaunchPlan> LaunchPlan::read(ArrayAttr kernels) {
  LaunchPlan plan;
  for (auto facts : kernels.getAsRange<DictionaryAttr>()) {
    auto name = facts.getAs<StringAttr>("name");
    auto launch = facts.getAs<metaop::LaunchAttr>("launch");
    if (!name || !launch)
      return llvm::createStringError(
          "a kernel's code does not say how it is launched");
    auto shared = facts.getAs<IntegerAttr>("dynamic_shared_bytes");
    plan.functions.push_back({name.str(), uint32_t(launch.getThreads()),
                              uint32_t(launch.getCluster()),
                              shared ? uint32_t(shared.getInt()) : 0});
    if (auto entry = facts.getAs<metaop::EntryAttr>("entry"))
      plan.scratch = entry.getScratch().vec();
  }
  if (plan.functions.empty())
    return llvm::createStringError("a kernel's code has no function");
  return plan;
}

llvm::Expected<std::vector<int64_t>>
LaunchPlan::getGrids(const KernelCall &call) const {
  std::vector<int64_t> grids{call.parallelRange};
  llvm::append_range(grids, call.furtherGrids);
  if (grids.size() != functions.size())
    return llvm::createStringError(
        "a call has %zu grids for a kernel of %zu functions", grids.size(),
        functions.size());
  return grids;
}

/// Has a piece cover another one, too.
static void absorb(SharedBuffers &piece, const SharedBuffers &other) {
  char *begin = std::min(piece.memory.begin(), other.memory.begin());
  char *end = std::max(piece.memory.end(), other.memory.end());
  piece.memory = KernelBuffer(begin, end);
  llvm::append_range(piece.buffers, other.buffers);
}

std::vector<SharedBuffers> findShared(llvm::ArrayRef<KernelBuffer> buffers) {
  std::vector<SharedBuffers> pieces;
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    if (buffer.empty())
      continue;
    SharedBuffers made{buffer, {}};
    llvm::erase_if(pieces, [&, &buffer = buffer](const SharedBuffers &piece) {
      bool overlaps = piece.memory.begin() < buffer.end() &&
                      buffer.begin() < piece.memory.end();
      if (overlaps)
        absorb(made, piece);
      return overlaps;
    });
    made.buffers.push_back(number);
    pieces.push_back(std::move(made));
  }
  return pieces;
}

} // namespace metaops
