//===- Runner.cpp - Computing values --------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. What is asked for is planned as one program of each device
// (ProgramPlanner.h).
//    What a program needs of other devices is computed and brought over first.
// 2. The program is found by its slice's key, or compiled (Programs.h).
// 3. It is launched on the leaves' buffers; the outputs become leaves
//    themselves, whose memory is written when the run has its turn.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Run/Runner.h"

#include "llvm/ADT/ScopeExit.h"

using namespace metaops;

/// Plans a program, for which everything is on its device.
bool Runner::plan(Device &on, llvm::ArrayRef<Node *> asked, RunKind kind) {
  for (;;) {
    if (!planner.plan(on, asked, kind,
                      [this](Node *node) { return computeView(node); }))
      return false;
    std::vector<Node *> &needed = planner.getSlice().transfers;
    if (needed.empty())
      return true;
    computeTransfers(std::exchange(needed, {}));
  }
}

void Runner::compute(llvm::ArrayRef<Node *> asked, RunKind kind) {
  llvm::SmallVector<DeviceNodes, 1> byDevice =
      planner.groupByDevice(asked, kind, devices.getCurrent());
  // A program may overwrite what another device is to read, so all copies that
  // the programs need come first.
  if (byDevice.size() > 1)
    computeTransfers(planner.findTransfers(byDevice, kind));
  for (auto &[on, nodes] : byDevice)
    if (plan(*on, nodes, kind))
      runSlice(programs.lookUp(planner.getSlice(), planner.getDonatable(),
                               waiter.getStopCheck()),
               kind);
  completeFetches();
  if (kind != RunKind::Updates && kind != RunKind::Transferred)
    waitUnlessAsynchronous();
}

void Runner::waitUnlessAsynchronous() {
  if (settings.isAsynchronous)
    return;
  for (const std::unique_ptr<Device> &each : devices.getMade())
    waiter.waitInside(each->getQueue().getLast());
}

void Runner::completeFetches() {
  fetches.complete([this](Node *node) { return transfers.read(node); });
}

/// A view of a value that is there is there, too.
bool Runner::computeView(Node *node) {
  Node *source = graph.skipViews(node);
  if (!source->isLeaf())
    return false;
  if (source->isDonated)
    failOverwritten(source);
  if (!node->device)
    node->device = &devices.getCurrent();
  Device &on = *node->device;
  memory.store(node, memory.bufferOf(source, on), source->ready, source->depth,
               on);
  return true;
}

/// By number, the leaves that stand for numbers of steps.
static std::vector<NumberArgument>
findNumbers(const Slice &slice, llvm::ArrayRef<StepOutcomeRef> outcomes) {
  std::vector<NumberArgument> numbers;
  for (const StepOutcomeRef &outcome : outcomes) {
    if (outcome->getPlaces().empty())
      continue;
    for (auto [argument, leaf] : llvm::enumerate(slice.leaves)) {
      if (!leaf->isScalar)
        continue;
      for (const auto &[scalar, number] : outcome->getPlaces())
        if (scalar.getOrder() == leaf->order)
          numbers.push_back({unsigned(argument), outcome, number});
    }
  }
  return numbers;
}

void Runner::runSlice(FoundProgram found, RunKind kind) {
  const Slice &slice = planner.getSlice();
  Program &program = *found.cached->program;
  launcher.resumeFor(slice.leaves);
  Device &on = *slice.device;
  llvm::SmallVector<BufferRef> results;
  auto queued = std::make_unique<QueuedRun>(memory.take(
      [&] {
        llvm::SmallVector<BufferRef> arguments;
        for (Node *leaf : slice.leaves)
          arguments.push_back(memory.bufferOf(leaf, on));
        return check(program.prepare(arguments, on.getMemory(),
                                     launcher.getScratch(on)));
      },
      slice.outputs));
  if (settings.keepsPacked)
    program.keepPacked(queued->run, on.getMemory());
  for (const RunRef &result : queued->run.results)
    results.push_back(result.get());
  std::vector<CheckedValue> checked = findChecked(queued->run);
  for (const CheckedValue &value : checked)
    queued->checked.push_back(value.buffer);
  planner.recordDonations();
  for (Node *leaf : slice.leaves)
    queued->await(leaf->ready, on.getQueue());
  queued->replacedValues = updates.findReplaced(slice.outputs);
  if (kind == RunKind::Updates) {
    queued->outcomes = updates.beginRun();
    queued->numbers = findNumbers(slice, queued->outcomes);
  }
  queued->record = makeRecord(slice, planner.getKept(), std::move(found));
  noteRun(queued->record);
  Ticket ticket =
      launcher.launch(std::move(queued), /*isAwaited=*/kind == RunKind::Asked);
  provisional.addRepeatable(
      slice, [this](const Node *node) { return updates.precede(node); });
  for (auto [output, buffer] : llvm::zip_equal(slice.outputs, results))
    memory.store(output, std::move(buffer), ticket, output->depth + depthStep,
                 on);
  for (CheckedValue &value : checked)
    memory.store(value.node, std::move(value.buffer), ticket,
                 value.node->depth + depthStep, on);
  planner.recordLeftOut();
  repeated += planner.countRepeated();
  for (Node *leaf : slice.leaves)
    graph.count(leaf);
  for (Node *op : slice.ops)
    for (Node *result : resultsOf(op))
      graph.count(result);
  if (depthStep > 0)
    graph.dropOldSaved(slice.outputs);
  // The programs of a cut (Loops.cpp) are one step of a history.
  if (depthStep > 0 && kind != RunKind::Initial && kind != RunKind::Transferred)
    graph.startPeriod();
  restartCount();
}

/// Brings values over, each with all that it needs of whichever device.
void Runner::computeTransfers(std::vector<Node *> nodes) {
  llvm::SmallVector<Node *> sources;
  for (Node *node : nodes)
    if (Node *source = node->operands.front(); !source->isLeaf())
      sources.push_back(source);
  for (Node *node : nodes)
    graph.pin(node);
  llvm::scope_exit unpin([&] {
    for (Node *node : nodes)
      graph.unpin(node);
  });
  if (!sources.empty())
    compute(sources, RunKind::Transferred);
  for (Node *node : nodes)
    if (node->isAwaitedTransfer())
      transfers.start(node);
}
