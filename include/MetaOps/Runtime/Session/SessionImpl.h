//===- SessionImpl.h - How a session works ----------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its parts, each with data and one job of its own; none knows one that is made
// after it, but for the devices. Functions of the session are what goes through
// several of them.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_SESSION_SESSIONIMPL_H
#define METAOPS_RUNTIME_SESSION_SESSIONIMPL_H

#include "MetaOps/Runtime/Graph/DroppedValues.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Plan/Fetches.h"
#include "MetaOps/Runtime/Plan/PendingUpdates.h"
#include "MetaOps/Runtime/Plan/Planner.h"
#include "MetaOps/Runtime/Plan/SuspendedRuns.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "MetaOps/Runtime/Run/Launcher.h"
#include "MetaOps/Runtime/Run/Runner.h"
#include "MetaOps/Runtime/Run/Transfers.h"
#include "MetaOps/Runtime/Run/ValueMemory.h"
#include "MetaOps/Runtime/Run/Waiter.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Runtime/Threads/ForkMark.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

struct ExportTarget;

class SessionImpl final : public Session,
                          public std::enable_shared_from_this<SessionImpl> {
public:
  SessionImpl(std::shared_ptr<Compiler> compiler,
              std::vector<DeviceKind> moreKinds);
  ~SessionImpl() override;

  std::timed_mutex &getMutex() override { return mutex; }
  void checkProcess() const override;
  Recorder &getRecorder() override { return recorder; }
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
                    llvm::ArrayRef<Number> numbers,
                    StepOutcomeRef outcome) override;
  void watchUpdates(StepOutcomeRef outcome) override {
    updates.watch(std::move(outcome));
  }
  std::vector<Var> grad(const Var &loss, llvm::ArrayRef<const Var *> targets,
                        UnusedTargets unused) override;
  std::vector<Var> jvp(llvm::ArrayRef<const Var *> outputs,
                       llvm::ArrayRef<const Var *> inputs,
                       llvm::ArrayRef<const Var *> tangents) override;
  void sync(llvm::ArrayRef<const Var *> vars) override;
  void syncAll() override;
  TensorData getData(const Var &var) override;
  const Tickets &getAsked() const override { return asked; }
  void wait(const Tickets &tickets, StopCheck shouldStop) override {
    waiter.wait(tickets, shouldStop);
  }
  void wait(const TensorData &data, StopCheck shouldStop) override {
    waiter.wait(data, shouldStop);
  }
  bool wasStopped(const TensorData &data) const override {
    return suspended.wasStopped(data.ready);
  }
  void waitForRoom(StopCheck shouldStop) override {
    waiter.waitForRoom(shouldStop);
  }
  bool drain(StopCheck shouldStop) override { return waiter.drain(shouldStop); }
  void cancel() override { waiter.cancel(); }
  void throwFailure() override { waiter.throwFailure(); }
  void setStopCheck(std::function<bool()> check) override {
    waiter.setStopCheck(std::move(check));
  }
  uint64_t fetch(llvm::ArrayRef<const Var *> vars) override;
  std::vector<CompletedFetch> takeCompletedFetches() override {
    return fetches.takeCompleted();
  }
  bool refresh(CompletedFetch &fetch) override {
    return fetches.refresh(fetch);
  }
  std::shared_ptr<const RunRecord> getLastRun() const override;
  std::vector<std::string> takeWarnings() override {
    return programs.takeWarnings();
  }
  void setListener(std::shared_ptr<RunListener> newListener) override {
    launcher.setListener(std::move(newListener));
  }
  void dropPacked() override { programs.dropPacked(/*isShort=*/true); }
  void exportProgram(const ExportRequest &request,
                     llvm::StringRef path) override;
  SuppliedCode compileIR(const ProgramSignature &signature,
                         llvm::StringRef ir) override;
  Device &getDevice(llvm::StringRef name) override;
  Devices &getDevices() override { return devices; }
  Device &getDevice() override { return devices.getCurrent(); }
  void setDevice(Device &device) override { devices.setCurrent(device); }
  Allocator &getHostMemory() override { return transfers.getHostMemory(); }
  Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
           BufferRef buffer) override;
  Node *transfer(Node *node, Device &to) override;
  void resetPeak() override { devices.getCurrent().getMemory().resetPeak(); }

private:
  friend class Inspector;

  // Scope (Session.cpp)
  void enter() override;
  void leave(bool failed) override;
  Var makeVar(Node *node);
  /// Keeps histories that lead to values while gradients by these are recorded,
  /// though no Var holds them any more.
  class KeptTargets {
  public:
    KeptTargets(Graph &graph, llvm::ArrayRef<Node *> values);
    ~KeptTargets();

  private:
    Graph &graph;
    std::vector<NodeRef> kept;
  };
  /// Computes what derivatives by the targets begin with.
  void prepareTargets(llvm::ArrayRef<Node *> targets);

  // Asking for values (Requests.cpp)
  void syncNodes(llvm::ArrayRef<Node *> nodes);
  bool belongsToUpdates(llvm::ArrayRef<Node *> asked);
  void ask(llvm::ArrayRef<Node *> nodes);
  void runEagerly(Node *node);

  // Updates (Updates.cpp)
  void flushUpdates(llvm::ArrayRef<Node *> along = {});
  void releaseFormer(llvm::ArrayRef<NodeRef> values);
  bool isOfNextStep(const Var &x, Operand value) const;
  void computeInitialValues(llvm::ArrayRef<Node *> targets);
  bool isInitialValue(const Node *node) const;

  // Updates that are repeated (RepeatedUpdate.cpp)
  bool isApart(UpdateValues values);
  bool fits(const RepeatedUpdate &update, UpdateValues values) const;

  // Loops that ask for nothing (Loops.cpp)
  /// Computes targets of gradients that are updates, written by hand.
  void computeReplacements(llvm::ArrayRef<Node *> targets);
  /// Computes what Vars hold when very much has been recorded.
  void computePending();

  // Export (Export.cpp)
  void computeConstants(const ExportRequest &request);
  Slice traceExport(const ExportRequest &request);
  TargetCode compileFor(const ExportTarget &target, llvm::StringRef bytecode,
                        llvm::ArrayRef<std::string> lines);

  std::timed_mutex mutex;
  ForkMark forkMark;

  mlir::MLIRContext context;
  Graph graph;
  Recorder recorder;
  Settings settings;
  DroppedValues dropped;
  ProvisionalValues provisional;

  // What is to be computed
  SuspendedRuns suspended;
  PendingUpdates updates;
  Fetches fetches;
  Planner planner;

  // How
  Programs programs;
  Waiter waiter;
  Launcher launcher;
  ValueMemory memory;
  Transfers transfers;
  Runner runner;

  Tickets asked;
  /// Somebody had asked for values that the last run of updates computed.
  bool flushedForAsked = false;
  /// What is in their queues is run before the rest of the session goes.
  Devices devices;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_SESSIONIMPL_H
