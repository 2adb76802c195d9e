//===- RecordingTables.h - What recording looks up by name ------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_RECORDING_RECORDINGTABLES_H
#define METAOPS_LIB_RUNTIME_RECORDING_RECORDINGTABLES_H

#include "MetaOps/Dialect/MetaOp/IR/Combiners.h"
#include "MetaOps/Runtime/IndexExpression/IndexExpression.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringMap.h"

namespace metaops {

/// An element-wise op whose operands and result have one type.
struct Recorder::ElementwiseInfo {
  mlir::OperationName name;
  unsigned arity;
  // Element types it takes.
  bool takesBool = false;
  bool takesSigned = false;
  bool takesUnsigned = false;
  bool takesFloat = false;

  bool takes(DType dtype) const {
    return isBool(dtype)          ? takesBool
           : isSignedInt(dtype)   ? takesSigned
           : isUnsignedInt(dtype) ? takesUnsigned
                                  : takesFloat;
  }
};

/// The strings of a reindex or reindex-reduce, parsed.
struct Recorder::ParsedAccess {
  mlir::AffineMap map;
  /// Null where there are none.
  mlir::IntegerSet conditions;
  /// Those that no integer set can say.
  std::vector<ConditionTree> trees;
  /// Indices that are computed. If there are any, they are the symbols of the
  /// map and the last dims of the trees, which say all conditions.
  std::vector<ComputedIndex> computed;
};

/// Tables of all recorders of a context, in which all is looked up once.
struct Recorder::Tables {
  llvm::StringMap<std::unique_ptr<ElementwiseInfo>> elementwise;
  llvm::StringMap<std::unique_ptr<ParsedAccess>> accesses;
};

/// `map` with the dims from `numDims` on as its symbols.
mlir::AffineMap toSymbols(mlir::AffineMap map, unsigned numDims);

llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<Node *> nodes);

/// Throws where there is no tensor of the shape.
void checkShape(llvm::StringRef what, llvm::ArrayRef<int64_t> shape);

/// `dims` counted from the start, rising. Throws where one is out of range or
/// given twice; `what` begins the message.
llvm::SmallVector<int64_t>
normalizeDims(llvm::StringRef what, llvm::ArrayRef<int64_t> dims, int64_t rank);

/// Extends `shape` to the common shape of itself and `other`; false where there
/// is none.
bool extendShape(llvm::SmallVectorImpl<int64_t> &shape,
                 llvm::ArrayRef<int64_t> other);

/// Throws where operations combine by no such combiner, or not such elements;
/// `what` begins the message.
mlir::metaop::Combiner parseCombiner(llvm::StringRef what,
                                     mlir::metaop::CombinerUse use,
                                     llvm::StringRef name, DType dtype,
                                     mlir::MLIRContext *context);

} // namespace metaops

#endif // METAOPS_LIB_RUNTIME_RECORDING_RECORDINGTABLES_H
