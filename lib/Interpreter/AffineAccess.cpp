//===- AffineAccess.cpp - Evaluates index maps ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AffineAccess.h"
#include "MetaOps/Interpreter/Scalar.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::metaop;

static llvm::Error checkDivisors(AffineExpr expr) {
  bool isValid = true;
  expr.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    if (kind != AffineExprKind::FloorDiv && kind != AffineExprKind::CeilDiv &&
        kind != AffineExprKind::Mod)
      return;
    auto divisor =
        dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
    isValid &= divisor && divisor.getValue() > 0;
  });
  if (isValid)
    return llvm::Error::success();
  return llvm::createStringError(
      "takes positive constants as divisors in its map and conditions");
}

llvm::Expected<AffineAccess>
AffineAccess::create(AffineMap map, std::optional<IntegerSet> where,
                     ArrayRef<int64_t> symbols) {
  for (AffineExpr result : map.getResults())
    if (llvm::Error error = checkDivisors(result))
      return error;
  if (where)
    for (AffineExpr constraint : where->getConstraints())
      if (llvm::Error error = checkDivisors(constraint))
        return error;
  return AffineAccess(map, where, symbols);
}

int64_t AffineAccess::evaluate(AffineExpr expr, ArrayRef<int64_t> dims) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];

  auto binary = cast<AffineBinaryOpExpr>(expr);
  Scalar lhs = Scalar::ofSigned(evaluate(binary.getLHS(), dims));
  Scalar rhs = Scalar::ofSigned(evaluate(binary.getRHS(), dims));
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return scalar::add(lhs, rhs).getSigned();
  case AffineExprKind::Mul:
    return scalar::mul(lhs, rhs).getSigned();
  case AffineExprKind::FloorDiv:
    return scalar::floorDiv(lhs, rhs).getSigned();
  case AffineExprKind::CeilDiv:
    return scalar::ceilDiv(lhs, rhs).getSigned();
  case AffineExprKind::Mod:
    return scalar::mod(lhs, rhs).getSigned();
  default:
    llvm_unreachable("leaves were handled above");
  }
}

bool AffineAccess::apply(ArrayRef<int64_t> dims,
                         SmallVectorImpl<int64_t> &indices) const {
  indices.clear();
  for (AffineExpr result : map.getResults())
    indices.push_back(evaluate(result, dims));
  if (!where)
    return true;
  for (unsigned i = 0; i < where->getNumConstraints(); ++i) {
    int64_t value = evaluate(where->getConstraint(i), dims);
    if (where->isEq(i) ? value != 0 : value < 0)
      return false;
  }
  return true;
}
