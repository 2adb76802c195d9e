//===- TensorTest.cpp - Tests of host tensors -----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Tensor.h"
#include "MetaOps/Interpreter/RandomTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <limits>
#include <set>

using namespace mlir;
using namespace mlir::metaop;

namespace {

class TensorTest : public ::testing::Test {
protected:
  Tensor make(Type elementType, ArrayRef<int64_t> shape) {
    return llvm::cantFail(Tensor::create(elementType, shape));
  }

  static std::string print(const Tensor &tensor) {
    std::string text;
    llvm::raw_string_ostream os(text);
    tensor.print(os);
    return text;
  }

  template <typename T> static std::string messageOf(llvm::Expected<T> value) {
    return value ? "no error" : toString(value.takeError());
  }

  MLIRContext context;
  Builder b{&context};
};

TEST_F(TensorTest, LiesInMemoryInRowMajorOrder) {
  Tensor tensor = make(b.getIntegerType(16), {2, 3});
  for (int64_t i = 0; i < 6; ++i)
    tensor.set(i, Scalar::ofSigned(-i));
  EXPECT_EQ(tensor.getData().size(), 12u);
  EXPECT_EQ(tensor.getNumElements(), 6);
  EXPECT_EQ(tensor.getType(),
            RankedTensorType::get({2, 3}, b.getIntegerType(16)));
  EXPECT_EQ(tensor.linearize({1, 2}), 5);
  auto *data = reinterpret_cast<const int16_t *>(tensor.getData().data());
  EXPECT_EQ(data[5], -5);
  EXPECT_EQ(tensor.get(4).getSigned(), -4);
}

TEST_F(TensorTest, SizesOfElements) {
  std::pair<Type, size_t> sizes[] = {
      {b.getI1Type(), 1},    {b.getI8Type(), 1},
      {b.getF16Type(), 2},   {b.getBF16Type(), 2},
      {b.getF32Type(), 4},   {b.getI32Type(), 4},
      {b.getF64Type(), 8},   {b.getI64Type(), 8},
      {b.getIndexType(), 8}, {b.getIntegerType(32, /*isSigned=*/false), 4}};
  for (auto [type, bytes] : sizes)
    EXPECT_EQ(make(type, {3}).getData().size(), 3 * bytes);
}

TEST_F(TensorTest, StoresAndLoadsEveryKind) {
  Tensor half = make(b.getF16Type(), {});
  half.set(0, Scalar::ofFloat(-1.5));
  EXPECT_EQ(*reinterpret_cast<const uint16_t *>(half.getData().data()), 0xBE00);
  EXPECT_EQ(half.get(0).getFloat(), -1.5);

  Tensor brain = make(b.getBF16Type(), {});
  brain.set(0, Scalar::ofFloat(-1.5));
  EXPECT_EQ(*reinterpret_cast<const uint16_t *>(brain.getData().data()),
            0xBFC0);
  EXPECT_EQ(brain.get(0).getFloat(), -1.5);

  Tensor flag = make(b.getI1Type(), {2});
  flag.set(1, Scalar::ofBool(true));
  EXPECT_EQ(flag.getData()[0], 0);
  EXPECT_EQ(flag.getData()[1], 1);

  Tensor word = make(b.getIntegerType(64, /*isSigned=*/false), {});
  word.set(0, Scalar::ofUnsigned(~uint64_t(0)));
  EXPECT_TRUE(word.get(0).isUnsigned());
  EXPECT_EQ(word.get(0).getBits(), ~uint64_t(0));
}

TEST_F(TensorTest, RefusesWhatCannotBe) {
  int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(messageOf(Tensor::create(b.getF32Type(), {2, -1})),
            "a tensor cannot have the shape 2x-1: an extent is negative");
  EXPECT_EQ(messageOf(Tensor::create(b.getF32Type(), {0, ShapedType::kDynamic}))
                .find("a tensor cannot have the shape"),
            0u);
  EXPECT_NE(messageOf(Tensor::create(b.getF32Type(), {huge, huge}))
                .find("is larger than the limit"),
            std::string::npos);
  EXPECT_NE(messageOf(Tensor::create(b.getI8Type(), {Tensor::maxBytes + 1}))
                .find("is larger than the limit"),
            std::string::npos);
  EXPECT_EQ(messageOf(Tensor::create(b.getIntegerType(7), {})),
            "no tensor has elements of type i7");
  EXPECT_EQ(messageOf(Tensor::create(b.getIntegerType(8, true), {})),
            "no tensor has elements of type si8");
  // An empty tensor has no size, whatever its other extents.
  EXPECT_EQ(make(b.getF32Type(), {huge, 0, huge}).getNumElements(), 0);
}

TEST_F(TensorTest, TakesElementsOfAttributes) {
  auto type = RankedTensorType::get({2, 2}, b.getI8Type());
  int8_t numbers[] = {1, -2, 3, -4};
  auto dense = DenseElementsAttr::get(type, ArrayRef(numbers));
  EXPECT_EQ(print(llvm::cantFail(Tensor::fromElements(dense))),
            "[[1, -2],\n [3, -4]]");
  auto splat =
      DenseElementsAttr::get(RankedTensorType::get({3}, b.getBF16Type()),
                             b.getFloatAttr(b.getBF16Type(), 0.5));
  EXPECT_EQ(print(llvm::cantFail(Tensor::fromElements(splat))),
            "[0.5, 0.5, 0.5]");
  auto flags = DenseElementsAttr::get(RankedTensorType::get({3}, b.getI1Type()),
                                      {true, false, true});
  EXPECT_EQ(print(llvm::cantFail(Tensor::fromElements(flags))),
            "[True, False, True]");
}

TEST_F(TensorTest, Reshapes) {
  SplitMix64 generator(1);
  Tensor tensor =
      llvm::cantFail(makeRandomTensor(b.getF32Type(), {2, 6}, generator));
  Tensor reshaped = llvm::cantFail(tensor.reshaped({3, 4}));
  EXPECT_EQ(reshaped.getShape(), ArrayRef<int64_t>({3, 4}));
  EXPECT_EQ(reshaped.getData(), tensor.getData());
  EXPECT_EQ(messageOf(tensor.reshaped({5})),
            "a tensor of shape 2x6 cannot be reshaped to 5: it has 12 "
            "elements, not 5");
}

TEST_F(TensorTest, VisitsIndicesInOrder) {
  std::vector<std::vector<int64_t>> seen;
  forEachIndex({2, 2}, [&](ArrayRef<int64_t> index, int64_t position) {
    EXPECT_EQ(position, static_cast<int64_t>(seen.size()));
    seen.push_back(index.vec());
  });
  EXPECT_EQ(seen, (std::vector<std::vector<int64_t>>{
                      {0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  int visits = 0;
  forEachIndex({3, 0}, [&](ArrayRef<int64_t>, int64_t) { ++visits; });
  EXPECT_EQ(visits, 0);
  forEachIndex({}, [&](ArrayRef<int64_t>, int64_t) { ++visits; });
  EXPECT_EQ(visits, 1);
}

TEST_F(TensorTest, Prints) {
  EXPECT_EQ(print(make(b.getF32Type(), {})), "0");
  EXPECT_EQ(print(make(b.getF32Type(), {0})), "[]");
  EXPECT_EQ(print(make(b.getF32Type(), {2, 0})), "[[],\n []]");
  Tensor tensor = make(b.getF64Type(), {2, 1, 2});
  tensor.set(0, Scalar::ofFloat(-std::numeric_limits<double>::quiet_NaN()));
  tensor.set(1, Scalar::ofFloat(-std::numeric_limits<double>::infinity()));
  tensor.set(2, Scalar::ofFloat(1.0 / 3));
  tensor.set(3, Scalar::ofFloat(1e-10));
  EXPECT_EQ(print(tensor), "[[[nan, -inf]],\n [[0.333333, 1e-10]]]");
}

TEST_F(TensorTest, RandomDataStaysInItsRange) {
  SplitMix64 known(1234567);
  EXPECT_EQ(known.next(), 6457827717110365317u);
  EXPECT_EQ(known.next(), 3203168211198807973u);

  SplitMix64 generator(3);
  for (Type type : {Type(b.getF64Type()), Type(b.getF32Type()),
                    Type(b.getF16Type()), Type(b.getBF16Type())}) {
    Tensor tensor = llvm::cantFail(makeRandomTensor(type, {1000}, generator));
    double lowest = 1, highest = -1;
    for (int64_t i = 0; i < 1000; ++i) {
      lowest = std::min(lowest, tensor.get(i).getFloat());
      highest = std::max(highest, tensor.get(i).getFloat());
    }
    EXPECT_GE(lowest, -1);
    EXPECT_LT(lowest, -0.9);
    EXPECT_GT(highest, 0.9);
    EXPECT_LT(highest, 1);
  }
  Tensor integers =
      llvm::cantFail(makeRandomTensor(b.getI8Type(), {1000}, generator));
  std::set<int64_t> values;
  for (int64_t i = 0; i < 1000; ++i)
    values.insert(integers.get(i).getSigned());
  EXPECT_EQ(values.size(), 12u);
  EXPECT_EQ(*values.begin(), -4);
  EXPECT_EQ(*values.rbegin(), 7);
}

} // namespace
