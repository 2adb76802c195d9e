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
// Calls are made as those of a RecordingSession are, but where a function says
// that it needs no scope.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_SESSION_H
#define METAOPS_RUNTIME_SESSION_SESSION_H

#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/TensorData.h"
#include "MetaOps/Runtime/Plan/StepOutcome.h"
#include "MetaOps/Runtime/Programs/RunRecord.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "MetaOps/Runtime/Recording/RecordingSession.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace metaops {

struct ExportRequest;
struct FunctionSignature;
struct ProgramSignature;
struct SuppliedCode;
struct CallRequest;
struct RepeatedCall;
class SessionImpl;

/// A Python process's graph, programs and devices.
class Session final : public RecordingSession {
public:
  /// `compiler` runs programs on the backend "compiled"; without one, only the
  /// interpreter does. The devices are "cpu:0" to "cpu:7", "interpreter:0" and
  /// those of `moreKinds`.
  static std::shared_ptr<Session>
  create(std::shared_ptr<Compiler> compiler = nullptr,
         std::vector<DeviceKind> moreKinds = {});
  ~Session() override;

  //===--------------------------------------------------------------------===//
  // Recording
  //===--------------------------------------------------------------------===//

  std::timed_mutex &getMutex() override;
  /// Throws in a forked child: another thread may have held the mutex when the
  /// process was forked.
  void checkProcess() const override;
  void dropLater(Node *node) override;
  /// See Updates.cpp.
  void updateAt(Var &x, Operand value, CallPlace place) override;
  Device &getDevice(llvm::StringRef name) override;
  /// The first at the beginning of a scope.
  Device &getDevice() override;
  void setDevice(Device &device) override;
  Node *transfer(Node *node, Device &to) override;
  Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
           BufferRef buffer) override;

  //===--------------------------------------------------------------------===//
  // Settings
  //===--------------------------------------------------------------------===//

  mlir::MLIRContext *getContext();
  /// The limit of memory is that of the current device.
  Settings getSettings() const;
  /// Returns who computes what is no kernel. Others may be added.
  RoutineRegistry &getRoutines() const;
  /// Returns whether operators are recorded, and not run at once.
  bool isLazy() const;
  void setFlag(llvm::StringRef name, const FlagValue &value);

  //===--------------------------------------------------------------------===//
  // Steps of optimisers
  //===--------------------------------------------------------------------===//

  /// Runs pending updates that updates of some of the Vars would run, and
  /// computes their initial values.
  void prepareUpdates(llvm::ArrayRef<const Var *> vars);
  /// Returns whether updates are pending.
  bool hasUpdates() const;
  /// Has the outcome told of the updates that are pending.
  void watchUpdates(StepOutcomeRef outcome);

  //===--------------------------------------------------------------------===//
  // Calls of recorded functions
  //===--------------------------------------------------------------------===//

  /// Calls a function, which takes the arguments, and gives its results. What
  /// it rebinds has the last of the values, as by `update`. Launches the
  /// program of an earlier call where that can be; else records the call and,
  /// where nothing else would be in its program, runs it. The steps are told of
  /// what becomes of it. See RepeatedCall.cpp.
  /// These are set when the call has been recorded, though running it throws.
  void call(const CallRequest &request, RepeatedCall &repeated,
            std::optional<std::vector<Var>> &results);
  /// The same where nothing but the call is in its program. Else returns false,
  /// and calls nothing; updates that were pending may have been run.
  bool callAlone(const CallRequest &request, RepeatedCall &repeated,
                 std::optional<std::vector<Var>> &results);
  /// Waits for a call that has results, unless runs are asynchronous.
  void finishCall();

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  /// Puts what the values need into the queue.
  void sync(llvm::ArrayRef<const Var *> vars);
  /// Computes those of the Vars that hold what they began with, which is made
  /// of constants and generators alone, and with them all such constants that
  /// wait; nothing else, and no update.
  void computeInitial(llvm::ArrayRef<const Var *> vars);
  /// The same for all updates, fetches and everything that a Var holds.
  void syncAll();
  /// The value in memory, computed if need be. Not to be written.
  TensorData getData(const Var &var);
  /// The last runs that the calls of this scope have asked for. The caller is
  /// to `wait` for them, best when it has left the scope.
  const Tickets &getAsked() const;

  /// Returns when the runs are done. Throws if a run on their devices has
  /// failed since the last call; the values that it was to compute cannot be
  /// had. Where `shouldStop` says so, cancels what all devices have to do, and
  /// throws; their values can be asked for again. Needs no scope.
  void wait(const Tickets &tickets, StopCheck shouldStop = nullptr);
  /// The same for one value. Throws also where it is already known that the
  /// value could not be computed, and where its run was stopped.
  void wait(const TensorData &data, StopCheck shouldStop = nullptr);
  /// Returns whether the run was stopped that was to compute the value: it is
  /// to be asked for again.
  bool wasStopped(const TensorData &data) const;
  /// Returns when few enough runs are in the queues that the caller, who has
  /// left the scope, may ask for more.
  void waitForRoom(StopCheck shouldStop = nullptr);
  /// Returns true when all runs asked for so far are done, or false where
  /// `shouldStop` says so before. Needs no scope.
  bool drain(StopCheck shouldStop = nullptr);
  /// Wishes that they end early.
  void cancel();
  /// Throws if a run has failed and nobody was told.
  void throwFailure();
  /// Is asked while a call compiles or waits with the session entered, on the
  /// thread of the call, and stops it.
  void setStopCheck(std::function<bool()> check);

  /// Marks values as outputs of a later program. The identity comes back with
  /// the values in `takeCompletedFetches`.
  uint64_t fetch(llvm::ArrayRef<const Var *> vars);
  std::vector<CompletedFetch> takeCompletedFetches();
  /// Brings the tickets of a completed fetch up to date whose runs are done.
  /// Where one was stopped, keeps the fetch, which `takeCompletedFetches` gives
  /// again when the run is started again, and returns false. Needs no scope.
  bool refresh(CompletedFetch &fetch);

  /// Throws where no program has run.
  std::shared_ptr<const RunRecord> getLastRun() const;
  /// Takes what the user is to be told of and nothing has failed for, each
  /// once.
  std::vector<std::string> takeWarnings();
  /// Has runs that are put into the queue from here on reported; null: none.
  void setListener(std::shared_ptr<RunListener> newListener);
  /// Has no program keep what it has packed, since memory is short.
  void dropPacked();

  /// Writes a file with programs of functions, for processes without a
  /// compiler; see docs/ProgramFile.md. Runs updates that are pending, and what
  /// values of weights are made of; nothing else.
  void exportProgram(const ExportRequest &request, llvm::StringRef path);
  /// Compiles the IR of a function of a program file, whatever it says, for
  /// this processor.
  SuppliedCode compileIR(const ProgramSignature &signature,
                         const FunctionSignature &function, llvm::StringRef ir);

  //===--------------------------------------------------------------------===//
  // Devices
  //===--------------------------------------------------------------------===//

  Devices &getDevices();
  /// Memory for what the host is about to write: the current device's where
  /// the host can.
  Allocator &getHostMemory();
  void resetPeak();

protected:
  void enter() override;
  void leave(bool failed) override;
  /// Computes the value where execution is not lazy.
  void prepareHeld(Node *node) override;
  void prepareTargets(llvm::ArrayRef<Node *> outputs,
                      llvm::ArrayRef<Node *> targets) override;

private:
  friend class Inspector;

  explicit Session(std::unique_ptr<SessionImpl> parts);

  std::unique_ptr<SessionImpl> impl;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_SESSION_H
