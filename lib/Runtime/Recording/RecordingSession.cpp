//===- RecordingSession.cpp - Recording through handles -------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Recording/RecordingSession.h"

#include "MetaOps/Runtime/Device/Device.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Graph.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Recording/Derivatives.h"
#include "MetaOps/Runtime/Recording/Targets.h"
#include "llvm/ADT/ScopeExit.h"

#include <exception>

using namespace metaops;

//===----------------------------------------------------------------------===//
// Var
//===----------------------------------------------------------------------===//

Var::Var(std::shared_ptr<RecordingSession> owner, Node *node)
    : session(std::move(owner)), node(node), type(node->type()),
      elementType(node->dtype), firstOrder(node->order) {}

void Var::rebind(Var &&other) {
  std::vector<NodeRef> values = std::move(former);
  // Those that are gone are looked for when the list would grow.
  if (values.size() == values.capacity())
    llvm::erase_if(values, [](const NodeRef &value) { return !value.get(); });
  if (node && isFloat(elementType))
    values.emplace_back(node);
  uint64_t first = node ? firstOrder : other.firstOrder;
  *this = std::move(other);
  former = std::move(values);
  firstOrder = first;
}

Var::~Var() {
  if (node)
    session->dropLater(node);
}

[[noreturn]] static void failForeign(const Node *node) {
  fail(ErrorKind::Runtime,
       "the value of shape " + formatShape(node->shape()) + " from " +
           formatLine(node->op->getLoc()) +
           " is used inside of a function that is recorded, or outside of the "
           "one that it was recorded in; give it to the function as an "
           "argument");
}

[[noreturn]] static void failGivenAway(const Node *node) {
  fail(ErrorKind::Runtime,
       "a tensor of shape " + formatShape(node->shape()) +
           " is used after it was given to the call at " +
           formatLine(node->overwrittenAt) +
           ", which writes over what its function donates; use what the call "
           "has returned, or give it x.copy()");
}

void RecordingSession::checkOwn(llvm::ArrayRef<const Var *> vars) const {
  for (const Var *var : vars) {
    if (var->givenAway)
      failGivenAway(var->node);
    if (var->session.get() != this)
      failForeign(var->node);
  }
}

Var &RecordingSession::resolve(Var &x) {
  checkOwn(&x);
  return x;
}

llvm::SmallVector<Node *>
RecordingSession::getNodes(llvm::ArrayRef<const Var *> vars) {
  return llvm::map_to_vector(vars,
                             [&](const Var *var) { return getNode(*var); });
}

Var RecordingSession::wrap(Node *node) {
  if (!recorder.getGraph().owns(node))
    failForeign(node);
  node = recorder.applyStop(node);
  prepareHeld(node);
  recorder.getGraph().retainVar(node);
  return Var(shared_from_this(), node);
}

std::vector<Var> RecordingSession::wrapAll(llvm::ArrayRef<Node *> nodes) {
  Graph &graph = recorder.getGraph();
  // The first may be all that is kept, if operators run at once.
  llvm::for_each(nodes, [&](Node *node) { graph.pin(node); });
  llvm::scope_exit unpin(
      [&] { llvm::for_each(nodes, [&](Node *node) { graph.unpin(node); }); });
  std::vector<Var> vars;
  for (Node *node : nodes)
    vars.push_back(wrap(node));
  return vars;
}

std::vector<Var> RecordingSession::wrapResults(Node *first) {
  return wrapAll(llvm::to_vector<2>(resultsOf(first)));
}

void RecordingSession::giveAway(Var &x) {
  Node *gone = recorder.placeholder(x.dtype(), x.shape());
  gone->device = x.node->device;
  gone->overwrittenAt = recorder.getLine();
  x = wrap(gone);
  x.givenAway = true;
}

void RecordingSession::assign(Var &x, Node *value) {
  Var &own = resolve(x);
  own.node->wasRebound = true;
  own.rebind(wrap(value));
}

void RecordingSession::addFormer(Var &x, Node *value) {
  value->wasRebound = true;
  if (!isFloat(value->dtype))
    return;
  Var &own = resolve(x);
  own.former.emplace_back(value);
  own.firstOrder = std::min(own.firstOrder, value->order);
}

void RecordingSession::checkUpdate(const Var &x, const Node &value) {
  if (x.shape() != value.shape())
    fail(ErrorKind::Value,
         "update: the value has shape " + formatShape(value.shape()) +
             ", expected the Var's shape " + formatShape(x.shape()));
  if (x.dtype() != value.dtype)
    fail(ErrorKind::Type, "update: the value is " + nameOf(value.dtype) +
                              ", expected the Var's " + nameOf(x.dtype()));
  const Device *on = x.getNode()->device;
  if (value.device && value.device != on)
    fail(ErrorKind::Value, "update: the value is on " +
                               value.device->getName() +
                               ", expected the Var's device " + on->getName());
}

void RecordingSession::setItem(Var &x, llvm::ArrayRef<IndexItem> items,
                               Operand value) {
  Node *node = getNode(x);
  Node *replaced = recorder.replaceItem(node, items, value);
  if (replaced != node)
    assign(x, replaced);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

namespace {
/// Keeps histories that lead to values while gradients by these are recorded,
/// though no Var holds them any more.
class KeptTargets {
public:
  KeptTargets(Graph &graph, llvm::ArrayRef<Node *> values) : graph(graph) {
    for (Node *value : values) {
      if (value->vars > 0 || value->isReplaced)
        continue;
      graph.setReplaced(value, true);
      kept.emplace_back(value);
    }
  }
  ~KeptTargets() {
    for (const NodeRef &ref : kept)
      if (Node *value = ref.get())
        graph.setReplaced(value, false);
  }
  KeptTargets(const KeptTargets &) = delete;
  KeptTargets &operator=(const KeptTargets &) = delete;

private:
  Graph &graph;
  std::vector<NodeRef> kept;
};
} // namespace

/// Returns the Vars that stand for others.
static llvm::SmallVector<const Var *>
resolveAll(RecordingSession &session, llvm::ArrayRef<const Var *> vars) {
  return llvm::map_to_vector(
      vars, [&](const Var *var) { return &session.resolve(*var); });
}

/// Puts gradients by older values in the place of those that are not made of
/// the gradient of the loss. These are added unless they are known to be zero,
/// which they are unless a function has made them that is not linear.
static void replaceMissing(RecordingSession &session, Derivatives &derivatives,
                           Node *loss, Targets &found,
                           llvm::ArrayRef<Targets::Missing> missing,
                           std::vector<Var> &gradients) {
  llvm::SmallVector<Node *> instead;
  for (const Targets::Missing &each : missing)
    llvm::append_range(instead, each.candidates);
  llvm::SmallVector<Targets::Chosen> chosen(missing.size());
  if (!instead.empty()) {
    llvm::SmallVector<Node *> made = derivatives.grad(loss, instead);
    chosen = found.choose(missing, made, derivatives.getMade());
  }
  derivatives.checkLost(loss, found, missing, chosen);
  llvm::SmallVector<Node *> sums;
  for (auto [each, by] : llvm::zip_equal(missing, chosen)) {
    llvm::SmallVectorImpl<Node *> &terms = by.terms;
    if (by.isAdded)
      terms.push_back(session.getNode(gradients[each.place]));
    Node *sum = terms.front();
    for (Node *term : llvm::drop_begin(terms))
      sum = session.getRecorder().binary("add", sum, term);
    sums.push_back(sum);
  }
  std::vector<Var> meant = session.wrapAll(sums);
  for (auto [each, gradient] : llvm::zip_equal(missing, meant))
    gradients[each.place] = std::move(gradient);
}

std::vector<Var> RecordingSession::grad(const Var &of,
                                        llvm::ArrayRef<const Var *> by,
                                        UnusedTargets unused) {
  Graph &graph = recorder.getGraph();
  Node *loss = getNode(of);
  llvm::SmallVector<const Var *> targets = resolveAll(*this, by);
  Derivatives derivatives(recorder, this);
  derivatives.checkGrad(loss, getNodes(targets));
  Targets found(graph, loss, targets);
  derivatives.checkUsed("grad", loss, found, unused);
  llvm::SmallVector<Node *> nodes, twins;
  llvm::SmallVector<size_t> numTwins;
  for (auto [node, same, isUsed] :
       llvm::zip_equal(found.getValues(), found.getTwins(), found.areUsed()))
    if (isUsed || unused != UnusedTargets::Empty) {
      nodes.push_back(node);
      numTwins.push_back(same.size());
      llvm::append_range(twins, same);
    }
  noteTargets(loss, targets, found);
  if (nodes.empty())
    return std::vector<Var>(targets.size());
  llvm::append_range(nodes, twins);
  llvm::SmallVector<Node *> older, all(nodes);
  for (llvm::ArrayRef<Node *> candidates : found.getOlder())
    llvm::append_range(older, candidates);
  llvm::append_range(all, older);
  // Functions that are called meanwhile let go of none.
  std::vector<Var> held = wrapAll(older);
  KeptTargets keep(graph, all);
  prepareTargets(loss, all);
  llvm::SmallVector<Node *> made = derivatives.grad(loss, nodes);
  auto *ofTwin = made.begin() + numTwins.size();
  for (auto [gradient, count] : llvm::zip(made, numTwins))
    for (size_t twin = 0; twin < count; ++twin)
      gradient = recorder.binary("add", gradient, *ofTwin++);
  made.truncate(numTwins.size());
  std::vector<Var> gradients = wrapAll(made);
  if (auto missing = found.findMissing(made, derivatives.getMade());
      !missing.empty())
    replaceMissing(*this, derivatives, loss, found, missing, gradients);
  if (unused != UnusedTargets::Empty)
    return gradients;
  std::vector<Var> byTarget(targets.size());
  auto next = gradients.begin();
  for (auto [gradient, isUsed] : llvm::zip_equal(byTarget, found.areUsed()))
    if (isUsed)
      gradient = std::move(*next++);
  return byTarget;
}

std::vector<Var> RecordingSession::jvp(llvm::ArrayRef<const Var *> outputs,
                                       llvm::ArrayRef<const Var *> inputs,
                                       llvm::ArrayRef<const Var *> tangents) {
  Graph &graph = recorder.getGraph();
  llvm::SmallVector<const Var *> moving = resolveAll(*this, inputs);
  Derivatives derivatives(recorder, this);
  llvm::SmallVector<Node *> moved = getNodes(outputs),
                            directions = getNodes(tangents);
  derivatives.checkJvp(moved, getNodes(moving), directions);
  Targets found(graph, moved, moving);
  derivatives.checkUsed("jvp", moved, found, UnusedTargets::Zero);
  if (found.hasOlder() || found.findDoubtOfUncertain())
    fail(ErrorKind::Runtime,
         "jvp: an output is made of a former value of an input and of results "
         "of a function with derivatives of its own, which may be made of the "
         "present one; keep a Var of the former value (old = x.clone() before "
         "it is rebound), and move that");
  llvm::SmallVector<Node *> values(found.getValues());
  for (auto [number, twins] : llvm::enumerate(found.getTwins()))
    for (Node *twin : twins) {
      values.push_back(twin);
      directions.push_back(directions[number]);
    }
  KeptTargets keep(graph, values);
  noteTargets(moved, moving, found);
  prepareTargets(moved, values);
  return wrapAll(derivatives.jvp(moved, values, directions));
}

void RecordingSession::leaveWhile(FunctionCall &call,
                                  llvm::function_ref<void()> work) {
  Graph &graph = recorder.getGraph();
  mlir::Location line = recorder.getLine();
  Device &device = getDevice();
  bool stops = graph.getStopsGradients();
  leave(/*failed=*/false);
  getMutex().unlock();
  std::exception_ptr exception;
  try {
    work();
  } catch (...) {
    exception = std::current_exception();
  }
  call.lock(*this);
  enter();
  setDevice(device);
  recorder.setLine(line);
  graph.setStopsGradients(stops);
  if (exception)
    std::rethrow_exception(exception);
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

SessionScope::SessionScope(RecordingSession &session)
    : SessionScope(session, (session.checkProcess(), session.getMutex().lock(),
                             std::adopt_lock)) {}

SessionScope::SessionScope(RecordingSession &session, std::adopt_lock_t)
    : lock(session.getMutex(), std::adopt_lock), session(session),
      exceptions(std::uncaught_exceptions()) {
  session.enter();
}

SessionScope::~SessionScope() {
  session.leave(std::uncaught_exceptions() > exceptions);
}
