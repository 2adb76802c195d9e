//===- Program.h - A compiled slice of the graph ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is a sequence of kernel calls and copies with a static memory plan.
// It is compiled from a slice: the bytecode of a module whose function @main
// maps the slice's leaves to the values asked for. Programs know nothing of the
// session that they come from and may be run any number of times.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_PROGRAM_PROGRAM_H
#define METAOPS_RUNTIME_PROGRAM_PROGRAM_H

#include "MetaOps/Runtime/Memory/Allocator.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Threads/ThreadPool.h"
#include "MetaOps/Transforms/Schedule/KernelDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// A dimension of an argument of a program.
struct GrowingDim {
  unsigned argument = 0;
  unsigned dimension = 0;
};

/// What the compiler may do. Equal options and slices give equal programs.
struct CompileOptions {
  /// Fusion rules: "extended", or "paper" for those of Hu et al. (2020) alone.
  std::string rules = "extended";
  /// Whether operations share kernels at all.
  bool fuse = true;
  /// Whether intermediate values share memory, and results are written over
  /// arguments.
  bool reuseMemory = true;
  /// Schedules that replace those of the heuristics: the contents of a file,
  /// and its name for messages.
  std::string schedules;
  std::string scheduleFile;
  /// Dimensions that will be longer in later programs of this kind: kernels
  /// are made for all such lengths.
  std::vector<GrowingDim> growing;
};

/// One kernel call of a program, a call of a routine, or the copies that one
/// placement makes, for reports.
struct KernelInfo {
  std::string name;
  /// No kernel, but copies or a routine.
  bool isCopy = false;
  /// Positions in the slice of the operations that the kernel computes.
  std::vector<unsigned> nodes;
  /// Their names, in program order; clones are listed once each.
  std::vector<std::string> operators;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Arithmetic operations, those of the index computation not counted.
  int64_t flops = 0;
  /// Instructions by mlir::metaop::WorkClass, for predictions.
  std::vector<int64_t> instructions;
  /// Predicted picoseconds of a routine on one thread.
  int64_t routineWork = 0;
  /// Operations of its loops: how much there is to compile to machine code.
  int64_t loopOps = 0;
  /// How many threads there is work for.
  int64_t maxThreads = 1;
  /// Later runs may do without the call; see Program::keepPacked.
  bool mayKeep = false;
  /// Lines of the file of schedules that the kernel's are from.
  std::vector<unsigned> scheduleLines;

  /// Seconds that a call should take; see CostModel.h.
  double predictSeconds(const mlir::metaop::MachineFigures &machine,
                        int64_t threads) const;
};

/// What a program will do, for people; see mo.explain.
struct ProgramDescription {
  /// In the order of the program's calls that are no copies.
  std::vector<mlir::metaop::KernelDescription> kernels;
  /// What fusion reported of its cost.
  std::string fusion;
};

struct ProgramInfo {
  std::vector<KernelInfo> calls;
  /// Operations of the slice before any transformation, leaves not counted.
  unsigned metaOps = 0;
  /// Different kernels among the calls, and how many of them were compiled for
  /// this program rather than found in the cache.
  unsigned distinctKernels = 0;
  unsigned compiledKernels = 0;
  /// Whether the program was found on disk, and how many kernels were.
  bool isLoaded = false;
  unsigned loadedKernels = 0;
  /// Memory that holds the intermediate values.
  int64_t arenaBytes = 0;
  double compileSeconds = 0;
};

/// The user's line that recorded one operation of a slice.
struct NodeLocation {
  std::string file;
  unsigned line = 0;
};

/// What one run has to do with a result that is kept from run to run.
struct PackedUse {
  /// Null where the result is not kept, and is made as any other.
  std::shared_ptr<PackedCopy> copy;
  /// Of the copy, for this run.
  RunRef memory;
};

/// One run of a program. All of its memory is taken before it starts, so what
/// may be refused is refused while the caller can still be told.
struct ProgramRun {
  llvm::SmallVector<RunRef> arguments;
  /// One per result of @main: fresh, or a donated argument's own buffer, or,
  /// where @main returns an argument or a view of one, that argument's.
  llvm::SmallVector<RunRef> results;
  /// Holds the intermediate values.
  RunRef scratch;
  /// By the number that a program gives to each result that may be kept. Empty
  /// where nothing is.
  llvm::SmallVector<PackedUse, 0> packed;
};

/// When a kernel call of a run began and ended, in nanoseconds of the steady
/// clock.
struct CallTime {
  unsigned call;
  int64_t begin;
  int64_t end;
};

/// The steady clock's nanoseconds.
int64_t readClock();

/// The error of what was told to stop and has, without any effect.
class Interrupted : public llvm::ErrorInfo<Interrupted> {
public:
  static char ID;

  void log(llvm::raw_ostream &os) const override { os << "interrupted"; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
};

/// Why a run stopped, and in which call.
class KernelFailure : public llvm::ErrorInfo<KernelFailure> {
public:
  static char ID;

  KernelFailure(unsigned call, std::string message)
      : call(call), message(std::move(message)) {}

  unsigned getCall() const { return call; }
  const std::string &getMessage() const { return message; }
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  unsigned call;
  std::string message;
};

class Program {
public:
  virtual ~Program() = default;

  /// Takes the memory of a run on `arguments`, one buffer per argument of @main
  /// (a 0-d tensor is a buffer of one element). Uses `scratch` where it is
  /// large enough, and puts a larger one there otherwise: runs that follow one
  /// another may share it. Throws OutOfMemory.
  virtual llvm::Expected<ProgramRun>
  prepare(llvm::ArrayRef<BufferRef> arguments, Allocator &memory,
          BufferRef &scratch) = 0;

  /// Has a run that has just been prepared use what earlier ones have packed of
  /// the same contents, and keeps what it packs of contents that the last run
  /// had, too. Runs are executed in the order in which they come here. Does
  /// without where there is no memory.
  virtual void keepPacked(ProgramRun &run, Allocator &memory) {}
  /// Lets go of all that is kept; for good as long as the arguments are the
  /// same where memory is short.
  virtual void dropPacked(bool isShort) {}

  /// Computes the results of a run, or fails and leaves all arguments as they
  /// were. Takes no memory from an allocator. Where `times` is given, adds an
  /// entry for each call. May run on any thread, once at a time for one
  /// `threads`. `shouldStop` is asked from several threads; a run that stops
  /// for it fails with Interrupted and may be executed again.
  virtual llvm::Error execute(const ProgramRun &run, ThreadPool &threads,
                              StopCheck shouldStop = nullptr,
                              std::vector<CallTime> *times = nullptr) = 0;

  /// Whether a run should take so long that somebody who waits for it may want
  /// to stop it.
  virtual bool isLong(unsigned threads) const { return true; }

  /// Both steps at once; appends the results.
  llvm::Error run(llvm::ArrayRef<BufferRef> arguments,
                  llvm::SmallVectorImpl<BufferRef> &results, Allocator &memory,
                  ThreadPool &threads);

  const ProgramInfo &getInfo() const { return info; }

protected:
  ProgramInfo info;
};

/// A program that runs a slice through the interpreter, op by op.
llvm::Expected<std::shared_ptr<Program>>
interpretProgram(llvm::StringRef sliceBytecode);

} // namespace metaops

#endif // METAOPS_RUNTIME_PROGRAM_PROGRAM_H
