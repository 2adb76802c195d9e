//===- BatchingTest.cpp - Every operation with a leading dimension --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Dialect/MetaOp/IR/Batching.h"
#include "MetaOps/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::metaop;

namespace {

constexpr int64_t kExtent = 3;

/// An operation `%r = ...` on arguments %0, %1, ... of these types.
struct Case {
  std::string types, text;

  SmallVector<StringRef> getTypes() const {
    SmallVector<StringRef> split;
    StringRef(types).split(split, ", ");
    return split;
  }
};

/// Returns a case for each element-wise operation.
std::vector<Case> makeElementwise() {
  std::vector<Case> cases;
  auto add = [&](StringRef names, StringRef types, StringRef operands,
                 StringRef suffix) {
    for (StringRef name : llvm::split(names, ' '))
      cases.push_back(
          {types.str(),
           ("metaop." + name + " " + operands + " : " + suffix).str()});
  };
  add("neg abs sign trunc floor ceil round sqrt rsqrt cbrt exp exp2 expm1 log "
      "log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
      "atanh erf erfc erfinv lgamma digamma stop_grad stop_fuse",
      "tensor<2x4xf32>", "%0", "tensor<2x4xf32>");
  add("add sub mul div floor_div mod pow max min fmod nextafter hypot atan2 "
      "copysign polygamma",
      "tensor<2x4xf32>, tensor<2x4xf32>", "%0, %1", "tensor<2x4xf32>");
  add("and or xor gcd shl shr", "tensor<2x4xi32>, tensor<2x4xi32>", "%0, %1",
      "tensor<2x4xi32>");
  add("not popcount", "tensor<2x4xi32>", "%0", "tensor<2x4xi32>");
  add("fma", "tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>", "%0, %1, %2",
      "tensor<2x4xf32>");
  return cases;
}

std::vector<Case> makeOthers() {
  return {
      {"tensor<4xf32>, tensor<4xf32>",
       "metaop.cmp lt %0, %1 : tensor<4xf32> -> tensor<4xi1>"},
      {"tensor<4xi1>, tensor<4xf32>, tensor<4xf32>",
       "metaop.select %0, %1, %2 : tensor<4xi1>, tensor<4xf32>"},
      {"tensor<4xf32>", "metaop.cast %0 : tensor<4xf32> -> tensor<4xi32>"},
      {"tensor<4xf32>", "metaop.bitcast %0 : tensor<4xf32> -> tensor<4xi32>"},
      {"tensor<4x5xf32>",
       "metaop.reindex %0 map affine_map<(d0, d1) -> (d1, d0 + 1)> where "
       "affine_set<(d0, d1) : (d0 - d1 >= 0)> fill 2.0 : f32 : "
       "tensor<4x5xf32> -> tensor<3x6xf32>"},
      {"tensor<4x5xf32>, tensor<i64>",
       "metaop.reindex %0 symbols(%1) map affine_map<(d0)[s0] -> (d0, s0)> "
       "fill 0.0 : f32 : tensor<4x5xf32> -> tensor<4xf32>"},
      {"tensor<4x1xf32>",
       "metaop.broadcast %0 dims = [0, 2] : tensor<4x1xf32> -> "
       "tensor<4x2x3xf32>"},
      {"tensor<2x3x4xf32>",
       "metaop.transpose %0 perm = [2, 0, 1] : tensor<2x3x4xf32> -> "
       "tensor<4x2x3xf32>"},
      {"tensor<6x4xf32>, tensor<i64>, tensor<i64>",
       "metaop.slice %0[%1, %2] strides = [2, -1] : tensor<6x4xf32> -> "
       "tensor<2x3xf32>"},
      {"tensor<3x2xf32>",
       "metaop.pad %0 low = [1, 0] high = [0, 2] fill 3.0 : f32 : "
       "tensor<3x2xf32> -> tensor<4x4xf32>"},
      {"tensor<4x6xf32>", "metaop.reshape %0 : tensor<4x6xf32> -> "
                          "tensor<2x12xf32>"},
      {"tensor<7x4xf32>, tensor<3x4xi64>",
       "metaop.gather %0[%1] map affine_map<(d0, d1)[s0] -> (s0, d1)> fill "
       "0.5 : f32 : (tensor<7x4xf32>, tensor<3x4xi64>) -> tensor<3x4xf32>"},
      {"tensor<3x4xf32>, tensor<3x4xi64>",
       "metaop.scatter add %0[%1] map affine_map<(d0, d1)[s0] -> (s0, d1)> : "
       "(tensor<3x4xf32>, tensor<3x4xi64>) -> tensor<5x4xf32>"},
      {"tensor<8x4xf32>",
       "metaop.reindex_reduce max %0 map affine_map<(d0, d1) -> (d0 floordiv "
       "2)> where affine_set<(d0, d1) : (d1 - 1 >= 0)> : tensor<8x4xf32> -> "
       "tensor<4xf32>"},
      {"tensor<4x5x2xf32>",
       "metaop.reduce add %0 dims = [0, 2] keep_dims : tensor<4x5x2xf32> -> "
       "tensor<1x5x1xf32>"},
      {"tensor<4x5xf32>", "metaop.norm %0 dims = [1] divisor = 2.0 : "
                          "tensor<4x5xf32> -> tensor<4xf32>"},
      {"tensor<4x5xf32>", "metaop.norm %0 dims = [1] order = 2.5 : "
                          "tensor<4x5xf32> -> tensor<4xf32>"},
      {"tensor<2x3xf32>, tensor<2x1xf32>",
       "metaop.concat %0, %1 dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> "
       "tensor<2x4xf32>"},
      {"tensor<2x3xf32>, tensor<5x4xf32>, tensor<i64>, tensor<i64>",
       "metaop.insert add %0 into %1[%2, %3] : tensor<2x3xf32> into "
       "tensor<5x4xf32>"},
      {"tensor<2x5xf32>, tensor<2x5xf32>",
       "metaop.prefix linear %0 factors(%1) dim = 1 reverse exclusive : "
       "tensor<2x5xf32>"},
      {"tensor<4x6xf32>, tensor<4x6xf32>",
       "metaop.fft(%0, %1) dims = [1, 0] inverse scale = 0.5 : "
       "(tensor<4x6xf32>, tensor<4x6xf32>) -> "
       "(tensor<4x6xf32>, tensor<4x6xf32>)"},
      {"tensor<4x6xf32>", "metaop.fft(%0) dims = [0] scale = 1.0 : "
                          "(tensor<4x6xf32>) -> "
                          "(tensor<3x6xf32>, tensor<3x6xf32>)"},
      {"tensor<4x6xf32>", "metaop.sort %0 dim = 1 descending : "
                          "tensor<4x6xf32> -> tensor<4x2xf32>"},
      {"tensor<4x6xf32>, tensor<i64>",
       "metaop.sort %0 dim = 0 begin = %1 : tensor<4x6xf32> -> "
       "tensor<3x6xf32>"},
      {"tensor<5x4xf32>, tensor<i64>",
       "metaop.reindex_reduce add %0 symbols(%1) map affine_map<(d0, d1)[s0] "
       "-> (d1 + s0)> : tensor<5x4xf32> -> tensor<6xf32>"},
      {"tensor<2x3xf32>, tensor<5x4xf32>, tensor<i64>, tensor<i64>",
       "metaop.insert none %0 into %1[%2, %3] : tensor<2x3xf32> into "
       "tensor<5x4xf32>"},
      {"tensor<3x2xi64>",
       "metaop.check %0 extent = 4 dim = 0 : tensor<3x2xi64>"},
      {"tensor<i64>, tensor<i64>", "metaop.random %0, %1 : tensor<3x2xf32>"},
  };
}

class BatchingTest : public ::testing::Test {
protected:
  BatchingTest() { context.loadDialect<MetaOpDialect, func::FuncDialect>(); }

  OwningOpRef<ModuleOp> parse(const Case &given);
  Tensor makeTensor(RankedTensorType type);
  Tensor getRow(const Tensor &tensor, int64_t row);
  void check(const Case &given, const llvm::SmallBitVector &isBatched);

  MLIRContext context;
  std::mt19937 engine{7};
};

OwningOpRef<ModuleOp> BatchingTest::parse(const Case &given) {
  std::string arguments;
  // These operations have two results.
  bool isPair = StringRef(given.text).contains("sort") ||
                StringRef(given.text).contains("fft");
  for (auto [number, type] : llvm::enumerate(given.getTypes()))
    arguments +=
        (number ? ", %" : "%") + std::to_string(number) + ": " + type.str();
  return parseSourceString<ModuleOp>("func.func @f(" + arguments + ") {\n" +
                                         (isPair ? "%r:2 = " : "%r:1 = ") +
                                         given.text + "\nreturn\n}",
                                     &context);
}

/// Returns a tensor of numbers from the domains of all operations.
Tensor BatchingTest::makeTensor(RankedTensorType type) {
  Tensor tensor =
      llvm::cantFail(Tensor::create(type.getElementType(), type.getShape()));
  std::uniform_real_distribution<double> floats(0.1, 0.9);
  std::uniform_int_distribution<int64_t> integers(0, 2);
  for (int64_t position = 0; position < tensor.getNumElements(); ++position)
    tensor.set(position,
               isa<FloatType>(type.getElementType())
                   ? Scalar::ofFloat(floats(engine))
                   : Scalar::ofSigned(type.getElementType().isInteger(1)
                                          ? integers(engine) % 2
                                          : integers(engine)));
  return tensor;
}

Tensor BatchingTest::getRow(const Tensor &tensor, int64_t row) {
  Tensor made = llvm::cantFail(
      Tensor::create(tensor.getElementType(), tensor.getShape().drop_front()));
  for (int64_t k = 0; k < made.getNumElements(); ++k)
    made.set(k, tensor.get(row * made.getNumElements() + k));
  return made;
}

/// Compares the rows of an operation's batched results with what the operation
/// makes of the rows of its operands.
void BatchingTest::check(const Case &given,
                         const llvm::SmallBitVector &isBatched) {
  OwningOpRef<ModuleOp> module = parse(given);
  ASSERT_TRUE(module) << given.text;
  auto function = *module->getOps<func::FuncOp>().begin();
  Operation *op = &function.getBody().front().front();
  ASSERT_TRUE(canBatch(op, isBatched)) << given.text;

  Block &block = function.getBody().front();
  SmallVector<Value> operands;
  Interpreter::Values values;
  for (auto [number, argument] :
       llvm::enumerate(llvm::to_vector(function.getArguments()))) {
    auto type = cast<RankedTensorType>(argument.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (isBatched.test(number))
      shape.insert(shape.begin(), kExtent);
    operands.push_back(block.addArgument(type.clone(shape), argument.getLoc()));
    values[operands.back()] = makeTensor(type.clone(shape));
  }
  OpBuilder builder(op);
  SmallVector<Value> results = emitBatched(builder, op, operands, kExtent);
  Interpreter interpreter;
  for (Operation *made = &block.front(); made != op;
       made = made->getNextNode()) {
    ASSERT_TRUE(succeeded(made->getName().verifyInvariants(made)))
        << given.text;
    Tensors computed = llvm::cantFail(interpreter.evaluateAmong(made, values));
    for (auto [result, tensor] : llvm::zip_equal(made->getResults(), computed))
      values[result] = tensor;
  }
  for (int64_t row = 0; row < kExtent; ++row) {
    Tensors rows;
    for (auto [number, operand] : llvm::enumerate(operands))
      rows.push_back(isBatched.test(number) ? getRow(values[operand], row)
                                            : values[operand]);
    Tensors expected = llvm::cantFail(interpreter.evaluateAll(op, rows));
    for (auto [result, tensor] : llvm::zip_equal(results, expected)) {
      Tensor got = getRow(values[result], row);
      ASSERT_EQ(got.getShape(), tensor.getShape()) << given.text;
      EXPECT_EQ(got.getData(), tensor.getData()) << given.text;
    }
  }
}

TEST_F(BatchingTest, RowsAreWhatTheOperationMakesOfRows) {
  std::vector<Case> cases = makeElementwise();
  llvm::append_range(cases, makeOthers());
  for (const Case &given : cases) {
    unsigned numOperands = given.getTypes().size();
    for (unsigned chosen = 1; chosen < 1u << numOperands; ++chosen) {
      llvm::SmallBitVector isBatched(numOperands);
      for (unsigned number = 0; number < numOperands; ++number)
        isBatched[number] = chosen >> number & 1;
      check(given, isBatched);
    }
  }
}

TEST_F(BatchingTest, EveryOperationIsTestedOrCannotBeBatched) {
  // Without tensors, with effects, of other devices, with regions, or parts of
  // these; and a barrier, each of whose operands is batched or not.
  llvm::StringSet<> others = {
      "barrier",    "buffer",   "check_range", "constant", "custom_derivative",
      "fused",      "iota",     "kernel",      "scalar",   "scan",
      "scan_yield", "transfer", "yield"};
  std::vector<Case> cases = makeElementwise();
  llvm::append_range(cases, makeOthers());
  llvm::StringSet<> tested;
  for (const Case &given : cases)
    tested.insert(StringRef(given.text).drop_front(7).split(' ').first);
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("metaop")) {
    StringRef own = name.stripDialect();
    EXPECT_NE(others.contains(own), tested.contains(own)) << own.str();
  }
}

TEST_F(BatchingTest, ConditionsOfBatchedNumbersCannotBeBatched) {
  Case given = {"tensor<4x5xf32>, tensor<i64>",
                "metaop.reindex %0 symbols(%1) map affine_map<(d0, d1)[s0] -> "
                "(d0, d1)> where affine_set<(d0, d1)[s0] : (d0 - s0 >= 0)> "
                "fill 2.0 : f32 : tensor<4x5xf32> -> tensor<3x5xf32>"};
  llvm::SmallBitVector isBatched(2);
  isBatched.set(0);
  check(given, isBatched);
  OwningOpRef<ModuleOp> module = parse(given);
  Operation *op =
      &(*module->getOps<func::FuncOp>().begin()).getBody().front().front();
  isBatched.set(1);
  EXPECT_FALSE(canBatch(op, isBatched));
}

} // namespace
