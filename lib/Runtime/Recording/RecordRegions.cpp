//===- RecordRegions.cpp - Recording operations with regions --------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Control flow is recorded as an operation with regions, built whole by the
// caller. Its captures (ControlFlow.h) are operands of its nodes, behind the
// operation's own: so whatever goes by operands (walks, keys, what lives) goes
// by captures, too.
//
// All values of the session's block are tensors. A condition or a bound is read
// from one inside of a region: an scf.while reads it in its first region, and
// an scf.if or scf.for stands in an scf.execute_region.
//
// Derivatives of operations with regions are such operations
// (RegionDerivatives.cpp). There is none in reverse mode of a loop whose trips
// nobody counts: its nodes keep their history nevertheless, and asking for a
// gradient through one is an error.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Graph/Slice.h"
#include "MetaOps/Runtime/Recording/Recorder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace metaops;

Node *Recorder::recordRegions(
    llvm::ArrayRef<Node *> given,
    llvm::function_ref<Operation *(OpBuilder &, Location, ValueRange)> build) {
  context->loadDialect<scf::SCFDialect, tensor::TensorDialect>();
  auto values =
      llvm::map_to_vector(given, [](Node *node) { return node->value(); });
  Operation *op = build(at(), line, values);
  if (!op || op->getNumRegions() == 0)
    fail(ErrorKind::Value, (op ? formatName(op) : std::string("nothing")) +
                               " was built to be recorded, expected an "
                               "operation with regions");
  return adopt(op);
}
