//===- Target.h - Targets of compilation ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_TARGET_TARGET_H
#define METAOPS_TARGET_TARGET_H

#include "MetaOps/Transforms/Schedule/Report/KernelDescription.h"
#include "MetaOps/Transforms/Schedule/Rewrites/LibraryWork.h"
#include "MetaOps/Transforms/Schedule/Stage/Stage.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace mlir::metaop {

/// Options that a pipeline gives the passes that schedule.
struct ScheduleRequest {
  /// Stages may be joined in kernels, as the fusion rules say.
  bool joins = true;
  /// A file of schedules that replace those of the heuristics, and its contents
  /// if they have been read already.
  StringRef file;
  StringRef text;
  /// Tells what libraries take; null where none is called.
  LibraryWork workOfLibraries;
  /// Decisions are reported as remarks.
  bool report = false;
};

/// A kind of processor with all that is known of it: what schedules are for,
/// and how kernels become code. Its options are bound when it is made.
///
/// The phases behind `kernels` are the target's. Of all targets, the first one
/// has functions over buffers, and the second one has the form that code is
/// emitted from. Between the two the numbers of a kernel are made arguments, so
/// that code is shared by kernels that differ in numbers alone.
class Target {
public:
  virtual ~Target() = default;

  /// The name of its kind, such as `cpu`.
  virtual StringRef getName() const = 0;
  /// Prints the name and all options: what schedules depend on, and code.
  virtual void print(raw_ostream &os) const = 0;
  std::string str() const;

  //===--------------------------------------------------------------------===//
  // Schedules
  //===--------------------------------------------------------------------===//

  /// Appends the passes from the phase `fused` to `scheduled`.
  virtual void addSchedules(OpPassManager &pm,
                            const ScheduleRequest &request) const = 0;
  /// Appends what schedules leave to the plan of a program's memory, behind it.
  virtual void addPlannedSchedules(OpPassManager &pm) const {}
  /// Checks that a scheduled kernel is legal: that its schedules are of the
  /// target, and that code can be made of them that computes what its stages
  /// say. Fails, with a diagnostic that names the rule.
  virtual LogicalResult verify(KernelOp kernel) const = 0;
  /// Returns true if a schedule is of the form that the target's have.
  virtual bool owns(ScheduleAttr schedule) const = 0;
  /// Counts what a call of a scheduled kernel does. Fails, with a diagnostic,
  /// where the target cannot have a stage's schedule.
  virtual FailureOr<KernelMeasures> measure(KernelOp kernel) const = 0;
  /// Describes a scheduled kernel: what it does, and its stages. Fails as
  /// `measure`.
  FailureOr<KernelDescription> describe(KernelOp kernel) const;
  /// Lists the schedules of a kernel's stages that differ from theirs in one
  /// decision.
  virtual SmallVector<KernelSchedules>
  listNeighbours(ArrayRef<Stage> stages) const = 0;
  /// Returns the bytes at which parts of buffers begin that kernels write one
  /// by one; 1 where that is anywhere.
  virtual int64_t getPartAlignment() const { return 1; }

  //===--------------------------------------------------------------------===//
  // Code
  //===--------------------------------------------------------------------===//

  /// Returns the names of the phases behind `kernels`, in order; two or more.
  virtual ArrayRef<StringRef> getPhases() const = 0;
  /// Returns true if files are written by hand that begin in a phase behind
  /// `kernels`.
  virtual bool mayStartFrom(StringRef phase) const { return false; }
  /// Returns true if a phase takes files that running a program does not need.
  virtual bool needsFiles(StringRef phase) const { return false; }
  /// Appends the passes that lead to one of its phases from the one before.
  void addPhase(OpPassManager &pm, StringRef phase) const;
  /// Appends the check of what is legal in a phase, if there is one.
  virtual void addCheck(OpPassManager &pm, StringRef phase) const {}

  /// Appends what makes functions over buffers of functions that hold one
  /// scheduled kernel each: the way to the first phase.
  virtual void addLoops(OpPassManager &pm) const = 0;
  /// Appends what is the same for all numbers, before arguments are made of
  /// these. A target without arguments for numbers appends nothing, and has no
  /// backend in the runtime.
  virtual void addFamily(OpPassManager &pm) const = 0;
  /// Appends what makes code of functions whose numbers are bound.
  virtual void addCode(OpPassManager &pm) const = 0;
  /// Returns how many numbers a function may have as arguments, beside so many
  /// buffers.
  virtual size_t getMaxNumbers(size_t buffers) const {
    return std::numeric_limits<size_t>::max();
  }
  /// Inserts the dialects of functions over buffers, and of code, with what
  /// translates these.
  virtual void insertDialects(DialectRegistry &registry) const = 0;

protected:
  /// Appends the way to a phase behind the second one.
  virtual void addFurther(OpPassManager &pm, StringRef phase) const {}
};

} // namespace mlir::metaop

#endif // METAOPS_TARGET_TARGET_H
