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

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Device/Devices.h"
#include "MetaOps/Runtime/Session/Error.h"
#include "MetaOps/Runtime/Session/Graph.h"
#include "MetaOps/Runtime/Session/GrowthWatch.h"
#include "MetaOps/Runtime/Session/Recorder.h"
#include "MetaOps/Runtime/Session/RunRecord.h"
#include "MetaOps/Runtime/Session/Settings.h"
#include "MetaOps/Runtime/Session/Slice.h"
#include "MetaOps/Runtime/Session/SuspendedRuns.h"
#include "MetaOps/Runtime/Session/UserSchedules.h"
#include "MetaOps/Runtime/Session/Var.h"
#include "MetaOps/Runtime/Threads/ForkMark.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

class Inspector;
struct ExportRequest;
struct ExportTarget;
struct ProgramSignature;
struct SuppliedCode;
struct ProgramSignature;
struct RepeatedUpdate;
struct Step;
struct UpdateValues;

/// A value in memory. To be read when `ready` has run; see Session::wait.
struct TensorData {
  BufferRef buffer;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Ticket ready;
};

/// A fetch whose values are computed, or will be by runs in the queue.
struct CompletedFetch {
  uint64_t id;
  std::vector<TensorData> values;
};

class Session : public std::enable_shared_from_this<Session> {
public:
  /// `compiler` runs programs on the backend "compiled"; without one, only the
  /// interpreter does. The devices are "cpu:0" to "cpu:7", "interpreter:0" and
  /// those of `moreKinds`.
  static std::shared_ptr<Session>
  create(std::shared_ptr<Compiler> compiler = nullptr,
         std::vector<DeviceKind> moreKinds = {});
  ~Session();

  std::timed_mutex &getMutex() { return mutex; }
  /// Throws in a forked child. To be called before the mutex is locked, which
  /// another thread may have held when the process was forked.
  void checkProcess() const;

  //===--------------------------------------------------------------------===//
  // Parts
  //===--------------------------------------------------------------------===//

  /// Records what is then held by Vars.
  Recorder &getRecorder() { return recorder; }
  /// Reports; see Inspector.h.
  Inspector inspect();
  mlir::MLIRContext *getContext() { return &context; }
  /// The limit of memory is that of the current device.
  Settings getSettings() const;
  void setFlag(llvm::StringRef name, const FlagValue &value);

  //===--------------------------------------------------------------------===//
  // Vars, and what they are rebound to
  //===--------------------------------------------------------------------===//

  /// A handle on a recorded value. Where execution is not lazy, computes it.
  Var wrap(Node *node);
  std::vector<Var> wrapAll(llvm::ArrayRef<Node *> nodes);
  /// The same for all results of an operation.
  std::vector<Var> wrapResults(Node *first);
  /// Takes a value from a dying Var.
  void dropLater(Node *node);

  /// Has x be a handle on another value.
  void assign(Var &x, Node *value);
  /// Rebinds x to its value with a part replaced.
  void setItem(Var &x, llvm::ArrayRef<IndexItem> items, Operand value);
  /// Rebinds x to the value, which belongs to the next iteration: no gradient
  /// flows through it, and x's old memory may be reused. See Updates.cpp.
  void update(Var &x, Operand value);

  /// A step that may be repeated, see RepeatedUpdate.cpp. Between the first two
  /// its updates are recorded, if the first returns true. `numbers` are what
  /// the step takes as 0-d tensors: `numNumbers` in one type, then in others.
  bool beginUpdate(RepeatedUpdate &update, UpdateValues values);
  void endUpdate(RepeatedUpdate &update, llvm::ArrayRef<const Var *> targets,
                 llvm::ArrayRef<const Var *> numbers, unsigned numNumbers);
  /// Runs the step's program on other values and numbers; false where that
  /// cannot be, and nothing is done.
  bool repeatUpdate(const RepeatedUpdate &update, UpdateValues values,
                    llvm::ArrayRef<Number> numbers);

  /// Gradients of the sum of the loss by the targets, in reverse mode.
  std::vector<Var> grad(const Var &loss, llvm::ArrayRef<const Var *> targets);
  /// How the outputs move where the inputs move by the tangents, in forward
  /// mode.
  std::vector<Var> jvp(llvm::ArrayRef<const Var *> outputs,
                       llvm::ArrayRef<const Var *> inputs,
                       llvm::ArrayRef<const Var *> tangents);

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  /// Puts what the values need into the queue.
  void sync(llvm::ArrayRef<const Var *> vars);
  /// The same for all updates, fetches and everything that a Var holds.
  void syncAll();
  /// The value in memory, computed if need be. Not to be written.
  TensorData getData(const Var &var);
  /// The last runs that the calls of this scope have asked for. The caller is
  /// to `wait` for them, best when it has left the scope.
  const Tickets &getAsked() const { return asked; }

  /// Returns when the runs are done. Throws if a run on their devices has
  /// failed since the last call; the values that it was to compute cannot be
  /// had. Where `shouldStop` says so, cancels what all devices have to do, and
  /// throws; their values can be asked for again. Needs no scope.
  void wait(const Tickets &tickets, StopCheck shouldStop = nullptr);
  /// The same for one value. Throws also where it is already known that the
  /// value could not be computed, and where its run was stopped.
  void wait(const TensorData &data, StopCheck shouldStop = nullptr);
  /// Whether the run was stopped that was to compute the value: it is to be
  /// asked for again.
  bool wasStopped(const TensorData &data) const {
    return suspended.wasStopped(data.ready);
  }
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
  void setStopCheck(std::function<bool()> check) {
    stopCheck = std::move(check);
  }

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
  /// What the user is to be told of and nothing has failed for, each once.
  std::vector<std::string> takeWarnings() {
    return std::exchange(warnings, {});
  }
  /// Has runs that are put into the queue from here on reported; null: none.
  void setListener(std::shared_ptr<RunListener> newListener) {
    listener = std::move(newListener);
  }
  /// Has no program keep what it has packed, since memory is short.
  void dropPacked() { programs.dropPacked(/*isShort=*/true); }

  /// Writes a file with a program that computes the outputs from other inputs,
  /// for processes without a compiler; see docs/ProgramFile.md. Runs updates
  /// that are pending, and what was recorded before the inputs; nothing else.
  void exportProgram(const ExportRequest &request, llvm::StringRef path);
  /// Compiles the IR of a program file, whatever it says, for this processor.
  SuppliedCode compileIR(const ProgramSignature &signature, llvm::StringRef ir);

  //===--------------------------------------------------------------------===//
  // Devices
  //===--------------------------------------------------------------------===//

  /// By its name; throws where there is none.
  Device &getDevice(llvm::StringRef name);
  Devices &getDevices() { return devices; }
  /// The device of what is made in this scope; the first at its beginning.
  Device &getDevice() { return *device; }
  void setDevice(Device &newDevice) { device = &newDevice; }
  /// Memory for what the host is about to write: the current device's where
  /// the host can.
  Allocator &getHostMemory();
  /// Records a tensor that is in the host's memory, on the current device.
  Var give(DType dtype, llvm::ArrayRef<int64_t> shape, BufferRef buffer);
  /// Records the value in a device's memory; the value itself if it is there.
  Node *transfer(Node *node, Device &to);
  void resetPeak() { device->getMemory().resetPeak(); }

private:
  friend class Inspector;
  friend class SessionScope;
  friend class Var;

  /// Why a program is run: somebody asked for values, updates are due, also
  /// such as are written by hand (Carried), much is pending, fresh parameters
  /// are made, or another device needs values.
  enum class RunKind { Asked, Updates, Carried, Pending, Initial, Transferred };

  Session(std::shared_ptr<Compiler> compiler,
          std::vector<DeviceKind> moreKinds);

  // Scope (Session.cpp)
  void enter();
  void leave(bool failed);
  void dropDead();

  /// Computes what derivatives by the targets begin with.
  void prepareTargets(llvm::ArrayRef<Node *> targets);

  // Copies (Copies.cpp)
  Node *skipViews(Node *node) const;
  bool addCopies(Node *output,
                 const llvm::DenseMap<Node *, unsigned> &arguments,
                 Step &step) const;
  /// A program for the slice where that is copies alone, else null.
  std::shared_ptr<const CachedProgram> makeCopies();

  // Export (Export.cpp)
  void computeConstants(const ExportRequest &request);
  void traceExport(const ExportRequest &request);
  TargetCode compileFor(const ExportTarget &target, llvm::StringRef bytecode,
                        llvm::ArrayRef<std::string> lines);
  ProgramSignature describeExport(const ExportRequest &request);

  // Settings (Session.cpp)
  void readSchedules(Settings &changed);

  // Running (Run.cpp)
  /// Has `slice` compute what is asked for and what goes along with it. False
  /// where everything is there; `shareView` takes care of views of what is.
  bool planSlice(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind,
                 llvm::function_ref<bool(Node *)> shareView);
  void compute(llvm::ArrayRef<Node *> asked, RunKind kind);
  /// What one program of a device is to compute.
  struct DeviceNodes {
    Device *device;
    llvm::SmallVector<Node *, 4> nodes;
  };
  using NodesByDevice = llvm::SmallVector<DeviceNodes, 1>;
  NodesByDevice groupByDevice(llvm::ArrayRef<Node *> asked, RunKind kind) const;
  std::vector<Node *> findFetched(RunKind kind) const;
  bool planProgram(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind);
  void syncNodes(llvm::ArrayRef<Node *> asked);
  std::shared_ptr<const RunRecord>
  makeRecord(std::shared_ptr<const CachedProgram> cached) const;
  bool computeView(Node *node);
  void addResultsBeside();
  void addSavedValues();
  bool feedsReindex(const Node *node) const;
  bool isOnlyMoved(const Node *node) const;
  bool isAwaited(const Node *node) const;
  bool isWorthSaving(Node *node, bool keepsHistory) const;
  std::shared_ptr<const CachedProgram> lookUpProgram();
  ProgramFlags getProgramFlags(const Device &on);
  Compiler &getCompiler(const Device &on) const;
  /// The memory of a 0-d tensor of these bits.
  BufferRef makeScalar(uint64_t bits, Device &on);
  BufferRef bufferOf(Node *leaf, Device &on);
  BufferRef bufferOf(Node *leaf) {
    return bufferOf(leaf, leaf->device ? *leaf->device : *device);
  }
  /// Lets go of what queued runs, dead values but these, and programs hold.
  void makeRoom(llvm::ArrayRef<Node *> kept = {});
  std::shared_ptr<const CachedProgram>
  compileSlice(std::vector<GrowingDim> growing);
  void runSlice(std::shared_ptr<const CachedProgram> cached, RunKind kind);
  Ticket launch(std::unique_ptr<QueuedRun> queued, RunKind kind);
  Ticket push(std::unique_ptr<QueuedRun> queued, Queue::Start start);
  ReplacedValues findReplaced() const;
  void execute(std::unique_ptr<QueuedRun> queued, Ticket ticket);
  void store(Node *output, BufferRef buffer, Ticket ready, uint32_t depth);
  void ask(llvm::ArrayRef<Node *> nodes);
  void runEagerly(Node *node);

  // From device to device (Transfer.cpp)
  void computeTransfers(std::vector<Node *> nodes);
  void startTransfer(Node *node);
  Ticket copy(Node *source, BufferRef to, llvm::StringRef name,
              mlir::Location location);
  TensorData read(Node *node);

  // Stopping (Interrupt.cpp)
  [[noreturn]] void stopWaiting();
  StopCheck getStopCheck() {
    return stopCheck ? StopCheck(stopCheck) : StopCheck();
  }
  /// With the session entered.
  void waitInside(const Tickets &tickets);
  void drainInside();
  /// Starts suspended runs again, and those that share memory with them.
  void resume(llvm::function_ref<bool(Ticket)> isAsked);
  std::vector<std::unique_ptr<QueuedRun>>
  takeSuspended(llvm::function_ref<bool(Ticket)> isAsked);
  /// For runs that are put into a device's queue; null, or what no suspended
  /// run has something in.
  BufferRef &getScratch(Device &on);
  /// The same for those that were to compute these values.
  void resumeFor(llvm::ArrayRef<Node *> nodes);

  // Updates (Updates.cpp)
  /// Pending updates, and what of `along` one program computes with them.
  std::vector<Node *> findDue(llvm::ArrayRef<Node *> along) const;
  void flushUpdates(llvm::ArrayRef<Node *> along = {});
  void findDonatable(RunKind kind);
  void addWaitingValues();
  std::vector<Node *> findWaiting();
  void markOutputs(bool areOutputs);
  void recordDonations(const ProgramRun &run);
  void computeInitialValues(llvm::ArrayRef<Node *> targets);
  bool isInitialValue(const Node *node) const;
  void completeFetches();

  // Updates that are repeated (RepeatedUpdate.cpp)
  bool isApart(UpdateValues values);
  bool fits(const RepeatedUpdate &update, UpdateValues values) const;

  // Values that loops carry (Carried.cpp)
  void addCarriedValues(RunKind kind);
  /// Ends the marks of what was asked for itself.
  void forgetAsked();
  /// Computes targets of gradients that are updates, written by hand.
  void computeReplacements(llvm::ArrayRef<Node *> targets);
  /// Computes what Vars hold when very much has been recorded.
  void computePending();

  // Checked indices (CheckedValues.cpp)
  std::vector<CheckedValue> findChecked(const ProgramRun &run);

  mlir::MLIRContext context;
  Graph graph;
  Recorder recorder;
  std::shared_ptr<Compiler> compiler;
  std::shared_ptr<Compiler> interpreter;
  ProgramCache programs;
  GrowthWatch growth;

  std::timed_mutex mutex;
  ForkMark forkMark;
  std::mutex deadMutex;
  std::vector<Node *> dead;
  std::atomic<bool> areDead{false};

  Settings settings;
  UserSchedules schedules;
  /// Distinguishes backends in keys.
  llvm::DenseMap<const Compiler *, uint32_t> targets;

  /// Recorded and not yet run, in order.
  llvm::SetVector<Node *> pendingUpdates;
  /// The memory of the values that these replace.
  llvm::DenseMap<Node *, RunRef> replaced;
  /// Counts the runs of updates; see Node::generation.
  int64_t flushes = 0;
  struct Fetch {
    uint64_t id;
    std::vector<Node *> nodes;
  };
  std::vector<Fetch> fetches;
  std::vector<CompletedFetch> completedFetches;
  uint64_t nextFetch = 0;

  // The run that is on its way; members so that their memory is reused.
  Slice slice;
  llvm::SmallVector<bool> donatable;
  /// What was asked for itself, where the slice is more; see Node::isAsked.
  std::vector<Node *> askedNodes;
  /// What a program adds to the depth of the histories of its results.
  uint32_t depthStep = 1;
  /// How many operations had been recorded when the last program was run.
  uint64_t recordedAtRun = 0;

  Tickets asked;
  /// Counts the runs of all devices.
  uint64_t launched = 0;
  std::shared_ptr<RunListener> listener;

  std::vector<std::string> warnings;
  /// The dump_dir that the user was warned of last.
  std::string unwritableDirectory;

  std::shared_ptr<const RunRecord> lastRun;
  bool lookUpCompiled = false;
  int64_t programsCompiled = 0, programHits = 0, programsRun = 0;
  int64_t kernelsCompiled = 0;
  double compileSeconds = 0;

  std::function<bool()> stopCheck;
  SuspendedRuns suspended;
  std::mutex postponedMutex;
  /// Completed fetches whose runs are suspended.
  std::vector<CompletedFetch> postponedFetches;

  FailureNotes failures;
  /// What is in their queues is run before the rest of the session goes.
  Devices devices;
  Device *device;
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
