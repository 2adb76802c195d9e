//===- Passes.h - Memory planning -------------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_H
#define METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpInterfaces.h"
#include "MetaOps/Dialect/MetaOp/IR/StructureOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace mlir::metaop {
class StageModels;

#define GEN_PASS_DECL
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"

/// Returns the bytes of scratch memory that a routine takes; fails, behind an
/// error of the operation's, where nobody computes it.
using RoutineScratch = std::function<FailureOr<int64_t>(RoutineOpInterface)>;

/// The same pass for programs with routines that take scratch memory.
std::unique_ptr<Pass> createPlanMemoryPass(const PlanMemoryPassOptions &options,
                                           RoutineScratch scratchOf);

/// Returns whether `kernel` may write result `result` into the memory that its
/// operands `inputs` (one buffer under several names) are read from: every read
/// of an element comes before the write of that element, at the same point of
/// the loop tree or in a stage that is over. `models` are of the kernel's
/// stages as they are.
bool canWriteInPlace(KernelOp kernel, ArrayRef<unsigned> inputs,
                     unsigned result, StageModels &models);

/// The results of a step of a program that it computes: of a routine those that
/// are used, of others all.
SmallVector<Value> getMadeValues(Operation *step);

/// The bytes that buffers begin at multiples of: a line of the caches.
constexpr int64_t kBufferAlignment = 64;

#define GEN_PASS_REGISTRATION
#include "MetaOps/Transforms/MemoryPlan/Passes.h.inc"

} // namespace mlir::metaop

#endif // METAOPS_TRANSFORMS_MEMORYPLAN_PASSES_H
