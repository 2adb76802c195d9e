//===- RecordConditions.cpp - Conditions that no integer set can say ------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Overflow conditions that are no conjunction of affine constraints (a "not
// equal", an "or") become a boolean tensor over the iteration space, made of
// iotas and element-wise ops, which are fused into their user.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "RecordingTables.h"

using namespace mlir;
using namespace metaops;

static llvm::StringRef mnemonicOf(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Add:
    return "add";
  case AffineExprKind::Mul:
    return "mul";
  case AffineExprKind::Mod:
    return "mod";
  default:
    return "floor_div";
  }
}

Node *Recorder::recordAffine(AffineExpr expr, llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<Node *> computed) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr);
      dim && dim.getPosition() >= shape.size())
    return computed[dim.getPosition() - shape.size()];
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return adopt(metaop::IotaOp::create(at(), line, typeOf(shape, DType::I64),
                                        dim.getPosition(), ValueRange()));
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return recordSplat(shape, at().getI64IntegerAttr(constant.getValue()));
  auto binary = llvm::cast<AffineBinaryOpExpr>(expr);
  AffineExpr left = binary.getLHS();
  bool isCeil = expr.getKind() == AffineExprKind::CeilDiv;
  if (isCeil) // ceildiv(a, b) = (a + b - 1) floordiv b
    left = left + binary.getRHS() - 1;
  Node *lhs = recordAffine(left, shape, computed);
  Node *rhs = recordAffine(binary.getRHS(), shape, computed);
  return recordElementwise(
      lookUpElementwise(mnemonicOf(expr.getKind()), 2).name, {lhs, rhs});
}

static metaop::ComparePredicate predicateOf(ConditionTree::Kind kind) {
  switch (kind) {
  case ConditionTree::Kind::NonNegative:
    return metaop::ComparePredicate::Ge;
  case ConditionTree::Kind::Zero:
    return metaop::ComparePredicate::Eq;
  default:
    return metaop::ComparePredicate::Ne;
  }
}

Node *Recorder::recordMask(const ConditionTree &tree,
                           llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<Node *> computed) {
  bool isAll = tree.kind == ConditionTree::Kind::All;
  if (!isAll && tree.kind != ConditionTree::Kind::Any) {
    Node *value = recordAffine(tree.expr, shape, computed);
    Node *zero = recordSplat(shape, at().getI64IntegerAttr(0));
    return adopt(metaop::CmpOp::create(at(), line, typeOf(shape, DType::Bool),
                                       predicateOf(tree.kind), value->value(),
                                       zero->value()));
  }
  OperationName name = lookUpElementwise(isAll ? "and" : "or", 2).name;
  Node *result = nullptr;
  for (const ConditionTree &operand : tree.operands) {
    Node *mask = recordMask(operand, shape, computed);
    result = result ? recordElementwise(name, {result, mask}) : mask;
  }
  return result;
}

Node *Recorder::recordMasks(llvm::ArrayRef<ConditionTree> trees,
                            llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<Node *> computed) {
  Node *result = nullptr;
  for (const ConditionTree &tree : trees) {
    Node *mask = recordMask(tree, shape, computed);
    result = result ? recordElementwise(lookUpElementwise("and", 2).name,
                                        {result, mask})
                    : mask;
  }
  return result;
}
