//===- Lexer.h - Tokens of index expressions --------------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_INDEXEXPRESSION_LEXER_H
#define METAOPS_LIB_RUNTIME_INDEXEXPRESSION_LEXER_H

#include "Source.h"

namespace metaops::indexexpression {

struct Token {
  enum class Kind { Integer, Name, Operator, End };
  Kind kind;
  llvm::StringRef text;
  /// The first character of `text`.
  size_t offset;

  bool is(llvm::StringRef op) const {
    return kind == Kind::Operator && text == op;
  }
};

/// Cuts the text of a source into tokens, one at a time.
class Lexer {
public:
  explicit Lexer(Source &source) : source(source) {}

  /// The next token; after a failure or the last one, the end.
  Token next();

private:
  Token take(Token::Kind kind, size_t length);
  Token takeInteger();
  Token fail(size_t offset, const llvm::Twine &problem,
             const llvm::Twine &expected);

  Source &source;
  size_t position = 0;
};

} // namespace metaops::indexexpression

#endif // METAOPS_LIB_RUNTIME_INDEXEXPRESSION_LEXER_H
