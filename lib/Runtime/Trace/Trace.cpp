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
#include "llvm/ADT/SetVector.h"
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

std::vector<Trace::Rebound> Trace::getRebound() const {
  std::vector<Rebound> rebound;
  for (auto [var, variable] : llvm::zip_equal(
           captured, llvm::ArrayRef(variables).take_back(captured.size())))
    if (variable.isRebound)
      rebound.push_back({var, variable.var, variable.isUpdated});
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

void Trace::update(Var &x, Operand value) {
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

void Trace::checkHistories(llvm::ArrayRef<Node *> targets) {
  llvm::SmallPtrSet<const Node *, 4> outside;
  for (auto [var, variable] : llvm::zip_equal(
           captured, llvm::ArrayRef(variables).take_back(captured.size())))
    if (llvm::is_contained(targets, variable.node))
      outside.insert(host->getNode(*var));
  if (outside.empty())
    return;
  const Graph &graph = host->getRecorder().getGraph();
  llvm::SetVector<const Node *> seen;
  auto enter = [&](const Node *node) {
    if (graph.isFlowing(node))
      seen.insert(node->operands.begin(), node->operands.end());
  };
  for (const Var *var : captured)
    enter(host->getNode(*var));
  for (size_t next = 0; next < seen.size(); ++next) {
    if (outside.contains(seen[next]))
      fail(
          ErrorKind::Runtime,
          "a gradient inside of a body of control flow, of a checkpoint, or of "
          "a function that is mapped over examples, is asked for by a value "
          "from outside, of "
          "which another one that is used there is made, at " +
              formatLine(seen[next]->op->getLoc()) +
              "; compute that inside, or detach it");
    enter(seen[next]);
  }
}

void Trace::prepareTargets(llvm::ArrayRef<Node *> outputs,
                           llvm::ArrayRef<Node *> targets) {
  if (kind != Kind::Function)
    return checkHistories(targets);
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
