//===- ExportTrace.cpp - Exported functions as slices ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 1. A function was recorded in a trace. It is recorded once more, in a trace
//    for the file, in which all that it is given are placeholders: so no value
//    of the session is known to its operations, and nothing of the session
//    changes. What random numbers are made of is given as well, if it is a
//    state.
// 2. The slice of its results, and of the values that a state has in the end,
//    is taken as for a run, with what checks its indices. Its leaves become
//    arguments: the inputs in their order, whether they are read or not, then
//    the weights. An output that is a leaf goes through an operation that does
//    nothing, so that it is no argument's memory.
//
//===----------------------------------------------------------------------===//

#include "ExportTrace.h"

using namespace metaops;

TensorSpec metaops::describeTensor(std::string name, const Node *node) {
  return {std::move(name), node->dtype, node->shape().vec()};
}

/// Fails where a slice draws random numbers. A file has none to draw from: the
/// session's are scalars beside it.
static void checkNotRandom(const Graph &graph, const Slice &slice) {
  for (Node *op : slice.ops)
    if (graph.getInfo(op).isRandom &&
        llvm::all_of(op->operands,
                     [](Node *operand) { return operand->isScalar; }))
      fail(
          ErrorKind::Value,
          "export: the program draws random numbers at " +
              formatLine(op->op->getLoc()) +
              ", and would draw the same ones in each run; expected them as an "
              "input, or state='outputs'");
}

void ExportTrace::addArguments() {
  for (const auto &[name, var] : function.arguments)
    vars.push_back(trace->addArgument(*var));
  for (auto [number, argument] : llvm::enumerate(function.arguments)) {
    Node *node = vars[number].getNode();
    if (argument.first.empty())
      sources[node] = argument.second->getNode();
    else
      inputs.emplace_back(argument.first, node);
  }
  if (!draws())
    return;
  for (llvm::StringRef name : {kRandomKey, kRandomCounter}) {
    random.push_back(trace->addNumber(DType::I64));
    inputs.emplace_back(name.str(), random.back().getNode());
  }
  trace->getRecorder().drawFrom(random[0].getNode(), random[1].getNode());
}

void ExportTrace::addOutputs() {
  for (auto [name, result] : llvm::zip_equal(function.outputs, results))
    outputs.emplace_back(name, result.getNode());
  for (unsigned number : function.state)
    outputs.emplace_back(function.arguments[number].first,
                         vars[number].getNode());
  if (!draws())
    return;
  Recorder &recorder = trace->getRecorder();
  outputs.emplace_back(kRandomKey.str(), recorder.randomKey());
  outputs.emplace_back(kRandomCounter.str(), recorder.randomCounter(0));
}

void ExportTrace::record() {
  addArguments();
  auto pointers = llvm::map_to_vector(vars, [](Var &var) { return &var; });
  trace->setArguments(pointers);
  results =
      function.recorded->replay(*trace, pointers, RecordedFunction::Mode::Call);
  // Arrays that the function makes are captured.
  for (Var *captured : trace->getCaptured())
    sources[trace->getNode(*captured)] = captured->getNode();
  addOutputs();
  cut();
}

/// Takes the slice of the outputs.
void ExportTrace::cut() {
  llvm::SmallVector<Node *> nodes;
  for (auto &[name, node] : outputs)
    nodes.push_back(node->isLeaf() ? trace->getRecorder().stopGrad(node)
                                   : node);
  traceSlice(getGraph(), nodes, slice);
  checkNotRandom(getGraph(), slice);
  llvm::SmallSetVector<Node *, 8> leaves;
  leaves.insert_range(llvm::make_second_range(inputs));
  leaves.insert_range(slice.leaves);
  slice.leaves.assign(leaves.begin(), leaves.end());
}

FunctionSignature ExportTrace::describe() const {
  FunctionSignature signature;
  for (const auto &[name, node] : inputs)
    signature.inputs.push_back(describeTensor(name, node));
  for (const auto &[name, node] : outputs)
    signature.outputs.push_back(describeTensor(name, node));
  signature.arguments.resize(inputs.size());
  return signature;
}
