//===- Copies.cpp - Programs that are copies alone ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A concat of values that are in memory is copies and nothing else. For it no
// program is compiled, or kept: lists of tensors grow, and each length would
// make a program of its own.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/PlacementOps.h"
#include "MetaOps/Runtime/Program/CompiledProgram.h"
#include "MetaOps/Runtime/Programs/Programs.h"

using namespace mlir;
using namespace metaops;

/// The step of copies that a concat of leaves is, but for what it writes. False
/// if it is not.
static bool addCopies(const Graph &graph, Node *output,
                      const llvm::DenseMap<Node *, unsigned> &arguments,
                      Step &step) {
  auto concat = dyn_cast<metaop::ConcatOp>(graph.skipViews(output)->op);
  if (!concat)
    return false;
  int64_t dim = concat.getDim(), elementBytes = sizeOf(output->dtype);
  llvm::ArrayRef<int64_t> whole = concat.getType().getShape();
  Copies &copies = step.action.emplace<Copies>();
  copies.reserve(concat.getParts().size());
  int64_t begin = 0;
  for (Value value : concat.getParts()) {
    Node *part = graph.getNode(value);
    auto argument = arguments.find(graph.skipViews(part));
    if (argument == arguments.end())
      return false;
    Copy &copy = copies.emplace_back();
    copy.source = step.buffers.size();
    step.buffers.push_back(
        {argument->second, 0, getNumBytes(part->shape(), part->dtype)});
    copy.elementBytes = elementBytes;
    for (auto [k, extents] : llvm::enumerate(llvm::zip(part->shape(), whole))) {
      auto [extent, room] = extents;
      copy.dims.push_back(
          {extent, room, static_cast<int64_t>(k) == dim ? begin : 0, -1});
    }
    begin += part->shape()[dim];
  }
  step.numInputs = step.buffers.size();
  return true;
}

std::shared_ptr<const CachedProgram> Programs::makeCopies(const Slice &slice,
                                                          Compiler &backend) {
  if (!slice.device->hasHostMemory() || !backend.getTools() ||
      !llvm::all_of(slice.ops, [&](Node *node) {
        return isa<metaop::ConcatOp>(node->op) || graph.getInfo(node).isView;
      }))
    return nullptr;
  ProgramData data;
  llvm::DenseMap<Node *, unsigned> arguments;
  for (Node *leaf : slice.leaves) {
    arguments[leaf] = data.arguments.size();
    data.arguments.push_back(getNumBytes(leaf->shape(), leaf->dtype));
  }
  for (auto [number, output] : llvm::enumerate(slice.outputs)) {
    Step &step = data.steps.emplace_back();
    if (!addCopies(graph, output, arguments, step))
      return nullptr;
    int64_t bytes = getNumBytes(output->shape(), output->dtype);
    data.results.push_back({data.getResult(number), bytes});
    step.buffers.push_back({data.getResult(number), 0, bytes});
  }

  ProgramInfo info;
  info.metaOps = slice.ops.size();
  for (const ResultPlace &result : data.results) {
    KernelInfo &call = info.calls.emplace_back();
    call.name = "copy";
    call.isKernel = false;
    call.operators = {"concat"};
    for (auto [number, node] : llvm::enumerate(slice.ops))
      if (isa<metaop::ConcatOp>(node->op))
        call.nodes.push_back(number);
    call.bytesRead = call.bytesWritten = result.bytes;
    call.maxThreads = getMaxCopyThreads(result.bytes);
  }
  auto cached = std::make_shared<CachedProgram>();
  cached->program =
      check(CompiledProgram::create(std::move(data), std::move(info)));
  cached->slice = writeSlice(graph, slice);
  cached->options = settings.options;
  cached->compiler = &backend;
  return cached;
}
