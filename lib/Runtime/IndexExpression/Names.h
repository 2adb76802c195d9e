//===- Names.h - The names known to index expressions -----------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_NAMES_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_NAMES_H

#include "MetaOps/Runtime/IndexExpression/IndexExpression.h"
#include "Source.h"

namespace metaops::indexexpression {

/// Value of a name: the number of an index, or a constant.
struct NamedValue {
  bool isIndex;
  int64_t value;
};

/// Looks up `name`, which stands at `offset`; where it is unknown or has no
/// value, the source fails.
std::optional<NamedValue> resolveName(llvm::StringRef name, size_t offset,
                                      Source &source,
                                      const IndexContext &context);

/// The names that are known, for errors.
std::string describeNames(const IndexContext &context);

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_NAMES_H
