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

#include "MetaOps/Runtime/Compiler/KernelTools.h"
#include "MetaOps/Runtime/Export/ProgramSignature.h"
#include "MetaOps/Runtime/Graph/DroppedValues.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Plan/Fetches.h"
#include "MetaOps/Runtime/Plan/PendingUpdates.h"
#include "MetaOps/Runtime/Plan/ProgramPlanner.h"
#include "MetaOps/Runtime/Plan/SuspendedRuns.h"
#include "MetaOps/Runtime/Programs/Programs.h"
#include "MetaOps/Runtime/Programs/Settings.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "MetaOps/Runtime/Routines/RoutineRegistry.h"
#include "MetaOps/Runtime/Run/Launcher.h"
#include "MetaOps/Runtime/Run/Runner.h"
#include "MetaOps/Runtime/Run/Transfers.h"
#include "MetaOps/Runtime/Run/ValueMemory.h"
#include "MetaOps/Runtime/Run/Waiter.h"
#include "MetaOps/Runtime/Session/RepeatedCall.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Runtime/Threads/ForkMark.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace metaops {

struct ExportTarget;

/// The values of a call while it is recorded.
struct CallValues {
  llvm::ArrayRef<Var *> arguments;
  /// Their values in the beginning.
  llvm::SmallVector<const Node *, 32> before;
  /// Scalars that the call has made.
  llvm::DenseMap<const Node *, RepeatedCall::Source> numbers;
  llvm::ArrayRef<Var> results;
  /// The values that were given away.
  std::vector<NodeRef> given;

  /// Notes what a step of the function has made, if that is a scalar.
  void addNumber(const Node *node, const RecordedFunction::Step &step);
};

/// A function compiled for other processes.
struct CompiledFunction {
  /// For each target.
  std::vector<TargetCode> code;
  /// As text; empty for a function of several sizes.
  std::string ir;
};

/// The parts of a session, and what goes through several of them.
class SessionImpl {
public:
  SessionImpl(std::shared_ptr<Compiler> compiler,
              std::vector<DeviceKind> moreKinds);
  ~SessionImpl();

  // Scope and settings (Session.cpp)
  void enter();
  void leave(bool failed);
  void setFlag(llvm::StringRef name, const FlagValue &value);

  // Asking for values (Requests.cpp)
  void prepareHeld(Node *node);
  void sync(llvm::ArrayRef<Node *> nodes);
  void syncAll();
  TensorData getData(Node *node);
  uint64_t fetch(llvm::ArrayRef<Node *> nodes);

  // Updates (Updates.cpp)
  /// Returns the value that the Var is to be rebound to.
  Node *update(const Var &x, Operand value, CallPlace place);
  void prepareUpdates(llvm::ArrayRef<Node *> targets);
  void flushUpdates(llvm::ArrayRef<Node *> along = {});
  void computeInitialValues(llvm::ArrayRef<Node *> targets);

  // Calls of recorded functions (Calls.cpp, CallNotes.cpp, RepeatedCall.cpp)
  Device &findDevice(llvm::ArrayRef<Var *> arguments);
  bool isAlone(llvm::ArrayRef<Var *> arguments, const Device &on);
  void checkDonated(const CallRequest &request);
  void checkHistories(const CallRequest &request, OutsidePaths &paths);
  /// Returns the results that derivatives of depend on what the call has
  /// rebound: on the value that is gone.
  std::vector<Node *> findEnding(const CallValues &values);
  /// Returns the results that are to be computed, and has nothing kept for
  /// gradients of those whose history ends.
  llvm::SmallSetVector<Node *, 8> findAsked(const CallValues &values,
                                            llvm::ArrayRef<Node *> ending);
  void recordCall(Session &session, RepeatedCall &call,
                  const CallRequest &request,
                  std::optional<std::vector<Var>> &results);
  void finishCall();
  /// Launches a call on other arguments, and returns its results; nothing where
  /// that cannot be, and nothing is done.
  std::optional<std::vector<Node *>> repeatCall(const RepeatedCall &call,
                                                const CallRequest &request);

  // Loops that ask for nothing (Loops.cpp)
  /// Computes targets of gradients that are updates, written by hand.
  void computeReplacements(llvm::ArrayRef<Node *> targets);
  /// Computes what Vars hold when very much has been recorded.
  void computePending();

  // Export (Export.cpp)
  /// `own` is the session.
  void exportProgram(const std::shared_ptr<RecordingSession> &own,
                     const ExportRequest &request, llvm::StringRef path);
  SuppliedCode compileIR(const ProgramSignature &signature,
                         const FunctionSignature &function, llvm::StringRef ir);

  std::timed_mutex mutex;
  ForkMark forkMark;

  mlir::MLIRContext context;
  Graph graph;
  Recorder recorder;
  Settings settings;
  std::shared_ptr<RoutineRegistry> routines = createHostRoutines();
  DroppedValues dropped;
  ProvisionalValues provisional;

  // Values to compute
  SuspendedRuns suspended;
  PendingUpdates updates;
  Fetches fetches;
  ProgramPlanner planner;

  // Programs, and running them
  Programs programs;
  Waiter waiter;
  Launcher launcher;
  ValueMemory memory;
  Transfers transfers;
  Runner runner;

  Tickets asked;
  /// Somebody had asked for values that the last run of updates computed.
  bool flushedForAsked = false;
  /// Devices. Their queues are run before the rest of the session goes.
  Devices devices;

private:
  // Asking for values
  bool belongsToUpdates(llvm::ArrayRef<Node *> asked);
  void ask(llvm::ArrayRef<Node *> nodes);
  void runEagerly(Node *node);

  // Updates
  void releaseFormer(llvm::ArrayRef<NodeRef> values);
  bool isOfNextStep(const Var &x, Operand value) const;
  bool isInitialValue(const Node *node) const;

  // Calls
  /// Runs a call that has been recorded, and notes how to repeat it.
  void endCall(RepeatedCall &call, const RecordedFunction &function,
               const CallValues &values);
  BufferRef bufferOf(const RepeatedCall::Source &source,
                     const CallRequest &request, Device &on);
  std::unique_ptr<QueuedRun> queueCall(const RepeatedCall &call,
                                       const CallRequest &request, Device &on);
  std::vector<Node *> makeResults(const RepeatedCall &call,
                                  const CallRequest &request,
                                  llvm::ArrayRef<BufferRef> outputs,
                                  Ticket ticket, Device &on);
  void noteEnds(const RepeatedCall &call, llvm::ArrayRef<Var *> arguments,
                llvm::ArrayRef<Node *> results, uint64_t within);

  // Export
  CompiledFunction compileExport(llvm::ArrayRef<ExportedSlice> slices,
                                 llvm::ArrayRef<NamedExtent> extents,
                                 llvm::ArrayRef<ExportTarget> targets);
  void computeWeights(llvm::ArrayRef<Node *> values);
  TargetCode compileFor(const ExportTarget &target,
                        llvm::ArrayRef<ExportedSlice> slices,
                        llvm::ArrayRef<VaryingDim> varying = {});
};

} // namespace metaops

#endif // METAOPS_RUNTIME_SESSION_SESSIONIMPL_H
