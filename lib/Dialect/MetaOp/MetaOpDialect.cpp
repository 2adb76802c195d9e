//===- MetaOpDialect.cpp - The metaop dialect -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/MetaOpDialect.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::metaop;

#include "MetaOps/Dialect/MetaOp/MetaOpDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "MetaOps/Dialect/MetaOp/MetaOpAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "MetaOps/Dialect/MetaOp/MetaOpOps.cpp.inc"

namespace {
/// Functions of meta-operators may be put into their callers.
struct MetaOpInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void MetaOpDialect::initialize() {
  addInterfaces<MetaOpInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "MetaOps/Dialect/MetaOp/MetaOpAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "MetaOps/Dialect/MetaOp/MetaOpOps.cpp.inc"
      >();
}

Operation *MetaOpDialect::materializeConstant(OpBuilder &builder,
                                              Attribute value, Type type,
                                              Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}
