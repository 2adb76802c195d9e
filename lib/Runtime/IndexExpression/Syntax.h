//===- Syntax.h - What an index expression says -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_SYNTAX_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_SYNTAX_H

#include "MetaOps/Runtime/IndexExpression/IndexExpression.h"
#include "Source.h"
#include <array>
#include <vector>

namespace metaops::indexexpression {

/// Names a node of a Syntax.
using NodeId = unsigned;

/// One operator or leaf. All names but those of indices have become constants.
struct Node {
  enum class Kind {
    Constant,
    Index,
    Read,
    Negate,
    Not,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Conditional,
    Min,
    Max,
    Abs,
  };
  Kind kind;
  /// Of the operator or the leaf in the text.
  size_t offset;
  /// The constant, or the number of the index or the read.
  int64_t value = 0;
  std::array<NodeId, 3> operands = {};
};

/// The parsed text, names resolved, nothing folded.
struct Syntax {
  /// A read of an extra.
  struct Read {
    size_t offset;
    unsigned extra;
    std::vector<NodeId> indices;
  };
  std::vector<Node> nodes;
  std::vector<Read> reads;
  NodeId root = 0;
};

/// Parses the text of `source`; where that fails, the source says why.
std::optional<Syntax> parseSyntax(Source &source, const IndexContext &context);

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_SYNTAX_H
