//===- InterpreterTest.cpp - Tests of the interpreter ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Dialect/MetaOp/IR/ElementwiseOps.h"
#include "MetaOps/Dialect/MetaOp/IR/LeafOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    context.loadDialect<MetaOpDialect, func::FuncDialect, arith::ArithDialect,
                        scf::SCFDialect, tensor::TensorDialect>();
    module = parseSourceString<ModuleOp>(R"mlir(
      func.func @sum(%x: tensor<?xf32>) -> tensor<f32> {
        %0 = metaop.buffer : tensor<f32>
        %1 = metaop.reduce add %x dims = [0] : tensor<?xf32> -> tensor<f32>
        %2 = metaop.add %0, %1 : tensor<f32>
        %3 = metaop.scalar : tensor<f32>
        %4 = metaop.mul %2, %3 : tensor<f32>
        return %4 : tensor<f32>
      }
      func.func @count(%limit: tensor<i64>) -> tensor<i64> {
        %zero = metaop.constant dense<0> : tensor<i64>
        %one = metaop.constant dense<1> : tensor<i64>
        %count = scf.while (%n = %zero) : (tensor<i64>) -> tensor<i64> {
          %isLess = metaop.cmp lt %n, %limit : tensor<i64> -> tensor<i1>
          %goesOn = tensor.extract %isLess[] : tensor<i1>
          scf.condition(%goesOn) %n : tensor<i64>
        } do {
        ^bb0(%n: tensor<i64>):
          %next = metaop.add %n, %one : tensor<i64>
          scf.yield %next : tensor<i64>
        }
        return %count : tensor<i64>
      }
      func.func @repeat(%count: i64) -> tensor<i64> {
        %zero = metaop.constant dense<0> : tensor<i64>
        %c0 = arith.constant 0 : i64
        %c1 = arith.constant 1 : i64
        %last = scf.for %i = %c0 to %count step %c1
            iter_args(%n = %zero) -> tensor<i64> : i64 {
          %next = tensor.from_elements %i : tensor<i64>
          scf.yield %next : tensor<i64>
        }
        return %last : tensor<i64>
      }
    )mlir",
                                         &context);
  }

  Tensor vector(ArrayRef<double> values) {
    Tensor tensor = llvm::cantFail(Tensor::create(
        Float32Type::get(&context), {static_cast<int64_t>(values.size())}));
    for (auto [position, value] : llvm::enumerate(values))
      tensor.set(position, Scalar::ofFloat(value));
    return tensor;
  }

  Tensor number(double value) {
    return llvm::cantFail(
        Tensor::fromScalar(Float32Type::get(&context), Scalar::ofFloat(value)));
  }

  Tensor integer(int64_t value) {
    return llvm::cantFail(Tensor::fromScalar(IntegerType::get(&context, 64),
                                             Scalar::ofSigned(value)));
  }

  func::FuncOp getFunction(StringRef name) {
    return module->lookupSymbol<func::FuncOp>(name);
  }
  func::FuncOp getSum() { return module->lookupSymbol<func::FuncOp>("sum"); }
  template <typename OpTy> OpTy getOp() {
    return *getSum().getOps<OpTy>().begin();
  }

  template <typename T> static std::string messageOf(llvm::Expected<T> value) {
    return value ? "no error" : toString(value.takeError());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(InterpreterTest, AsksForTheValuesOfLeaves) {
  Interpreter interpreter([&](Operation *op) -> llvm::Expected<Tensor> {
    return number(isa<ScalarOp>(op) ? 0.5 : 10);
  });
  llvm::Expected<Tensors> results =
      interpreter.run(getSum(), {vector({1, 2, 3})});
  ASSERT_TRUE(bool(results)) << toString(results.takeError());
  ASSERT_EQ(results->size(), 1u);
  EXPECT_EQ(results->front().get(0).getFloat(), 8);
}

TEST_F(InterpreterTest, ChecksTheValuesOfLeaves) {
  Interpreter wrong(
      [&](Operation *) -> llvm::Expected<Tensor> { return vector({1}); });
  EXPECT_NE(messageOf(wrong.run(getSum(), {vector({1})}))
                .find("'metaop.buffer' op result 0 has to be tensor<f32>, "
                      "given tensor<1xf32>"),
            std::string::npos);
  Interpreter untyped(
      [](Operation *) -> llvm::Expected<Tensor> { return Tensor(); });
  EXPECT_NE(messageOf(untyped.run(getSum(), {vector({1})}))
                .find("'metaop.buffer' op result 0 has no value"),
            std::string::npos);
  EXPECT_NE(messageOf(Interpreter().run(getSum(), {vector({1})}))
                .find("'metaop.buffer' op has a value that is not in"),
            std::string::npos);
}

TEST_F(InterpreterTest, ChecksArguments) {
  Interpreter interpreter;
  EXPECT_EQ(messageOf(interpreter.run(getSum(), {})),
            "function 'sum' takes 1 arguments, given 0");
  EXPECT_EQ(messageOf(interpreter.run(getSum(), {number(1)})),
            "function 'sum' argument 0 has to be tensor<?xf32>, given "
            "tensor<f32>");
}

TEST_F(InterpreterTest, EvaluatesOneOp) {
  Interpreter interpreter;
  auto add = getOp<AddOp>();
  llvm::Expected<Tensor> result =
      interpreter.evaluate(add, {number(1), number(2)});
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  EXPECT_EQ(result->get(0).getFloat(), 3);
  EXPECT_NE(messageOf(interpreter.evaluate(add, {number(1)}))
                .find("'metaop.add' op takes 2 operands, given 1"),
            std::string::npos);
  EXPECT_NE(messageOf(interpreter.evaluate(getSum(), {}))
                .find("'func.func' op has 0 results where one is asked for"),
            std::string::npos);
}

TEST_F(InterpreterTest, AsksBeforeEachIterationWhetherToStop) {
  for (StringRef name : {"count", "repeat"}) {
    unsigned asked = 0;
    Interpreter interpreter;
    interpreter.stopWhen([&] { return ++asked > 100; });
    llvm::Expected<Tensors> few =
        interpreter.run(getFunction(name), integer(7));
    ASSERT_TRUE(bool(few)) << toString(few.takeError());
    EXPECT_EQ(few->front().get(0).getSigned(), name == "count" ? 7 : 6);
    // A `while` asks for its condition once more.
    EXPECT_EQ(asked, name == "count" ? 8u : 7u);

    llvm::Expected<Tensors> endless =
        interpreter.run(getFunction(name), integer(INT64_MAX));
    ASSERT_FALSE(bool(endless));
    EXPECT_TRUE(endless.errorIsA<InterpreterStopped>());
    EXPECT_NE(messageOf(std::move(endless)).find("op was stopped"),
              std::string::npos);
    EXPECT_EQ(asked, 101u);
  }
}

TEST_F(InterpreterTest, EvaluatesNoLoopByItself) {
  auto loop = *getFunction("count").getOps<scf::WhileOp>().begin();
  EXPECT_NE(messageOf(Interpreter().evaluate(loop, {integer(0)}))
                .find("'scf.while' op is run as a part of a function only"),
            std::string::npos);
}

} // namespace
