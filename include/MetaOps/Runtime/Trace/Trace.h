//===- Trace.h - Recording of a function ------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_TRACE_TRACE_H
#define METAOPS_RUNTIME_TRACE_TRACE_H

#include "MetaOps/Runtime/Graph/DroppedValues.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Recording/OutsideHistories.h"
#include "MetaOps/Runtime/Recording/RecordingSession.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace metaops {

/// Records a function, apart from what a session computes. It has the context,
/// the lock and the signatures of the session that hosts it, but a graph of its
/// own. Arguments are placeholders, so that nothing in it has a value.
///
/// A Var of the host that the function uses is captured: the variable, not its
/// value, becomes an argument. What arguments and captured Vars are rebound to
/// is noted, and the Vars of the host stay as they are.
class Trace final : public RecordingSession {
public:
  enum class Kind {
    Function,
    /// A branch, or a part of a loop: what it rebinds from outside would have
    /// to be rebound in other trips, too, or in none, and is refused.
    Body,
    /// A part whose gradient records it again. It is run once, and what it
    /// rebinds from outside is, too.
    Checkpoint,
    /// A function of one example, of many at once: no Var from outside could
    /// have the values of all, nor could an argument.
    Example
  };

  explicit Trace(const std::shared_ptr<RecordingSession> &host,
                 Kind kind = Kind::Function);
  ~Trace() override;

  /// Returns a Var that stands for the next argument, which is of the type of
  /// the given one or, if `isRow` is set, of a row of it, and on its device.
  Var addArgument(const Var &like, bool isRow = false);
  /// Returns a Var for a number that each call is given anew, of type `dtype`.
  Var addNumber(DType dtype);
  /// Says which Vars the function is given: those that stand for its arguments,
  /// in their order. They stay where they are until `finish`. A Var of
  /// `sources`, if given, stands for the same variable where it is captured.
  void setArguments(llvm::ArrayRef<Var *> given,
                    llvm::ArrayRef<const Var *> sources = {});
  /// The Vars from outside that have been captured, in the order in which they
  /// were met.
  llvm::ArrayRef<Var *> getCaptured() const { return captured; }
  /// Returns the numbers of the arguments whose sources were used from outside,
  /// in order.
  std::vector<unsigned> getMet() const {
    return {met.set_bits_begin(), met.set_bits_end()};
  }
  /// A captured Var that has been rebound, at last by an update or an
  /// assignment, and its values since, as far as something needs them.
  struct Rebound {
    Var *var;
    std::vector<Var> values;
    bool isUpdate;
  };
  /// Returns the values that a Var has had before, as far as something needs
  /// them.
  std::vector<Var> getFormer(const Var &var);
  /// Returns what a checkpoint rebinds, in the order in which it was met.
  std::vector<Rebound> getRebound();
  /// Is told of each Var when it is captured: it has to live until `close`.
  std::function<void(Var &)> onCapture;

  /// Returns what has been recorded as a function of the arguments, the
  /// captured Vars and the numbers, whose results are the values of `outputs`.
  /// Throws where its calls would not do what was recorded.
  std::shared_ptr<const RecordedFunction>
  finish(llvm::ArrayRef<const Var *> outputs = {});
  /// Parts of a function of which the last arguments move its other ones.
  struct Linearized {
    /// The function without its last results, but with the values that the
    /// tangents are made of.
    std::shared_ptr<const RecordedFunction> values;
    /// The last results, of these values and, behind them, the tangents.
    std::shared_ptr<const RecordedFunction> tangents;
    size_t numResiduals;
  };
  /// Returns the parts of what has been recorded: what depends on the arguments
  /// from `firstTangent` on, and what does not.
  Linearized finishLinear(llvm::ArrayRef<const Var *> outputs,
                          llvm::ArrayRef<const Var *> moved,
                          size_t firstTangent);
  /// Keeps a function that is replayed in the trace until `close`: its
  /// constants are captured.
  void keep(std::shared_ptr<const RecordedFunction> function) {
    // A step in a loop of Python's is replayed many times.
    if (replayed.empty() || replayed.back() != function)
      replayed.push_back(std::move(function));
  }
  /// Returns the lines of values that Vars still hold.
  std::vector<std::string> findHeld();
  /// Lets go of the Vars that it has made. To be called when the function has
  /// been recorded or has failed.
  void close();

  std::timed_mutex &getMutex() override { return host->getMutex(); }
  void checkProcess() const override { host->checkProcess(); }
  Var &resolve(Var &x) override;
  void dropLater(Node *node) override { parts->dropped.add(node); }
  void assign(Var &x, Node *value) override;
  /// Notes that the function updates an argument or a captured Var.
  void updateAt(Var &x, Operand value, CallPlace place) override;
  void noteInside(llvm::ArrayRef<Node *> used, llvm::ArrayRef<const Var *> by,
                  llvm::ArrayRef<const Var *> byFormer) override;
  Device &getDevice(llvm::StringRef name) override;
  Device &getDevice() override { return *device; }
  void setDevice(Device &current) override { device = &current; }
  Node *transfer(Node *node, Device &to) override;
  /// Makes an array a constant of the function.
  Var give(DType dtype, llvm::ArrayRef<int64_t> shape,
           BufferRef buffer) override;

protected:
  void enter() override { parts->dropped.release(); }
  void leave(bool failed) override;
  void prepareHeld(Node *node) override;
  void noteTargets(llvm::ArrayRef<Node *> outputs,
                   llvm::ArrayRef<const Var *> by,
                   const Targets &found) override;
  void prepareTargets(llvm::ArrayRef<Node *> outputs,
                      llvm::ArrayRef<Node *> targets) override;

private:
  friend class TraceFinisher;

  /// The graph and the recorder, which are made before the session.
  struct Parts {
    explicit Parts(RecordingSession &host);

    Graph graph;
    Recorder recorder;
    DroppedValues dropped;
  };

  /// A Var that the function may rebind, and what it was in the beginning.
  struct Variable {
    Var *var;
    Node *node;
    /// Of a checkpoint: it has been rebound, and by an update at last.
    bool isRebound = false, isUpdated = false;
  };

  /// A note between two operations.
  struct Event {
    /// A variable is rebound to the value; or derivatives of the value by
    /// targets are about to be recorded.
    enum class Kind { Update, Assign, Differentiate } kind;
    unsigned variable;
    Node *value;
    llvm::SmallVector<Node *, 2> targets;
  };

  Trace(std::shared_ptr<RecordingSession> host, std::unique_ptr<Parts> made,
        Kind kind);
  Node *addPlaceholder(DType dtype, llvm::ArrayRef<int64_t> shape, Device *on);
  Var &capture(Var &x);
  /// Throws where an argument, or what was captured, is rebound that may not
  /// be.
  void checkRebound(bool isArgument) const;
  void setRebound(unsigned variable, bool isUpdate);
  /// Adds the variables that derivatives of the values depend on.
  void addUsed(llvm::ArrayRef<Node *> values, InsideDerivatives &made);
  /// Takes note of derivatives inside. Of a body, throws where a captured value
  /// is made of a target outside: inside there is no way from one to the other.
  void checkHistories(const InsideDerivatives &made);
  /// Notes an event behind what has been recorded.
  void note(Event event);

  std::shared_ptr<RecordingSession> host;
  std::unique_ptr<Parts> parts;
  Kind kind;
  Device *device;

  /// Placeholders, each of which is pinned.
  std::vector<Node *> arguments, numbers;
  /// The arguments, and then the captured Vars.
  std::vector<Variable> variables;
  /// Variables by the Vars that stand for them here, and by those outside.
  llvm::DenseMap<const Var *, unsigned> variableOf, captureOf;
  std::vector<Var *> captured;
  /// Arguments whose sources were used from outside, too.
  llvm::SmallBitVector met;
  /// Stand-ins of captured Vars, at places of their own.
  std::deque<Var> standIns;
  /// Arrays that were made values, and what stands for them.
  std::vector<Var> constants;
  std::vector<Node *> constantNodes;
  /// Derivatives that are asked for in a function.
  std::vector<InsideDerivatives> differentiated;
  /// By the last node that was there.
  llvm::DenseMap<Node *, llvm::SmallVector<Event, 1>> events;
  /// Scalars, by their places in the order of recording, that are keys and
  /// counters of random numbers.
  llvm::DenseMap<uint64_t, bool> isCounter;
  /// Functions that have been replayed.
  std::vector<std::shared_ptr<const RecordedFunction>> replayed;
};

} // namespace metaops

#endif // METAOPS_RUNTIME_TRACE_TRACE_H
