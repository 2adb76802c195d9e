//===- Combiners.h - Combiners as data --------------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A combiner makes one value of two: reductions, scatters, inserts and prefixes
// do so, each with some of the combiners of the enumeration. Everything that
// passes and lowerings ask of a combiner is a row of one table, Combiners.cpp.
// All are commutative and associative, but for rounding.
//
// The interpreter has an implementation of its own.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_IR_COMBINERS_H
#define METAOPS_DIALECT_METAOP_IR_COMBINERS_H

#include "MetaOps/Dialect/MetaOp/IR/MetaOpAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::metaop {

class ScalarEmitter;

namespace detail {
class TensorEmitter;
class CombinedElements;
class PrefixSteps;
struct PrefixSlopes;
} // namespace detail

/// Operations that combine values.
enum class CombinerUse { Reduction, Insertion, Prefix };

/// Types of elements that a combiner takes: integers and floats; integers and
/// booleans; floats.
enum class CombinedTypes { Numbers, Bits, Floats };

/// Values that leave what they are combined with as it is. The lowest and the
/// highest of floats are the infinities.
enum class CombinerIdentity { Zero, One, Lowest, Highest, AllOnes };

/// A combiner by the names that MLIR has for it, from which instructions,
/// reductions of vectors and atomic instructions follow.
struct ArithCombiner {
  arith::AtomicRMWKind ofFloats, ofSigned, ofUnsigned;
};

struct CombinerInfo {
  Combiner combiner;
  /// Reductions and scatters combine by it, and inserts if it has a
  /// name in MLIR.
  bool isReduction;
  CombinedTypes types;
  CombinerIdentity identity;
  /// None has an instruction. Vectors are combined as a tree of shuffles then,
  /// and memory by compare-and-swap.
  std::optional<ArithCombiner> arith;
  /// Combines scalars or vectors, floats, where there is no instruction.
  Value (*emitScalar)(ScalarEmitter &, Value, Value);
  /// Combines tensors by element-wise operations.
  Value (*emitTensors)(detail::TensorEmitter &, Value, Value);
  /// Floats are rounded, so that halves are combined in f32.
  bool rounds;
  /// The error of a long chain grows with its length.
  bool accumulatesError;
  /// Instructions that it takes for a vector, beyond one.
  int64_t extraCode;
  /// Products of a reduction's Jacobian with a cotangent and with a tangent;
  /// null where nothing flows.
  Value (*vjp)(detail::CombinedElements &, Value);
  Value (*jvp)(detail::CombinedElements &, Value);
  /// Derivatives of a step of a prefix; null where no prefix combines by it.
  detail::PrefixSlopes (*getSlopes)(detail::PrefixSteps &);
  /// A prefix may begin anew in each block. A product of a block may
  /// overflow where that of the line does not.
  bool hasBlocks;
};

/// Returns the row of a combiner, which is not `none`.
const CombinerInfo &getCombinerInfo(Combiner combiner);

/// Returns whether operations combine by it.
bool isUsedBy(CombinerUse use, Combiner combiner);
/// Returns the combiners of an operation's, as "add, mul or max".
std::string listCombiners(CombinerUse use);

/// Returns whether values of the type can be combined.
bool takesElements(Combiner combiner, Type elementType);
/// Returns the plural of what a combiner takes, as "numbers".
StringRef describeElements(Combiner combiner);

/// Fails where the operation does not combine by it, or not such elements.
LogicalResult verifyCombiner(Operation *op, CombinerUse use, Combiner combiner,
                             Type elementType);

/// Returns the identity as an attribute of `elementType`.
TypedAttr getIdentity(Combiner combiner, Type elementType);

/// Returns MLIR's name for the combiner of such elements, if it has one.
std::optional<arith::AtomicRMWKind> getArithKind(Combiner combiner,
                                                 Type elementType);

/// Emits the combination of two scalars or vectors, which hold elements of
/// `elementType` in their storage type or, floats, in a wider one.
Value emitCombined(OpBuilder &b, Location loc, Combiner combiner,
                   Type elementType, Value lhs, Value rhs);

/// Returns whether halves have to be combined in f32, and not in memory.
inline bool roundsHalves(Combiner combiner, Type elementType) {
  return (elementType.isF16() || elementType.isBF16()) &&
         getCombinerInfo(combiner).rounds;
}

} // namespace mlir::metaop

#endif // METAOPS_DIALECT_METAOP_IR_COMBINERS_H
