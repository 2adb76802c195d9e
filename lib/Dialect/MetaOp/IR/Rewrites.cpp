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
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::metaop;

ArrayRef<StringRef> metaop::getRewriteNames() {
  static constexpr StringRef names[] = {
      kRecomputeValues, kSeparateReductions, kSplitReductions,
      kGatherScatters,  kPackOperands,       kAttachPanels,
      kCopyRows,        kAttachEpilogues,    kJoinStages};
  return names;
}

LogicalResult metaop::verifyRewrites(KernelOp kernel) {
  DictionaryAttr rewrites = kernel.getRewritesAttr();
  if (!rewrites)
    return success();
  for (NamedAttribute entry : rewrites) {
    StringRef name = entry.getName();
    bool isPlace = name == kRewritesPlace;
    if (!isPlace && !llvm::is_contained(getRewriteNames(), name))
      return kernel.emitOpError("expects `rewrites` to name ")
             << llvm::join(getRewriteNames(), ", ") << " or " << kRewritesPlace
             << ", given " << name;
    if (isPlace ? !isa<StringAttr>(entry.getValue())
                : !isa<BoolAttr>(entry.getValue()))
      return kernel.emitOpError("expects `rewrites` to have ")
             << (isPlace ? "a string" : "true or false") << " for " << name
             << ", given " << entry.getValue();
  }
  return success();
}

static std::optional<bool> getDecision(KernelOp kernel, StringRef rewrite) {
  DictionaryAttr rewrites = kernel.getRewritesAttr();
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
  NamedAttrList rewrites(kernel.getRewritesAttr());
  rewrites.set(rewrite, builder.getBoolAttr(false));
  kernel.setRewritesAttr(rewrites.getDictionary(kernel.getContext()));
}

void metaop::inheritRewrites(KernelOp from, KernelOp to, bool andForced) {
  DictionaryAttr rewrites = from.getRewritesAttr();
  if (!rewrites)
    return;
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute entry : rewrites) {
    auto decision = dyn_cast<BoolAttr>(entry.getValue());
    if (andForced || !decision || !decision.getValue())
      kept.push_back(entry);
  }
  to.setRewritesAttr(DictionaryAttr::get(to.getContext(), kept));
}

InFlightDiagnostic metaop::emitCannotForce(KernelOp kernel, StringRef rewrite) {
  auto place = kernel.getRewritesAttr().getAs<StringAttr>(kRewritesPlace);
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
  // The loops of a contraction's plan are no user's.
  if (!stage.getScheduleAttr() || stage.hasRole(StageRole::Contraction))
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
