//===- Slice.cpp - What a value needs to be computed ----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A depth-first walk from the outputs along the operands, without recursion (a
// program may be thousands of operations deep). The results of an operation are
// numbered when its operands are, a leaf when it is met; one count for all. The
// key is written on the way: for a leaf its type, for an operation its
// signature and its operands' numbers, and the extents of each value, those in
// regions included.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Slice.h"

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "MetaOps/Runtime/Graph/Error.h"
#include "MetaOps/Runtime/Graph/Walk.h"
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
  transfers.clear();
  outputs.clear();
  shared.clear();
  held.clear();
  repeats = false;
  key.clear();
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Tells a leaf in a skeleton from an operation.
static constexpr uint32_t leafMark = 0x80000000;

static void appendLeaf(ProgramKey &key, const Node *leaf) {
  key.skeleton.push_back(leafMark | uint32_t(leaf->dtype) << 16 |
                         leaf->type().getRank());
  llvm::append_range(key.numbers, leaf->shape());
}

/// The node's operation, with all of its results.
static void appendOperation(Graph &graph, ProgramKey &key, const Node *node) {
  key.skeleton.push_back(node->signature);
  if (graph.getInfo(node).isVariadic)
    key.skeleton.push_back(node->operands.size());
  for (const Node *source : node->operands)
    key.skeleton.push_back(source->position);
  appendNumbers(node->op, key.numbers);
}

static uint32_t getDepth(const Node *node) {
  uint32_t depth = 0;
  for (const Node *source : node->operands)
    depth = std::max(depth, source->depth);
  return depth;
}

bool metaops::mayBeReadOutside(const Node *node) {
  Value value = node->value();
  bool isOneOfSeveral = node->nextResult != node;
  return !value.use_empty() && (isOneOfSeveral || !value.hasOneUse());
}

void metaops::traceSlice(Graph &graph, llvm::ArrayRef<Node *> outputs,
                         Slice &slice) {
  slice.clear();
  slice.outputs.assign(outputs.begin(), outputs.end());
  Walk walk(graph, WalkEnd::Transfers);
  slice.epoch = walk.getEpoch();
  // The next number, and that of the first result of the last operation.
  uint32_t next = 0, first = 0;
  auto visit = [&](Node *node) {
    if (node->isDonated)
      failOverwritten(node);
    if (node->isAwaitedTransfer()) {
      slice.transfers.push_back(node);
      return;
    }
    if (node->isLeaf()) {
      slice.leaves.push_back(node);
      appendLeaf(slice.key, node);
      node->position = next++;
      return;
    }
    if (slice.ops.empty() || slice.ops.back()->op != node->op) {
      slice.ops.push_back(node);
      appendOperation(graph, slice.key, node);
      first = next;
      next += node->op->getNumResults();
    }
    node->position = first + node->number;
    node->depth = getDepth(node);
    if (mayBeReadOutside(node))
      slice.shared.push_back(node);
    if (node->vars > 0 || node->pins > 0)
      slice.held.push_back(node);
    slice.repeats |= node->wasLeftOut;
  };
  for (Node *output : outputs)
    walk.run(output, visit);
  slice.numValues = next;
}

Node *metaops::findIndices(const Graph &graph, const Slice &slice, Node *op) {
  if (!graph.getInfo(op).isCheck || !op->device)
    return nullptr;
  Node *source = op->operands.front();
  while (!source->isLeaf() && !llvm::is_contained(slice.outputs, source)) {
    const SignatureInfo &info = graph.getInfo(source);
    if (!info.isView && !info.isCheck)
      return nullptr;
    source = source->viewed();
  }
  return source;
}

uint32_t metaops::markNeeded(Graph &graph, llvm::ArrayRef<Node *> roots) {
  Walk walk(graph, WalkEnd::Outputs);
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
  if (!node->overwrittenAt)
    fail(ErrorKind::Runtime,
         "this needs a value of shape " + formatShape(node->shape()) +
             " from " + formatLine(node->op->getLoc()) +
             " that no Var held any more, and that was let go with the "
             "history of a loop when histories took more than "
             "mo.flags.history_bytes; keep a Var of it");
  fail(ErrorKind::Runtime,
       "this needs a value of shape " + formatShape(node->shape()) +
           " that no Var held any more when the update at " +
           formatLine(node->overwrittenAt) +
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

/// Of the operation and all that is in its regions: a slice says nothing of the
/// user's lines, so that it is the same program wherever it is recorded.
static void setLocations(Operation *op, Location location) {
  op->walk([&](Operation *inner) {
    inner->setLoc(location);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(location);
  });
}

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
    // A result that is there already is an argument, if it is read.
    auto given = llvm::map_to_vector<2>(resultsOf(node), [&](Node *result) {
      return result->isLeaf() ? mapping.lookupOrNull(result->value()) : Value();
    });
    Operation *clone = builder.clone(*node->op, mapping);
    setLocations(clone, FileLineColLoc::get(file, index, 0));
    for (auto [result, argument] : llvm::zip_equal(resultsOf(node), given))
      if (argument)
        mapping.map(result->value(), argument);
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
