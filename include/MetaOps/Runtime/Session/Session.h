//===- Session.h - Records, differentiates and runs ops ---------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session owns a block of meta-operators that grows as a user's program runs.
// Nothing is computed while it grows. Asking for a value cuts out the slice of
// the block that the value needs, looks up or compiles a program for it, and
// runs that.
//
// All calls but those of Var, `dropLater`, `getMutex` and `checkProcess` are
// made between construction and destruction of a SessionScope. Errors are
// SessionErrors, and leave the session as it was.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_SESSION_H
#define METAOPS_RUNTIME_SESSION_SESSION_H

#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/TensorData.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Plan/StepOutcome.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "MetaOps/Runtime/Recording/UnusedTargets.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

struct ExportRequest;
struct ProgramSignature;
struct SuppliedCode;
struct RepeatedUpdate;
struct UpdateValues;

/// What a Python process computes in.
class Session {
public:
  /// `compiler` runs programs on the backend "compiled"; without one, only the
  /// interpreter does. The devices are "cpu:0" to "cpu:7", "interpreter:0" and
  /// those of `moreKinds`.
  static std::shared_ptr<Session>
  create(std::shared_ptr<Compiler> compiler = nullptr,
         std::vector<DeviceKind> moreKinds = {});
  virtual ~Session() = default;

  virtual std::timed_mutex &getMutex() = 0;
  /// Throws in a forked child. To be called before the mutex is locked, which
  /// another thread may have held when the process was forked.
  virtual void checkProcess() const = 0;

  //===--------------------------------------------------------------------===//
  // Parts
  //===--------------------------------------------------------------------===//

  /// Records what is then held by Vars.
  virtual Recorder &getRecorder() = 0;
  virtual mlir::MLIRContext *getContext() = 0;
  /// The limit of memory is that of the current device.
  virtual Settings getSettings() const = 0;
  virtual void setFlag(llvm::StringRef name, const FlagValue &value) = 0;

  //===--------------------------------------------------------------------===//
  // Vars, and what they are rebound to
  //===--------------------------------------------------------------------===//

  /// A handle on a recorded value. Where execution is not lazy, computes it.
  virtual Var wrap(Node *node) = 0;
  virtual std::vector<Var> wrapAll(llvm::ArrayRef<Node *> nodes) = 0;
  /// The same for all results of an operation.
  virtual std::vector<Var> wrapResults(Node *first) = 0;
  /// Takes a value from a dying Var.
  virtual void dropLater(Node *node) = 0;

  /// Has x be a handle on another value.
  virtual void assign(Var &x, Node *value) = 0;
  /// Rebinds x to its value with a part replaced.
  virtual void setItem(Var &x, llvm::ArrayRef<IndexItem> items,
                       Operand value) = 0;
  /// Rebinds x to the value, which belongs to the next iteration: no gradient
  /// flows through it, and x's old memory may be reused. See Updates.cpp.
  virtual void update(Var &x, Operand value) = 0;

  /// A step that may be repeated, see RepeatedUpdate.cpp. Between the first two
  /// its updates are recorded, if the first returns true. `numbers` are what
  /// the step takes as 0-d tensors: `numNumbers` in one type, then in others.
  virtual bool beginUpdate(RepeatedUpdate &update, UpdateValues values) = 0;
  virtual void endUpdate(RepeatedUpdate &update,
                         llvm::ArrayRef<const Var *> targets,
                         llvm::ArrayRef<const Var *> numbers,
                         unsigned numNumbers) = 0;
  /// Runs the step's program on other values and numbers, and has the outcome
  /// told of it; false where that cannot be, and nothing is done.
  virtual bool repeatUpdate(const RepeatedUpdate &update, UpdateValues values,
                            llvm::ArrayRef<Number> numbers,
                            StepOutcomeRef outcome) = 0;
  /// Has the outcome told of the updates that are pending.
  virtual void watchUpdates(StepOutcomeRef outcome) = 0;

  /// Gradients of the sum of the loss by the targets, in reverse mode: by the
  /// present value of each or, where the loss is not made of that, by the
  /// youngest of its former values that the loss is made of.
  virtual std::vector<Var>
  grad(const Var &loss, llvm::ArrayRef<const Var *> targets,
       UnusedTargets unused = UnusedTargets::NotAll) = 0;
  /// How the outputs move where the inputs move by the tangents, in forward
  /// mode.
  virtual std::vector<Var> jvp(llvm::ArrayRef<const Var *> outputs,
                               llvm::ArrayRef<const Var *> inputs,
                               llvm::ArrayRef<const Var *> tangents) = 0;

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  /// Puts what the values need into the queue.
  virtual void sync(llvm::ArrayRef<const Var *> vars) = 0;
  /// The same for all updates, fetches and everything that a Var holds.
  virtual void syncAll() = 0;
  /// The value in memory, computed if need be. Not to be written.
  virtual TensorData getData(const Var &var) = 0;
  /// The last runs that the calls of this scope have asked for. The caller is
  /// to `wait` for them, best when it has left the scope.
  virtual const Tickets &getAsked() const = 0;

  /// Returns when the runs are done. Throws if a run on their devices has
  /// failed since the last call; the values that it was to compute cannot be
  /// had. Where `shouldStop` says so, cancels what all devices have to do, and
  /// throws; their values can be asked for again. Needs no scope.
  virtual void wait(const Tickets &tickets, StopCheck shouldStop = nullptr) = 0;
  /// The same for one value. Throws also where it is already known that the
  /// value could not be computed, and where its run was stopped.
  virtual void wait(const TensorData &data, StopCheck shouldStop = nullptr) = 0;
  /// Whether the run was stopped that was to compute the value: it is to be
  /// asked for again.
  virtual bool wasStopped(const TensorData &data) const = 0;
  /// Returns when few enough runs are in the queues that the caller, who has
  /// left the scope, may ask for more.
  virtual void waitForRoom(StopCheck shouldStop = nullptr) = 0;
  /// Returns true when all runs asked for so far are done, or false where
  /// `shouldStop` says so before. Needs no scope.
  virtual bool drain(StopCheck shouldStop = nullptr) = 0;
  /// Wishes that they end early.
  virtual void cancel() = 0;
  /// Throws if a run has failed and nobody was told.
  virtual void throwFailure() = 0;
  /// Is asked while a call compiles or waits with the session entered, on the
  /// thread of the call, and stops it.
  virtual void setStopCheck(std::function<bool()> check) = 0;

  /// Marks values as outputs of a later program. The identity comes back with
  /// the values in `takeCompletedFetches`.
  virtual uint64_t fetch(llvm::ArrayRef<const Var *> vars) = 0;
  virtual std::vector<CompletedFetch> takeCompletedFetches() = 0;
  /// Brings the tickets of a completed fetch up to date whose runs are done.
  /// Where one was stopped, keeps the fetch, which `takeCompletedFetches` gives
  /// again when the run is started again, and returns false. Needs no scope.
  virtual bool refresh(CompletedFetch &fetch) = 0;

  /// Throws where no program has run.
  virtual std::shared_ptr<const RunRecord> getLastRun() const = 0;
  /// What the user is to be told of and nothing has failed for, each once.
  virtual std::vector<std::string> takeWarnings() = 0;
  /// Has runs that are put into the queue from here on reported; null: none.
  virtual void setListener(std::shared_ptr<RunListener> newListener) = 0;
  /// Has no program keep what it has packed, since memory is short.
  virtual void dropPacked() = 0;

  /// Writes a file with a program that computes the outputs from other inputs,
  /// for processes without a compiler; see docs/ProgramFile.md. Runs updates
  /// that are pending, and what was recorded before the inputs; nothing else.
  virtual void exportProgram(const ExportRequest &request,
                             llvm::StringRef path) = 0;
  /// Compiles the IR of a program file, whatever it says, for this processor.
  virtual SuppliedCode compileIR(const ProgramSignature &signature,
                                 llvm::StringRef ir) = 0;

  //===--------------------------------------------------------------------===//
  // Devices
  //===--------------------------------------------------------------------===//

  /// By its name; throws where there is none.
  virtual Device &getDevice(llvm::StringRef name) = 0;
  virtual Devices &getDevices() = 0;
  /// The device of what is made in this scope; the first at its beginning.
  virtual Device &getDevice() = 0;
  virtual void setDevice(Device &newDevice) = 0;
  /// Memory for what the host is about to write: the current device's where
  /// the host can.
  virtual Allocator &getHostMemory() = 0;
  /// Records a tensor that is in the host's memory, on the current device.
  virtual Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
                   BufferRef buffer) = 0;
  /// Records the value in a device's memory; the value itself if it is there.
  virtual Node *transfer(Node *node, Device &to) = 0;
  virtual void resetPeak() = 0;

protected:
  friend class SessionScope;

  virtual void enter() = 0;
  virtual void leave(bool failed) = 0;
};

/// A stay inside of a session: holds its lock, and has it drop what is not
/// needed any more at both ends.
class SessionScope {
public:
  explicit SessionScope(Session &session);
  /// The caller has locked the session's mutex, which this unlocks in the end.
  SessionScope(Session &session, std::adopt_lock_t);
  ~SessionScope();
  SessionScope(const SessionScope &) = delete;
  SessionScope &operator=(const SessionScope &) = delete;

private:
  std::unique_lock<std::timed_mutex> lock;
  Session &session;
  int exceptions;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_SESSION_H
