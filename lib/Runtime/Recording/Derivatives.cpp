//===- Derivatives.cpp - Derivatives of what is recorded ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/Derivatives.h"

#include "FunctionSweep.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ReindexOps.h"
#include "MetaOps/Dialect/MetaOp/IR/RoutineOps.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Recording/Targets.h"
#include "MetaOps/Transforms/Autodiff/Autodiff.h"
#include "MetaOps/Transforms/Autodiff/MissingDerivatives.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <limits>

using namespace mlir;
using namespace metaops;

/// Gives nodes to what differentiation has emitted after `last`. Where slices
/// start is a number beside the program, as in what the user records.
void Derivatives::adoptAfter(Operation *last) {
  std::vector<std::pair<Operation *, int64_t>> numbers;
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(Block::iterator(last)), graph.getBlock().end()))) {
    auto constant = dyn_cast<metaop::ConstantOp>(op);
    auto value = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
    if (!value || constant.getType().getRank() != 0 ||
        value.getSplatValue<llvm::APInt>().isZero() ||
        !llvm::all_of(op.getUsers(), llvm::IsaPred<metaop::SliceOp>))
      continue;
    OpBuilder::InsertionGuard guard(graph.getBuilder());
    graph.getBuilder().setInsertionPoint(&op);
    auto scalar = metaop::ScalarOp::create(graph.getBuilder(), op.getLoc(),
                                           constant.getType());
    numbers.emplace_back(scalar,
                         value.getSplatValue<llvm::APInt>().getSExtValue());
    constant.replaceAllUsesWith(scalar.getResult());
    op.erase();
  }
  graph.adoptAfter(last);
  for (Operation &op : llvm::make_range(std::next(Block::iterator(last)),
                                        graph.getBlock().end()))
    for (Value result : op.getResults())
      graph.getNode(result)->isOfDerivative = true;
  for (auto [op, number] : numbers)
    graph.getNode(op)->scalar = number;
}

//===----------------------------------------------------------------------===//
// Missing derivatives
//===----------------------------------------------------------------------===//

/// Returns the values that an operation is given which depend on a target, as
/// the traversal of the mark has found, and those of its results that are
/// targets.
static llvm::DenseSet<Value>
getActive(Node *node, const llvm::SmallPtrSetImpl<Node *> &targets,
          uint32_t mark) {
  llvm::DenseSet<Value> active;
  for (Node *operand : node->operands)
    if (operand->epoch == mark && operand->position != 0)
      active.insert(operand->value());
  for (Node *result : resultsOf(node))
    if (targets.contains(result))
      active.insert(result->value());
  return active;
}

Operation *Graph::findMissingDerivative(llvm::ArrayRef<Node *> roots,
                                        llvm::ArrayRef<Node *> targets,
                                        metaop::DerivativeMode mode) {
  // Values that are older than all targets depend on none of them.
  uint64_t first = std::numeric_limits<uint64_t>::max();
  llvm::SmallPtrSet<Node *, 16> isTarget;
  for (Node *target : targets) {
    first = std::min(first, getNode(target->op)->order);
    isTarget.insert(target);
  }
  struct Frame {
    Node *node;
    unsigned next;
  };
  std::vector<Frame> stack;
  uint32_t mark = startTraversal();
  // The position says whether the value depends on a target.
  auto enter = [&](Node *node) {
    if (node->epoch == mark)
      return;
    node->epoch = mark;
    node->position = isTarget.contains(node);
    if (node->order >= first && isFlowing(node))
      stack.push_back({node, 0});
  };
  llvm::for_each(roots, enter);
  while (!stack.empty()) {
    Node *node = stack.back().node;
    if (stack.back().next < node->operands.size()) {
      unsigned number = stack.back().next++;
      if (getInfo(node).flows(node->number, number))
        enter(node->operands[number]);
      continue;
    }
    stack.pop_back();
    llvm::DenseSet<Value> active = getActive(node, isTarget, mark);
    bool depends = false;
    forEachFlowSource(node, [&](Node *source) {
      depends |= source->epoch == mark && source->position != 0;
    });
    if (!depends && metaop::isCheckpoint(node->op))
      depends = llvm::any_of(resultsOf(node), [&](Node *sibling) {
        return isTarget.contains(sibling) &&
               getInfo(node).isMadeOf(node->number, sibling->number);
      });
    auto isNode = [&](OpResult result) { return result == node->value(); };
    if (depends && getInfo(node).mayMissDerivatives)
      if (Operation *missing =
              metaop::findMissingDerivative(node->op, active, isNode, mode))
        return missing;
    node->position |= depends;
  }
  return nullptr;
}

/// Throws where a derivative would flow through what has none: a loop whose
/// trips nobody counts, a function in a body that knows none, or code.
void Derivatives::checkKnown(llvm::StringRef function,
                             llvm::ArrayRef<Node *> outputs,
                             llvm::ArrayRef<Node *> targets,
                             metaop::DerivativeMode mode) {
  if (!graph.mayMissDerivatives())
    return;
  Operation *missing = graph.findMissingDerivative(outputs, targets, mode);
  if (!missing)
    return;
  if (auto custom = dyn_cast<metaop::CustomDerivativeOp>(missing))
    FunctionSweep::failMissing(function, custom);
  if (auto routine = dyn_cast<metaop::RoutineOp>(missing))
    fail(ErrorKind::Runtime,
         function + ": nobody knows the derivatives of the routine '" +
             routine.getRoutine() + "' called at " +
             formatLine(missing->getLoc()) +
             "; call it in a mo.Function, or detach its results");
  if (metaop::lacksDerivatives(missing))
    fail(ErrorKind::Runtime,
         function + ": nobody knows the derivatives of the code called at " +
             formatLine(missing->getLoc()) +
             "; give a mo.code its cpu_grad_src, call it in a mo.Function, or "
             "detach its results");
  fail(ErrorKind::Runtime,
       "grad: the loss depends on a target through a loop whose number of "
       "trips is only known when it has run, recorded at " +
           formatLine(missing->getLoc()) +
           "; say how many there are at most (max_trips), count its trips "
           "(fori_loop with integers), ask for a jvp, or detach its results, "
           "if no gradient is to flow through them");
}

static void checkFloat(llvm::StringRef function, const Node *node,
                       llvm::StringRef what) {
  if (!isFloat(node->dtype))
    fail(ErrorKind::Type, function + ": " + what + " is " +
                              nameOf(node->dtype) + ", expected floats");
}

void Derivatives::checkGrad(Node *loss, llvm::ArrayRef<Node *> targets) {
  checkFloat("grad", loss, "the loss");
  for (const Node *target : targets)
    checkFloat("grad", target, "a target");
  checkKnown("grad", loss, targets, metaop::DerivativeMode::Reverse);
}

void Derivatives::checkJvp(llvm::ArrayRef<Node *> outputs,
                           llvm::ArrayRef<Node *> inputs,
                           llvm::ArrayRef<Node *> tangents) {
  if (inputs.size() != tangents.size())
    fail(ErrorKind::Value, "jvp: " + llvm::Twine(inputs.size()) +
                               " inputs and " + llvm::Twine(tangents.size()) +
                               " tangents given");
  for (const Node *output : outputs)
    checkFloat("jvp", output, "an output");
  for (auto [input, tangent] : llvm::zip_equal(inputs, tangents)) {
    checkFloat("jvp", input, "an input");
    checkFloat("jvp", tangent, "a tangent");
    if (input->shape() != tangent->shape())
      fail(ErrorKind::Value,
           "jvp: an input has shape " + formatShape(input->shape()) +
               ", its tangent " + formatShape(tangent->shape()));
  }
  checkKnown("jvp", outputs, inputs, metaop::DerivativeMode::Forward);
}

//===----------------------------------------------------------------------===//
// Dependence on targets
//===----------------------------------------------------------------------===//

/// Describes where a value was recorded.
static std::string from(const Node *node) {
  return "from " + formatLine(node->op->getLoc());
}

/// Throws, naming the update that has ended the history of a value.
[[noreturn]] static void failEndedByUpdate(llvm::StringRef function,
                                           const Node *output,
                                           const Node *node) {
  if (node->isEndedByCall)
    fail(ErrorKind::Runtime,
         function + ": the value of shape " + formatShape(output->shape()) +
             " " + from(output) +
             " depends on a target through what the call of a recorded "
             "function at " +
             formatLine(node->overwrittenAt) +
             " has rebound, which has no history behind the call; ask for the "
             "gradient in the function, or return the new value from it, and "
             "rebind behind the call (w.assign(f(x)))");
  fail(
      ErrorKind::Runtime,
      function + ": the value of shape " + formatShape(output->shape()) + " " +
          from(output) +
          " depends on a target through one that no Var held any more when the "
          "update at " +
          formatLine(node->overwrittenAt) +
          " was run, which reused its memory; ask for the gradient before the "
          "update, or keep a Var of the old value (old = w.clone()) before it, "
          "and ask for the gradient by that");
}

/// Throws, naming the value whose history is gone, and where the target was
/// rebound.
[[noreturn]] static void failCut(llvm::StringRef function, const Node *output,
                                 const Targets::Doubt &doubt) {
  if (doubt.cut->overwrittenAt)
    failEndedByUpdate(function, output, doubt.cut);
  fail(ErrorKind::Runtime,
       function + ": the value of shape " + formatShape(output->shape()) + " " +
           from(output) +
           " may depend on the value that a target had before it was rebound "
           "at " +
           formatLine(doubt.target->op->getLoc()) +
           ", which nobody held when the value " + from(doubt.cut) +
           " was computed; ask for the gradient before the target is rebound, "
           "or "
           "keep a Var of its old value (old = w.clone()), and ask for the "
           "gradient by that");
}

[[noreturn]] static void failEnded(const Node *output, const Node *node,
                                   int64_t bytes) {
  if (node->overwrittenAt)
    failEndedByUpdate("grad", output, node);
  fail(ErrorKind::Runtime,
       "grad: the loss depends on a target through a value of shape " +
           formatShape(node->shape()) + " from " +
           formatLine(node->op->getLoc()) +
           ", whose history was let go, with the last Var of what it was made "
           "of or when all histories took more than " +
           llvm::Twine(bytes) +
           " bytes; keep Vars of the values between, ask for less on the way, "
           "or set mo.flags.history_bytes; or detach the value, if no gradient "
           "is to flow through it");
}

[[noreturn]] static void failInside(Graph &graph, llvm::StringRef function,
                                    const Targets::Inside &inside) {
  if (inside.target->op == inside.result->op)
    fail(
        ErrorKind::Runtime,
        function + ": the target is a result of the branch or loop at " +
            formatLine(inside.result->op->getLoc()) +
            ", and the loss depends on another one, which is made of it in "
            "there; ask for it by what the branch or loop is given or, if only "
            "what is behind it is meant, by a copy that the loss is made of "
            "(h = h * 1)");
  fail(ErrorKind::Runtime,
       function + ": the target " + from(inside.target) + " was made by " +
           graph.findCall(inside.result->op)->getName() + " at " +
           formatLine(inside.result->op->getLoc()) +
           ", whose derivatives are by its arguments");
}

void Derivatives::checkUsed(llvm::StringRef function,
                            llvm::ArrayRef<Node *> outputs, Targets &targets,
                            UnusedTargets unused) {
  for (Node *output : outputs)
    if (const Node *ended = graph.findEnded(output, targets.getValues()))
      failEnded(output, ended, graph.getHistoryBound());
  if (std::optional<Targets::Inside> inside = targets.findInside())
    failInside(graph, function, *inside);
  const Node *output = outputs.front();
  llvm::ArrayRef<bool> used = targets.areUsed();
  if (std::optional<Targets::Doubt> doubt = targets.findDoubt())
    failCut(function, output, *doubt);
  if (llvm::all_of(used, [](bool isUsed) { return isUsed; }))
    return;
  bool isNone = llvm::none_of(used, [](bool isUsed) { return isUsed; });
  if (unused == UnusedTargets::Error ||
      (unused == UnusedTargets::NotAll && isNone))
    fail(ErrorKind::Value,
         function + ": the loss " + from(output) + " does not depend on " +
             (isNone ? std::string("any of the targets, or only through what "
                                   "stops gradients")
                     : "target " + std::to_string(llvm::find(used, false) -
                                                  used.begin())) +
             "; allow_unused=True gives zeros for such targets");
}

void Derivatives::checkLost(Node *loss, Targets &targets,
                            llvm::ArrayRef<Targets::Missing> missing,
                            llvm::ArrayRef<Targets::Chosen> chosen) {
  if (std::optional<Targets::Doubt> doubt = targets.findDoubt(missing, chosen))
    failCut("grad", loss, *doubt);
}

//===----------------------------------------------------------------------===//
// Differentiating
//===----------------------------------------------------------------------===//

void Derivatives::begin(llvm::ArrayRef<Node *> outputs,
                        llvm::ArrayRef<Node *> targets) {
  for (Node *target : targets)
    graph.setTarget(target);
  for (Node *output : outputs)
    output->isDifferentiated = true;
}

/// Returns the order from which on values may depend on a target. Older ones do
/// not: the steps before of a loop, of whose values the targets are the last.
/// Results of the operation of one may.
static uint64_t getFirstOrder(const Graph &graph,
                              llvm::ArrayRef<Node *> targets) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (Node *target : targets)
    first = std::min(first, graph.getNode(target->op)->order);
  return first;
}

/// Returns a test of what differentiation need not look at.
static auto stopsBefore(const Graph &graph, llvm::ArrayRef<Node *> targets) {
  return [&graph, first = getFirstOrder(graph, targets)](Operation *op) {
    const Node *node = graph.getNode(op);
    return node->isStopped || node->order < first;
  };
}

/// Says which values Vars hold.
static auto isHeldIn(const Graph &graph) {
  return [&graph](Value value) {
    const Node *node = graph.getNode(value);
    return node && node->vars > 0;
  };
}

static llvm::SmallVector<Value> valuesOf(llvm::ArrayRef<Node *> nodes) {
  return llvm::map_to_vector(nodes, [](Node *node) { return node->value(); });
}

llvm::SmallVector<Node *> Derivatives::finish(Operation *last,
                                              llvm::ArrayRef<Value> values,
                                              llvm::ArrayRef<Node *> like) {
  adoptAfter(last);
  auto results = llvm::map_to_vector(
      values, [&](Value value) { return graph.getNode(value); });
  // Zeros, where nothing depends on a target.
  for (auto [result, node] : llvm::zip_equal(results, like))
    if (!result->device)
      result->device = node->device;
  if (graph.getNumDonated() > 0)
    if (Node *overwritten = findOverwritten(graph, results))
      failOverwritten(overwritten);
  return results;
}

llvm::SmallVector<Node *> Derivatives::grad(Node *loss,
                                            llvm::ArrayRef<Node *> targets) {
  begin(loss, targets);
  // The sum of the loss's elements is differentiated.
  Node *ofLoss =
      recorder.constant(loss->shape(), Number::ofInt(1), loss->dtype);
  ofLoss->device = loss->device;
  made.emplace(MadeOfLoss{NodeRef(ofLoss), {}});
  auto getNumber = [&](Value value) -> std::optional<int64_t> {
    Node *node = graph.getNode(value);
    if (!node || !node->isScalar || node->dtype != DType::I64)
      return std::nullopt;
    return static_cast<int64_t>(node->scalar);
  };
  FunctionSweep sweep(
      session, graph, "grad", loss, targets, ofLoss->op,
      [this](Operation *last) { adoptAfter(last); }, &made->given);
  llvm::SmallVector<Value> gradients = sweep.expect(metaop::differentiate(
      graph.getBuilder(), loss->value(), ofLoss->value(), valuesOf(targets),
      {recorder.getSavedBytes(), stopsBefore(graph, targets), getNumber,
       isHeldIn(graph), &sweep}));
  llvm::SmallVector<Node *> results =
      finish(sweep.getLast(), gradients, targets);
  // The seed, where nothing depends on the loss.
  if (Node *unused = made->seed.get())
    graph.release(unused);
  return results;
}

llvm::SmallVector<Node *> Derivatives::jvp(llvm::ArrayRef<Node *> outputs,
                                           llvm::ArrayRef<Node *> inputs,
                                           llvm::ArrayRef<Node *> tangents) {
  begin(outputs, inputs);
  llvm::SmallVector<Node *> directions, casts;
  for (auto [input, tangent] : llvm::zip_equal(inputs, tangents)) {
    directions.push_back(recorder.cast(tangent, input->dtype));
    if (directions.back() != tangent)
      casts.push_back(directions.back());
  }
  FunctionSweep sweep(session, graph, "jvp", outputs, inputs,
                      &graph.getBlock().back(),
                      [this](Operation *last) { adoptAfter(last); });
  llvm::SmallVector<Value> moved = sweep.expect(
      metaop::pushForward(graph.getBuilder(), valuesOf(outputs),
                          valuesOf(inputs), valuesOf(directions),
                          {recorder.getSavedBytes(), stopsBefore(graph, inputs),
                           /*getNumber=*/nullptr, isHeldIn(graph), &sweep}));
  llvm::SmallVector<Node *> results = finish(sweep.getLast(), moved, outputs);
  // Of tangents of what no output depends on.
  for (Node *cast : casts)
    graph.release(cast);
  return results;
}
