//===- RecordReduce.cpp - Recording many-to-one ops -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ReduceOps.h"
#include "MetaOps/Runtime/Compiler/ElementTypes.h"
#include "RecordingTables.h"
#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace metaops;

metaop::Combiner metaops::parseCombiner(llvm::StringRef what,
                                        metaop::CombinerUse use,
                                        llvm::StringRef name, DType dtype,
                                        MLIRContext *context) {
  llvm::StringRef mnemonic = llvm::StringSwitch<llvm::StringRef>(name)
                                 .Case("maximum", "max")
                                 .Case("minimum", "min")
                                 .Case("multiply", "mul")
                                 .Default(name);
  auto combiner = metaop::symbolizeCombiner(mnemonic);
  if (!combiner || !metaop::isUsedBy(use, *combiner))
    fail(ErrorKind::Value,
         what + ": there is no " +
             (use == metaop::CombinerUse::Prefix ? "operator" : "reduction") +
             " '" + name + "'; expected " + metaop::listCombiners(use));
  if (!metaop::takesElements(*combiner, toElementType(dtype, context)))
    fail(ErrorKind::Type, what + " " + name + ": given " + nameOf(dtype) +
                              ", expected " +
                              metaop::describeElements(*combiner));
  return *combiner;
}

/// Returns the shape that is left of x without dimensions, or with 1 for them.
static llvm::SmallVector<int64_t>
shapeWithout(Node *x, llvm::ArrayRef<int64_t> dims, bool keepDims) {
  llvm::SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(x->shape())) {
    if (!llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(extent);
    else if (keepDims)
      shape.push_back(1);
  }
  return shape;
}

Node *Recorder::recordReduce(metaop::Combiner kind, Node *x,
                             llvm::ArrayRef<int64_t> dims, bool keepDims) {
  if (dims.empty())
    return x;
  RankedTensorType type = typeOf(shapeWithout(x, dims, keepDims), x->dtype);
  return adopt(metaop::ReduceOp::create(at(), line, type, kind, x->value(),
                                        dims, keepDims));
}

Node *Recorder::norm(Node *x, llvm::ArrayRef<int64_t> given, bool keepDims,
                     double divisor, double order, bool isSigned) {
  if (x->dtype != DType::F32)
    fail(ErrorKind::Type,
         "norm: given " + nameOf(x->dtype) + ", expected float32");
  llvm::SmallVector<int64_t> dims = normalizeDims("norm", given, x->rank());
  RankedTensorType type = typeOf(shapeWithout(x, dims, keepDims), x->dtype);
  return adopt(metaop::NormOp::create(
      at(), line, type, x->value(), at().getDenseI64ArrayAttr(dims),
      keepDims ? at().getUnitAttr() : UnitAttr(), at().getF64FloatAttr(divisor),
      at().getF64FloatAttr(order), isSigned ? at().getUnitAttr() : UnitAttr()));
}

static llvm::SmallVector<int64_t>
reducedDims(llvm::StringRef name, Node *x,
            std::optional<llvm::ArrayRef<int64_t>> given) {
  if (given)
    return normalizeDims(name, *given, x->rank());
  llvm::SmallVector<int64_t> all(x->rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Node *Recorder::reduce(llvm::StringRef name, Node *x,
                       std::optional<llvm::ArrayRef<int64_t>> given,
                       bool keepDims) {
  llvm::SmallVector<int64_t> dims = reducedDims(name, x, given);
  if (name == "sum" || name == "prod")
    return recordReduce(name == "sum" ? metaop::Combiner::Add
                                      : metaop::Combiner::Mul,
                        recordCast(x, accumulatorOf(x->dtype)), dims, keepDims);
  if (name == "all" || name == "any")
    return recordReduce(name == "all" ? metaop::Combiner::And
                                      : metaop::Combiner::Or,
                        recordCast(x, DType::Bool), dims, keepDims);
  if (name == "mean") {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= x->shape()[dim];
    DType result = toFloating(x->dtype);
    // A sum of half floats that is rounded before the division may overflow.
    DType dtype = sizeOf(result) < 4 ? DType::F32 : result;
    Node *sum = recordReduce(metaop::Combiner::Add, recordCast(x, dtype), dims,
                             keepDims);
    Node *divisor = recordOperand(Number::ofFloat(count), dtype, sum->shape());
    return recordCast(
        recordElementwise(lookUpElementwise("div", 2).name, {sum, divisor}),
        result);
  }
  // The largest of booleans is their "or".
  bool isMax = name == "max" || name == "maximum";
  bool isMin = name == "min" || name == "minimum";
  if (isBool(x->dtype) && (isMax || isMin))
    return recordReduce(isMax ? metaop::Combiner::Or : metaop::Combiner::And, x,
                        dims, keepDims);
  metaop::Combiner combiner = parseCombiner(
      "reduce", metaop::CombinerUse::Reduction, name, x->dtype, context);
  return recordReduce(combiner, x, dims, keepDims);
}
