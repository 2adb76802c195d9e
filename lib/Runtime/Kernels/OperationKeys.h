//===- OperationKeys.h - Exact keys of operations ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_KERNELS_OPERATIONKEYS_H
#define METAOPS_LIB_RUNTIME_KERNELS_OPERATIONKEYS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace metaops {

/// Numbers of texts. Equal texts have equal numbers, whichever context they are
/// of.
class TextNumbers {
public:
  uint32_t get(llvm::StringRef text) {
    return numbers.try_emplace(text, numbers.size()).first->second;
  }
  size_t size() const { return numbers.size(); }
  void clear() { numbers.clear(); }

private:
  llvm::StringMap<uint32_t> numbers;
};

/// Functions over buffers without their numbers, and those.
struct LoopsKey {
  std::string key;
  /// The index constants of the kernels, in the order of the text.
  std::vector<int64_t> numbers;
};

/// Makes keys of operations of one context. Two keys that were made with the
/// same texts are equal if, and only if, the operations print alike: names,
/// operands, attributes, types and regions are, while lines do not count.
class OperationKeys {
public:
  explicit OperationKeys(TextNumbers &texts);
  ~OperationKeys();

  /// Returns the key of the body of a function, whose name does not count.
  std::string getBodyKey(mlir::func::FuncOp function);

  /// Returns the key of a module as `abstractNumbers` would leave `kernels`,
  /// functions in it: without their numbers, and the lengths of buffers.
  LoopsKey getLoopsKey(mlir::ModuleOp module,
                       llvm::ArrayRef<mlir::FunctionOpInterface> kernels);

private:
  /// Inherent attributes that were seen.
  struct Properties;

  void add(uint32_t word);
  void addOperation(mlir::Operation *op);
  void addFunction(mlir::FunctionOpInterface function);
  /// The first `numBuffers` arguments are taken for buffers of any length.
  void addRegions(mlir::Operation *op, unsigned numBuffers = 0);
  uint32_t number(mlir::Type type);
  uint32_t number(mlir::Attribute attribute);
  uint32_t number(mlir::OperationName name);
  uint32_t numberProperties(mlir::Operation *op);
  bool takeNumber(mlir::Operation *op);

  TextNumbers &texts;
  /// By the address of what is unique in a context.
  llvm::DenseMap<const void *, uint32_t> byAddress;
  llvm::DenseMap<size_t, std::vector<Properties>> byProperties;
  llvm::DenseMap<mlir::Value, uint32_t> values;
  llvm::SmallPtrSet<mlir::Operation *, 2> kernels;
  bool isInKernel = false;
  std::vector<int64_t> numbers;
  std::string key;
};

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_KERNELS_OPERATIONKEYS_H
