//===- Slice.cpp - What a value needs to be computed ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A depth-first walk from the outputs along the operands, without recursion (a
// program may be thousands of operations deep). An operation is numbered when
// its operands are, a leaf when it is met; one count for both. The key is
// written on the way: for a leaf its type, for an operation its signature and
// its operands' numbers, and the extents of each.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Slice.h"

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "MetaOps/Runtime/Session/Error.h"
#include "Walk.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace metaops;

uint64_t ProgramKey::hash() const {
  auto bytesOf = [](const auto &numbers) {
    return llvm::ArrayRef(reinterpret_cast<const uint8_t *>(numbers.data()),
                          numbers.size() * sizeof(numbers[0]));
  };
  return llvm::xxh3_64bits(bytesOf(skeleton)) * 31 +
         llvm::xxh3_64bits(bytesOf(numbers));
}

void Slice::clear() {
  ops.clear();
  leaves.clear();
  outputs.clear();
  key.clear();
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Tells a leaf in a skeleton from an operation.
static constexpr uint32_t leafMark = 0x80000000;

static void appendShape(std::vector<int64_t> &numbers, const Node *node) {
  llvm::ArrayRef<int64_t> shape = node->shape();
  numbers.insert(numbers.end(), shape.begin(), shape.end());
}

/// Finds the depth of its history on the way.
static void appendToKey(Graph &graph, ProgramKey &key, Node *node) {
  if (node->isLeaf()) {
    key.skeleton.push_back(leafMark | uint32_t(node->dtype) << 16 |
                           node->type().getRank());
  } else {
    key.skeleton.push_back(node->signature);
    if (graph.getInfo(node).isVariadic)
      key.skeleton.push_back(node->operands.size());
    node->depth = 0;
    for (Node *source : node->operands) {
      key.skeleton.push_back(source->position);
      node->depth = std::max(node->depth, source->depth);
    }
  }
  appendShape(key.numbers, node);
}

void metaops::traceSlice(Graph &graph, llvm::ArrayRef<Node *> outputs,
                         Slice &slice) {
  slice.clear();
  slice.outputs.assign(outputs.begin(), outputs.end());
  Walk walk(graph);
  slice.epoch = walk.getEpoch();
  uint32_t position = 0;
  for (Node *output : outputs)
    walk.run(output, [&](Node *node) {
      if (node->isDonated)
        failOverwritten(node);
      node->position = position++;
      (node->isLeaf() ? slice.leaves : slice.ops).push_back(node);
      appendToKey(graph, slice.key, node);
    });
}

uint32_t metaops::markNeeded(Graph &graph, llvm::ArrayRef<Node *> roots) {
  Walk walk(graph, /*stopsAtOutputs=*/true);
  for (Node *root : roots)
    walk.run(root, [](Node *) {});
  return walk.getEpoch();
}

Node *metaops::findOverwritten(Graph &graph, llvm::ArrayRef<Node *> roots) {
  Node *found = nullptr;
  Walk walk(graph);
  for (Node *root : roots)
    walk.run(root, [&](Node *node) {
      if (node->isDonated && !found)
        found = node;
    });
  return found;
}

void metaops::failOverwritten(const Node *node) {
  fail(ErrorKind::Runtime,
       "this needs a value of shape " + formatShape(node->shape()) +
           " that no Var held any more when the update at " +
           formatLine(*node->overwrittenAt) +
           " was run, which reused its memory; keep a Var of the old value, or "
           "compute this before the update");
}

std::string metaops::formatLine(Location location) {
  FileLineColLoc line = location->findInstanceOf<FileLineColLoc>();
  if (!line)
    return "an unknown line";
  return line.getFilename().str() + ":" + std::to_string(line.getLine());
}

void metaops::finishKey(Slice &slice, llvm::ArrayRef<bool> donatable,
                        const ProgramFlags &flags) {
  std::vector<uint32_t> &skeleton = slice.key.skeleton;
  skeleton.push_back(leafMark | slice.outputs.size());
  for (Node *output : slice.outputs)
    skeleton.push_back(output->position);
  for (bool mayWrite : donatable)
    skeleton.push_back(mayWrite);
  skeleton.insert(skeleton.end(), flags.begin(), flags.end());
}

//===----------------------------------------------------------------------===//
// Slice to IR
//===----------------------------------------------------------------------===//

std::string metaops::writeSlice(Graph &graph, const Slice &slice) {
  MLIRContext *context = graph.getBuilder().getContext();
  Location unknown = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  auto typesOf = [](llvm::ArrayRef<Node *> nodes) {
    return llvm::map_to_vector(nodes,
                               [](Node *node) -> Type { return node->type(); });
  };
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto function = func::FuncOp::create(
      builder, unknown, "main",
      builder.getFunctionType(typesOf(slice.leaves), typesOf(slice.outputs)));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);

  IRMapping mapping;
  for (auto [leaf, argument] :
       llvm::zip_equal(slice.leaves, body->getArguments()))
    mapping.map(leaf->value(), argument);
  StringAttr file = builder.getStringAttr("node");
  for (auto [index, node] : llvm::enumerate(slice.ops)) {
    Operation *clone = builder.clone(*node->op, mapping);
    clone->setLoc(FileLineColLoc::get(file, index, 0));
  }
  llvm::SmallVector<Value> results;
  for (Node *output : slice.outputs)
    results.push_back(mapping.lookup(output->value()));
  func::ReturnOp::create(builder, unknown, results);

  std::string bytecode;
  llvm::raw_string_ostream os(bytecode);
  if (failed(writeBytecodeToFile(module.get(), os)))
    fail(ErrorKind::Runtime, "cannot write the slice as bytecode");
  return bytecode;
}
