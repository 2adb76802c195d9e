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
// A call of a recorded function is planned on values like its arguments, which
// have memory of a model from the beginning. It is recorded on them, planned,
// and forgotten, so that no Var of the caller is rebound.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Report/Inspector.h"
#include "MetaOps/Runtime/Session/SessionImpl.h"
#include "MetaOps/Runtime/Trace/RecordedFunction.h"
#include "llvm/ADT/ScopeExit.h"

using namespace metaops;

using Runs = Inspector::Runs;

namespace {
/// Model of what runs would do to the memory of a graph's values.
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
  uint32_t markCacheable();
  bool isInQueue(const Buffer *buffer) const;

  Graph &graph;
  llvm::DenseMap<Device *, Model> models;
  bool overlaps;
  std::vector<ProgramRun> queue;
  /// Packed results that programs would keep.
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
  int64_t bytes = getNumBytes(node->shape(), node->dtype);
  give(node, getModel(*node->device).memory->allocate(bytes));
}

void MemoryModel::store(Node *output, BufferRef buffer) {
  for (Node *node = output; !node->isLeaf(); node = node->viewed()) {
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
uint32_t MemoryModel::markCacheable() {
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
  uint32_t kept = markCacheable();
  // Numbers of released values, and their devices, by buffer.
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

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
/// Plans runs, one after the other. In the end the session is as it was.
class RunPlan {
public:
  /// Adds what is run to `runs`, if given.
  RunPlan(SessionImpl &session, Runs *runs, Compiler *target);
  ~RunPlan();

  void compute(llvm::ArrayRef<Node *> asked, RunKind kind);
  /// Computes the values, and updates that they depend on before.
  void computeAll(llvm::ArrayRef<Node *> nodes);
  int64_t getPeak(Device &on) { return model.getPeak(on); }

private:
  /// Computes values of one device.
  void compute(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind);

  SessionImpl &session;
  Runs *runs;
  Compiler *target;
  MemoryModel model;
  // As they were.
  int64_t hits, flushes;
  decltype(session.graph.getPeriod()) period;
};
} // namespace

RunPlan::RunPlan(SessionImpl &session, Runs *runs, Compiler *target)
    : session(session), runs(runs), target(target),
      model(session.graph, session.settings.isAsynchronous),
      hits(session.programs.getCounts().hits),
      flushes(session.updates.getFlushes()), period(session.graph.getPeriod()) {
  // The runs in the queue have been asked for before.
  session.waiter.drainInside();
  for (const std::unique_ptr<Device> &each : session.devices.getMade())
    each->scratch.reset();
}

RunPlan::~RunPlan() {
  session.programs.setHits(hits);
  session.updates.setFlushes(flushes);
  session.graph.setPeriod(period);
}

void RunPlan::compute(llvm::ArrayRef<Node *> asked, RunKind kind) {
  for (auto &[on, nodes] :
       session.planner.groupByDevice(asked, kind, session.devices.getCurrent()))
    compute(*on, nodes, kind);
}

void RunPlan::compute(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind) {
  ProgramPlanner &planner = session.planner;
  Slice &slice = planner.getSlice();
  auto shareView = [&](Node *node) { return model.shareView(node); };
  while (planner.plan(on, asked, kind, shareView)) {
    if (!slice.transfers.empty()) {
      auto transfers = std::exchange(slice.transfers, {});
      for (Node *node : transfers)
        compute(node->operands.front(), RunKind::Transferred);
      llvm::for_each(transfers, [&](Node *node) { model.transfer(node); });
      continue;
    }
    FoundProgram found = session.programs.lookUp(
        slice, planner.getDonatable(), session.waiter.getStopCheck(), target);
    model.run(*found.cached->program, slice, session.settings.keepsPacked);
    if (runs)
      runs->push_back(makeRecord(slice, planner.getKept(), std::move(found)));
    return;
  }
}

void RunPlan::computeAll(llvm::ArrayRef<Node *> nodes) {
  if (llvm::any_of(nodes, [&](Node *node) {
        return !node->isLeaf() && session.updates.precede(node);
      })) {
    compute(session.updates.findDue(nodes), RunKind::Updates);
    session.updates.setFlushes(session.updates.getFlushes() + 1);
    session.graph.startPeriod();
    model.collect();
  }
  compute(nodes, RunKind::Asked);
}

Runs Inspector::planRuns(llvm::ArrayRef<const Var *> vars, Compiler *target) {
  Runs runs;
  RunPlan(session, &runs, target).computeAll(getNodes(vars));
  return runs;
}

int64_t Inspector::estimatePeak(llvm::ArrayRef<const Var *> vars) {
  llvm::SmallVector<Node *> nodes = getNodes(vars);
  RunPlan plan(session, /*runs=*/nullptr, /*target=*/nullptr);
  plan.computeAll(nodes);
  Device *on = nodes.empty() ? nullptr : nodes.front()->device;
  return plan.getPeak(on ? *on : session.devices.getCurrent());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns a value like an argument of a call: in memory, which only counts,
/// and held by nobody else.
static Node *makeLike(const Node *argument, Recorder &recorder,
                      Allocator &model) {
  int64_t bytes = getNumBytes(argument->shape(), argument->dtype);
  Node *node = recorder.buffer(argument->dtype, argument->shape(),
                               model.allocate(bytes));
  node->device = argument->device;
  return node;
}

Runs Inspector::planCall(const RecordedFunction &function,
                         llvm::ArrayRef<Var *> arguments) {
  if (!session.settings.isLazy)
    fail(ErrorKind::Runtime, "lower: operators are run one by one, and no call "
                             "is a program; set the flag lazy to True");
  // Updates that are pending are not of the call.
  PendingUpdates others;
  others.setFlushes(session.updates.getFlushes());
  std::swap(session.updates, others);
  bool flushedForAsked = session.flushedForAsked;
  std::unique_ptr<Allocator> model = Allocator::createModel(/*bytesInUse=*/0);
  llvm::scope_exit restore([&] {
    session.dropped.release();
    std::swap(session.updates, others);
    session.flushedForAsked = flushedForAsked;
    session.recorder.skipRandom(-function.getNumDrawn());
  });
  CallValues values;
  std::vector<Var> made =
      own.wrapAll(llvm::map_to_vector(arguments, [&](Var *argument) {
        Node *node = argument->getNode();
        return node->isScalar ? node : makeLike(node, session.recorder, *model);
      }));
  std::vector<Number> zeros(function.getNumberTypes().size(), Number::ofInt(0));
  llvm::move(function.makeNumbers(own, zeros), std::back_inserter(made));
  auto pointers = llvm::map_to_vector(made, [](Var &var) { return &var; });
  values.arguments = pointers;
  for (const Var &var : made)
    values.before.push_back(var.getNode());
  std::vector<Var> results =
      function.replay(own, pointers, RecordedFunction::Mode::Call);
  values.results = results;
  session.dropped.release();
  llvm::SmallSetVector<Node *, 8> asked =
      session.findAsked(values, session.findEnding(values));
  Runs runs;
  RunPlan plan(session, &runs, /*target=*/nullptr);
  if (session.updates.empty())
    plan.compute(asked.getArrayRef(), RunKind::Asked);
  else
    plan.compute(session.updates.findDue(asked.getArrayRef()),
                 RunKind::Updates);
  return runs;
}
