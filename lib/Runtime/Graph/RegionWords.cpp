//===- RegionWords.cpp - Operations with regions as numbers ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of the regions, in which an operation is a number, too: that of its
// signature. Values are numbered as they are met, where they are used or where
// they are defined, whichever comes first, for the blocks of a region need not
// be in the order in which they are run. A value that is nowhere defined is a
// capture. How many numbers follow is always said before, so no text begins
// another one.
//
//===----------------------------------------------------------------------===//

#include "RegionWords.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace {
class RegionWriter {
public:
  explicit RegionWriter(llvm::function_ref<uint32_t(Operation *)> intern)
      : intern(intern) {}

  std::vector<uint64_t> write(Operation *op) {
    words.reserve(256);
    writeHead(op);
    writeRegionsOf(op);
    return std::move(words);
  }

private:
  void add(uint64_t word) { words.push_back(word); }
  void add(const void *unique) { add(reinterpret_cast<uintptr_t>(unique)); }

  /// Writes what an operation is by itself. Its attributes beside the
  /// properties may be hints to a compiler.
  void writeHead(Operation *op) {
    add(uint64_t(intern(op)));
    add(op->getDiscardableAttrDictionary().getAsOpaquePointer());
  }

  void writeValue(Value value) {
    add(uint64_t(numbers.try_emplace(value, numbers.size()).first->second));
  }

  void writeOperation(Operation *op) {
    writeHead(op);
    add(uint64_t(op->getNumOperands()));
    for (Value operand : op->getOperands())
      writeValue(operand);
    for (Value result : op->getResults())
      writeValue(result);
    for (Block *successor : op->getSuccessors())
      add(uint64_t(std::distance(successor->getParent()->begin(),
                                 Region::iterator(successor))));
    writeRegionsOf(op);
  }

  void writeRegionsOf(Operation *op) {
    add(uint64_t(op->getNumRegions()));
    for (Region &region : op->getRegions()) {
      add(uint64_t(region.getBlocks().size()));
      for (Block &block : region)
        writeBlock(block);
    }
  }

  void writeBlock(Block &block) {
    add(uint64_t(block.getNumArguments()));
    for (BlockArgument argument : block.getArguments()) {
      writeType(argument.getType());
      writeValue(argument);
    }
    add(uint64_t(block.getOperations().size()));
    for (Operation &op : block)
      writeOperation(&op);
  }

  /// Writes a type without extents.
  void writeType(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && !tensor.getEncoding()) {
      add(tensor.getElementType().getAsOpaquePointer());
      add(uint64_t(tensor.getRank()));
    } else {
      add(type.getAsOpaquePointer());
      add(~uint64_t(0));
    }
  }

  llvm::function_ref<uint32_t(Operation *)> intern;
  llvm::DenseMap<Value, unsigned> numbers;
  std::vector<uint64_t> words;
};
} // namespace

std::vector<uint64_t>
metaops::writeRegions(Operation *op,
                      llvm::function_ref<uint32_t(Operation *)> intern) {
  return RegionWriter(intern).write(op);
}
