//===- ProgramVerifier.h - Soundness of programs ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_PROGRAM_PROGRAMVERIFIER_H
#define METAOPS_LIB_RUNTIME_PROGRAM_PROGRAMVERIFIER_H

#include "MetaOps/Runtime/Program/ProgramData.h"
#include "llvm/ADT/BitVector.h"

namespace metaops {

/// Verifies one program.
class ProgramVerifier {
public:
  explicit ProgramVerifier(const ProgramData &program)
      : program(program), isSet(program.getNumEntries()),
        isWritable(program.getNumEntries()) {}

  llvm::Error verify();

private:
  /// A fault in words; empty where there is none.
  using Problem = const char *;
  static constexpr Problem kNone = nullptr;

  Problem verifyTable() const;
  Problem verifyList(const StepList &steps, bool isOutermost);
  Problem verifyStep(const Step &step, bool isOutermost);
  Problem verifyBuffers(const Step &step, bool isOutermost);
  Problem verifyPacked(const Step &step, bool isOutermost);

  Problem verifyAction(const Step &step, const KernelCall &kernel);
  Problem verifyAction(const Step &step, const RoutineCall &call);
  Problem verifyMayFail();
  bool isScratch(const Slot &slot, int64_t bytes) const;
  static bool areApart(const Step &step, const Routine &routine);
  /// Returns whether two slots have bytes in common, as far as entries tell.
  static bool overlap(const Slot &a, const Slot &b) {
    return a.entry == b.entry && a.offset < b.offset + b.bytes &&
           b.offset < a.offset + a.bytes;
  }
  Problem verifyAction(const Step &step, const Copies &copies);
  Problem verifyAction(const Step &step, const View &view);
  Problem verifyAction(const Step &step, const Check &check);
  Problem verifyAction(const Step &step, const If &branches);
  Problem verifyAction(const Step &step, const While &loop);
  Problem verifyAction(const Step &step, const For &loop);
  Problem verifyCarry(const Carry &carry);
  Problem verifyCarriedRow(const Carry &carry,
                           llvm::ArrayRef<LoopRows> rows) const;
  Problem setCarries(llvm::ArrayRef<Carry> carries,
                     llvm::ArrayRef<LoopRows> rows);
  void leaveCarries(llvm::ArrayRef<Carry> carries);
  Problem leaveLoop();
  Problem setRows(const LoopRows &rows, int64_t trips);

  bool isFresh(int64_t result) const {
    return program.results[result].entry == program.getResult(result);
  }
  bool isSlot(const Slot &slot) const;
  bool isOutput(const Slot &slot) const;
  bool isPlace(const Slot &slot) const;
  /// The bytes behind an entry; -1 where it is not to be used.
  int64_t getBytes(int64_t entry) const;

  const ProgramData &program;
  /// Pointers that are set, and those that may be written through.
  llvm::BitVector isSet, isWritable;
  /// The number of packed results that have been made.
  int64_t numPacked = 0;
  unsigned loops = 0;
  bool hasOverwritten = false;
  /// In the outermost of the loops.
  bool loopOverwrites = false, loopChecks = false;
  /// The place of the step that is looked at, for messages.
  unsigned number = 0;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_PROGRAM_PROGRAMVERIFIER_H
