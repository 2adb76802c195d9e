//===- BoundedWhile.cpp - Loops whose trips have been counted -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind a loop with `metaop.max_trips` it is known how often its condition was
// true. So it is a scan of that many trips, without the condition, and its
// derivatives are those of the scan:
//
//   c, n = while(c0, 0) { condition } { c' = f(c), n + 1 }
//
//   c = scan n most max_trips (c0) { c' = f(c) }
//
// In reverse mode the scan is run again, to have the start of each trip, whose
// rows are as many as trips may be, and which are read and written for the
// trips that there were. What is made here is bounded itself, so that gradients
// have any order.
//
//===----------------------------------------------------------------------===//

#include "BoundedWhile.h"

#include "MetaOps/Dialect/MetaOp/IR/CheckOps.h"
#include "MetaOps/Dialect/MetaOp/IR/ControlFlow.h"
#include "RegionDerivatives.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::metaop;

ScanOp metaop::scanTrips(OpBuilder &builder, scf::WhileOp loop) {
  auto build = [&](OpBuilder &inside, Location at, ValueRange carries,
                   ValueRange) {
    IRMapping mapping;
    mapping.map(loop.getAfterArguments(), carries);
    SmallVector<Value> next = cloneBody(inside, *loop.getAfterBody(), mapping,
                                        loop.getYieldOp().getOperands());
    // The number of trips has been checked.
    if (auto check = next.back().getDefiningOp<CheckOp>();
        check && check.getTrips())
      next.back() = check.getIndices();
    ScanYieldOp::create(inside, at, next);
  };
  ScanTrips trips(loop.getResults().back(), getMaxTrips(loop));
  return ScanOp::create(builder, loop.getLoc(), trips, /*reverse=*/false,
                        loop.getInits(), /*rows=*/ValueRange(), build);
}
