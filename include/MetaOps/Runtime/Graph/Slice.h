//===- Slice.h - What a value needs to be computed --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_RUNTIME_GRAPH_SLICE_H
#define METAOPS_RUNTIME_GRAPH_SLICE_H

#include "MetaOps/Runtime/Graph/Graph.h"
#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <string>
#include <vector>

namespace metaops {

/// Says whether two slices are one program. The skeleton holds all structure,
/// the numbers all extents and what follows them (appendNumbers): another batch
/// size is another vector of numbers beside the same skeleton.
struct ProgramKey {
  std::vector<uint32_t> skeleton;
  std::vector<int64_t> numbers;

  void clear() {
    skeleton.clear();
    numbers.clear();
  }
  uint64_t hash() const;
  bool operator==(const ProgramKey &other) const {
    return skeleton == other.skeleton && numbers == other.numbers;
  }
};

/// Flags that, beside the slice, make another program: the backend and its
/// options.
using ProgramFlags = std::array<uint32_t, 7>;

/// The operations between some outputs and the values that are already there.
struct Slice {
  /// Of all of the outputs. The session's to say.
  Device *device = nullptr;
  /// A result of each, which comes after its operands.
  std::vector<Node *> ops;
  /// The arguments of the program, in the order in which they were met.
  std::vector<Node *> leaves;
  std::vector<Node *> outputs;
  /// Of what it computes, the values that others may read as well, having more
  /// uses than one; those that a Var or a fetch holds; and whether an earlier
  /// program has computed one that somebody waited for.
  std::vector<Node *> shared, held;
  bool repeats = false;
  /// Values that other devices are to give before there can be a program; the
  /// slice is of no use until then.
  std::vector<Node *> transfers;
  ProgramKey key;
  /// The number of positions (Node::position).
  uint32_t numValues = 0;
  uint32_t epoch = 0;

  void clear();
  /// Until the next traversal of the graph.
  bool contains(const Node *node) const { return node->epoch == epoch; }
};

/// Collects the slice of `outputs`, none of them a leaf and all of one device,
/// and all of its key but the outputs. Throws where a value is needed that an
/// update has overwritten. Makes no MLIR object.
void traceSlice(Graph &graph, llvm::ArrayRef<Node *> outputs, Slice &slice);

/// Returns whether something outside of a slice may read a value of it. As a
/// rule a single use is what the slice itself reads it by; not so of an
/// operation with several results, of which it may read others.
bool mayBeReadOutside(const Node *node);

/// Returns, where an operation of the slice is a check, what holds its indices
/// in memory when the slice has run, a leaf or an output. Null where nothing
/// does, or what is checked is free of a device, and is to stay so.
Node *findIndices(const Graph &graph, const Slice &slice, Node *op);

/// Marks all that `roots` are made of, down to leaves and to the outputs of the
/// program that is about to run, with a new epoch, which is returned.
uint32_t markNeeded(Graph &graph, llvm::ArrayRef<Node *> roots);

/// Ends the key: which ops are outputs, which leaves the program may overwrite,
/// and whatever else makes another program.
void finishKey(Slice &slice, llvm::ArrayRef<bool> donatable,
               const ProgramFlags &flags);

/// The slice as a module with a function @main from leaves to outputs, in MLIR
/// bytecode. The location of an operation is its position in the slice.
std::string writeSlice(Graph &graph, const Slice &slice);

/// The first overwritten value that `roots` need, or null.
Node *findOverwritten(Graph &graph, llvm::ArrayRef<Node *> roots);

/// Throws, naming the update that overwrote the value.
[[noreturn]] void failOverwritten(const Node *node);

/// "file.py:12", or "an unknown line".
std::string formatLine(mlir::Location location);
/// The name of an operation, quoted.
std::string formatName(mlir::Operation *op);

} // namespace metaops

#endif // METAOPS_RUNTIME_GRAPH_SLICE_H
