//===- InterpreterTest.cpp - Tests of the interpreter ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Interpreter.h"
#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
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
    context.loadDialect<MetaOpDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(R"mlir(
      func.func @sum(%x: tensor<?xf32>) -> tensor<f32> {
        %0 = metaop.buffer : tensor<f32>
        %1 = metaop.reduce add %x dims = [0] : tensor<?xf32> -> tensor<f32>
        %2 = metaop.add %0, %1 : tensor<f32>
        %3 = metaop.scalar : tensor<f32>
        %4 = metaop.mul %2, %3 : tensor<f32>
        return %4 : tensor<f32>
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

} // namespace
