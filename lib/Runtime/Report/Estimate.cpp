//===- Estimate.cpp - The memory that values will need --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way to a value is gone as by Runner.cpp: updates that are due, then the
// slice; the same parts plan it and find or compile its programs. But the
// programs take their memory from a model of the allocator, which only counts,
// and are not run. What they would have computed has a buffer of the model
// meanwhile, so that slices stop there. In the end all nodes have their own
// buffers again.
//
// The most that is in use depends on how far the queue has come when the next
// program takes its memory. That is before the last one has ended: it is
// counted that what queued runs read stays.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Report/Inspector.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "llvm/ADT/ScopeExit.h"

using namespace metaops;

namespace {
/// What runs would do to the memory of a graph's values.
class MemoryModel {
public:
  /// `overlaps`: a run takes its memory while the one before is in the queue.
  MemoryModel(Graph &graph, bool overlaps) : graph(graph), overlaps(overlaps) {}
  ~MemoryModel();

  /// If the value is a view of one that is there, it is there, too.
  bool shareView(Node *node);
  /// The value comes from another device.
  void transfer(Node *node);
  void run(Program &program, const Slice &slice, bool keepsPacked);
  /// Frees what the session would not keep any more.
  void collect();
  int64_t getPeak(Device &on) {
    return getModel(on).memory->getStatistics().peakBytes;
  }

private:
  /// Of one device.
  struct Model {
    std::unique_ptr<Allocator> memory;
    BufferRef scratch;
  };

  Model &getModel(Device &on);
  void give(Node *node, BufferRef buffer);
  BufferRef bufferOf(Node *leaf, Device &on);
  void store(Node *output, BufferRef buffer);
  uint32_t markKept();
  bool isInQueue(const Buffer *buffer) const;

  Graph &graph;
  llvm::DenseMap<Device *, Model> models;
  bool overlaps;
  std::vector<ProgramRun> queue;
  /// What programs would keep.
  std::vector<RunRef> packed;
  /// Nodes without a buffer of their own.
  std::vector<Node *> given;
};
} // namespace

MemoryModel::~MemoryModel() {
  for (Node *node : given)
    node->buffer.reset();
}

MemoryModel::Model &MemoryModel::getModel(Device &on) {
  Model &model = models[&on];
  if (!model.memory)
    model.memory =
        Allocator::createModel(on.getMemory().getStatistics().bytesInUse);
  return model;
}

void MemoryModel::give(Node *node, BufferRef buffer) {
  node->buffer = std::move(buffer);
  given.push_back(node);
}

BufferRef MemoryModel::bufferOf(Node *leaf, Device &on) {
  if (!leaf->buffer)
    give(leaf, getModel(on).memory->allocate(sizeof(leaf->scalar)));
  return leaf->buffer;
}

bool MemoryModel::shareView(Node *node) {
  Node *source = graph.skipViews(node);
  if (!source->isLeaf())
    return false;
  if (source->isDonated)
    failOverwritten(source);
  store(node, bufferOf(source, *node->device));
  return true;
}

void MemoryModel::transfer(Node *node) {
  int64_t bytes = countBytes(node->shape(), node->dtype);
  give(node, getModel(*node->device).memory->allocate(bytes));
}

void MemoryModel::store(Node *output, BufferRef buffer) {
  for (Node *node = output; !node->isLeaf(); node = node->operands.front()) {
    give(node, buffer);
    if (!graph.getInfo(node).isView)
      return;
  }
}

void MemoryModel::run(Program &program, const Slice &slice, bool keepsPacked) {
  Model &model = getModel(*slice.device);
  llvm::SmallVector<BufferRef> arguments;
  for (Node *leaf : slice.leaves)
    arguments.push_back(bufferOf(leaf, *slice.device));
  ProgramRun run =
      check(program.prepare(arguments, *model.memory, model.scratch));
  if (keepsPacked)
    program.keepPacked(run, *model.memory);
  for (PackedUse &use : run.packed)
    packed.push_back(std::move(use.memory));
  for (auto [output, result] : llvm::zip_equal(slice.outputs, run.results))
    store(output, result.get());
  for (Node *op : slice.ops)
    if (Node *indices = findIndices(graph, slice, op))
      give(op, bufferOf(indices, *slice.device));
  if (overlaps)
    queue.push_back(std::move(run));
}

/// Marks what Vars and the session hold, and what these are made of as far as
/// they keep their history.
uint32_t MemoryModel::markKept() {
  uint32_t kept = graph.startTraversal();
  std::vector<Node *> worklist;
  auto mark = [&](Node *node) {
    if (node->epoch == kept)
      return;
    node->epoch = kept;
    worklist.push_back(node);
  };
  graph.forEachNode([&](Node *node) {
    if (node->vars > 0 || node->pins > 0)
      mark(node);
  });
  while (!worklist.empty()) {
    Node *node = worklist.back();
    worklist.pop_back();
    if (node->buffer && !graph.needsHistory(node))
      continue;
    for (Node *operand : node->operands)
      mark(operand);
    for (Node *result : resultsOf(node))
      if (result->buffer)
        mark(result);
  }
  return kept;
}

bool MemoryModel::isInQueue(const Buffer *buffer) const {
  return llvm::any_of(queue, [&](const ProgramRun &run) {
    return llvm::any_of(run.arguments, [&](const RunRef &argument) {
      return argument.get() == buffer;
    });
  });
}

void MemoryModel::collect() {
  uint32_t kept = markKept();
  // How many released values are there, and where.
  llvm::DenseMap<Buffer *, std::pair<uint64_t, Device *>> released;
  std::vector<Node *> erased;
  graph.forEachNode([&](Node *node) {
    if (node->epoch == kept)
      return;
    if (node->buffer) {
      auto &[count, on] = released[node->buffer.get()];
      ++count;
      on = node->device ? node->device : on;
    } else if (!node->isLeaf()) {
      erased.push_back(node);
    }
  });
  // The model's own buffers stay until the end: their nodes have to be leaves.
  for (auto [buffer, references] : released)
    if (references.first == buffer->getOwners() && references.second &&
        buffer->data() && !isInQueue(buffer))
      getModel(*references.second).memory->discount(buffer->getReserved());
  // Nobody will ask for these.
  BufferRef nothing = Buffer::wrap(nullptr, 0, {});
  for (Node *node : erased)
    give(node, nothing);
}

std::vector<std::shared_ptr<const RunRecord>>
Inspector::planRuns(llvm::ArrayRef<const Var *> vars, Compiler *target) {
  std::vector<std::shared_ptr<const RunRecord>> runs;
  plan(vars, &runs, target);
  return runs;
}

int64_t Inspector::plan(llvm::ArrayRef<const Var *> vars,
                        std::vector<std::shared_ptr<const RunRecord>> *runs,
                        Compiler *target) {
  // What is in the queue has been asked for before.
  session.waiter.drainInside();
  for (const std::unique_ptr<Device> &each : session.devices.getMade())
    each->scratch.reset();
  Graph &graph = session.graph;
  Planner &planner = session.planner;
  Slice &slice = planner.getSlice();
  MemoryModel model(graph, session.settings.isAsynchronous);
  llvm::scope_exit restore([&, hits = session.programs.getCounts().hits,
                            before = session.updates.getFlushes(),
                            period = graph.getPeriod()] {
    session.programs.setHits(hits);
    session.updates.setFlushes(before);
    graph.setPeriod(period);
  });

  std::function<void(llvm::ArrayRef<Node *>, RunKind)> compute =
      [&](llvm::ArrayRef<Node *> asked, RunKind kind) {
        for (auto &[on, nodes] :
             planner.groupByDevice(asked, kind, session.devices.getCurrent()))
          while (planner.plan(*on, nodes, kind, [&](Node *node) {
            return model.shareView(node);
          })) {
            if (!slice.transfers.empty()) {
              auto transfers = std::exchange(slice.transfers, {});
              for (Node *node : transfers)
                compute(node->operands.front(), RunKind::Transferred);
              llvm::for_each(transfers,
                             [&](Node *node) { model.transfer(node); });
              continue;
            }
            FoundProgram found =
                session.programs.lookUp(slice, planner.getDonatable(),
                                        session.waiter.getStopCheck(), target);
            model.run(*found.cached->program, slice,
                      session.settings.keepsPacked);
            if (runs)
              runs->push_back(
                  makeRecord(slice, planner.getKept(), std::move(found)));
            break;
          }
      };
  llvm::SmallVector<Node *> nodes = getNodes(vars);
  if (llvm::any_of(nodes, [&](Node *node) {
        return !node->isLeaf() && session.updates.precede(node);
      })) {
    compute(session.updates.findDue(nodes), RunKind::Updates);
    session.updates.setFlushes(session.updates.getFlushes() + 1);
    graph.startPeriod();
    model.collect();
  }
  compute(nodes, RunKind::Asked);
  Device *on = nodes.empty() ? nullptr : nodes.front()->device;
  return model.getPeak(on ? *on : session.devices.getCurrent());
}
