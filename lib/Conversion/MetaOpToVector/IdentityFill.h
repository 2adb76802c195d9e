//===- IdentityFill.h - What reductions in memory start from -- -*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_CONVERSION_METAOPTOVECTOR_IDENTITYFILL_H
#define METAOPS_LIB_CONVERSION_METAOPTOVECTOR_IDENTITYFILL_H

#include "MetaOps/Conversion/StageBody/LoopRange.h"
#include "MetaOps/Conversion/StageBody/StageBindings.h"

namespace mlir::metaop {

/// A loop of which a part is open.
struct PartOfLoop {
  int64_t loop;
  LoopRange range;
};

/// Sets to the identity all elements of a reduction's result.
void fillWithIdentity(OpBuilder &b, const Stage &stage, const StageWrite &write,
                      const StageBindings &bindings);

/// Sets those to the identity that `openLoops` own, of which null ones are not
/// open, and that these parts of further loops do.
void fillInsideLoops(OpBuilder &b, const Stage &stage, const StageWrite &write,
                     const StageBindings &bindings, ArrayRef<Value> openLoops,
                     ArrayRef<PartOfLoop> parts);

} // namespace mlir::metaop

#endif // METAOPS_LIB_CONVERSION_METAOPTOVECTOR_IDENTITYFILL_H
