//===- OperationKeys.cpp - Exact keys of operations -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key is a preorder of the operations, in words of 32 bits: values have the
// number of their definition, and what a context has once (names, types,
// attributes) the number of its text, which is printed when it is met first.
// An operation's inherent attributes are compared as they are stored. So a key
// costs a few words an operation, where a text would print each again.
//
//===----------------------------------------------------------------------===//

#include "OperationKeys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cstddef>

using namespace mlir;

namespace metaops {

/// Stands for an index constant among the numbers of values.
static constexpr uint32_t kNumberBit = uint32_t(1) << 31;
/// Ends the operations of a block.
static constexpr uint32_t kEnd = UINT32_MAX;
/// Of most keys of loops.
static constexpr size_t kUsualBytes = 1 << 14;
/// Stands for an attribute that there is not.
static constexpr uint32_t kNone = UINT32_MAX - 1;

struct OperationKeys::Properties {
  explicit Properties(Operation *op, uint32_t number)
      : name(op->getName()), number(number),
        storage(std::make_unique<std::max_align_t[]>(
            op->getPropertiesStorageSize() / sizeof(std::max_align_t) + 1)) {
    name.initOpProperties(get(), op->getPropertiesStorage());
  }
  Properties(Properties &&) = default;
  Properties &operator=(Properties &&) = delete;
  ~Properties() {
    if (storage)
      name.destroyOpProperties(get());
  }

  OpaqueProperties get() const { return storage.get(); }

  OperationName name;
  uint32_t number;

private:
  std::unique_ptr<std::max_align_t[]> storage;
};

OperationKeys::OperationKeys(TextNumbers &texts) : texts(texts) {}
OperationKeys::~OperationKeys() = default;

void OperationKeys::add(uint32_t word) {
  key.append(reinterpret_cast<const char *>(&word), sizeof(word));
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

template <typename T> static std::string print(T what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}

uint32_t OperationKeys::number(Type type) {
  auto [known, isNew] = byAddress.try_emplace(type.getAsOpaquePointer());
  if (isNew)
    known->second = texts.get(print(type));
  return known->second;
}

uint32_t OperationKeys::number(Attribute attribute) {
  if (!attribute)
    return kNone;
  auto [known, isNew] = byAddress.try_emplace(attribute.getAsOpaquePointer());
  if (isNew)
    known->second = texts.get(print(attribute));
  return known->second;
}

uint32_t OperationKeys::number(OperationName name) {
  auto [known, isNew] = byAddress.try_emplace(name.getAsOpaquePointer());
  if (isNew)
    known->second = texts.get(name.getStringRef());
  return known->second;
}

uint32_t OperationKeys::numberProperties(Operation *op) {
  if (op->getPropertiesStorageSize() == 0)
    return kNone;
  OperationName name = op->getName();
  size_t hash = llvm::hash_combine(
      name, name.hashOpProperties(op->getPropertiesStorage()));
  std::vector<Properties> &known = byProperties[hash];
  for (const Properties &each : known)
    if (each.name == name &&
        name.compareOpProperties(each.get(), op->getPropertiesStorage()))
      return each.number;
  known.emplace_back(op, number(op->getPropertiesAsAttribute()));
  return known.back().number;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Takes an index constant of a kernel for a number; returns whether it is one.
bool OperationKeys::takeNumber(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!isInKernel || !constant || !constant.getType().isIndex())
    return false;
  values[constant] = kNumberBit | static_cast<uint32_t>(numbers.size());
  numbers.push_back(cast<IntegerAttr>(constant.getValue()).getInt());
  return true;
}

/// Returns the type of a buffer of any length.
static Type forgetLength(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer
             ? MemRefType::get({ShapedType::kDynamic}, buffer.getElementType(),
                               buffer.getLayout(), buffer.getMemorySpace())
             : type;
}

void OperationKeys::addRegions(Operation *op, unsigned numBuffers) {
  add(op->getNumRegions());
  for (Region &region : op->getRegions()) {
    add(region.getBlocks().size());
    for (Block &block : region) {
      add(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        values.try_emplace(argument, values.size());
        Type type = argument.getType();
        bool isBuffer =
            block.isEntryBlock() && argument.getArgNumber() < numBuffers;
        add(number(isBuffer ? forgetLength(type) : type));
      }
      for (Operation &inner : block)
        addOperation(&inner);
      add(kEnd);
    }
  }
}

/// Adds a kernel over buffers, whose type follows from its arguments.
void OperationKeys::addFunction(FunctionOpInterface function) {
  add(number(function->getName()));
  auto type = TypeAttr::get(function.getFunctionType());
  for (NamedAttribute attribute : function->getAttrs()) {
    if (attribute.getValue() == type)
      continue;
    add(number(Attribute(attribute.getName())));
    add(number(attribute.getValue()));
  }
  add(kEnd);
  size_t before = numbers.size();
  isInKernel = true;
  // Workgroup memory stands behind them, and has a length.
  addRegions(function, function.getNumArguments());
  isInKernel = false;
  // Also numbers that nothing uses are arguments.
  add(numbers.size() - before);
}

void OperationKeys::addOperation(Operation *op) {
  if (takeNumber(op))
    return;
  if (kernels.contains(op))
    return addFunction(cast<FunctionOpInterface>(op));
  add(number(op->getName()));
  add(numberProperties(op));
  add(number(Attribute(op->getDiscardableAttrDictionary())));
  add(op->getNumOperands());
  for (Value operand : op->getOperands())
    add(values.try_emplace(operand, values.size()).first->second);
  add(op->getNumResults());
  for (OpResult result : op->getResults()) {
    add(values.try_emplace(result, values.size()).first->second);
    add(number(result.getType()));
  }
  add(op->getNumSuccessors());
  for (Block *successor : op->getSuccessors())
    add(std::distance(successor->getParent()->begin(),
                      successor->getIterator()));
  addRegions(op);
}

std::string OperationKeys::getBodyKey(func::FuncOp function) {
  values.clear();
  addRegions(function);
  return std::exchange(key, {});
}

LoopsKey OperationKeys::getLoopsKey(ModuleOp module,
                                    ArrayRef<FunctionOpInterface> functions) {
  values.clear();
  kernels.clear();
  for (FunctionOpInterface function : functions)
    kernels.insert(function);
  key.reserve(kUsualBytes);
  addRegions(module);
  return {std::exchange(key, {}), std::exchange(numbers, {})};
}

} // namespace metaops
