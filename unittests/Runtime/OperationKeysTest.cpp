//===- OperationKeysTest.cpp - Keys tell what texts tell ------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Runtime/Kernels/OperationKeys.h"
#include "MetaOps/Conversion/KernelNumbers.h"
#include "MetaOps/Dialect/MetaOp/IR/MetaOpDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace metaops;

namespace {

OwningOpRef<ModuleOp> parse(StringRef text, MLIRContext &context) {
  context.loadDialect<metaop::MetaOpDialect, arith::ArithDialect,
                      func::FuncDialect, gpu::GPUDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text.str();
  return module;
}

/// Returns `text` with `from` replaced by `to`, everywhere.
std::string change(StringRef text, StringRef from, StringRef to) {
  std::string result = text.str();
  EXPECT_NE(text.find(from), StringRef::npos) << from.str();
  for (size_t at = 0; (at = result.find(from, at)) != result.npos;
       at += to.size())
    result.replace(at, from.size(), to);
  return result;
}

// A sum of products of two rows, in a schedule.
constexpr llvm::StringLiteral kKernel = R"(
#rows = affine_map<(d0, d1) -> (d0)>
func.func @f(%a: tensor<40x8xf32>, %b: tensor<40x8xf32>) -> tensor<40xf32> {
  %0 = metaop.kernel(%c = %a : tensor<40x8xf32>, %d = %b : tensor<40x8xf32>) -> tensor<40xf32> {
    %1 = metaop.fused(%e = %c : tensor<40x8xf32>, %f = %d : tensor<40x8xf32>) -> tensor<40xf32>
        schedule(#metaop.schedule<[parallel(0, 1), step(1, 8)], tile = [1: 8], lanes = 1: 8>)
        attributes {metaop.varying = array<i64: 0>} {
      %2 = metaop.constant dense<2.5> : tensor<40x8xf32>
      %3 = metaop.sub %e, %f : tensor<40x8xf32>
      %4 = metaop.mul %3, %2 : tensor<40x8xf32>
      %5 = metaop.reindex_reduce add %4 map #rows : tensor<40x8xf32> -> tensor<40xf32>
      metaop.yield %5 : tensor<40xf32>
    }
    metaop.yield %1 : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
})";

std::string getBodyKey(StringRef text, TextNumbers &texts) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = parse(text, context);
  if (!module)
    return "";
  return OperationKeys(texts).getBodyKey(
      *module->getOps<func::FuncOp>().begin());
}

TEST(OperationKeys, bodiesThatDifferInAnythingHaveOtherKeys) {
  TextNumbers texts;
  std::string first = getBodyKey(kKernel, texts);
  const std::pair<StringRef, StringRef> changes[] = {
      {"metaop.sub %e, %f", "metaop.sub %f, %e"},
      {"metaop.sub", "metaop.add"},
      {"metaop.mul %3, %2", "metaop.mul %3, %3"},
      {"reindex_reduce add", "reindex_reduce max"},
      {"(d0, d1) -> (d0)>", "(d0, d1) -> (39 - d0)>"},
      {"40x8", "40x16"},
      {"f32", "f64"},
      {"<40x", "<41x"},
      {"dense<2.5>", "dense<2.50000024>"},
      {"step(1, 8)], tile = [1: 8], lanes = 1: 8",
       "step(1, 4)], tile = [1: 4], lanes = 1: 4"},
      {"array<i64: 0>", "array<i64: 1>"},
      {" attributes {metaop.varying = array<i64: 0>}", ""},
      {"%c = %a : tensor<40x8xf32>, %d = %b", "%c = %b : tensor<40x8xf32>, "
                                              "%d = %a"},
  };
  std::vector<std::string> keys = {first};
  for (auto [from, to] : changes) {
    keys.push_back(getBodyKey(change(kKernel, from, to), texts));
    for (size_t i = 0; i + 1 < keys.size(); ++i)
      EXPECT_NE(keys.back(), keys[i]) << from.str() << " or change " << i;
  }
}

TEST(OperationKeys, namesAndLinesDoNotCount) {
  TextNumbers texts;
  std::string first = getBodyKey(kKernel, texts);
  EXPECT_EQ(first, getBodyKey(kKernel, texts));
  EXPECT_EQ(first, getBodyKey(change(kKernel, "@f", "@g"), texts));
  EXPECT_EQ(first, getBodyKey(change(kKernel, "%4", "%four"), texts));
  EXPECT_EQ(first, getBodyKey(change(kKernel,
                                     "metaop.mul %3, %2 : "
                                     "tensor<40x8xf32>",
                                     "metaop.mul %3, %2 : tensor<40x8xf32> "
                                     "loc(\"here\":1:2)"),
                              texts));
}

// Sums of vectors, with a table.
constexpr llvm::StringLiteral kLoops = R"(
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
func.func @kernel(%x: memref<64xf32>, %y: memref<64xf32>, %begin: index, %end: index)
    attributes {metaop.kernel} {
  %c16 = arith.constant 16 : index
  %unused = arith.constant 3 : index
  scf.for %i = %begin to %end step %c16 {
    %c5 = arith.constant 5 : index
    %at = arith.addi %i, %c5 overflow<nsw> : index
    %v = vector.load %x[%at] : memref<64xf32>, vector<16xf32>
    %s = arith.addf %v, %v fastmath<contract> : vector<16xf32>
    vector.store %s, %y[%i] : memref<64xf32>, vector<16xf32>
  }
  return
})";

struct Loops {
  std::string key, text;
  std::vector<int64_t> numbers, listed;
};

/// Reads the loops of a text both ways.
Loops readLoops(StringRef text, TextNumbers &texts) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = parse(text, context);
  if (!module)
    return {};
  auto kernels = metaop::collectKernels(*module);
  LoopsKey loops = OperationKeys(texts).getLoopsKey(*module, kernels);
  Loops result{loops.key, "", loops.numbers, {}};
  EXPECT_TRUE(succeeded(metaop::abstractNumbers(kernels)));
  metaop::MetaOpDialect::NumbersAttrHelper numbersOf(&context);
  for (FunctionOpInterface kernel : kernels) {
    result.listed = numbersOf.getAttr(kernel).asArrayRef().vec();
    kernel->removeAttr(numbersOf.getName());
  }
  llvm::raw_string_ostream(result.text) << *module;
  return result;
}

TEST(OperationKeys, loopsHaveEqualKeysWhereTheirTextsAreEqualWithoutNumbers) {
  TextNumbers texts;
  const std::pair<StringRef, StringRef> changes[] = {
      {"5 : index", "7 : index"},
      {"memref<64xf32>", "memref<96xf32>"},
      {"%unused = arith.constant 3 : index", ""},
      {"%i, %c5", "%i, %c16"},
      {"overflow<nsw>", ""},
      {"fastmath<contract>", ""},
      {"arith.addf %v, %v", "arith.mulf %v, %v"},
      {"%y[%i]", "%y[%at]"},
      {"xf32>", "xf64>"},
      {"2.0]", "3.0]"},
      {"step %c16", "step %unused"},
  };
  std::vector<Loops> all = {readLoops(kLoops, texts)};
  for (auto [from, to] : changes)
    all.push_back(readLoops(change(kLoops, from, to), texts));
  for (const Loops &a : all) {
    EXPECT_EQ(a.numbers, a.listed) << a.text;
    for (const Loops &b : all)
      EXPECT_EQ(a.key == b.key, a.text == b.text) << a.text << b.text;
  }
  EXPECT_EQ(all[0].key, all[1].key);
  EXPECT_EQ(all[0].key, all[2].key);
  EXPECT_NE(all[0].key, all[3].key);
}

// A block of threads, with memory of its own.
constexpr llvm::StringLiteral kBlock = R"(
gpu.module @code {
  gpu.func @kernel(%x: memref<64xf32>) workgroup(%shared: memref<32xf32, 3>)
      kernel attributes {metaop.kernel} {
    %c1 = arith.constant 1 : index
    %v = memref.load %x[%c1] : memref<64xf32>
    memref.store %v, %shared[%c1] : memref<32xf32, 3>
    gpu.return
  }
})";

TEST(OperationKeys, whatABlockSharesHasALength) {
  TextNumbers texts;
  Loops first = readLoops(kBlock, texts);
  Loops longer = readLoops(change(kBlock, "<64xf32>", "<96xf32>"), texts);
  Loops wider = readLoops(change(kBlock, "32xf32", "48xf32"), texts);
  EXPECT_EQ(first.key, longer.key);
  EXPECT_EQ(first.text, longer.text);
  EXPECT_NE(first.key, wider.key);
  EXPECT_NE(first.text, wider.text);
}

} // namespace
