//===- Dump.cpp - The block as text ---------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace metaops;

std::string metaops::printBlock(Graph &graph) {
  MLIRContext *context = graph.getBuilder().getContext();
  context->loadDialect<func::FuncDialect>();
  Location unknown = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  llvm::SmallVector<Type> types;
  graph.forEachNode([&](Node *node) {
    if (node->vars > 0)
      types.push_back(node->type());
  });
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = func::FuncOp::create(builder, unknown, "main",
                                       builder.getFunctionType({}, types));
  builder.setInsertionPointToEnd(function.addEntryBlock());

  IRMapping mapping;
  llvm::SmallVector<Value> results;
  for (Operation &op : graph.getBlock())
    builder.clone(op, mapping);
  graph.forEachNode([&](Node *node) {
    if (node->vars > 0)
      results.push_back(mapping.lookup(node->value()));
  });
  func::ReturnOp::create(builder, unknown, results);

  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}
