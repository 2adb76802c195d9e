//===- Graphs.cpp - Graphs of an emulated driver --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A node has its parameters by value, and addresses are looked up when the
// graph is launched: memory that was freed meanwhile is found then. The nodes
// of a launch are operations that only their edges order, behind what is in the
// stream; what comes next in the stream is behind all of them.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace metaops;
using namespace metaops::emulated;

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

DriverResult Machine::createGraph(DriverHandle *handle, unsigned) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  auto graph = std::make_shared<Graph>();
  graph->context = context;
  *handle = graph.get();
  graphs[*handle] = std::move(graph);
  return SUCCESS;
}

DriverResult Machine::destroyGraph(DriverHandle handle) {
  if (!find(graphs, handle, "graph"))
    return ERROR_INVALID_HANDLE;
  graphs.erase(handle);
  return SUCCESS;
}

/// Adds a node behind others of the same graph.
DriverResult Machine::addNode(DriverHandle *handle, DriverHandle into,
                              const DriverHandle *before, size_t count,
                              GraphWork work) {
  Graph *graph = find(graphs, into, "graph");
  if (!graph)
    return ERROR_INVALID_HANDLE;
  GraphNode node;
  node.work = std::move(work);
  for (size_t i = 0; i < count; ++i) {
    std::optional<size_t> number = graph->getNumber(before[i]);
    if (!number)
      return fail(ERROR_INVALID_HANDLE, "an edge is from no node of the graph");
    node.before.push_back(*number);
  }
  graph->nodes.push_back(std::move(node));
  graph->handles.push_back(std::make_shared<char>());
  *handle = graph->handles.back().get();
  return SUCCESS;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

DriverResult Machine::makeKernelWork(const KernelNode &node, GraphWork &work) {
  PreparedLaunch prepared;
  if (DriverResult result = prepare(node, prepared))
    return result;
  work.check = [this, prepared] { return checkPieces(*prepared.call); };
  work.make = [this, prepared](FreshCalls &fresh) {
    // Each launch of the graph is a call of its own.
    std::shared_ptr<DescribedCall> &call = fresh[prepared.call.get()];
    if (!call)
      call = std::make_shared<DescribedCall>(prepared.call->description);
    PreparedLaunch launch = prepared;
    launch.call = call;
    return makeOperation(launch);
  };
  return SUCCESS;
}

DriverResult Machine::addKernelNode(DriverHandle *handle, DriverHandle into,
                                    const DriverHandle *before, size_t count,
                                    const KernelNode *parameters) {
  GraphWork work;
  if (DriverResult result = makeKernelWork(*parameters, work))
    return result;
  return addNode(handle, into, before, count, std::move(work));
}

DriverResult Machine::addCopyNode(DriverHandle *handle, DriverHandle into,
                                  const DriverHandle *before, size_t count,
                                  const CopyNode *parameters, DriverHandle) {
  const CopyNode copy = *parameters;
  if (copy.height != 1 || copy.depth != 1)
    return ERROR_NOT_SUPPORTED;
  std::string what =
      "a graph's copy of " + std::to_string(copy.bytes) + " bytes";
  auto getAddress = [](const CopyEnd &end) {
    return end.x + (end.memoryType == CopyEnd::kDevice
                        ? end.device
                        : reinterpret_cast<uint64_t>(end.host));
  };
  auto checkEnd = [this, what, getAddress,
                   bytes = copy.bytes](const CopyEnd &end) {
    return end.memoryType == CopyEnd::kDevice
               ? checkDevice(what, getAddress(end), bytes)
               : checkHost(what, getAddress(end), bytes);
  };
  GraphWork work;
  work.check = [copy, checkEnd] {
    DriverResult result = checkEnd(copy.from);
    return result ? result : checkEnd(copy.to);
  };
  work.make = [copy, what, getAddress](FreshCalls &) {
    return makeCopy(what, reinterpret_cast<void *>(getAddress(copy.to)),
                    reinterpret_cast<const void *>(getAddress(copy.from)),
                    copy.bytes);
  };
  if (DriverResult result = work.check())
    return result;
  return addNode(handle, into, before, count, std::move(work));
}

DriverResult Machine::addFillNode(DriverHandle *handle, DriverHandle into,
                                  const DriverHandle *before, size_t count,
                                  const FillNode *parameters, DriverHandle) {
  const FillNode fill = *parameters;
  if (fill.elementBytes != 1 || fill.height != 1)
    return ERROR_NOT_SUPPORTED;
  std::string what =
      "a graph's fill of " + std::to_string(fill.width) + " bytes";
  GraphWork work;
  work.check = [this, what, fill] {
    return checkDevice(what, fill.to, fill.width);
  };
  work.make = [what, fill](FreshCalls &) {
    return makeFill(what, reinterpret_cast<void *>(fill.to),
                    static_cast<unsigned char>(fill.value), fill.width);
  };
  if (DriverResult result = work.check())
    return result;
  return addNode(handle, into, before, count, std::move(work));
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

DriverResult Machine::instantiateGraph(DriverHandle *handle, DriverHandle from,
                                       unsigned long long) {
  Graph *graph = find(graphs, from, "graph");
  if (!graph)
    return ERROR_INVALID_HANDLE;
  auto instance = std::make_shared<Graph>(*graph);
  *handle = instance.get();
  instances[*handle] = std::move(instance);
  return SUCCESS;
}

DriverResult Machine::destroyInstance(DriverHandle handle) {
  if (!find(instances, handle, "instance of a graph"))
    return ERROR_INVALID_HANDLE;
  instances.erase(handle);
  return SUCCESS;
}

DriverResult Machine::setKernelNode(DriverHandle handle, DriverHandle node,
                                    const KernelNode *parameters) {
  Graph *instance = find(instances, handle, "instance of a graph");
  if (!instance)
    return ERROR_INVALID_HANDLE;
  std::optional<size_t> number = instance->getNumber(node);
  if (!number)
    return fail(ERROR_INVALID_HANDLE, "there is no such node in the graph");
  return makeKernelWork(*parameters, instance->nodes[*number].work);
}

DriverResult Machine::launchGraph(DriverHandle handle, DriverHandle into) {
  Graph *instance = find(instances, handle, "instance of a graph");
  Stream *stream = findStream(into);
  if (!instance || !stream)
    return ERROR_INVALID_HANDLE;
  for (const GraphNode &node : instance->nodes)
    if (DriverResult result = node.work.check())
      return result;
  DriverResult result = SUCCESS;
  FreshCalls fresh;
  std::vector<OperationRef> last = listLast(*stream), made;
  last.push_back(instance->last);
  for (const GraphNode &node : instance->nodes) {
    std::vector<OperationRef> before = last;
    for (size_t number : node.before)
      before.push_back(made[number]);
    OperationRef operation = node.work.make(fresh);
    if (OperationRef other = schedule.add(operation, before)) {
      result = failOrder(*operation, *other);
      break;
    }
    made.push_back(std::move(operation));
  }
  // Later work of the stream is behind all that was added.
  auto end = std::make_shared<Operation>();
  end->description = "the end of a graph";
  llvm::append_range(last, made);
  schedule.add(end, last);
  instance->last = end;
  stream->last = std::move(end);
  return result;
}
