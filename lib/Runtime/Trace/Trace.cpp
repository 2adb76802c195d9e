//===- Trace.cpp - Recording of a function --------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Trace/Trace.h"

#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Recording/Targets.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace metaops;

Trace::Parts::Parts(RecordingSession &host)
    : graph(host.getRecorder().getGraph().getBuilder().getContext(),
            host.getRecorder().getGraph().getSignatures()),
      recorder(graph, host.getRecorder()), dropped(graph) {}

Trace::Trace(std::shared_ptr<RecordingSession> host,
             std::unique_ptr<Parts> made, Kind kind)
    : RecordingSession(made->recorder), host(std::move(host)),
      parts(std::move(made)), kind(kind), device(&this->host->getDevice()) {
  parts->recorder.onDraw = [this](Node *number, bool counts) {
    isCounter[number->order] = counts;
  };
}

Trace::Trace(const std::shared_ptr<RecordingSession> &host, Kind kind)
    : Trace(host, std::make_unique<Parts>(*host), kind) {}

Trace::~Trace() = default;

void Trace::leave(bool failed) {
  if (failed)
    parts->graph.collectAll();
  else
    parts->graph.collect();
}

void Trace::prepareHeld(Node *node) {
  if (!node->device)
    node->device = device;
}

void Trace::close() {
  parts->graph.dropCalls();
  standIns.clear();
  constants.clear();
  replayed.clear();
  onCapture = nullptr;
}

std::vector<std::string> Trace::findHeld() {
  parts->dropped.release();
  std::vector<std::string> lines;
  parts->graph.forEachNode([&](Node *node) {
    if (node->vars > 0)
      lines.push_back(formatLine(node->op->getLoc()));
  });
  return lines;
}

[[noreturn]] static void failInside(const llvm::Twine &what) {
  fail(ErrorKind::Runtime, "while a function is recorded, " + what +
                               "; do so before, and give it "
                               "to the function");
}

//===----------------------------------------------------------------------===//
// Arguments and captured Vars
//===----------------------------------------------------------------------===//

Node *Trace::addPlaceholder(DType dtype, llvm::ArrayRef<int64_t> shape,
                            Device *on) {
  Node *node = getRecorder().placeholder(dtype, shape);
  node->device = on;
  parts->graph.pin(node);
  return node;
}

Var Trace::addArgument(const Var &like, bool isRow) {
  arguments.push_back(addPlaceholder(
      like.dtype(), like.shape().drop_front(isRow), like.getNode()->device));
  return wrap(arguments.back());
}

Var Trace::addNumber(DType dtype) {
  numbers.push_back(addPlaceholder(dtype, {}, device));
  return wrap(numbers.back());
}

void Trace::setArguments(llvm::ArrayRef<Var *> given,
                         llvm::ArrayRef<const Var *> sources) {
  for (auto [var, node] : llvm::zip_equal(given, arguments)) {
    variableOf[var] = variables.size();
    variables.push_back({var, node});
  }
  met.resize(sources.size());
  for (auto [number, source] : llvm::enumerate(sources))
    captureOf.try_emplace(source, number);
}

Var &Trace::resolve(Var &x) {
  if (x.getSession().get() == this)
    return x;
  // Of what is around a function that is around a body.
  Var &outer = host->resolve(x);
  auto found = captureOf.find(&outer);
  if (found != captureOf.end()) {
    if (found->second < met.size())
      met.set(found->second);
    return *variables[found->second].var;
  }
  return capture(outer);
}

Var &Trace::capture(Var &x) {
  Node *node = addPlaceholder(x.dtype(), x.shape(), x.getNode()->device);
  Var &standIn = standIns.emplace_back(wrap(node));
  variableOf[&standIn] = captureOf[&x] = variables.size();
  variables.push_back({&standIn, node});
  captured.push_back(&x);
  if (onCapture)
    onCapture(x);
  return standIn;
}

Var Trace::give(DType dtype, llvm::ArrayRef<int64_t> shape, BufferRef buffer) {
  host->setDevice(*device);
  constants.push_back(host->give(dtype, shape, std::move(buffer)));
  constantNodes.push_back(addPlaceholder(dtype, shape, device));
  return wrap(constantNodes.back());
}

//===----------------------------------------------------------------------===//
// Rebinding
//===----------------------------------------------------------------------===//

void Trace::note(Event event) {
  // The last operation with a result: what is noted follows that.
  Node *last = nullptr;
  for (Operation &op : llvm::reverse(parts->graph.getBlock()))
    if ((last = parts->graph.getNode(&op)))
      break;
  // It stays where it is, needed or not.
  parts->graph.pin(last);
  if (event.value)
    parts->graph.pin(event.value);
  llvm::for_each(event.targets, [&](Node *node) { parts->graph.pin(node); });
  events[last].push_back(std::move(event));
}

void Trace::checkRebound(bool isArgument) const {
  if (kind == Kind::Body && !isArgument)
    fail(ErrorKind::Runtime,
         "a body of control flow rebinds a Var from outside, which it may run "
         "never, or many times; return the new value, and rebind the Var "
         "behind");
  if (kind != Kind::Example)
    return;
  if (isArgument)
    fail(ErrorKind::Runtime,
         "a function that is mapped over examples rebinds its argument, which "
         "is a part of what the caller has; return the new value, or change a "
         "copy, x.clone()");
  fail(
      ErrorKind::Runtime,
      "a function that is mapped over examples rebinds a Var from outside, "
      "which cannot be another one for each; return the new value, or give a "
      "module its state by mo.functional_call. Of layers that keep statistics, "
      "such as BatchNorm, use eval()");
}

void Trace::setRebound(unsigned variable, bool isUpdate) {
  variables[variable].isRebound = true;
  variables[variable].isUpdated = isUpdate;
}

std::vector<Var> Trace::getFormer(const Var &var) {
  std::vector<Var> values;
  for (const NodeRef &former : var.getFormer())
    if (Node *node = former.get(); node && !node->isPlaceholder)
      values.push_back(wrap(node));
  return values;
}

std::vector<Trace::Rebound> Trace::getRebound() {
  std::vector<Rebound> rebound;
  for (auto [var, variable] : llvm::zip_equal(
           captured, llvm::ArrayRef(variables).take_back(captured.size())))
    if (variable.isRebound) {
      std::vector<Var> values = getFormer(*variable.var);
      values.push_back(wrap(variable.var->getNode()));
      rebound.push_back({var, std::move(values), variable.isUpdated});
    }
  return rebound;
}

void Trace::assign(Var &x, Node *value) {
  Var &own = resolve(x);
  auto variable = variableOf.find(&own);
  if (variable == variableOf.end())
    return RecordingSession::assign(own, value);
  checkRebound(&own == &x);
  if (kind == Kind::Body)
    return RecordingSession::assign(own, value);
  setRebound(variable->second, /*isUpdate=*/false);
  if (&own != &x && own.getType() != value->type())
    fail(ErrorKind::Value,
         "while a function is recorded, a Var from outside of shape " +
             formatShape(own.shape()) + " and type " + nameOf(own.dtype()) +
             " is given a value of shape " + formatShape(value->shape()) +
             " and type " + nameOf(value->dtype) +
             "; expected the same, or return the value");
  RecordingSession::assign(own, value);
  if (kind == Kind::Function)
    note({Event::Kind::Assign, variable->second, own.getNode(), {}});
}

void Trace::updateAt(Var &x, Operand value, CallPlace) {
  Var &own = resolve(x);
  auto variable = variableOf.find(&own);
  if (variable != variableOf.end())
    checkRebound(&own == &x);
  Node *given = value.isNumber()
                    ? getRecorder().full(own.shape(), value, own.dtype())
                    : value.getNode();
  checkUpdate(own, *given);
  Node *updated = getRecorder().stopGrad(given);
  RecordingSession::assign(own, updated);
  if (variable == variableOf.end())
    return;
  setRebound(variable->second, /*isUpdate=*/true);
  if (kind == Kind::Function)
    note({Event::Kind::Update, variable->second, updated, {}});
}

void Trace::addUsed(llvm::ArrayRef<Node *> values, InsideDerivatives &made) {
  const Graph &graph = parts->graph;
  uint32_t mark = parts->graph.startTraversal();
  std::vector<Node *> stack;
  auto enter = [&](Node *node) {
    if (std::exchange(node->epoch, mark) != mark && graph.isFlowing(node))
      stack.push_back(node);
  };
  llvm::for_each(values, enter);
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    graph.forEachFlowSource(node, enter);
  }
  for (auto [number, variable] : llvm::enumerate(variables))
    if (variable.node->epoch == mark)
      made.used.push_back(number);
}

void Trace::checkHistories(const InsideDerivatives &made) {
  if (made.by.empty() && made.byFormer.empty())
    return;
  if (kind == Kind::Function) {
    differentiated.push_back(made);
    return;
  }
  // Operands of a body are values to it, whatever they were made of.
  size_t numArguments = variables.size() - captured.size();
  auto ofOutside = [&](llvm::ArrayRef<unsigned> numbers) {
    llvm::SmallVector<const Var *> vars;
    for (unsigned number : numbers)
      if (number >= numArguments)
        vars.push_back(&host->resolve(*captured[number - numArguments]));
    return vars;
  };
  llvm::SmallVector<const Var *> by = ofOutside(made.by),
                                 byFormer = ofOutside(made.byFormer);
  llvm::SmallVector<Node *> used = metaops::getNodes(ofOutside(made.used));
  if (const Node *target = host->getOutsidePaths().find(
          host->getRecorder().getGraph(), used, by, byFormer))
    fail(ErrorKind::Runtime,
         "a gradient inside of a body of control flow, of a checkpoint, or of "
         "a function that is mapped over examples, is asked for by a value "
         "from outside, of "
         "which another one that is used there is made, at " +
             formatLine(target->op->getLoc()) +
             "; compute that inside, or detach it");
  host->noteInside(used, by, byFormer);
}

void Trace::noteTargets(llvm::ArrayRef<Node *> outputs,
                        llvm::ArrayRef<const Var *> by, const Targets &found) {
  InsideDerivatives made;
  for (auto [number, var, isUsed] : llvm::enumerate(by, found.areUsed())) {
    auto variable = variableOf.find(var);
    if (variable == variableOf.end())
      continue;
    if (!isUsed)
      made.byFormer.push_back(variable->second);
    else if (found.mayBe(number, variables[variable->second].node))
      made.by.push_back(variable->second);
  }
  addUsed(outputs, made);
  checkHistories(made);
}

void Trace::noteInside(llvm::ArrayRef<Node *> used,
                       llvm::ArrayRef<const Var *> by,
                       llvm::ArrayRef<const Var *> byFormer) {
  InsideDerivatives made;
  for (const Var *var : by)
    if (auto found = variableOf.find(var);
        found != variableOf.end() &&
        var->getNode() == variables[found->second].node)
      made.by.push_back(found->second);
  for (const Var *var : byFormer)
    if (auto found = variableOf.find(var); found != variableOf.end())
      made.byFormer.push_back(found->second);
  addUsed(used, made);
  checkHistories(made);
}

void Trace::prepareTargets(llvm::ArrayRef<Node *> outputs,
                           llvm::ArrayRef<Node *> targets) {
  if (kind != Kind::Function)
    return;
  for (Node *output : outputs)
    note({Event::Kind::Differentiate, 0, output,
          llvm::SmallVector<Node *, 2>(targets)});
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

Device &Trace::getDevice(llvm::StringRef name) { return host->getDevice(name); }

Node *Trace::transfer(Node *node, Device &to) {
  if (node->device == &to)
    return node;
  failInside("no value can be brought to another device");
}
