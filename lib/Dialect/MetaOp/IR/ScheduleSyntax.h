//===- ScheduleSyntax.h - The text of a schedule ----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_DIALECT_METAOP_IR_SCHEDULESYNTAX_H
#define METAOPS_LIB_DIALECT_METAOP_IR_SCHEDULESYNTAX_H

#include "MetaOps/Dialect/MetaOp/IR/LoopLevel.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::metaop {

/// `[` (kind `(` dim (`,` step)? (`,` tail)? `)`)* `]`
ParseResult parseLevels(AsmParser &parser, SmallVector<LoopLevel> &levels);
void printLevels(AsmPrinter &printer, ArrayRef<LoopLevel> levels);

/// Options of a schedule that are printed only where they say something:
/// (`,` `tile` `=` `[` (dim `:` size)* `]`)? (`,` `lanes` `=` dim `:` size)?
/// (`,` `transpose` `=` dim)? (`,` `unroll` `=` `[` dims `]`)?
/// (`,` `prefetch` `=` distance)? (`,` `pairwise` `=` count)?
/// (`,` `stream` `=` `[` results `]`)?
/// (`,` `staged` `=` `[` (read `:` pad)* `]`)?
/// (`,` `place` `=` `[` places `]`)? (`,` `shared` `=` count)?
ParseResult parseScheduleOptions(AsmParser &parser, SmallVector<TileDim> &tile,
                                 TileDim &lanes, int64_t &transpose,
                                 SmallVector<int64_t> &unroll,
                                 int64_t &prefetch, int64_t &pairwise,
                                 SmallVector<int64_t> &stream,
                                 SmallVector<StagedRead> &staged,
                                 SmallVector<ResultPlace> &place,
                                 int64_t &shared);
void printScheduleOptions(AsmPrinter &printer, ArrayRef<TileDim> tile,
                          TileDim lanes, int64_t transpose,
                          ArrayRef<int64_t> unroll, int64_t prefetch,
                          int64_t pairwise, ArrayRef<int64_t> stream,
                          ArrayRef<StagedRead> staged,
                          ArrayRef<ResultPlace> place, int64_t shared);

} // namespace mlir::metaop

#endif // METAOPS_LIB_DIALECT_METAOP_IR_SCHEDULESYNTAX_H
