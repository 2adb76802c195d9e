//===- IndexExpressionTest.cpp - Strings that name an element -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/IndexExpression/IndexExpression.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>

using namespace llvm;
using namespace metaops;
using mlir::AffineExpr;

namespace {

//===----------------------------------------------------------------------===//
// Reading results
//===----------------------------------------------------------------------===//

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> index) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr))
    return index[dim.getPosition()];
  auto binary = cast<mlir::AffineBinaryOpExpr>(expr);
  int64_t left = evaluate(binary.getLHS(), index);
  int64_t right = evaluate(binary.getRHS(), index);
  switch (binary.getKind()) {
  case mlir::AffineExprKind::Add:
    return left + right;
  case mlir::AffineExprKind::Mul:
    return left * right;
  case mlir::AffineExprKind::FloorDiv:
    return divideFloorSigned(left, right);
  case mlir::AffineExprKind::CeilDiv:
    return divideCeilSigned(left, right);
  default:
    return mod(left, right);
  }
}

bool evaluate(const ConditionTree &tree, ArrayRef<int64_t> index) {
  auto holds = [&](const ConditionTree &operand) {
    return evaluate(operand, index);
  };
  switch (tree.kind) {
  case ConditionTree::Kind::NonNegative:
    return evaluate(tree.expr, index) >= 0;
  case ConditionTree::Kind::Zero:
    return evaluate(tree.expr, index) == 0;
  case ConditionTree::Kind::NonZero:
    return evaluate(tree.expr, index) != 0;
  case ConditionTree::Kind::All:
    return all_of(tree.operands, holds);
  case ConditionTree::Kind::Any:
    return any_of(tree.operands, holds);
  }
  llvm_unreachable("all kinds are handled");
}

bool isInRange(const ConditionResult &result, ArrayRef<int64_t> index) {
  if (result.tree)
    return evaluate(*result.tree, index);
  return all_of(result.constraints, [&](const IndexConstraint &constraint) {
    int64_t value = evaluate(constraint.expr, index);
    return constraint.isEquality ? value == 0 : value >= 0;
  });
}

/// "d0 - 2 >= 0, d1 == 0" for constraints, "tree: ..." for a tree.
std::string print(const ConditionResult &result) {
  std::string text;
  raw_string_ostream os(text);
  if (result.tree) {
    os << "tree: ";
    result.tree->print(os);
  }
  interleaveComma(
      result.constraints, os, [&](const IndexConstraint &constraint) {
        os << constraint.expr << (constraint.isEquality ? " == 0" : " >= 0");
      });
  return text;
}

/// Calls `visit` with every index of `shape`.
void forEachIndex(ArrayRef<int64_t> shape,
                  function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

class IndexExpressionTest : public ::testing::Test {
protected:
  IndexExpressionTest() { mlirContext.disableMultithreading(); }

  IndexContext getContext() {
    return {iteration, xShape, yShape, &mlirContext};
  }

  /// The printed expression, or the error.
  std::string index(StringRef text) {
    auto expr = parseIndexExpression(text, getContext());
    if (!expr)
      return toString(expr.takeError());
    std::string result;
    raw_string_ostream(result) << *expr;
    return result;
  }

  /// The printed condition for being in range, or the error.
  std::string condition(StringRef text) {
    auto result = parseOverflowCondition(text, getContext());
    if (!result)
      return toString(result.takeError());
    return print(*result);
  }

  mlir::MLIRContext mlirContext;
  std::vector<int64_t> iteration = {4, 6, 1, 9};
  std::vector<int64_t> xShape = {5, 7, 11};
  std::vector<int64_t> yShape = {4, 6};
};

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

TEST_F(IndexExpressionTest, Arithmetic) {
  EXPECT_EQ(index("i0"), "d0");
  EXPECT_EQ(index(" i0\t+\n1 "), "d0 + 1");
  EXPECT_EQ(index("i0-i1"), "d0 - d1");
  EXPECT_EQ(index("i1*2+i3*3-1"), "d1 * 2 + d3 * 3 - 1");
  EXPECT_EQ(index("2*(i0+1)"), "d0 * 2 + 2");
  EXPECT_EQ(index("-i0"), "-d0");
  EXPECT_EQ(index("+i0 - -3"), "d0 + 3");
  EXPECT_EQ(index("- - 3"), "3");
  EXPECT_EQ(index("1-2-3"), "-4");
  EXPECT_EQ(index("2+3*4"), "14");
  EXPECT_EQ(index("12/2/3"), "2");
  EXPECT_EQ(index("i0*0"), "0");
  EXPECT_EQ(index("9223372036854775807"), "9223372036854775807");
}

TEST_F(IndexExpressionTest, Names) {
  EXPECT_EQ(index("xshape0"), "5");
  EXPECT_EQ(index("xshape2 - 1 - i0"), "-d0 + 10");
  EXPECT_EQ(index("i0*xstride0 + i1*xstride1 + i2*xstride2"),
            "d0 * 77 + d1 * 11 + d2");
  EXPECT_EQ(index("yshape1*ystride0"), "36");
  EXPECT_EQ(index("XDIM*10+YDIM"), "32");
}

TEST_F(IndexExpressionTest, DivisionTruncates) {
  EXPECT_EQ(index("i0/2"), "d0 floordiv 2");
  EXPECT_EQ(index("i0%2"), "d0 mod 2");
  EXPECT_EQ(index("i0/-2"), "-(d0 floordiv 2)");
  EXPECT_EQ(index("i0%-2"), "d0 mod 2");
  EXPECT_EQ(index("i0/(3-1)"), "d0 floordiv 2");
  EXPECT_EQ(index("i3/(i2+2)"), "d3 floordiv 2");
  // Never positive.
  EXPECT_EQ(index("-i0/2"), "-(d0 floordiv 2)");
  EXPECT_EQ(index("-i0%2"), "-(d0 mod 2)");
  EXPECT_EQ(index("-7/2"), "-3");
  EXPECT_EQ(index("-7%2"), "-1");
  EXPECT_EQ(index("7/-2"), "-3");
  EXPECT_EQ(index("7%-2"), "1");
  // The ranges see through what cancels.
  EXPECT_EQ(index("(i0+i1-i0)/2"), "d1 floordiv 2");
  // Both signs: one more division finds the sign.
  EXPECT_EQ(index("(i0-1)/2"), "(d0 - (d0 - 1) floordiv 8 - 1) floordiv 2");
  EXPECT_EQ(index("i0/1"), "d0");
  EXPECT_EQ(index("(i0-1)%1"), "0");
}

TEST_F(IndexExpressionTest, DecidedCases) {
  EXPECT_EQ(index("min(i0,3)"), "d0");
  EXPECT_EQ(index("max(i0,3)"), "3");
  EXPECT_EQ(index("min(i0, i0+i1)"), "d0");
  EXPECT_EQ(index("max(i0-1, i0)"), "d0");
  EXPECT_EQ(index("abs(i0)"), "d0");
  EXPECT_EQ(index("abs(-1-i0)"), "d0 + 1");
  EXPECT_EQ(index("i0<4 ? i0 : 0"), "d0");
  EXPECT_EQ(index("i0>3 ? 7 : i1"), "d1");
  EXPECT_EQ(index("xshape0==5 ? 1 : 2"), "1");
  EXPECT_EQ(index("i0>=0 && i1<6"), "1");
  EXPECT_EQ(index("i0<0 || !(i1<6)"), "0");
  EXPECT_EQ(index("(i0!=i0)+i1"), "d1");
  EXPECT_EQ(index("0 ? 1 : 0 ? 2 : 3"), "3");
  // What is never needed is not evaluated.
  EXPECT_EQ(index("i0<4 ? i0 : i0*i1"), "d0");
  EXPECT_EQ(index("1 || i0/0"), "1");
}

TEST_F(IndexExpressionTest, EmptyAndDynamicExtents) {
  iteration = {0, mlir::ShapedType::kDynamic};
  EXPECT_EQ(index("i0/2 + i1/3"), "d0 floordiv 2 + d1 floordiv 3");
  EXPECT_EQ(condition("i1 >= 5"), "-d1 + 4 >= 0");
  xShape = {mlir::ShapedType::kDynamic, 3};
  EXPECT_EQ(index("xshape1*xstride0"), "9");
  EXPECT_EQ(index("1+xshape0"),
            "index expression '1+xshape0': 'xshape0' depends on an extent that "
            "is not known\n"
            "  1+xshape0\n"
            "    ^\n"
            "expected names of known extents and strides");
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

TEST_F(IndexExpressionTest, ConvexConditions) {
  EXPECT_EQ(condition("i0 < 2"), "d0 - 2 >= 0");
  EXPECT_EQ(condition("i0 <= 1"), "d0 - 2 >= 0");
  EXPECT_EQ(condition("i0 > i1"), "-d0 + d1 >= 0");
  EXPECT_EQ(condition("i0 >= i1"), "-d0 + d1 - 1 >= 0");
  EXPECT_EQ(condition("i0 != i1"), "d0 - d1 == 0");
  EXPECT_EQ(condition("i0<1 || i1>=5"), "d0 - 1 >= 0, -d1 + 4 >= 0");
  EXPECT_EQ(condition("!(i0>=1 && i1<5)"), "d0 - 1 >= 0, -d1 + 4 >= 0");
  EXPECT_EQ(condition("(i0-i1)%2"), "(d0 - d1) mod 2 == 0");
  EXPECT_EQ(condition("(i0-i1)%2 != 0"), "(d0 - d1) mod 2 == 0");
  EXPECT_EQ(condition("0 != (i0-i1)%2"), "(d0 - d1) mod 2 == 0");
  // Zero is an end of the range.
  EXPECT_EQ(condition("i0 == 0"), "d0 - 1 >= 0");
  EXPECT_EQ(condition("i0 == 3"), "-d0 + 2 >= 0");
  EXPECT_EQ(condition("i0"), "d0 == 0");
  EXPECT_EQ(condition("!i0"), "d0 - 1 >= 0");
  // A band of a matrix.
  EXPECT_EQ(condition("abs(i0-i1) > 2"), "-d0 + d1 + 2 >= 0, d0 - d1 + 2 >= 0");
  EXPECT_EQ(condition("min(i0,i1) < 2"), "d0 - 2 >= 0, d1 - 2 >= 0");
}

TEST_F(IndexExpressionTest, DecidedConditions) {
  EXPECT_EQ(condition("i0 < 0"), "");
  EXPECT_EQ(condition("i0 >= 4 || i1 > 5"), "");
  EXPECT_EQ(condition("i0 >= 0"), "-1 >= 0");
  EXPECT_EQ(condition("0"), "");
  EXPECT_EQ(condition("1"), "-1 >= 0");
  EXPECT_EQ(condition("i0 >= 4 || i1 > 2"), "-d1 + 2 >= 0");
  EXPECT_EQ(condition("2*i0 - i0 - i0"), "");
}

TEST_F(IndexExpressionTest, ConditionTrees) {
  EXPECT_EQ(condition("i0 == 1"), "tree: d0 - 1 != 0");
  EXPECT_EQ(condition("i0 == i1"), "tree: d0 - d1 != 0");
  EXPECT_EQ(condition("i0<1 && i1>=5"), "tree: (d0 - 1 >= 0 or -d1 + 4 >= 0)");
  EXPECT_EQ(condition("i0<1 && i1>=5 && i3<2 || i1==2"),
            "tree: ((d0 - 1 >= 0 or -d1 + 4 >= 0 or d3 - 2 >= 0) and "
            "d1 - 2 != 0)");
  EXPECT_EQ(condition("max(i0,i1) < 2"), "tree: (d0 - 2 >= 0 or d1 - 2 >= 0)");
  EXPECT_EQ(condition("(i0 < 2 ? i1 : i3) >= 4"),
            "tree: ((d0 - 2 >= 0 or -d1 + 3 >= 0) and "
            "(-d0 + 1 >= 0 or -d3 + 3 >= 0))");
  EXPECT_EQ(condition("i0%2 == 0"), "d0 mod 2 - 1 >= 0");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(IndexExpressionTest, ErrorsPointIntoTheText) {
  EXPECT_EQ(index("i0+k1"),
            "index expression 'i0+k1': unknown name 'k1'\n"
            "  i0+k1\n"
            "     ^\n"
            "expected i0..i3, xshape0..xshape2, xstride0..xstride2, "
            "yshape0..yshape1, ystride0..ystride1, XDIM, YDIM, min(a,b), "
            "max(a,b), abs(a)");
  EXPECT_EQ(condition("i0 > i1 i2"),
            "overflow condition 'i0 > i1 i2': unexpected 'i2'\n"
            "  i0 > i1 i2\n"
            "          ^\n"
            "expected an operator, or the end of the text");
  EXPECT_EQ(index("i0 * i1 + 1"),
            "index expression 'i0 * i1 + 1': the product of two values that "
            "both depend on indices is not affine\n"
            "  i0 * i1 + 1\n"
            "     ^\n"
            "expected a constant on one side of '*'");
  EXPECT_EQ(index("i0+@e0(i0,i1)"),
            "index expression 'i0+@e0(i0,i1)': there is no extra 0\n"
            "  i0+@e0(i0,i1)\n"
            "     ^\n"
            "expected one of the 0 extras that are given");
  EXPECT_EQ(index("i0 + \xc3\xa9 + \x01"),
            "index expression 'i0 + \\xc3\\xa9 + \\x01': unexpected character "
            "'\\xc3'\n"
            "  i0 + \\xc3\\xa9 + \\x01\n"
            "       ^\n"
            "expected integers, names, operators and parentheses");
}

/// A text, the column that its error points at, and parts of the message.
struct ErrorCase {
  StringRef text;
  size_t column;
  StringRef problem;
  StringRef expected;
};

TEST_F(IndexExpressionTest, ErrorsOfIndices) {
  ErrorCase cases[] = {
      {"", 0, "the text is empty", "an integer, a parenthesis, or one of i0"},
      {"  ", 2, "the text is empty", "an integer"},
      {"i0+", 3, "unexpected end of the text", "an integer"},
      {"i0 // 2", 4, "unexpected '/'", "an integer"},
      {"i0 ** 2", 4, "unexpected '*'", "an integer"},
      {"(i0", 3, "unexpected end of the text", "')' to close"},
      {"i0)", 2, "unexpected ')'", "an operator"},
      {"()", 1, "unexpected ')'", "an integer"},
      {"i0 i1", 3, "unexpected 'i1'", "an operator"},
      {"2i0", 0, "malformed integer '2i0'", "a decimal integer"},
      {"1.5", 0, "malformed integer '1.5'", "a decimal integer"},
      {"0x10", 0, "malformed integer '0x10'", "a decimal integer"},
      {"i0+010", 3, "octal", "a decimal integer"},
      {"9223372036854775808", 0, "does not fit into 64 bits",
       "at most 9223372036854775807"},
      {"i4", 0, "unknown name 'i4'", "i0..i3"},
      {"i00", 0, "unknown name 'i00'", "i0..i3"},
      {"i99999999999999999999", 0, "unknown name", "i0..i3"},
      {"xshape3", 0, "unknown name 'xshape3'", "xshape0..xshape2"},
      {"xshape", 0, "unknown name 'xshape'", "xshape0..xshape2"},
      {"i0 & 1", 3, "unexpected character '&'", "'&&'"},
      {"i0 = 1", 3, "unexpected character '='", "'=='"},
      {"i0 ^ 1", 3, "unexpected character '^'", "operators"},
      {"i0 ? 1", 6, "unexpected end of the text", "':' to go with '?'"},
      {"min(i0)", 6, "unexpected ')'", "',' and the second argument of 'min'"},
      {"min i0", 4, "unexpected 'i0'", "'(' after 'min'"},
      {"max(1,2,3)", 7, "unexpected ','", "')' after the second argument"},
      {"abs(1,2)", 5, "unexpected ','", "')' after the argument of 'abs'"},
      {"0 < i0 < 3", 7, "comparisons do not chain", "'&&'"},
      {"@f(i0)", 1, "unexpected 'f' after '@'", "such as e0"},
      {"@e0", 3, "unexpected end of the text", "'(' and the indices"},
      {"@e0(i0", 6, "unexpected end of the text", "')' after the indices"},
      {"i0/0", 2, "division by zero", "a divisor other than 0"},
      {"i0%(3-3)", 2, "division by zero", "a divisor other than 0"},
      {"8/i0", 1, "the divisor depends on indices", "a constant divisor"},
      {"i1+8%i0", 4, "the divisor depends on indices", "a constant divisor"},
      {"min(i0-1,0)", 0, "the ranges of the indices do not decide this",
       "use an overflow condition, or 'where'"},
      {"3-2*abs(i0-1)", 4, "do not decide this", "overflow condition"},
      {"i0<2", 2, "do not decide this", "overflow condition"},
      {"i1+(i0<2&&i1<2)", 8, "do not decide this", "overflow condition"},
      {"i0<2 ? i0 : 4", 5, "do not decide this", "overflow condition"},
      {"9223372036854775807+1", 19, "too large", "fit into 64 bits"},
      {"i1*9223372036854775807", 2, "too large", "fit into 64 bits"},
      {"i0*4294967296*4294967296", 13, "too large", "fit into 64 bits"},
  };
  for (const ErrorCase &errorCase : cases) {
    std::string message = index(errorCase.text);
    std::string caret =
        "\n  " + std::string(errorCase.column, ' ') + "^\nexpected ";
    EXPECT_TRUE(StringRef(message).starts_with(
        ("index expression '" + errorCase.text + "': ").str()))
        << message;
    EXPECT_NE(message.find(caret), std::string::npos) << message;
    auto [problem, expected] = StringRef(message).split(caret);
    EXPECT_TRUE(problem.contains(errorCase.problem)) << message;
    EXPECT_TRUE(expected.contains(errorCase.expected)) << message;
  }
}

TEST_F(IndexExpressionTest, LimitsOfSize) {
  auto repeat = [](StringRef part, unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i)
      text += part;
    return text;
  };
  auto isError = [](StringRef result, StringRef problem) {
    return result.contains("\nexpected ") && result.contains(problem);
  };
  EXPECT_EQ(index(repeat("(", 200) + "i0" + repeat(")", 200)), "d0");
  for (StringRef open : {"(", "-", "!", "abs(", "0?1:", "1?", "@e0("})
    EXPECT_TRUE(isError(index(repeat(open, 250)), "nests too deeply"))
        << open.str();
  EXPECT_TRUE(isError(index(repeat("i0+", 5000) + "i0"), "15002 bytes"));
  EXPECT_EQ(StringRef(index(repeat("i0+i1-", 300) + "i3")).contains("expected"),
            false);
  EXPECT_TRUE(isError(index(repeat("(", 100) + "i0" + repeat("*3-4)/2", 100)),
                      "too large"));
  EXPECT_TRUE(isError(
      condition(repeat("abs(", 100) + "i0" + repeat("-1)", 100)), "too"));
  EXPECT_TRUE(isError(condition(repeat("(i0<2)+", 200) + "i1"), "too"));
  EXPECT_TRUE(isError(
      condition(repeat("max(i0,", 150) + "i1" + repeat(")%3", 150)), "too"));
}

//===----------------------------------------------------------------------===//
// Random texts, against C
//===----------------------------------------------------------------------===//

/// A random expression: its text, with no more parentheses than C needs, and
/// its value as C has it.
struct RandomExpression {
  std::string text;
  /// As in C; higher binds more tightly.
  unsigned precedence;
  std::function<int64_t(ArrayRef<int64_t>)> evaluate;
};

class Generator {
public:
  /// `maxShift` > 0 multiplies some constants by up to that power of two.
  Generator(unsigned seed, bool withCases, unsigned maxShift = 0)
      : random(seed), withCases(withCases), maxShift(maxShift) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  RandomExpression make(unsigned depth, size_t rank) {
    if (depth == 0 || pick(0, 7) == 0)
      return makeLeaf(rank);
    switch (pick(0, withCases ? 10 : 5)) {
    case 0:
      return makeBinary("+", 5, depth, rank, std::plus<int64_t>());
    case 1:
      return makeBinary("-", 5, depth, rank, std::minus<int64_t>());
    case 2:
      return makeByConstant("*", depth, rank, std::multiplies<int64_t>());
    case 3:
      return makeByConstant("/", depth, rank, std::divides<int64_t>());
    case 4:
      return makeByConstant("%", depth, rank, std::modulus<int64_t>());
    case 5:
      return makeUnary("-", depth, rank, std::negate<int64_t>());
    case 6:
      return makeUnary("!", depth, rank, std::logical_not<int64_t>());
    case 7:
      return makeComparison(depth, rank);
    case 8:
      return pick(0, 1)
                 ? makeBinary("&&", 2, depth, rank, std::logical_and<int64_t>())
                 : makeBinary("||", 1, depth, rank, std::logical_or<int64_t>());
    case 9:
      return makeConditional(depth, rank);
    default:
      return makeFunction(depth, rank);
    }
  }

private:
  using Function = std::function<int64_t(int64_t, int64_t)>;

  static std::string parenthesize(const RandomExpression &expr,
                                  unsigned minPrecedence) {
    return expr.precedence < minPrecedence ? "(" + expr.text + ")" : expr.text;
  }

  RandomExpression makeLeaf(size_t rank) {
    if (pick(0, 2) == 0)
      return makeConstant(pick(0, 12) << pick(0, maxShift));
    size_t axis = pick(0, rank - 1);
    return {"i" + std::to_string(axis), 8,
            [axis](ArrayRef<int64_t> index) { return index[axis]; }};
  }

  RandomExpression makeConstant(int64_t value) {
    return {std::to_string(value), value < 0 ? 7u : 8u,
            [value](ArrayRef<int64_t>) { return value; }};
  }

  RandomExpression combine(StringRef op, unsigned precedence,
                           RandomExpression left, RandomExpression right,
                           Function function) {
    // Comparisons do not chain, on either side.
    bool isComparison = precedence == 3 || precedence == 4;
    std::string blank = pick(0, 1) ? " " : "";
    std::string text = parenthesize(left, precedence + isComparison) + blank +
                       op.str() + blank + parenthesize(right, precedence + 1);
    return {text, precedence, [left, right, function](ArrayRef<int64_t> index) {
              return function(left.evaluate(index), right.evaluate(index));
            }};
  }

  RandomExpression makeBinary(StringRef op, unsigned precedence, unsigned depth,
                              size_t rank, Function function) {
    RandomExpression left = make(depth - 1, rank);
    return combine(op, precedence, left, make(depth - 1, rank), function);
  }

  RandomExpression makeByConstant(StringRef op, unsigned depth, size_t rank,
                                  Function function) {
    int64_t value = pick(1, 7) * (pick(0, 4) == 0 ? -1 : 1);
    value *= int64_t{1} << pick(0, maxShift);
    RandomExpression left = make(depth - 1, rank);
    return combine(op, 6, left, makeConstant(value), function);
  }

  RandomExpression makeUnary(StringRef op, unsigned depth, size_t rank,
                             std::function<int64_t(int64_t)> function) {
    RandomExpression inner = make(depth - 1, rank);
    return {op.str() + parenthesize(inner, 7), 7,
            [inner, function](ArrayRef<int64_t> index) {
              return function(inner.evaluate(index));
            }};
  }

  RandomExpression makeComparison(unsigned depth, size_t rank) {
    switch (pick(0, 5)) {
    case 0:
      return makeBinary("<", 4, depth, rank, std::less<int64_t>());
    case 1:
      return makeBinary("<=", 4, depth, rank, std::less_equal<int64_t>());
    case 2:
      return makeBinary(">", 4, depth, rank, std::greater<int64_t>());
    case 3:
      return makeBinary(">=", 4, depth, rank, std::greater_equal<int64_t>());
    case 4:
      return makeBinary("==", 3, depth, rank, std::equal_to<int64_t>());
    default:
      return makeBinary("!=", 3, depth, rank, std::not_equal_to<int64_t>());
    }
  }

  RandomExpression makeConditional(unsigned depth, size_t rank) {
    RandomExpression condition = make(depth - 1, rank);
    RandomExpression ifTrue = make(depth - 1, rank);
    RandomExpression ifFalse = make(depth - 1, rank);
    return {parenthesize(condition, 1) + " ? " + ifTrue.text + " : " +
                ifFalse.text,
            0, [condition, ifTrue, ifFalse](ArrayRef<int64_t> index) {
              return condition.evaluate(index) ? ifTrue.evaluate(index)
                                               : ifFalse.evaluate(index);
            }};
  }

  RandomExpression makeFunction(unsigned depth, size_t rank) {
    RandomExpression left = make(depth - 1, rank);
    RandomExpression right = make(depth - 1, rank);
    switch (pick(0, 2)) {
    case 0:
      return {"min(" + left.text + ", " + right.text + ")", 8,
              [left, right](ArrayRef<int64_t> index) {
                return std::min(left.evaluate(index), right.evaluate(index));
              }};
    case 1:
      return {"max(" + left.text + "," + right.text + ")", 8,
              [left, right](ArrayRef<int64_t> index) {
                return std::max(left.evaluate(index), right.evaluate(index));
              }};
    default:
      return {"abs(" + left.text + ")", 8, [left](ArrayRef<int64_t> index) {
                return std::abs(left.evaluate(index));
              }};
    }
  }

  std::mt19937_64 random;
  bool withCases;
  unsigned maxShift;
};

std::vector<int64_t> makeShape(Generator &generator) {
  std::vector<int64_t> shape(generator.pick(1, 3));
  for (int64_t &extent : shape)
    extent = generator.pick(1, 6);
  return shape;
}

TEST_F(IndexExpressionTest, RandomArithmeticIsThatOfC) {
  Generator generator(/*seed=*/1, /*withCases=*/false);
  for (unsigned i = 0; i < 3000; ++i) {
    iteration = makeShape(generator);
    RandomExpression random = generator.make(/*depth=*/4, iteration.size());
    auto expr = parseIndexExpression(random.text, getContext());
    ASSERT_TRUE(static_cast<bool>(expr)) << toString(expr.takeError());
    forEachIndex(iteration, [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(evaluate(*expr, index), random.evaluate(index)) << random.text;
    });
  }
}

TEST_F(IndexExpressionTest, LargeConstantsAreRightOrRefused) {
  Generator generator(/*seed=*/5, /*withCases=*/false, /*maxShift=*/50);
  unsigned numAccepted = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    iteration = makeShape(generator);
    RandomExpression random = generator.make(/*depth=*/4, iteration.size());
    auto expr = parseIndexExpression(random.text, getContext());
    if (!expr) {
      std::string message = toString(expr.takeError());
      ASSERT_NE(message.find("too large"), std::string::npos) << message;
      continue;
    }
    ++numAccepted;
    forEachIndex(iteration, [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(evaluate(*expr, index), random.evaluate(index)) << random.text;
    });
  }
  EXPECT_GT(numAccepted, 1000u);
  EXPECT_LT(numAccepted, 3000u);
}

TEST_F(IndexExpressionTest, RandomIndicesWithCasesAreThoseOfC) {
  Generator generator(/*seed=*/2, /*withCases=*/true);
  unsigned numAffine = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    iteration = makeShape(generator);
    RandomExpression random = generator.make(/*depth=*/3, iteration.size());
    auto expr = parseIndexExpression(random.text, getContext());
    if (!expr) {
      std::string message = toString(expr.takeError());
      ASSERT_NE(message.find("do not decide this"), std::string::npos)
          << message;
      continue;
    }
    ++numAffine;
    forEachIndex(iteration, [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(evaluate(*expr, index), random.evaluate(index)) << random.text;
    });
  }
  EXPECT_GT(numAffine, 1000u);
}

TEST_F(IndexExpressionTest, RandomConditionsAreThoseOfC) {
  Generator generator(/*seed=*/3, /*withCases=*/true);
  unsigned numConvex = 0, numTrees = 0, numTooLarge = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    iteration = makeShape(generator);
    RandomExpression random = generator.make(/*depth=*/4, iteration.size());
    auto result = parseOverflowCondition(random.text, getContext());
    if (!result) {
      std::string message = toString(result.takeError());
      ASSERT_NE(message.find("too"), std::string::npos) << message;
      ++numTooLarge;
      continue;
    }
    ++(result->isConvex() ? numConvex : numTrees);
    ASSERT_TRUE(result->isConvex() || result->constraints.empty());
    forEachIndex(iteration, [&](ArrayRef<int64_t> index) {
      ASSERT_EQ(isInRange(*result, index), random.evaluate(index) == 0)
          << random.text << "\n"
          << print(*result);
    });
  }
  EXPECT_GT(numConvex, 1000u);
  EXPECT_GT(numTrees, 300u);
  EXPECT_LT(numTooLarge, 30u);
}

TEST_F(IndexExpressionTest, RandomBytesGiveErrorsOrResults) {
  std::mt19937_64 random(4);
  auto pick = [&](size_t count) { return random() % count; };
  StringRef pieces[] = {"i0",       "i1",
                        "i9",       "xshape0",
                        "ystride1", "XDIM",
                        "0",        "1",
                        "7",        "99999999999999999999",
                        "+",        "-",
                        "*",        "/",
                        "%",        "(",
                        ")",        "<",
                        "<=",       ">",
                        ">=",       "==",
                        "!=",       "&&",
                        "||",       "!",
                        "?",        ":",
                        "min",      "max",
                        "abs",      ",",
                        "@",        "@e0(",
                        " ",        "4611686018427387904"};
  for (unsigned i = 0; i < 30000; ++i) {
    std::string text;
    size_t length = pick(24);
    for (size_t j = 0; j < length; ++j) {
      if (i % 3 == 0)
        text += static_cast<char>(random());
      else
        text += pieces[pick(std::size(pieces))];
    }
    for (const std::string &result : {index(text), condition(text)})
      EXPECT_TRUE(all_of(result, [](char c) {
        return isPrint(c) || c == '\n';
      })) << text;
  }
}

} // namespace
