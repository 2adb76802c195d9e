//===- Rewrites.cpp - Rewrites of kernels that users decide ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Dialect/MetaOp/IR/PrefixOps.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"

using namespace mlir;
using namespace mlir::metaop;

ArrayRef<StringRef> metaop::getRewriteNames() {
  static constexpr StringRef names[] = {
      kRecomputeValues, kSeparateReductions, kSplitReductions,
      kGatherScatters,  kPackOperands,       kAttachPanels,
      kCopyRows,        kAttachEpilogues,    kJoinStages};
  return names;
}

static DictionaryAttr getRewrites(KernelOp kernel) {
  return kernel->getAttrOfType<DictionaryAttr>(kRewritesAttr);
}

static std::optional<bool> getDecision(KernelOp kernel, StringRef rewrite) {
  DictionaryAttr rewrites = getRewrites(kernel);
  auto decision = rewrites ? rewrites.getAs<BoolAttr>(rewrite) : BoolAttr();
  return decision ? std::optional(decision.getValue()) : std::nullopt;
}

bool metaop::isForced(KernelOp kernel, StringRef rewrite) {
  return getDecision(kernel, rewrite) == true;
}

bool metaop::isForbidden(KernelOp kernel, StringRef rewrite) {
  return getDecision(kernel, rewrite) == false;
}

void metaop::forbid(KernelOp kernel, StringRef rewrite) {
  Builder builder(kernel.getContext());
  NamedAttrList rewrites(getRewrites(kernel));
  rewrites.set(rewrite, builder.getBoolAttr(false));
  kernel->setAttr(kRewritesAttr, rewrites.getDictionary(kernel.getContext()));
}

void metaop::inheritRewrites(KernelOp from, KernelOp to, bool andForced) {
  DictionaryAttr rewrites = getRewrites(from);
  if (!rewrites)
    return;
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute entry : rewrites) {
    auto decision = dyn_cast<BoolAttr>(entry.getValue());
    if (andForced || !decision || !decision.getValue())
      kept.push_back(entry);
  }
  to->setAttr(kRewritesAttr, DictionaryAttr::get(to.getContext(), kept));
}

InFlightDiagnostic metaop::emitCannotForce(KernelOp kernel, StringRef rewrite) {
  auto place = getRewrites(kernel).getAs<StringAttr>(kRewritesPlace);
  std::string prefix = place ? place.str() + ": " : "";
  return kernel.emitError() << prefix << rewrite << " is forced, but ";
}

FusedOp metaop::findStageToRewrite(KernelOp kernel, StringRef &reason) {
  auto stages = kernel.getBody().front().getOps<FusedOp>();
  if (!llvm::hasSingleElement(stages)) {
    reason = "it has several stages";
    return nullptr;
  }
  FusedOp stage = *stages.begin();
  if (!stage.getBody().getOps<PrefixOp>().empty()) {
    reason = "it has prefixes";
    return nullptr;
  }
  if (!stage.getScheduleAttr())
    return stage;
  reason = "it has a schedule";
  return nullptr;
}

LogicalResult metaop::keepKernel(KernelOp kernel, StringRef rewrite,
                                 StringRef reason) {
  if (!isForced(kernel, rewrite))
    return success();
  return emitCannotForce(kernel, rewrite) << reason;
}
