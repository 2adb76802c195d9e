//===- Parser.cpp - Syntax of index expressions ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recursive descent over the grammar given in IndexExpression.h, with one
// loop for all levels of binary operators. How deep it can go is limited, so
// that no text can exhaust the stack.
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "Names.h"
#include "Syntax.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <utility>

using namespace llvm;

namespace metaops::indexexpression {

/// Limit of nested parentheses, calls, unary operators and conditionals.
static constexpr unsigned kMaxNesting = 200;

namespace {
struct BinaryOperator {
  Node::Kind kind;
  /// 0 for what is no binary operator.
  unsigned precedence;
};

class Parser {
public:
  Parser(Source &source, const IndexContext &context)
      : source(source), context(context), lexer(source) {}

  std::optional<Syntax> parse();

private:
  using ParseResult = std::optional<NodeId>;

  ParseResult parseConditional();
  ParseResult parseBinary(unsigned minPrecedence);
  ParseResult parseUnary();
  ParseResult parsePrimary();
  ParseResult parseInteger();
  ParseResult parseName();
  ParseResult parseFunction(const Token &name);
  ParseResult parseExtra();

  /// One level down: calls `parseInner` unless that is too deep.
  ParseResult nest(ParseResult (Parser::*parseInner)());
  /// Takes the next token, which must be `op`.
  bool expect(StringRef op, const Twine &purpose);
  void advance() { token = lexer.next(); }
  ParseResult fail(const Token &where, const Twine &problem,
                   const Twine &expected);
  /// Returns the name of `token` in an error.
  std::string describeToken() const;
  NodeId makeNode(Node node);

  Source &source;
  const IndexContext &context;
  Lexer lexer;
  Token token = {};
  unsigned nesting = 0;
  Syntax syntax;
};
} // namespace

static BinaryOperator getBinaryOperator(const Token &token) {
  using Kind = Node::Kind;
  if (token.kind != Token::Kind::Operator)
    return {Kind::Constant, 0};
  return StringSwitch<BinaryOperator>(token.text)
      .Case("||", {Kind::Or, 1})
      .Case("&&", {Kind::And, 2})
      .Case("==", {Kind::Equal, 3})
      .Case("!=", {Kind::NotEqual, 3})
      .Case("<", {Kind::Less, 4})
      .Case("<=", {Kind::LessEqual, 4})
      .Case(">", {Kind::Greater, 4})
      .Case(">=", {Kind::GreaterEqual, 4})
      .Case("+", {Kind::Add, 5})
      .Case("-", {Kind::Subtract, 5})
      .Case("*", {Kind::Multiply, 6})
      .Case("/", {Kind::Divide, 6})
      .Case("%", {Kind::Remainder, 6})
      .Default({Kind::Constant, 0});
}

NodeId Parser::makeNode(Node node) {
  syntax.nodes.push_back(node);
  return syntax.nodes.size() - 1;
}

Parser::ParseResult Parser::fail(const Token &where, const Twine &problem,
                                 const Twine &expected) {
  source.fail(where.offset, problem, expected);
  return std::nullopt;
}

std::string Parser::describeToken() const {
  if (token.kind == Token::Kind::End)
    return "end of the text";
  return ("'" + token.text + "'").str();
}

bool Parser::expect(StringRef op, const Twine &purpose) {
  if (token.is(op)) {
    advance();
    return true;
  }
  fail(token, "unexpected " + describeToken(), "'" + op + "' " + purpose);
  return false;
}

Parser::ParseResult Parser::nest(ParseResult (Parser::*parseInner)()) {
  if (nesting == kMaxNesting)
    return fail(token, "the expression nests too deeply",
                "at most " + Twine(kMaxNesting) + " levels");
  ++nesting;
  llvm::scope_exit restore([&] { --nesting; });
  return (this->*parseInner)();
}

Parser::ParseResult Parser::parseConditional() {
  ParseResult condition = parseBinary(/*minPrecedence=*/1);
  if (!condition || !token.is("?"))
    return condition;
  size_t offset = token.offset;
  advance();
  ParseResult ifTrue = nest(&Parser::parseConditional);
  if (!ifTrue || !expect(":", "to go with '?'"))
    return std::nullopt;
  ParseResult ifFalse = nest(&Parser::parseConditional);
  if (!ifFalse)
    return std::nullopt;
  return makeNode(
      {Node::Kind::Conditional, offset, 0, {*condition, *ifTrue, *ifFalse}});
}

Parser::ParseResult Parser::parseBinary(unsigned minPrecedence) {
  ParseResult left = parseUnary();
  while (left) {
    BinaryOperator op = getBinaryOperator(token);
    if (op.precedence == 0 || op.precedence < minPrecedence)
      return left;
    size_t offset = token.offset;
    advance();
    ParseResult right = parseBinary(op.precedence + 1);
    if (!right)
      return std::nullopt;
    left = makeNode({op.kind, offset, 0, {*left, *right}});
    // C compares the 0 or 1 of the first comparison, which nobody means.
    bool isComparison = op.precedence == 3 || op.precedence == 4;
    if (isComparison && getBinaryOperator(token).precedence == op.precedence)
      return fail(token, "comparisons do not chain",
                  "'&&' between two comparisons, or parentheses");
  }
  return left;
}

Parser::ParseResult Parser::parseUnary() {
  size_t offset = token.offset;
  bool isNegation = token.is("-");
  bool isNot = token.is("!");
  if (!isNegation && !isNot && !token.is("+"))
    return parsePrimary();
  advance();
  ParseResult operand = nest(&Parser::parseUnary);
  if (!operand || (!isNegation && !isNot))
    return operand;
  Node::Kind kind = isNegation ? Node::Kind::Negate : Node::Kind::Not;
  return makeNode({kind, offset, 0, {*operand}});
}

Parser::ParseResult Parser::parsePrimary() {
  if (token.kind == Token::Kind::Integer)
    return parseInteger();
  if (token.kind == Token::Kind::Name)
    return parseName();
  if (token.is("@"))
    return parseExtra();
  if (!token.is("("))
    return fail(token,
                syntax.nodes.empty() && token.kind == Token::Kind::End &&
                        source.getText().trim().empty()
                    ? "the text is empty"
                    : "unexpected " + describeToken(),
                "an integer, a parenthesis, or one of " +
                    describeNames(context));
  advance();
  ParseResult inner = nest(&Parser::parseConditional);
  if (!inner || !expect(")", "to close the parenthesis"))
    return std::nullopt;
  return inner;
}

Parser::ParseResult Parser::parseInteger() {
  int64_t value;
  if (token.text.getAsInteger(10, value))
    return fail(token, "integer '" + token.text + "' does not fit into 64 bits",
                "at most 9223372036854775807");
  NodeId node = makeNode({Node::Kind::Constant, token.offset, value});
  advance();
  return node;
}

Parser::ParseResult Parser::parseName() {
  Token name = token;
  advance();
  if (name.text == "min" || name.text == "max" || name.text == "abs")
    return parseFunction(name);
  auto value = resolveName(name.text, name.offset, source, context);
  if (!value)
    return std::nullopt;
  return makeNode({value->isIndex ? Node::Kind::Index : Node::Kind::Constant,
                   name.offset, value->value});
}

Parser::ParseResult Parser::parseFunction(const Token &name) {
  bool isUnary = name.text == "abs";
  if (!expect("(", "after '" + name.text + "'"))
    return std::nullopt;
  ParseResult first = nest(&Parser::parseConditional);
  if (!first)
    return std::nullopt;
  ParseResult second = 0;
  if (!isUnary) {
    if (!expect(",", "and the second argument of '" + name.text + "'"))
      return std::nullopt;
    second = nest(&Parser::parseConditional);
    if (!second)
      return std::nullopt;
  }
  if (!expect(")", "after the " +
                       Twine(isUnary ? "argument" : "second argument") +
                       " of '" + name.text + "'"))
    return std::nullopt;
  Node::Kind kind = isUnary              ? Node::Kind::Abs
                    : name.text == "min" ? Node::Kind::Min
                                         : Node::Kind::Max;
  return makeNode({kind, name.offset, 0, {*first, *second}});
}

Parser::ParseResult Parser::parseExtra() {
  Token start = token;
  advance();
  StringRef number = token.text;
  unsigned extra;
  if (token.kind != Token::Kind::Name || !number.consume_front("e") ||
      number.getAsInteger(10, extra))
    return fail(token, "unexpected " + describeToken() + " after '@'",
                "the name of an extra, such as e0");
  advance();
  if (!expect("(", "and the indices of the extra"))
    return std::nullopt;
  Syntax::Read read{start.offset, extra, {}};
  while (!token.is(")")) {
    ParseResult argument = nest(&Parser::parseConditional);
    if (!argument)
      return std::nullopt;
    read.indices.push_back(*argument);
    if (!token.is(","))
      break;
    advance();
  }
  if (!expect(")", "after the indices of the extra"))
    return std::nullopt;
  if (extra >= context.extraRanks.size())
    return fail(start, "there is no extra " + Twine(extra),
                "one of the " + Twine(context.extraRanks.size()) +
                    " extras that are given");
  unsigned rank = context.extraRanks[extra];
  if (read.indices.size() != rank)
    return fail(start,
                "extra " + Twine(extra) + " is read at " +
                    Twine(read.indices.size()) + " indices",
                "one for each of its " + Twine(rank) + " dimensions");
  syntax.reads.push_back(std::move(read));
  return makeNode({Node::Kind::Read, start.offset,
                   static_cast<int64_t>(syntax.reads.size()) - 1});
}

std::optional<Syntax> Parser::parse() {
  advance();
  ParseResult root = parseConditional();
  if (root && token.kind != Token::Kind::End)
    root = fail(token, "unexpected " + describeToken(),
                "an operator, or the end of the text");
  if (!root || source.hasFailed())
    return std::nullopt;
  syntax.root = *root;
  return std::move(syntax);
}

std::optional<Syntax> parseSyntax(Source &source, const IndexContext &context) {
  return Parser(source, context).parse();
}

} // namespace metaops::indexexpression
