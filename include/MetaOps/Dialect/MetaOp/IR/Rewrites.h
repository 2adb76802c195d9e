//===- Rewrites.h - Rewrites of kernels that users decide -------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between fusion and schedules, passes rewrite kernels where their heuristics
// say that it pays. A user may decide for one kernel and pass: a file of
// schedules says so (ScheduleFile.h), `metaop-force-rewrites` writes it on the
// kernel, and the passes read it:
//
//   metaop.kernel(...) attributes {rewrites =
//       {"join-stages" = false, "split-reductions" = true, place = "file:3"}}
//
// True forces the rewrite: whether it pays is not asked, and it is an error if
// it cannot be. False forbids it. `place` is for messages.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_REWRITES_H
#define METAOPS_DIALECT_METAOP_IR_REWRITES_H

#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"

namespace mlir::metaop {

inline constexpr llvm::StringLiteral kRewritesPlace = "place";

inline constexpr llvm::StringLiteral kRecomputeValues = "recompute-values";
inline constexpr llvm::StringLiteral kSeparateReductions =
    "separate-reductions";
inline constexpr llvm::StringLiteral kSplitReductions = "split-reductions";
inline constexpr llvm::StringLiteral kGatherScatters = "gather-scatters";
inline constexpr llvm::StringLiteral kPackOperands = "pack-operands";
inline constexpr llvm::StringLiteral kAttachPanels = "attach-panels";
inline constexpr llvm::StringLiteral kCopyRows = "copy-rows";
inline constexpr llvm::StringLiteral kAttachEpilogues = "attach-epilogues";
inline constexpr llvm::StringLiteral kJoinStages = "join-stages";

/// All of these, in the order of the passes.
ArrayRef<StringRef> getRewriteNames();

/// Verifies what the kernel's `rewrites` say.
LogicalResult verifyRewrites(KernelOp kernel);

bool isForced(KernelOp kernel, StringRef rewrite);
bool isForbidden(KernelOp kernel, StringRef rewrite);
/// Has later passes leave a kernel as it is.
void forbid(KernelOp kernel, StringRef rewrite);

/// Has a kernel that is made of another one keep what is decided for that. What
/// is forced goes to one of several only.
void inheritRewrites(KernelOp from, KernelOp to, bool andForced);

/// Returns the only stage of a kernel, if it has no schedule, or that of a
/// contraction's plan; else null, and the reason.
FusedOp findStageToRewrite(KernelOp kernel, StringRef &reason);

/// Leaves a kernel as it is, which is an error where the rewrite is forced.
LogicalResult keepKernel(KernelOp kernel, StringRef rewrite, StringRef reason);

/// The error that a forced rewrite cannot be; the caller says why.
InFlightDiagnostic emitCannotForce(KernelOp kernel, StringRef rewrite);

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_REWRITES_H
