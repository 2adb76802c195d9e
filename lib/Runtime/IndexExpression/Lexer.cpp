//===- Lexer.cpp - Tokens of index expressions ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace metaops::indexexpression {

static bool isNameCharacter(char c) { return isAlnum(c) || c == '_'; }

Token Lexer::take(Token::Kind kind, size_t length) {
  Token token{kind, source.getText().substr(position, length), position};
  position += length;
  return token;
}

Token Lexer::fail(size_t offset, const Twine &problem, const Twine &expected) {
  source.fail(offset, problem, expected);
  position = source.getText().size();
  return take(Token::Kind::End, 0);
}

Token Lexer::takeInteger() {
  StringRef word = source.getText().substr(position).take_while(
      [](char c) { return isNameCharacter(c) || c == '.'; });
  if (!all_of(word, isDigit))
    return fail(position, "malformed integer '" + word + "'",
                "a decimal integer");
  if (word.size() > 1 && word.front() == '0')
    return fail(position,
                "integer '" + word + "' begins with 0, which is octal in C",
                "a decimal integer");
  return take(Token::Kind::Integer, word.size());
}

Token Lexer::next() {
  StringRef rest = source.getText().substr(position);
  position += rest.take_while([](char c) { return isSpace(c); }).size();
  rest = source.getText().substr(position);
  if (rest.empty())
    return take(Token::Kind::End, 0);

  char c = rest.front();
  if (isDigit(c))
    return takeInteger();
  if (isNameCharacter(c))
    return take(Token::Kind::Name, rest.take_while(isNameCharacter).size());
  for (StringRef op : {"<=", ">=", "==", "!=", "&&", "||"})
    if (rest.starts_with(op))
      return take(Token::Kind::Operator, op.size());
  if (StringRef("+-*/%()<>!?:,@").contains(c))
    return take(Token::Kind::Operator, 1);
  if (StringRef("&|=").contains(c))
    return fail(position, Twine("unexpected character '") + Twine(c) + "'",
                Twine("'") + Twine(c) + Twine(c) + "'");
  return fail(position,
              "unexpected character '" + makePrintable(rest.take_front()) + "'",
              "integers, names, operators and parentheses");
}

} // namespace metaops::indexexpression
