//===- ScalarEmissionTest.cpp - What emitted elements compute -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op is emitted on constants, and the folders of arith and math compute.
// They leave alone what traps or is undefined, so that such an operation shows
// as a result that is not constant. They also leave alone an arith.truncf that
// rounds; here, it is folded.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/Emission/ScalarEmission.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <array>

using namespace mlir;
using namespace mlir::metaop;

namespace {

struct FoldRounding : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr operand;
    if (!matchPattern(op.getIn(), m_Constant(&operand)))
      return failure();
    auto type = cast<FloatType>(op.getType());
    APFloat value = operand.getValue();
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   FloatAttr::get(type, value));
    return success();
  }
};

class ScalarEmission : public ::testing::Test {
protected:
  ScalarEmission() {
    context.loadDialect<MetaOpDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect, vector::VectorDialect>();
  }

  /// Parses one op over `%a`, `%b`, ... of the given types.
  OwningOpRef<ModuleOp> parse(const std::string &op,
                              ArrayRef<std::string> types) {
    std::string text = "func.func @f(";
    for (auto [index, type] : llvm::enumerate(types))
      text += std::string(index ? ", " : "") + "%" + char('a' + index) + ": " +
              type;
    text += ") {\n  %r = " + op + "\n  return\n}\n";
    return parseSourceString<ModuleOp>(text, &context);
  }

  Value constant(OpBuilder &builder, const std::string &text) {
    auto attr = cast<TypedAttr>(parseAttribute(text, &context));
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(), attr);
  }

  /// The value of what `emit` emits after the op, as text.
  std::string
  evaluate(const std::string &op, ArrayRef<std::string> types,
           llvm::function_ref<Value(Operation *, OpBuilder &)> emit) {
    OwningOpRef<ModuleOp> module = parse(op, types);
    if (!module)
      return "does not parse";
    auto function = *module->getOps<func::FuncOp>().begin();
    Block &body = function.front();
    OpBuilder builder(body.getTerminator());
    Value value = emit(&body.front(), builder);
    if (!value)
      return "null";
    body.getTerminator()->insertOperands(0, value);
    RewritePatternSet patterns(&context);
    patterns.add<FoldRounding>(&context);
    (void)applyPatternsGreedily(function.getOperation(), std::move(patterns));

    Attribute result;
    if (!matchPattern(body.getTerminator()->getOperand(0), m_Constant(&result)))
      return "not constant";
    std::string printed;
    llvm::raw_string_ostream(printed) << result;
    return printed;
  }

  /// As `arith.constant` prints it.
  std::string normalised(const std::string &text) {
    std::string printed;
    llvm::raw_string_ostream(printed) << parseAttribute(text, &context);
    return printed;
  }

  void expect(const std::string &op, ArrayRef<std::string> types,
              ArrayRef<std::string> operands, const std::string &result) {
    std::string actual =
        evaluate(op, types, [&](Operation *op, OpBuilder &builder) {
          SmallVector<Value> values;
          for (const std::string &operand : operands)
            values.push_back(constant(builder, operand));
          return cast<ElementwiseOpInterface>(op).emitScalar(builder, values);
        });
    EXPECT_EQ(actual, normalised(result))
        << op << " of " << operands[0]
        << (operands.size() > 1 ? " and " + operands[1] : std::string());
  }

  void expectUnary(const std::string &name, const std::string &type,
                   const std::string &x, const std::string &result) {
    std::string tensor = "tensor<" + type + ">";
    std::string storage = getStorage(type);
    expect("metaop." + name + " %a : " + tensor, {tensor},
           {x + " : " + storage}, result + " : " + storage);
  }
  void expectBinary(const std::string &name, const std::string &type,
                    const std::string &x, const std::string &y,
                    const std::string &result) {
    std::string tensor = "tensor<" + type + ">";
    std::string storage = getStorage(type);
    expect("metaop." + name + " %a, %b : " + tensor, {tensor, tensor},
           {x + " : " + storage, y + " : " + storage},
           result + " : " + storage);
  }
  void expectCompare(const std::string &predicate, const std::string &type,
                     const std::string &x, const std::string &y, bool result) {
    std::string tensor = "tensor<" + type + ">";
    std::string storage = getStorage(type);
    expect("metaop.cmp " + predicate + " %a, %b : " + tensor + " -> tensor<i1>",
           {tensor, tensor}, {x + " : " + storage, y + " : " + storage},
           result ? "true" : "false");
  }
  void expectCast(const std::string &from, const std::string &x,
                  const std::string &to, const std::string &result) {
    std::string source = "tensor<" + from + ">";
    expect("metaop.cast %a : " + source + " -> tensor<" + to + ">", {source},
           {x + " : " + getStorage(from)}, result + " : " + getStorage(to));
  }

  static std::string getStorage(const std::string &type) {
    return type[0] == 'u' ? type.substr(1) : type;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

const char *const nanF32 = "0x7FC00000";
const char *const infF32 = "0x7F800000";
const char *const minusInfF32 = "0xFF800000";

TEST_F(ScalarEmission, FloorDivisionOfSignedIntegers) {
  expectBinary("floor_div", "i8", "7", "2", "3");
  expectBinary("floor_div", "i8", "-7", "2", "-4");
  expectBinary("floor_div", "i8", "7", "-2", "-4");
  expectBinary("floor_div", "i8", "-7", "-2", "3");
  expectBinary("floor_div", "i8", "-8", "2", "-4");
  expectBinary("floor_div", "i8", "5", "0", "0");
  expectBinary("floor_div", "i8", "5", "-1", "-5");
  expectBinary("floor_div", "i8", "-128", "-1", "-128");
  expectBinary("floor_div", "i64", "-9223372036854775808", "-1",
               "-9223372036854775808");
}

TEST_F(ScalarEmission, ModuloOfSignedIntegers) {
  expectBinary("mod", "i8", "7", "3", "1");
  expectBinary("mod", "i8", "-7", "3", "2");
  expectBinary("mod", "i8", "7", "-3", "-2");
  expectBinary("mod", "i8", "-7", "-3", "-1");
  expectBinary("mod", "i8", "6", "-3", "0");
  expectBinary("mod", "i8", "5", "0", "0");
  expectBinary("mod", "i8", "-128", "-1", "0");
}

TEST_F(ScalarEmission, DivisionOfUnsignedIntegers) {
  expectBinary("floor_div", "ui8", "-56", "3", "66"); // 200 / 3
  expectBinary("floor_div", "ui8", "-56", "-1", "0"); // 200 / 255
  expectBinary("floor_div", "ui8", "7", "0", "0");
  expectBinary("mod", "ui8", "-56", "3", "2");
  expectBinary("mod", "ui8", "7", "0", "0");
}

TEST_F(ScalarEmission, DivisionOfFloats) {
  expectBinary("mod", "f32", "5.5", "2.0", "1.5");
  expectBinary("mod", "f32", "-5.5", "2.0", "0.5");
  expectBinary("mod", "f32", "5.5", "-2.0", "-0.5");
  expectBinary("mod", "f32", "4.0", "-2.0", "-0.0");
  expectBinary("mod", "f32", "-4.0", "2.0", "0.0");
  expectBinary("mod", "f32", "5.0", infF32, "5.0");
  expectBinary("mod", "f32", "-5.0", infF32, infF32);
  expectBinary("mod", "f32", "1.0e30", "7.0", "1.0");
}

TEST_F(ScalarEmission, SignAndMagnitude) {
  expectUnary("abs", "i8", "-5", "5");
  expectUnary("abs", "i8", "-128", "-128");
  expectUnary("abs", "ui8", "-5", "-5");
  expectUnary("neg", "ui8", "1", "-1");
  expectUnary("sign", "i8", "-5", "-1");
  expectUnary("sign", "i8", "0", "0");
  expectUnary("sign", "ui8", "-5", "1");
  expectUnary("sign", "f32", "-2.5", "-1.0");
  expectUnary("sign", "f32", "-0.0", "0.0");
  expectUnary("sign", "f32", infF32, "1.0");
  expectUnary("sign", "f32", nanF32, nanF32);
  expectUnary("sign", "bf16", "-2.5", "-1.0");
}

TEST_F(ScalarEmission, Extrema) {
  expectBinary("max", "i8", "-1", "1", "1");
  expectBinary("max", "ui8", "-1", "1", "-1");
  expectBinary("min", "ui8", "-1", "1", "1");
  expectBinary("max", "f32", nanF32, "1.0", nanF32);
  expectBinary("min", "f32", "1.0", nanF32, nanF32);
  expectBinary("max", "f16", "1.5", "2.5", "2.5");
}

TEST_F(ScalarEmission, Bits) {
  expectUnary("not", "i8", "5", "-6");
  expect("metaop.not %a : tensor<i1>", {"tensor<i1>"}, {"true"}, "false");
  expectBinary("xor", "ui8", "6", "3", "5");
}

TEST_F(ScalarEmission, HalvesAreRoundedOnce) {
  // 2049 is not an f16, 257 not a bf16.
  expectBinary("add", "f16", "2048.0", "1.0", "2048.0");
  expectBinary("add", "f16", "2048.0", "3.0", "2052.0");
  expectBinary("add", "bf16", "256.0", "1.0", "256.0");
  expectBinary("mul", "f16", "60000.0", "2.0", "0x7C00");
  expectUnary("round", "bf16", "2.5", "2.0");
}

TEST_F(ScalarEmission, Comparison) {
  for (const char *predicate : {"eq", "lt", "le", "gt", "ge"})
    expectCompare(predicate, "f32", nanF32, nanF32, false);
  expectCompare("ne", "f32", nanF32, nanF32, true);
  expectCompare("eq", "f32", "0.0", "-0.0", true);
  expectCompare("lt", "bf16", "1.0", "2.0", true);
  expectCompare("lt", "i8", "-1", "1", true);
  expectCompare("lt", "ui8", "-1", "1", false);
  expect("metaop.cmp lt %a, %b : tensor<i1> -> tensor<i1>",
         {"tensor<i1>", "tensor<i1>"}, {"false", "true"}, "true");
}

TEST_F(ScalarEmission, CastToIntegers) {
  expectCast("f32", "3.9", "i8", "3");
  expectCast("f32", "-3.9", "i8", "-3");
  expectCast("f32", "127.9", "i8", "127");
  expectCast("f32", "128.0", "i8", "127");
  expectCast("f32", "-128.9", "i8", "-128");
  expectCast("f32", "-1.0e30", "i8", "-128");
  expectCast("f32", infF32, "i64", "9223372036854775807");
  expectCast("f32", minusInfF32, "i64", "-9223372036854775808");
  expectCast("f32", nanF32, "i32", "0");
  expectCast("f32", "255.9", "ui8", "-1");
  expectCast("f32", "-0.9", "ui8", "0");
  expectCast("f32", "-7.0", "ui8", "0");
  expectCast("f64", "1.0e19", "ui64", "-8446744073709551616");
  expectCast("f64", "1.0e20", "ui64", "-1");
  expectCast("bf16", "300.0", "i8", "127");
  expectCast("i32", "300", "i8", "44");
  expectCast("i8", "-1", "ui32", "-1");
  expectCast("ui8", "-1", "i32", "255");
}

TEST_F(ScalarEmission, CastOfBooleans) {
  expect("metaop.cast %a : tensor<f32> -> tensor<i1>", {"tensor<f32>"},
         {std::string(nanF32) + " : f32"}, "true");
  expect("metaop.cast %a : tensor<f32> -> tensor<i1>", {"tensor<f32>"},
         {"-0.0 : f32"}, "false");
  expect("metaop.cast %a : tensor<i8> -> tensor<i1>", {"tensor<i8>"},
         {"2 : i8"}, "true");
  expect("metaop.cast %a : tensor<i1> -> tensor<bf16>", {"tensor<i1>"},
         {"true"}, "1.0 : bf16");
  expect("metaop.cast %a : tensor<i1> -> tensor<i8>", {"tensor<i1>"}, {"true"},
         "1 : i8");
}

TEST_F(ScalarEmission, CastToFloatsRoundsOnce) {
  expectCast("i8", "-3", "f32", "-3.0");
  expectCast("ui8", "-3", "f32", "253.0");
  expectCast("f16", "1.5", "bf16", "1.5");
  // Just above the middle of two bf16s, by less than f32 can tell.
  expectCast("f64", "1.0039062500009095", "bf16", "1.0078125");
  expectCast("f64", "-1.0039062500009095", "bf16", "-1.0078125");
  expectCast("f64", "1.00390625", "bf16", "1.0");
  expectCast("f64", "1.0e300", "f16", "0x7C00");
  expectCast("f64", "0x7FF8000000000000", "f16", "0x7E00");
  // 2^62 + 2^54 + 1, and as much below zero.
  expectCast("i64", "4629700416936869889", "bf16", "4.647714815446352e+18");
  expectCast("i64", "-4629700416936869889", "bf16", "-4.647714815446352e+18");
  expectCast("i64", "4629700416936869888", "bf16", "4.611686018427388e+18");
  expectCast("ui64", "-1", "bf16", "1.8446744073709552e+19");
  expectCast("i32", "2049", "f16", "2048.0");
  expectCast("i64", "100000", "f16", "0x7C00");
}

TEST_F(ScalarEmission, VectorsAreComputedElementByElement) {
  expect("metaop.floor_div %a, %b : tensor<4xi8>",
         {"tensor<4xi8>", "tensor<4xi8>"},
         {"dense<[-7, 7, 5, -128]> : vector<4xi8>",
          "dense<[2, -2, 0, -1]> : vector<4xi8>"},
         "dense<[-4, -4, 0, -128]> : vector<4xi8>");
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

class Generators : public ScalarEmission {
protected:
  std::string element(const std::string &op, ArrayRef<std::string> indices,
                      ArrayRef<std::string> extents = {},
                      ArrayRef<std::string> operands = {}) {
    std::string scalar = "tensor<i64>";
    return evaluate(
        op, {scalar, scalar}, [&](Operation *op, OpBuilder &builder) {
          auto make = [&](ArrayRef<std::string> texts) {
            SmallVector<Value> values;
            for (const std::string &text : texts)
              values.push_back(constant(builder, text));
            return values;
          };
          return cast<GeneratorOpInterface>(op).emitElement(
              builder, make(operands), make(indices), make(extents));
        });
  }
};

TEST_F(Generators, Constant) {
  std::string table = "metaop.constant dense<[[1, 2, 3], [4, 5, 6]]> : "
                      "tensor<2x3xui8>";
  EXPECT_EQ(element(table, {"0 : index", "0 : index"}), "1 : i8");
  EXPECT_EQ(element(table, {"0 : index", "2 : index"}), "3 : i8");
  EXPECT_EQ(element(table, {"1 : index", "1 : index"}), "5 : i8");
  EXPECT_EQ(element(table, {"dense<1> : vector<2xindex>",
                            "dense<[0, 2]> : vector<2xindex>"}),
            "dense<[4, 6]> : vector<2xi8>");
  EXPECT_EQ(element("metaop.constant dense<true> : tensor<4xi1>",
                    {"dense<0> : vector<2xindex>"}),
            "dense<true> : vector<2xi1>");
  EXPECT_EQ(element("metaop.constant dense<2.0> : tensor<f32>", {}),
            "2.000000e+00 : f32");
}

TEST_F(Generators, LargeTablesAreInputs) {
  std::string text = "metaop.constant dense<[";
  for (int64_t i = 0; i <= kMaxInlineElements; ++i)
    text += (i ? ", " : "") + std::to_string(i);
  text += "]> : tensor<" + std::to_string(kMaxInlineElements + 1) + "xi32>";
  EXPECT_EQ(element(text, {"0 : index"}), "null");
}

TEST_F(Generators, Iota) {
  EXPECT_EQ(element("metaop.iota dim = 1 : tensor<4x8xf32>",
                    {"3 : index", "5 : index"}),
            "5.000000e+00 : f32");
  EXPECT_EQ(element("metaop.iota dim = 0 : tensor<300xui8>", {"257 : index"}),
            "1 : i8");
  EXPECT_EQ(element("metaop.iota dim = 0 : tensor<8xi64>",
                    {"dense<[2, 3]> : vector<2xindex>"}),
            "dense<[2, 3]> : vector<2xi64>");
}

/// Philox2x32-10 as its authors write it.
std::array<uint32_t, 2> philox(std::array<uint32_t, 2> counter, uint32_t key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product = uint64_t(0xD256D193) * counter[0];
    counter = {uint32_t(product >> 32) ^ key ^ counter[1], uint32_t(product)};
    key += 0x9E3779B9;
  }
  return counter;
}

TEST_F(Generators, PhiloxGivesTheKnownAnswers) {
  std::array<uint32_t, 2> zero = {0xff1dae59, 0x6cd10df2};
  EXPECT_EQ(philox({0, 0}, 0), zero);
  std::array<uint32_t, 2> ones = {0x2c3f628b, 0xab4fd7ad};
  EXPECT_EQ(philox({~0u, ~0u}, ~0u), ones);
  std::array<uint32_t, 2> pi = {0xdd7ce038, 0xf62a4c12};
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3}, 0x13198a2e), pi);
}

TEST_F(Generators, RandomWords) {
  std::string op = "metaop.random %a, %b : tensor<ui32>";
  EXPECT_EQ(element(op, {}, {}, {"0 : i64", "0 : i64"}),
            std::to_string(int32_t(0xff1dae59)) + " : i32");
  uint32_t expected =
      philox({0x89abcdef, 0x01234567 ^ 0xfedcba98}, 0x76543210)[0];
  EXPECT_EQ(element(op, {}, {},
                    {"-81985529216486896 : i64", "81985529216486895 : i64"}),
            std::to_string(int32_t(expected)) + " : i32");
}

TEST_F(Generators, RandomCountsInRowMajorOrder) {
  // Element [1, 3] of rows of 5, whether the extent is known or not.
  int32_t expected = int32_t(philox({100 + 8, 0}, 7)[0]);
  SmallVector<std::string> operands = {"7 : i64", "100 : i64"};
  EXPECT_EQ(element("metaop.random %a, %b : tensor<2x5xui32>",
                    {"1 : index", "3 : index"}, {"2 : index", "5 : index"},
                    operands),
            std::to_string(expected) + " : i32");
  int32_t next = int32_t(philox({100 + 9, 0}, 7)[0]);
  EXPECT_EQ(
      element("metaop.random %a, %b : tensor<2x5xui32>",
              {"dense<1> : vector<2xindex>", "dense<[3, 4]> : vector<2xindex>"},
              {"2 : index", "5 : index"}, operands),
      "dense<[" + std::to_string(expected) + ", " + std::to_string(next) +
          "]> : vector<2xi32>");
}

TEST_F(Generators, RandomFloats) {
  std::array<uint32_t, 2> words = philox({1, 0}, 2);
  SmallVector<std::string> operands = {"2 : i64", "1 : i64"};
  auto expected = [&](const char *type, double value) {
    std::string printed;
    Type floatType = parseType(type, &context);
    llvm::raw_string_ostream(printed) << FloatAttr::get(floatType, value);
    return printed;
  };
  uint64_t both = (uint64_t(words[1]) << 32) | words[0];
  EXPECT_EQ(element("metaop.random %a, %b : tensor<f32>", {}, {}, operands),
            expected("f32", std::ldexp(double(words[0] >> 8), -24)));
  EXPECT_EQ(element("metaop.random %a, %b : tensor<f16>", {}, {}, operands),
            expected("f16", std::ldexp(double(words[0] >> 21), -11)));
  EXPECT_EQ(element("metaop.random %a, %b : tensor<bf16>", {}, {}, operands),
            expected("bf16", std::ldexp(double(words[0] >> 24), -8)));
  EXPECT_EQ(element("metaop.random %a, %b : tensor<f64>", {}, {}, operands),
            expected("f64", std::ldexp(double(both >> 11), -53)));
}

} // namespace
