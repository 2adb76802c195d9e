//===- SessionImpl.h - How a session works ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph that is recorded, and what belongs to running parts of it: which
// slice is run, with what else, in what memory, and what becomes of its values.
// Each file of this folder has the functions of one of these; what has data of
// its own is a class of its own.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_SESSION_SESSIONIMPL_H
#define METAOPS_LIB_RUNTIME_SESSION_SESSIONIMPL_H

#include "MetaOps/Runtime/Compiler/Compiler.h"
#include "MetaOps/Runtime/Session/Graph.h"
#include "MetaOps/Runtime/Session/GrowthWatch.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Runtime/Session/Slice.h"
#include "MetaOps/Runtime/Session/SuspendedRuns.h"
#include "MetaOps/Runtime/Session/UserSchedules.h"
#include "MetaOps/Runtime/Threads/ForkMark.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>

namespace metaops {

struct ExportTarget;
struct Step;

class SessionImpl final : public Session,
                          public std::enable_shared_from_this<SessionImpl> {
public:
  SessionImpl(std::shared_ptr<Compiler> compiler,
              std::vector<DeviceKind> moreKinds);
  ~SessionImpl() override;

  std::timed_mutex &getMutex() override { return mutex; }
  void checkProcess() const override;
  Recorder &getRecorder() override { return recorder; }
  Inspector inspect() override;
  mlir::MLIRContext *getContext() override { return &context; }
  Settings getSettings() const override;
  void setFlag(llvm::StringRef name, const FlagValue &value) override;
  Var wrap(Node *node) override;
  std::vector<Var> wrapAll(llvm::ArrayRef<Node *> nodes) override;
  std::vector<Var> wrapResults(Node *first) override;
  void dropLater(Node *node) override;
  void assign(Var &x, Node *value) override;
  void setItem(Var &x, llvm::ArrayRef<IndexItem> items, Operand value) override;
  void update(Var &x, Operand value) override;
  bool beginUpdate(RepeatedUpdate &update, UpdateValues values) override;
  void endUpdate(RepeatedUpdate &update, llvm::ArrayRef<const Var *> targets,
                 llvm::ArrayRef<const Var *> numbers,
                 unsigned numNumbers) override;
  bool repeatUpdate(const RepeatedUpdate &update, UpdateValues values,
                    llvm::ArrayRef<Number> numbers) override;
  std::vector<Var> grad(const Var &loss,
                        llvm::ArrayRef<const Var *> targets) override;
  std::vector<Var> jvp(llvm::ArrayRef<const Var *> outputs,
                       llvm::ArrayRef<const Var *> inputs,
                       llvm::ArrayRef<const Var *> tangents) override;
  void sync(llvm::ArrayRef<const Var *> vars) override;
  void syncAll() override;
  TensorData getData(const Var &var) override;
  const Tickets &getAsked() const override { return asked; }
  void wait(const Tickets &tickets, StopCheck shouldStop) override;
  void wait(const TensorData &data, StopCheck shouldStop) override;
  bool wasStopped(const TensorData &data) const override {
    return suspended.wasStopped(data.ready);
  }
  void waitForRoom(StopCheck shouldStop) override;
  bool drain(StopCheck shouldStop) override;
  void cancel() override;
  void throwFailure() override;
  void setStopCheck(std::function<bool()> check) override {
    stopCheck = std::move(check);
  }
  uint64_t fetch(llvm::ArrayRef<const Var *> vars) override;
  std::vector<CompletedFetch> takeCompletedFetches() override;
  bool refresh(CompletedFetch &fetch) override;
  std::shared_ptr<const RunRecord> getLastRun() const override;
  std::vector<std::string> takeWarnings() override {
    return std::exchange(warnings, {});
  }
  void setListener(std::shared_ptr<RunListener> newListener) override {
    listener = std::move(newListener);
  }
  void dropPacked() override { programs.dropPacked(/*isShort=*/true); }
  void exportProgram(const ExportRequest &request,
                     llvm::StringRef path) override;
  SuppliedCode compileIR(const ProgramSignature &signature,
                         llvm::StringRef ir) override;
  Device &getDevice(llvm::StringRef name) override;
  Devices &getDevices() override { return devices; }
  Device &getDevice() override { return *device; }
  void setDevice(Device &newDevice) override { device = &newDevice; }
  Allocator &getHostMemory() override;
  Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
           BufferRef buffer) override;
  Node *transfer(Node *node, Device &to) override;
  void resetPeak() override { device->getMemory().resetPeak(); }

private:
  friend class Inspector;

  /// Why a program is run: somebody asked for values, updates are due, also
  /// such as are written by hand (Carried), much is pending, fresh parameters
  /// are made, or another device needs values.
  enum class RunKind { Asked, Updates, Carried, Pending, Initial, Transferred };

  // Scope (Session.cpp)
  void enter() override;
  void leave(bool failed) override;
  Var makeVar(Node *node);
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

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_SESSION_SESSIONIMPL_H
