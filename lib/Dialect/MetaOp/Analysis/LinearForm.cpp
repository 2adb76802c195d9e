//===- LinearForm.cpp - Linear expressions as factors ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most accesses are linear, and sums of numbers are cheaper than expressions,
// each of which the context looks up.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Analysis/LinearForm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::metaop;

bool LinearForm::add(AffineExpr expr, int64_t scale) {
  auto addProduct = [&](int64_t &sum, int64_t number) {
    int64_t product;
    return !llvm::MulOverflow(scale, number, product) &&
           !llvm::AddOverflow(sum, product, sum);
  };
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return addProduct(constant, cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId: {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    return dim < factors.size() && addProduct(factors[dim], 1);
  }
  case AffineExprKind::Add: {
    auto sum = cast<AffineBinaryOpExpr>(expr);
    return add(sum.getLHS(), scale) && add(sum.getRHS(), scale);
  }
  case AffineExprKind::Mul: {
    auto product = cast<AffineBinaryOpExpr>(expr);
    auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
    return factor && !llvm::MulOverflow(scale, factor.getValue(), scale) &&
           add(product.getLHS(), scale);
  }
  default:
    return false;
  }
}

std::optional<LinearForm> LinearForm::get(AffineExpr expr, unsigned numDims) {
  LinearForm form;
  form.factors.resize(numDims);
  if (!form.add(expr, 1))
    return std::nullopt;
  return form;
}

std::optional<LinearForm> LinearForm::replace(ArrayRef<AffineExpr> dims,
                                              unsigned numDims) const {
  LinearForm result;
  result.factors.resize(numDims);
  result.constant = constant;
  for (auto [dim, factor] : llvm::zip_equal(dims, factors))
    if (factor != 0 && !result.add(dim, factor))
      return std::nullopt;
  return result;
}

AffineExpr LinearForm::getExpr(MLIRContext *context) const {
  AffineExpr expr;
  auto add = [&](AffineExpr term) { expr = expr ? expr + term : term; };
  for (auto [dim, factor] : llvm::enumerate(factors))
    if (factor != 0)
      add(factor == 1 ? getAffineDimExpr(dim, context)
                      : getAffineDimExpr(dim, context) * factor);
  if (constant != 0 || !expr)
    add(getAffineConstantExpr(constant, context));
  return expr;
}

AffineExpr metaop::flattenExpr(AffineExpr expr, unsigned numDims,
                               unsigned numSymbols) {
  if (auto form = LinearForm::get(expr, numDims))
    return form->getExpr(expr.getContext());
  return simplifyAffineExpr(expr, numDims, numSymbols);
}
