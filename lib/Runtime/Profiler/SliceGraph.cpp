//===- SliceGraph.cpp - A slice as plain data -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Profiler/SliceGraph.h"

#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "MetaOps/Runtime/Compiler/ReadSlice.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace metaops;

static std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    os << type;
    return text;
  }
  for (int64_t extent : tensor.getShape())
    ShapedType::isDynamic(extent) ? os << "?x" : os << extent << 'x';
  os << tensor.getElementType();
  return text;
}

static SliceGraph describe(func::FuncOp main) {
  SliceGraph graph;
  llvm::DenseMap<Value, int64_t> numbers;
  auto numbersOf = [&](ValueRange values) {
    std::vector<int64_t> result;
    for (Value value : values)
      result.push_back(numbers.lookup(value));
    return result;
  };
  for (BlockArgument argument : main.getArguments()) {
    numbers[argument] = -1 - int64_t(argument.getArgNumber());
    graph.leaves.push_back(formatType(argument.getType()));
  }
  Block &body = main.getBody().front();
  for (Operation &op : body.without_terminator()) {
    int64_t position = graph.nodes.size();
    SliceNode &node = graph.nodes.emplace_back();
    node.name = op.getName().stripDialect().str();
    node.operands = numbersOf(op.getOperands());
    llvm::append_range(node.operands, numbersOf(metaop::findCaptures(&op)));
    for (Value result : op.getResults()) {
      numbers[result] = position;
      node.type +=
          (node.type.empty() ? "" : ", ") + formatType(result.getType());
    }
  }
  graph.outputs = numbersOf(body.getTerminator()->getOperands());
  return graph;
}

llvm::Expected<SliceGraph> metaops::readSliceGraph(llvm::StringRef bytecode) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = readSlice(bytecode, context);
  if (!module)
    return module.takeError();
  return describe((*module)->lookupSymbol<func::FuncOp>("main"));
}
