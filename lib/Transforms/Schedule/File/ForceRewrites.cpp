//===- ForceRewrites.cpp - Writes on kernels what users decide ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes behind this one replace kernels by others. What a kernel is called
// by users is its identity as fusion made it, so it is computed here, and kept
// in the locations of the kernel and its stages: whatever is made of them says
// what it is from. A kernel that has one keeps it. What a file decides for the
// kernel becomes an attribute, which the passes read (Rewrites.h) and
// `metaop-schedule` removes.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Transforms/Schedule/File/Passes.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::metaop {
#define GEN_PASS_DEF_FORCEREWRITESPASS
#include "MetaOps/Transforms/Schedule/File/Passes.h.inc"
} // namespace mlir::metaop

using namespace mlir;
using namespace mlir::metaop;

namespace {
struct ForceRewritesPass
    : metaop::impl::ForceRewritesPassBase<ForceRewritesPass> {
  using ForceRewritesPassBase::ForceRewritesPassBase;

  void runOnOperation() override;

private:
  void write(KernelOp kernel, const ScheduleEntry &entry);
};
} // namespace

void ForceRewritesPass::write(KernelOp kernel, const ScheduleEntry &entry) {
  Builder builder(kernel.getContext());
  std::string place = file + ":" + std::to_string(entry.line);
  SmallVector<NamedAttribute> rewrites{
      builder.getNamedAttr(kRewritesPlace, builder.getStringAttr(place))};
  for (const auto &[name, isForced] : entry.rewrites)
    rewrites.push_back(
        builder.getNamedAttr(name, builder.getBoolAttr(isForced)));
  kernel.setRewritesAttr(builder.getDictionaryAttr(rewrites));
}

void ForceRewritesPass::runOnOperation() {
  auto entries = readScheduleFile(file, text, &getContext());
  if (!entries) {
    getOperation()->emitError("metaop-force-rewrites: ")
        << toString(entries.takeError());
    return signalPassFailure();
  }
  llvm::StringMap<const ScheduleEntry *> unused, byKernel;
  for (const ScheduleEntry &entry : *entries)
    if (!entry.rewrites.empty())
      unused[entry.identity] = byKernel[entry.identity] = &entry;
  getOperation()->walk([&](KernelOp kernel) {
    auto origins = getOrigins(kernel.getLoc());
    KernelOrigin origin{origins.empty() ? getKernelIdentity(kernel)
                                        : origins.front().identity};
    if (const ScheduleEntry *entry = byKernel.lookup(origin.identity)) {
      write(kernel, *entry);
      origin.line = entry->line;
      unused.erase(origin.identity);
    }
    kernel->walk([&](Operation *op) {
      if (isa<KernelOp, FusedOp>(op))
        op->setLoc(markOrigin(op->getLoc(), origin));
    });
  });
  if (!text.empty())
    return;
  SmallVector<const ScheduleEntry *> left(llvm::make_second_range(unused));
  llvm::sort(left, [](auto *a, auto *b) { return a->line < b->line; });
  for (const ScheduleEntry *entry : left)
    getOperation()->emitWarning(file + ":" + llvm::Twine(entry->line))
        << ": there is no kernel " << entry->identity;
}
