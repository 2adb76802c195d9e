//===- KernelNumbersTest.cpp - Binding the numbers of kernels -------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/KernelNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

/// More numbers than a word has bits, and memory of a block behind them, which
/// is no argument of the function.
TEST(BindNumbers, LeavesTheMemoryOfABlock) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, gpu::GPUDialect,
                      memref::MemRefDialect>();
  constexpr unsigned numNumbers = 70;
  std::string arguments, stores;
  for (unsigned i = 0; i < numNumbers; ++i) {
    std::string name = "%n" + std::to_string(i);
    arguments += ", " + name + ": index";
    stores += "memref.store %value, %shared[" + name + "] : memref<8xf32, 3>\n";
  }
  std::string text = R"(
    gpu.module @kernel {
      gpu.func @kernel(%buffer: memref<?xf32, 1> {llvm.noalias})" +
                     arguments + R"()
          workgroup(%shared: memref<8xf32, 3>) kernel {
        %value = arith.constant 0.0 : f32
        )" + stores + R"(
        gpu.return
      }
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  SmallVector<NumberBinding> bindings(numNumbers,
                                      {NumberBinding::Kind::Constant, 5});
  bindings[3] = {NumberBinding::Kind::Argument, 0};
  FunctionOpInterface kernel = collectKernels(*module).front();
  bindNumbers(kernel, bindings);

  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(kernel.getNumArguments(), 2u);
  EXPECT_TRUE(kernel.getArgAttr(0, "llvm.noalias"));
  EXPECT_TRUE(kernel.getArgumentTypes().back().isIndex());
  auto function = cast<gpu::GPUFuncOp>(*kernel);
  ASSERT_EQ(function.getNumWorkgroupAttributions(), 1u);
  auto stored = *function.getOps<memref::StoreOp>().begin();
  EXPECT_EQ(stored.getMemRef(), function.getWorkgroupAttributions().front());
}

} // namespace
