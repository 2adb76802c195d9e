//===- NpyTest.cpp - Tests of NumPy's file format -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Interpreter/Npy.h"
#include "MetaOps/Interpreter/RandomTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::metaop;

namespace {

class NpyTest : public ::testing::Test {
protected:
  /// A file of version 1 with this header and these elements.
  static std::string makeFile(StringRef header, StringRef elements) {
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size() & 0xFF);
    file += static_cast<char>(header.size() >> 8);
    return file + header.str() + elements.str();
  }

  llvm::Expected<Tensor> parse(StringRef contents) {
    return parseNpy(contents, &context, "x.npy");
  }

  std::string messageOf(StringRef contents) {
    llvm::Expected<Tensor> tensor = parse(contents);
    return tensor ? "no error" : toString(tensor.takeError());
  }

  MLIRContext context;
  Builder b{&context};
};

TEST_F(NpyTest, ReadsWhatItWrites) {
  SplitMix64 generator(5);
  Type types[] = {b.getI1Type(),
                  b.getI8Type(),
                  b.getI16Type(),
                  b.getI32Type(),
                  b.getI64Type(),
                  b.getIntegerType(8, /*isSigned=*/false),
                  b.getIntegerType(16, /*isSigned=*/false),
                  b.getIntegerType(32, /*isSigned=*/false),
                  b.getIntegerType(64, /*isSigned=*/false),
                  b.getF16Type(),
                  b.getBF16Type(),
                  b.getF32Type(),
                  b.getF64Type()};
  SmallVector<int64_t> shapes[] = {{},  {5},       {2, 3},
                                   {0}, {2, 0, 3}, {1, 2, 3, 4}};
  for (Type type : types) {
    for (ArrayRef<int64_t> shape : shapes) {
      Tensor tensor = llvm::cantFail(makeRandomTensor(type, shape, generator));
      std::string contents = encodeNpy(tensor);
      EXPECT_EQ((contents.size() - tensor.getData().size()) % 64, 0u);
      llvm::Expected<Tensor> read = parse(contents);
      ASSERT_TRUE(bool(read)) << toString(read.takeError());
      EXPECT_EQ(read->getType(), tensor.getType());
      EXPECT_EQ(read->getData(), tensor.getData());
    }
  }
}

TEST_F(NpyTest, WritesTheBytesOfNumPy) {
  Tensor tensor = llvm::cantFail(Tensor::create(b.getI16Type(), {2}));
  tensor.set(0, Scalar::ofSigned(258));
  std::string contents = encodeNpy(tensor);
  std::string header =
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
  header.resize(117, ' ');
  EXPECT_EQ(contents, makeFile(header + "\n", StringRef("\x02\x01\0\0", 4)));
}

TEST_F(NpyTest, UnderstandsOtherWritersOfHeaders) {
  llvm::Expected<Tensor> tensor = parse(
      makeFile("{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"|u1\"}",
               "\x05\x06"));
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(tensor->getShape(), ArrayRef<int64_t>({1, 2}));
  EXPECT_EQ(tensor->get(1).getBits(), 6u);
  // The order of one dimension is no order.
  EXPECT_EQ(
      messageOf(makeFile(
          "{'descr': '|i1', 'fortran_order': True, 'shape': (1,), }", "a")),
      "no error");
}

TEST_F(NpyTest, MakesBooleansZeroOrOne) {
  Tensor tensor = llvm::cantFail(parse(
      makeFile("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }",
               StringRef("\x02\x00", 2))));
  EXPECT_EQ(tensor.getData()[0], 1);
  EXPECT_EQ(tensor.getData()[1], 0);
}

TEST_F(NpyTest, RefusesMalformedFiles) {
  auto withShape = [](StringRef shape) {
    return ("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}")
        .str();
  };
  EXPECT_EQ(messageOf("").find("x.npy is no .npy file"), 0u);
  EXPECT_EQ(messageOf("\x93NUMPY"), "x.npy ends inside of its header");
  EXPECT_EQ(messageOf(StringRef("\x93NUMPY\x01\x00\x05", 9)),
            "x.npy ends inside of its header");
  EXPECT_EQ(messageOf(StringRef("\x93NUMPY\x09\x00\x00\x00", 10)),
            "x.npy has version 9 of the .npy format; 1, 2 and 3 can be read");
  // A header of 4 GiB that is not there.
  EXPECT_EQ(messageOf(StringRef("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12)),
            "x.npy ends inside of its header");
  for (StringRef header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4", "{'absent': 1}",
        "{'descr': '<f4' 'shape': ()}", "{'descr': 5}"})
    EXPECT_EQ(messageOf(makeFile(header, ""))
                  .find("x.npy has a header that cannot be understood"),
              0u)
        << header.str();
  for (StringRef shape :
       {"(2", "(2 3)", "(a,)", "(99999999999999999999,)", "2"})
    EXPECT_EQ(messageOf(makeFile(withShape(shape), ""))
                  .find("x.npy has a header that cannot be understood"),
              0u)
        << shape.str();
  EXPECT_EQ(messageOf(makeFile(withShape("(-1,)"), "")),
            "x.npy: a tensor cannot have the shape -1: an extent is negative");
  EXPECT_EQ(messageOf(makeFile(withShape("(4611686018427387904, 4)"), ""))
                .find("x.npy: a tensor of shape"),
            0u);
  EXPECT_EQ(messageOf(makeFile(withShape("(2,)"), "12345678901")),
            "x.npy holds 11 bytes of elements where 2 elements of type '<f4' "
            "take 8");
}

} // namespace
