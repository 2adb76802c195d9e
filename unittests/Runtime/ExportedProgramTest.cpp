//===- ExportedProgramTest.cpp - Compiled programs in files ---------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExportSlice.h"

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "PackedProduct.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <unistd.h>

using namespace metaops;
using llvm::StringRef;

namespace {

template <typename T> T valueOf(llvm::Expected<T> result) {
  if (result)
    return std::move(*result);
  throw std::runtime_error(toString(result.takeError()));
}

std::string failureOf(llvm::Error error) {
  return error ? toString(std::move(error)) : "no failure";
}

template <typename T> const T *at(const BufferRef &buffer) {
  return static_cast<const T *>(buffer->data());
}

TEST(ExportedProgramTest, APerceptronComputesAsItsFormulas) {
  auto program = valueOf(LoadedProgram::read(exportPerceptron()));
  EXPECT_EQ(program->getTarget(), "host");
  for (float scale : {0.125f, -0.5f, 3.0f}) {
    std::vector<float> x(8 * 32);
    for (int i = 0; i < 8; ++i)
      for (int k = 0; k < 32; ++k)
        x[i * 32 + k] = scale * float((i * 5 + k * 3) % 17 - 8);
    auto outputs = valueOf(program->run({{x.data(), x.size() * 4}}));
    ASSERT_EQ(outputs.size(), 2u);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 4; ++j) {
        double y = 0, magnitude = 0;
        for (int h = 0; h < 48; ++h) {
          double hidden = 0;
          for (int k = 0; k < 32; ++k)
            hidden += x[i * 32 + k] * ((7 * k + 3 * h) % 11 - 5) / 16.0;
          double term = std::max(hidden, 0.0) * ((5 * h + j) % 13 - 6) / 32.0;
          y += term;
          magnitude += std::abs(term);
        }
        float given = at<float>(outputs[0])[i * 4 + j];
        EXPECT_NEAR(given, y, 1e-5 * magnitude + 1e-6);
        EXPECT_NEAR(at<double>(outputs[1])[i * 4 + j] / std::exp(double(given)),
                    1, 1e-12);
      }
  }
}

TEST(ExportedProgramTest, WeightsArePackedOnce) {
  std::vector<float> w(128 * 512), x(256 * 512);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = float(i * 7 % 23) - 11;
  ExportedTensors tensors;
  tensors.function.inputs = {{"x", DType::F32, {256, 512}}};
  tensors.signature.weights = {{"w", DType::F32, {128, 512}}};
  tensors.function.arguments = {std::nullopt, 0};
  tensors.function.outputs = {{"y", DType::F32, {256, 128}}};
  tensors.weights = {llvm::ArrayRef(reinterpret_cast<const char *>(w.data()),
                                    w.size() * sizeof(float))};
  auto program =
      valueOf(LoadedProgram::read(exportSlice(packedProduct, tensors)));
  EXPECT_EQ(program->getPackedBytes(), 0);
  for (int run = 0; run < 3; ++run) {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i * 5 % (13 + run)) - 6;
    auto outputs =
        valueOf(program->run({{x.data(), x.size() * sizeof(float)}}));
    EXPECT_GE(program->getPackedBytes(), int64_t(w.size() * sizeof(float)));
    for (int i = 0; i < 256; i += 51)
      for (int j = 0; j < 128; ++j) {
        // Sums of small integers are exact.
        double expected = 0;
        for (int k = 0; k < 512; ++k)
          expected += double(x[i * 512 + k]) * w[j * 512 + k];
        EXPECT_EQ(at<float>(outputs[0])[i * 128 + j], expected);
      }
  }
  program->close();
  EXPECT_EQ(program->getPackedBytes(), 0);
}

/// Functions that kernels call rather than compute, sorts, loops over indices:
/// what a file's code can need of the library.
TEST(ExportedProgramTest, FunctionsAndRoutinesAreThere) {
  const std::pair<StringRef, double (*)(double)> functions[] = {
      {"sin", std::sin},     {"cos", std::cos},     {"tan", std::tan},
      {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},
      {"sinh", std::sinh},   {"cosh", std::cosh},   {"tanh", std::tanh},
      {"asinh", std::asinh}, {"exp", std::exp},     {"log", std::log},
      {"erf", std::erf},     {"sqrt", std::sqrt},   {"floor", std::floor},
      {"cbrt", std::cbrt},   {"expm1", std::expm1}, {"log1p", std::log1p},
      {"log2", std::log2},   {"exp2", std::exp2},   {"ceil", std::ceil},
  };
  for (StringRef type : {"f64", "f32"}) {
    bool isWide = type == "f64";
    for (auto [name, function] : functions) {
      std::string tensor = "tensor<6x" + type.str() + ">";
      ExportedTensors tensors;
      DType dtype = isWide ? DType::F64 : DType::F32;
      tensors.function.inputs = {{"x", dtype, {6}}};
      tensors.function.outputs = {{"y", dtype, {6}}};
      tensors.function.arguments = {std::nullopt};
      auto program = valueOf(LoadedProgram::read(exportSlice(
          "func.func @main(%x: " + tensor + ") -> " + tensor +
              " {\n  %0 = metaop." + name.str() + " %x : " + tensor +
              "\n  return %0 : " + tensor + "\n}\n",
          tensors)));
      std::vector<double> wide = {0.875, 0.25, 0.5, 0.0625, 0.75, 0.125};
      std::vector<float> narrow(wide.begin(), wide.end());
      ConstMemory x = {isWide ? static_cast<void *>(wide.data())
                              : narrow.data(),
                       size_t(6 * sizeOf(dtype))};
      auto outputs = valueOf(program->run({x}));
      for (int i = 0; i < 6; ++i) {
        double y =
            isWide ? at<double>(outputs[0])[i] : at<float>(outputs[0])[i];
        EXPECT_NEAR(y, function(wide[i]), isWide ? 1e-14 : 1e-6)
            << name.str() << " " << type.str() << " " << wide[i];
      }
    }
  }
}

TEST(ExportedProgramTest, HalvesAreConverted) {
  ExportedTensors tensors;
  tensors.function.inputs = {{"x", DType::F64, {5}}};
  tensors.function.outputs = {{"h", DType::F16, {5}}, {"y", DType::F64, {5}}};
  tensors.function.arguments = {std::nullopt};
  auto program = valueOf(LoadedProgram::read(exportSlice(
      "func.func @main(%x: tensor<5xf64>) -> (tensor<5xf16>, tensor<5xf64>) {\n"
      "  %0 = metaop.cast %x : tensor<5xf64> -> tensor<5xf16>\n"
      "  %1 = metaop.cast %0 : tensor<5xf16> -> tensor<5xf64>\n"
      "  return %0, %1 : tensor<5xf16>, tensor<5xf64>\n}\n",
      tensors)));
  double x[] = {1.0, -2.5, 0.333251953125, 65504, 1.00001};
  auto outputs = valueOf(program->run({{x, sizeof(x)}}));
  const double expected[] = {1.0, -2.5, 0.333251953125, 65504, 1.0};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(at<double>(outputs[1])[i], expected[i]);
  EXPECT_EQ(at<uint16_t>(outputs[0])[0], 0x3c00);
  EXPECT_EQ(at<uint16_t>(outputs[0])[1], 0xc100);
}

TEST(ExportedProgramTest, SortsRun) {
  ExportedTensors tensors;
  tensors.function.inputs = {{"x", DType::I32, {3, 4}}};
  tensors.function.outputs = {{"y", DType::I32, {3, 4}},
                              {"places", DType::I64, {3, 4}}};
  tensors.function.arguments = {std::nullopt};
  auto program = valueOf(LoadedProgram::read(
      exportSlice("func.func @main(%x: tensor<3x4xi32>) -> (tensor<3x4xi32>, "
                  "tensor<3x4xi64>) {\n"
                  "  %0, %1 = metaop.sort %x dim = 1 : tensor<3x4xi32> -> "
                  "tensor<3x4xi32>\n"
                  "  return %0, %1 : tensor<3x4xi32>, tensor<3x4xi64>\n}\n",
                  tensors)));
  const int32_t x[] = {3, -1, 7, 2, 0, 9, 8, -4, 5, 1, 6, 4};
  auto outputs = valueOf(program->run({{x, sizeof(x)}}));
  const int32_t sorted[] = {-1, 2, 3, 7, -4, 0, 8, 9, 1, 4, 5, 6};
  const int64_t places[] = {1, 3, 0, 2, 3, 0, 2, 1, 1, 3, 0, 2};
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(at<int32_t>(outputs[0])[i], sorted[i]);
    EXPECT_EQ(at<int64_t>(outputs[1])[i], places[i]);
  }
}

//===----------------------------------------------------------------------===//
// Time and memory
//===----------------------------------------------------------------------===//

/// Memory of this process that no file has as well, in bytes.
int64_t getAnonymousBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("RssAnon:", 0) == 0)
      return std::stoll(line.substr(8)) * 1024;
  return 0;
}

TEST(ExportedProgramTest, LargeProgramsLoadQuickly) {
  std::string path =
      ::testing::TempDir() + "metaops-large-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << exportChain();
  int64_t before = getAnonymousBytes();
  double seconds = 1e9;
  std::unique_ptr<LoadedProgram> program;
  for (int time = 0; time < 5; ++time) {
    auto start = std::chrono::steady_clock::now();
    program = valueOf(LoadedProgram::open(path));
    seconds = std::min(seconds, std::chrono::duration<double>(
                                    std::chrono::steady_clock::now() - start)
                                    .count());
  }
  int64_t opened = getAnonymousBytes() - before;
  ::unlink(path.c_str());
  EXPECT_EQ(program->getWeights().size(), size_t(kChainKernels));
  std::vector<float> x(kChainExtent), y(kChainExtent);
  for (int i = 0; i < kChainExtent; ++i)
    x[i] = float(i % 5);
  ASSERT_EQ(failureOf(program->run({{x.data(), x.size() * 4}},
                                   {{y.data(), y.size() * 4}})),
            "no failure");
  for (int i = 0; i < kChainExtent; i += 101) {
    float v = x[i];
    for (int k = 0; k < kChainKernels; ++k)
      v = std::fma(v, float(i % 7) / 8, float(k) + 0.5f);
    EXPECT_NEAR(y[i], v, 1e-4 * std::abs(v));
  }
  int64_t ran = getAnonymousBytes() - before;
  RecordProperty("open_microseconds", int(seconds * 1e6));
  RecordProperty("anonymous_bytes_opened", std::to_string(opened));
  RecordProperty("anonymous_bytes_run", std::to_string(ran));
  // Weights are mapped: no memory is taken for them.
  EXPECT_LT(opened, 20 << 20);
  EXPECT_LT(ran, (20 << 20) + program->getScratchBytes());
  EXPECT_LT(seconds, 1);
}

} // namespace
