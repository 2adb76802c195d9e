//===- BodyEmitterTest.cpp - Values of a body, without its loops ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a lowering with loops of its own asks of a body: its values where the
// loops' variables are given, for one element or for some lanes.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Conversion/StageBody/BodyEmitter.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

class BodyEmitterTest : public ::testing::Test {
protected:
  BodyEmitterTest() {
    context.loadDialect<MetaOpDialect, arith::ArithDialect, func::FuncDialect,
                        math::MathDialect, memref::MemRefDialect,
                        scf::SCFDialect, vector::VectorDialect>();
  }

  /// Models the stage of `text`, and opens a function of its buffer, its
  /// result's, and the variables of two loops.
  void open(StringRef text) {
    parsed = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(parsed);
    FusedOp op;
    parsed->walk([&](FusedOp fused) { op = fused; });
    FailureOr<Stage> model = Stage::build(op);
    ASSERT_TRUE(succeeded(model));
    stage = std::move(*model);

    Location loc = UnknownLoc::get(&context);
    emitted = ModuleOp::create(loc);
    b.setInsertionPointToEnd(emitted->getBody());
    Type buffer = MemRefType::get({ShapedType::kDynamic}, b.getF32Type());
    Type index = b.getIndexType();
    Type mask = VectorType::get(4, b.getI1Type());
    auto function = func::FuncOp::create(
        b, loc, "f",
        b.getFunctionType({buffer, buffer, index, index, mask}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    bindings.sources[op.getBody().getArgument(0)] = function.getArgument(0);
    bindings.results = {function.getArgument(1)};
    loops = {function.getArgument(2), function.getArgument(3)};
    loops.truncate(stage.getNumLoops());
    laneMask = function.getArgument(4);
  }

  /// Evaluates the body at an iteration, stores its value there and closes the
  /// function. Returns the value.
  Value emit(LoopIteration &at, int64_t lanes) {
    BodyEmitter body(b, stage, bindings, lanes);
    for (const StageRead &read : stage.reads)
      at.setValue(read.value, body.emitValue(read.value, at));
    for (Operation *op : stage.body)
      at.setValue(op->getResult(0), body.emitValue(op->getResult(0), at));
    const StageWrite &write = stage.writes.front();
    Value result = at.getValue(write.value);
    body.emitStore(write, result, at.emitMask(), at);
    func::ReturnOp::create(b, b.getUnknownLoc());
    EXPECT_TRUE(succeeded(verify(*emitted)));
    return result;
  }
  template <typename Op> unsigned count() {
    unsigned number = 0;
    emitted->walk([&](Op) { ++number; });
    return number;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OpBuilder b{&context};
  OwningOpRef<ModuleOp> parsed, emitted;
  Stage stage;
  StageBindings bindings;
  SmallVector<Value> loops;
  Value laneMask;
};

/// One loop.
constexpr char kNegated[] = R"(
func.func @f(%x: tensor<6x10xf32>) {
  metaop.fused(%a = %x : tensor<6x10xf32>) -> (tensor<6x10xf32>) {
    %n = metaop.neg %a : tensor<6x10xf32>
    metaop.yield %n : tensor<6x10xf32>
  }
  return
})";

/// Two loops, the inner of which reads beside its tensor.
constexpr char kPadded[] = R"(
func.func @f(%x: tensor<6x10xf32>) {
  metaop.fused(%a = %x : tensor<6x10xf32>) -> (tensor<6x13xf32>) {
    %p = metaop.reindex %a map affine_map<(d0, d1) -> (d0, d1 - 2)>
      fill 5.0 : f32 : tensor<6x10xf32> -> tensor<6x13xf32>
    %n = metaop.neg %p : tensor<6x13xf32>
    metaop.yield %n : tensor<6x13xf32>
  }
  return
})";

constexpr char kShifted[] = R"(
func.func @f(%x: tensor<10xf32>) {
  metaop.fused(%a = %x : tensor<10xf32>) -> (tensor<4000xf32>) {
    %p = metaop.reindex %a map affine_map<(d0) -> (d0 - 2000)>
      fill 5.0 : f32 : tensor<10xf32> -> tensor<4000xf32>
    metaop.yield %p : tensor<4000xf32>
  }
  return
})";

TEST_F(BodyEmitterTest, OneElement) {
  open(kNegated);
  LoopIteration at(b, b.getUnknownLoc(), loops);
  EXPECT_EQ(emit(at, /*lanes=*/1).getType(), b.getF32Type());
  EXPECT_EQ(count<memref::LoadOp>(), 1u);
  EXPECT_EQ(count<memref::StoreOp>(), 1u);
  EXPECT_EQ(count<scf::ForOp>(), 0u);
}

TEST_F(BodyEmitterTest, AllLanes) {
  open(kNegated);
  LoopIteration at(b, b.getUnknownLoc(), loops, /*vectorLoop=*/0);
  EXPECT_EQ(emit(at, /*lanes=*/4).getType(),
            VectorType::get(4, b.getF32Type()));
  EXPECT_EQ(count<vector::LoadOp>(), 1u);
  EXPECT_EQ(count<vector::StoreOp>(), 1u);
}

TEST_F(BodyEmitterTest, LanesOfAMask) {
  open(kNegated);
  LoopIteration at(b, b.getUnknownLoc(), loops, /*vectorLoop=*/0, laneMask);
  emit(at, /*lanes=*/4);
  EXPECT_EQ(count<vector::MaskedLoadOp>(), 1u);
  EXPECT_EQ(count<vector::MaskedStoreOp>(), 1u);
}

TEST_F(BodyEmitterTest, GuardedElement) {
  open(kPadded);
  LoopIteration at(b, b.getUnknownLoc(), loops);
  emit(at, /*lanes=*/1);
  EXPECT_EQ(count<scf::IfOp>(), 1u);
  EXPECT_EQ(count<memref::LoadOp>(), 1u);
}

TEST_F(BodyEmitterTest, GuardedLanes) {
  open(kPadded);
  LoopIteration at(b, b.getUnknownLoc(), loops, /*vectorLoop=*/1, laneMask);
  emit(at, /*lanes=*/4);
  EXPECT_EQ(count<scf::IfOp>(), 0u);
  EXPECT_EQ(count<vector::MaskedLoadOp>(), 1u);
}

/// Tries no lane's load where the operand may be far away.
TEST_F(BodyEmitterTest, GuardedLanesFarAway) {
  open(kShifted);
  LoopIteration at(b, b.getUnknownLoc(), loops, /*vectorLoop=*/0, laneMask);
  emit(at, /*lanes=*/4);
  EXPECT_EQ(count<scf::IfOp>(), 1u);
  EXPECT_EQ(count<vector::MaskedLoadOp>(), 1u);
}

/// Along a loop that the guard does not depend on, it is one branch.
TEST_F(BodyEmitterTest, GuardOfAllLanes) {
  open(kPadded);
  LoopIteration at(b, b.getUnknownLoc(), loops, /*vectorLoop=*/0);
  emit(at, /*lanes=*/4);
  EXPECT_EQ(count<scf::IfOp>(), 1u);
  EXPECT_EQ(count<vector::GatherOp>(), 1u);
  EXPECT_EQ(count<vector::ScatterOp>(), 1u);
}

} // namespace
