//===- Run.cpp - Computing what is asked for ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. The slice of the values asked for is traced, and with it its key.
// 2. Values that are in memory in any case between two kernels, and that a
// later
//    gradient would need, become outputs as well, within a budget. (By Rules
//    1 and 2 of fusion these are results of reductions, and what reindexes
//    read.)
// 3. The program is found by the key, or compiled.
// 4. It runs on the leaves' buffers; the outputs become leaves themselves.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Transforms/Simplify/FusionRules.h"

#include <cstring>

using namespace mlir;
using namespace metaops;

void Session::sync(llvm::ArrayRef<const Var *> vars) {
  syncNodes(
      llvm::map_to_vector(vars, [](const Var *var) { return var->node; }));
}

void Session::syncNodes(llvm::ArrayRef<Node *> asked) {
  if (llvm::any_of(asked, [&](Node *node) {
        return !node->isLeaf() && node->generation > flushes;
      }))
    flushUpdates();
  compute(asked, RunKind::Asked);
  graph.collect();
}

void Session::syncAll() {
  flushUpdates();
  std::vector<Node *> held;
  graph.forEachNode([&](Node *node) {
    if (node->vars > 0 && !node->isLeaf())
      held.push_back(node);
  });
  syncNodes(held);
}

TensorData Session::getData(const Var &var) {
  Node *node = var.node;
  if (!node->isLeaf())
    syncNodes(node);
  if (node->isDonated)
    failOverwritten(node);
  return {bufferOf(node), var.dtype(), var.shape().vec()};
}

void Session::compute(llvm::ArrayRef<Node *> asked, RunKind kind) {
  llvm::SmallSetVector<Node *, 16> outputs;
  auto add = [&](Node *node) {
    if (!node->isLeaf() && !computeView(node))
      outputs.insert(node);
  };
  llvm::for_each(asked, add);
  if (kind != RunKind::Initial)
    for (const Fetch &fetch : fetches)
      for (Node *node : fetch.nodes)
        if (node->generation <= flushes)
          add(node);
  if (!outputs.empty()) {
    traceSlice(graph, outputs.getArrayRef(), slice);
    if (kind == RunKind::Asked)
      addSavedValues();
    findDonatable(kind);
    runSlice(lookUpProgram());
  }
  completeFetches();
}

/// A view of a value that is there is there, too.
bool Session::computeView(Node *node) {
  Node *source = node;
  while (!source->isLeaf()) {
    if (!graph.getInfo(source).isView)
      return false;
    source = graph.getNode(source->op->getOperand(0));
  }
  if (source->isDonated)
    failOverwritten(source);
  store(node, bufferOf(source));
  return true;
}

//===----------------------------------------------------------------------===//
// Saved values
//===----------------------------------------------------------------------===//

/// Whether a reindex of the slice reads the value, so that it exists in memory.
bool Session::feedsReindex(const Node *node) const {
  return llvm::any_of(node->op->getUsers(), [&](Operation *op) {
    Node *user = graph.getNode(op);
    if (!slice.contains(user))
      return false;
    const SignatureInfo &info = graph.getInfo(user);
    if (info.isView)
      return feedsReindex(user);
    // A value of a much smaller space is computed again for each consumer.
    return info.isReindex &&
           countElements(user->shape()) <
               metaop::kSmallProducerRatio * countElements(node->shape());
  });
}

bool Session::isWorthSaving(Node *node, bool keepsHistory) const {
  const SignatureInfo &info = graph.getInfo(node);
  if (info.isView || info.isReindex || info.isGenerator)
    return false;
  if (!info.isReindexReduce && !feedsReindex(node))
    return false;
  if (keepsHistory && graph.needsHistory(node))
    return true;
  // What has been recorded already will ask for it.
  return llvm::any_of(node->op->getUsers(), [&](Operation *op) {
    Node *user = graph.getNode(op);
    return !slice.contains(user) && !user->isLeaf();
  });
}

void Session::addSavedValues() {
  int64_t budget = savedValuesBudget;
  bool keepsHistory = llvm::any_of(
      slice.outputs, [&](Node *node) { return graph.needsHistory(node); });
  for (Node *output : slice.outputs)
    output->isOutput = true;
  size_t numAsked = slice.outputs.size();
  for (Node *node : slice.ops) {
    if (node->isOutput || !isWorthSaving(node, keepsHistory))
      continue;
    int64_t bytes = countElements(node->shape()) * sizeOf(node->dtype);
    if (bytes > budget)
      continue;
    budget -= bytes;
    slice.outputs.push_back(node);
  }
  for (Node *output : llvm::ArrayRef(slice.outputs).take_front(numAsked))
    output->isOutput = false;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::shared_ptr<const CachedProgram> Session::lookUpProgram() {
  finishKey(slice, donatable,
            {uint32_t(useInterpreter), uint32_t(options.rules == "paper")});
  lastWasCompiled = false;
  if (auto found = programs.find(slice.key)) {
    ++programHits;
    return found;
  }
  auto cached = std::make_shared<CachedProgram>();
  cached->slice = writeSlice(graph, slice);
  Compiler &backend = useInterpreter ? *interpreter : *compiler;
  cached->program = check(backend.compile(cached->slice, donatable, options));
  ++programsCompiled;
  kernelsCompiled += cached->program->getInfo().compiledKernels;
  compileSeconds += cached->program->getInfo().compileSeconds;
  lastWasCompiled = true;
  programs.insert(slice.key, cached);
  return cached;
}

BufferRef Session::bufferOf(Node *leaf) {
  if (!leaf->buffer) {
    leaf->buffer = memory.allocate(sizeof(leaf->scalar));
    std::memcpy(leaf->buffer->data(), &leaf->scalar, sizeof(leaf->scalar));
  }
  return leaf->buffer;
}

void Session::runSlice(std::shared_ptr<const CachedProgram> cached) {
  llvm::SmallVector<BufferRef> results;
  {
    llvm::SmallVector<BufferRef> arguments;
    for (Node *leaf : slice.leaves)
      arguments.push_back(bufferOf(leaf));
    check(cached->program->run(arguments, results, memory, threads));
    ++programsRun;
    recordDonations(arguments, results);
  }
  lastProgram = std::move(cached);
  lastOptions = options;
  lastWasInterpreted = useInterpreter;
  lastLocations.clear();
  for (Node *node : slice.ops)
    lastLocations.push_back(node->op->getLoc());
  for (auto [output, buffer] : llvm::zip_equal(slice.outputs, results))
    store(output, std::move(buffer));
}

/// Where the value is a view, what it views is there as well.
void Session::store(Node *output, BufferRef buffer) {
  llvm::SmallVector<Node *, 4> viewed{output};
  while (graph.getInfo(viewed.back()).isView) {
    Node *source = graph.getNode(viewed.back()->op->getOperand(0));
    if (source->isLeaf())
      break;
    viewed.push_back(source);
  }
  for (Node *node : viewed)
    graph.setComputed(node, buffer);
}
