//===- RecordingSession.h - Recording through handles -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recording session has a recorder, and hands its values out as Vars. This is
// all that code needs which only says what is to be computed; running it is
// what a Session adds.
//
// All calls but those of Var, `dropLater`, `getMutex` and `checkProcess` are
// made between construction and destruction of a SessionScope. Errors are
// SessionErrors, and leave the session as it was.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_RECORDING_RECORDINGSESSION_H
#define METAOPS_RUNTIME_RECORDING_RECORDINGSESSION_H

#include "MetaOps/Runtime/Graph/CallPlace.h"
#include "MetaOps/Runtime/Graph/Var.h"
#include "MetaOps/Runtime/Memory/Buffer.h"
#include "MetaOps/Runtime/Recording/OutsideHistories.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "MetaOps/Runtime/Recording/UnusedTargets.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace metaops {

class Device;
class FunctionCall;
class Targets;

/// Records operators, and hands their results out as Vars.
class RecordingSession : public std::enable_shared_from_this<RecordingSession> {
public:
  virtual ~RecordingSession() = default;
  RecordingSession(const RecordingSession &) = delete;
  RecordingSession &operator=(const RecordingSession &) = delete;

  virtual std::timed_mutex &getMutex() = 0;
  /// Throws where this process cannot enter the session. To be called before
  /// the mutex is locked.
  virtual void checkProcess() const {}

  /// Records what is then held by Vars.
  Recorder &getRecorder() { return recorder; }
  /// Throws where a Var holds another session's value.
  void checkOwn(llvm::ArrayRef<const Var *> vars) const;
  /// Returns the Var that stands for another one here: itself, or that of a
  /// Var from outside of a function that is recorded. Throws where there is
  /// none, as it is of another session.
  virtual Var &resolve(Var &x);
  const Var &resolve(const Var &x) { return resolve(const_cast<Var &>(x)); }
  /// Returns the values that Vars hold here.
  Node *getNode(const Var &x) { return resolve(x).getNode(); }
  llvm::SmallVector<Node *> getNodes(llvm::ArrayRef<const Var *> vars);

  //===--------------------------------------------------------------------===//
  // Vars, and what they are rebound to
  //===--------------------------------------------------------------------===//

  /// Returns a handle on a recorded value; throws where that is another
  /// session's.
  Var wrap(Node *node);
  std::vector<Var> wrapAll(llvm::ArrayRef<Node *> nodes);
  /// Returns handles on all results of an operation.
  std::vector<Var> wrapResults(Node *first);
  /// Takes a value from a dying Var.
  virtual void dropLater(Node *node) = 0;

  /// Takes its value from x, which is not to be used any more.
  void giveAway(Var &x);
  /// Has x be a handle on another value.
  virtual void assign(Var &x, Node *value);
  /// Says that x has had a value on the way to its present one, younger than
  /// all of its former ones.
  void addFormer(Var &x, Node *value);
  /// Rebinds x to its value with a part replaced.
  void setItem(Var &x, llvm::ArrayRef<IndexItem> items, Operand value);
  /// Rebinds x to the value, which belongs to the next iteration: no gradient
  /// flows through it, and x's old memory may be reused.
  void update(Var &x, Operand value) { updateAt(x, value, CallPlace()); }
  /// The same, at a place of the user's program.
  virtual void updateAt(Var &x, Operand value, CallPlace place) = 0;

  //===--------------------------------------------------------------------===//
  // Derivatives
  //===--------------------------------------------------------------------===//

  /// Returns gradients of the sum of a loss by targets, in reverse mode: by the
  /// present value of each or, where the loss is not made of that, by the
  /// youngest of its former values that the loss is made of.
  std::vector<Var> grad(const Var &of, llvm::ArrayRef<const Var *> by,
                        UnusedTargets unused = UnusedTargets::NotAll);
  /// Returns by how much the outputs move where the inputs move by the
  /// tangents, in forward mode.
  std::vector<Var> jvp(llvm::ArrayRef<const Var *> outputs,
                       llvm::ArrayRef<const Var *> inputs,
                       llvm::ArrayRef<const Var *> tangents);

  /// Is told that values are used in a function that is recorded, and that
  /// derivatives there are by some Vars: by their values or, of those in
  /// `byFormer`, by former ones.
  virtual void noteInside(llvm::ArrayRef<Node *> used,
                          llvm::ArrayRef<const Var *> by,
                          llvm::ArrayRef<const Var *> byFormer) {}
  OutsidePaths &getOutsidePaths() { return outsidePaths; }

  /// Leaves the session, which is entered, while work of a call is done, and
  /// enters it again as it was.
  void leaveWhile(FunctionCall &call, llvm::function_ref<void()> work);

  //===--------------------------------------------------------------------===//
  // Devices
  //===--------------------------------------------------------------------===//

  /// Finds a device by its name; throws where there is none.
  virtual Device &getDevice(llvm::StringRef name) = 0;
  /// The device of what is made in this scope.
  virtual Device &getDevice() = 0;
  virtual void setDevice(Device &device) = 0;
  /// Records the value in a device's memory; the value itself if it is there.
  virtual Node *transfer(Node *node, Device &to) = 0;
  /// Records a tensor that is in the host's memory, on the current device.
  virtual Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
                   BufferRef buffer) = 0;

protected:
  friend class SessionScope;

  /// The recorder lives as long as the session.
  explicit RecordingSession(Recorder &recorder) : recorder(recorder) {}

  /// Is called at the ends of a scope; `failed` if by an exception.
  virtual void enter() = 0;
  virtual void leave(bool failed) = 0;

  /// Throws where a Var cannot be updated to a value.
  static void checkUpdate(const Var &x, const Node &value);
  /// Prepares a value that a Var is about to hold.
  virtual void prepareHeld(Node *node) {}
  friend class RecordedFunction;
  /// Is told by which Vars derivatives of outputs are about to be recorded.
  virtual void noteTargets(llvm::ArrayRef<Node *> outputs,
                           llvm::ArrayRef<const Var *> by,
                           const Targets &found) {}
  /// Prepares values by which derivatives of others are about to be recorded.
  virtual void prepareTargets(llvm::ArrayRef<Node *> outputs,
                              llvm::ArrayRef<Node *> targets) {}

private:
  Recorder &recorder;
  OutsidePaths outsidePaths;
};

/// A stay inside of a session: holds its lock, and has it drop what is not
/// needed any more at both ends.
class SessionScope {
public:
  explicit SessionScope(RecordingSession &session);
  /// The caller has locked the session's mutex, which this unlocks in the end.
  SessionScope(RecordingSession &session, std::adopt_lock_t);
  ~SessionScope();
  SessionScope(const SessionScope &) = delete;
  SessionScope &operator=(const SessionScope &) = delete;

private:
  std::unique_lock<std::timed_mutex> lock;
  RecordingSession &session;
  int exceptions;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_RECORDING_RECORDINGSESSION_H
