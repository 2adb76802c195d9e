//===- CInterfaceTest.cpp - The interface for C ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links the shared library, as programs in C do, and the static one for writing
// files. What both have of C++ is hidden in the former.
//
//===----------------------------------------------------------------------===//

#include "ProgramFileFixture.h"

#include "metaops-c/metaops.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace metaops;

namespace {

constexpr int64_t kElements = ProgramFileExample::kElements;
constexpr size_t kBytes = ProgramFileExample::kBytes;

/// Takes the text of an error, and gives it back.
class ErrorText {
public:
  ~ErrorText() { metaops_free_error(text); }
  operator char **() {
    metaops_free_error(text);
    text = nullptr;
    return &text;
  }
  std::string str() const { return text ? text : "no failure"; }

private:
  char *text = nullptr;
};

class CInterfaceTest : public ::testing::Test {
protected:
  CInterfaceTest() : bytes(example.write()) {
    EXPECT_EQ(metaops_open_bytes(bytes.data(), bytes.size(), nullptr, &program,
                                 error),
              METAOPS_OK)
        << error.str();
    for (int64_t i = 0; i < kElements; ++i)
      x[i] = float(i % 29) / 4;
  }
  ~CInterfaceTest() override { metaops_close(program); }

  metaops_status run(std::vector<metaops_input_memory> inputs,
                     std::vector<metaops_output_memory> outputs) {
    return metaops_run(program, inputs.data(), inputs.size(), outputs.data(),
                       outputs.size(), error);
  }

  ProgramFileExample example;
  std::string bytes;
  metaops_program *program = nullptr;
  ErrorText error;
  std::vector<float> x = std::vector<float>(kElements), sum = x, same = x,
                     again = x;
};

TEST_F(CInterfaceTest, AProgramRuns) {
  ASSERT_EQ(run({{x.data(), kBytes}}, {{sum.data(), kBytes},
                                       {same.data(), kBytes},
                                       {again.data(), kBytes}}),
            METAOPS_OK)
      << error.str();
  EXPECT_EQ(same, x);
  EXPECT_EQ(again, sum);
  unsigned wrong = 0;
  for (int64_t i = 0; i < kElements; ++i)
    wrong += sum[i] != x[i] + example.weight[i] + example.weight[i];
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CInterfaceTest, TensorsAreDescribed) {
  EXPECT_EQ(metaops_num_inputs(program), 1u);
  EXPECT_EQ(metaops_num_outputs(program), 3u);
  metaops_tensor_info info;
  ASSERT_EQ(metaops_get_input(program, 0, &info, error), METAOPS_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.dtype, METAOPS_FLOAT32);
  ASSERT_EQ(info.rank, 2u);
  EXPECT_EQ(info.shape[0], 100);
  EXPECT_EQ(info.shape[1], 50);
  EXPECT_EQ(info.bytes, kBytes);
  ASSERT_EQ(metaops_get_output(program, 2, &info, error), METAOPS_OK);
  EXPECT_STREQ(info.name, "again");
  size_t number = 99;
  EXPECT_EQ(metaops_find_output(program, "same", &number, error), METAOPS_OK);
  EXPECT_EQ(number, 1u);
  EXPECT_EQ(metaops_find_input(program, "x", &number, error), METAOPS_OK);
  EXPECT_EQ(number, 0u);
  EXPECT_STREQ(metaops_target(program), "near");
  EXPECT_STREQ(metaops_producer(program), "a test");
  EXPECT_STREQ(metaops_get_key(program, "b"), "");
  EXPECT_STREQ(metaops_get_key(program, "author"), "Ada \"L\" \xc3\xa9");
  EXPECT_EQ(metaops_get_key(program, "c"), nullptr);
  EXPECT_EQ(std::string(metaops_version()).substr(0, 4),
            std::to_string(METAOPS_VERSION_MAJOR) + "." +
                std::to_string(METAOPS_VERSION_MINOR) + ".");
}

TEST_F(CInterfaceTest, FunctionsAreOpenedByName) {
  example.addFunction("other");
  bytes = example.write();
  metaops_program *file, *other;
  ASSERT_EQ(
      metaops_open_bytes(bytes.data(), bytes.size(), nullptr, &file, error),
      METAOPS_OK);
  EXPECT_EQ(metaops_num_functions(program), 1u);
  ASSERT_EQ(metaops_num_functions(file), 2u);
  EXPECT_STREQ(metaops_get_function(file, 0), "main");
  EXPECT_STREQ(metaops_get_function(file, 1), "other");
  EXPECT_EQ(metaops_get_function(file, 2), nullptr);
  metaops_options options = {sizeof(options), 3, 0, 0};
  ASSERT_EQ(metaops_open_function(file, "other", &options, &other, error),
            METAOPS_OK)
      << error.str();
  metaops_close(file);
  EXPECT_EQ(metaops_get_threads(other), 3u);
  metaops_tensor_info info;
  ASSERT_EQ(metaops_get_input(other, 0, &info, error), METAOPS_OK);
  EXPECT_STREQ(info.name, "z");
  metaops_input_memory input = {x.data(), kBytes};
  metaops_output_memory outputs[] = {
      {sum.data(), kBytes}, {same.data(), kBytes}, {again.data(), kBytes}};
  ASSERT_EQ(metaops_run(other, &input, 1, outputs, 3, error), METAOPS_OK);
  EXPECT_EQ(sum[7], x[7] + example.weight[7] + example.weight[7]);
  file = other;
  EXPECT_EQ(metaops_open_function(other, "none", nullptr, &file, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(),
            "the program file has no function 'none'; it has 'main', 'other'");
  EXPECT_EQ(file, nullptr);
  EXPECT_EQ(metaops_open_function(other, nullptr, nullptr, &file, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_open_function(other, "", nullptr, &file, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_open_function(nullptr, "main", nullptr, &file, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_open_function(other, "main", nullptr, nullptr, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_num_functions(nullptr), 0u);
  EXPECT_EQ(metaops_get_function(nullptr, 0), nullptr);
  metaops_close(other);
}

TEST_F(CInterfaceTest, WeightsAreDescribed) {
  ASSERT_EQ(metaops_num_weights(program), 2u);
  metaops_tensor_info info;
  size_t number;
  ASSERT_EQ(metaops_find_weight(program, "w", &number, error), METAOPS_OK);
  const void *data = nullptr;
  ASSERT_EQ(metaops_get_weight(program, number, &info, &data, error),
            METAOPS_OK);
  EXPECT_STREQ(info.name, "w");
  ASSERT_EQ(info.bytes, kBytes);
  EXPECT_EQ(std::memcmp(data, example.weight.data(), kBytes), 0);
  EXPECT_EQ(metaops_get_weight(program, 1, &info, nullptr, error), METAOPS_OK);
  EXPECT_EQ(metaops_get_weight(program, 2, &info, &data, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_find_weight(program, "x", &number, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "there is no 'x' among 'w', 'unused'");
  EXPECT_EQ(metaops_get_weight(nullptr, 0, &info, &data, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_num_weights(nullptr), 0u);
}

TEST_F(CInterfaceTest, NullIsAnError) {
  metaops_tensor_info info;
  size_t number;
  metaops_program *other = program;
  EXPECT_EQ(metaops_open(nullptr, nullptr, &other, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "there is no path: null");
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(metaops_open("x", nullptr, nullptr, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_open_bytes(nullptr, 7, nullptr, &other, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_get_input(nullptr, 0, &info, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "there is no program: null");
  EXPECT_EQ(metaops_get_output(program, 0, nullptr, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_find_input(program, nullptr, &number, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_find_input(program, "x", nullptr, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_find_output(nullptr, "x", &number, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_run(nullptr, nullptr, 0, nullptr, 0, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_run(program, nullptr, 1, nullptr, 3, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_set_threads(nullptr, 1, error), METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_num_inputs(nullptr), 0u);
  EXPECT_EQ(metaops_num_outputs(nullptr), 0u);
  EXPECT_EQ(metaops_get_threads(nullptr), 0u);
  EXPECT_EQ(metaops_target(nullptr), nullptr);
  EXPECT_EQ(metaops_producer(nullptr), nullptr);
  EXPECT_EQ(metaops_get_key(nullptr, "b"), nullptr);
  EXPECT_EQ(metaops_get_key(program, nullptr), nullptr);
  metaops_close(nullptr);
  metaops_free_error(nullptr);
  // Nobody has to take the text.
  EXPECT_EQ(metaops_run(program, nullptr, 0, nullptr, 0, nullptr),
            METAOPS_INVALID_ARGUMENT);
}

TEST_F(CInterfaceTest, WrongArgumentsAreErrors) {
  metaops_tensor_info info;
  size_t number;
  EXPECT_EQ(metaops_get_input(program, 1, &info, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "there is no number 1 of 1");
  EXPECT_EQ(metaops_find_output(program, "x", &number, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "there is no 'x' among 'sum', 'same', 'again'");
  EXPECT_EQ(run({}, {}), METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "the program has 1 inputs, given 0");
  EXPECT_EQ(run({{x.data(), 4}}, {}), METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(),
            "the input 'x' is float32 (100, 50) of 20000 bytes, given 4");
  EXPECT_EQ(run({{nullptr, kBytes}}, {}), METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_set_threads(program, 0, error), METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_set_threads(program, 3, error), METAOPS_OK);
  EXPECT_EQ(error.str(), "no failure");
  EXPECT_EQ(metaops_get_threads(program), 3u);
}

TEST_F(CInterfaceTest, OptionsAreChecked) {
  struct {
    metaops_options options;
    uint32_t later[3];
  } given = {{sizeof(metaops_options), 5, 1, 0}, {0, 0, 0}};
  metaops_program *other;
  auto open = [&] {
    metaops_status status = metaops_open_bytes(bytes.data(), bytes.size(),
                                               &given.options, &other, error);
    return status;
  };
  ASSERT_EQ(open(), METAOPS_OK) << error.str();
  EXPECT_EQ(metaops_get_threads(other), 5u);
  metaops_close(other);
  given.options.size = sizeof(given);
  ASSERT_EQ(open(), METAOPS_OK) << error.str();
  metaops_close(other);
  given.later[1] = 1;
  EXPECT_EQ(open(), METAOPS_INVALID_ARGUMENT);
  given.options.size = 4;
  EXPECT_EQ(open(), METAOPS_INVALID_ARGUMENT);
  EXPECT_NE(error.str().find("the options have the size 4, expected"),
            std::string::npos);
  given.options.size = sizeof(metaops_options);
  given.options.threads = 100000;
  EXPECT_EQ(open(), METAOPS_INVALID_ARGUMENT);
  given.options = {sizeof(metaops_options), 1, 0, 1};
  ASSERT_EQ(open(), METAOPS_OK) << error.str();
  EXPECT_STREQ(metaops_target(other), "");
  EXPECT_EQ(metaops_run(other, nullptr, 0, nullptr, 0, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(),
            "the program was loaded without code, so it cannot be run");
  metaops_close(other);
}

TEST_F(CInterfaceTest, WrongFilesAreErrors) {
  metaops_program *other = program;
  EXPECT_EQ(metaops_open("/no/such/file", nullptr, &other, error),
            METAOPS_INVALID_FILE);
  EXPECT_EQ(other, nullptr);
  EXPECT_NE(error.str().find("No such file"), std::string::npos);
  std::string wrong = bytes;
  wrong[100] ^= 1;
  EXPECT_EQ(
      metaops_open_bytes(wrong.data(), wrong.size(), nullptr, &other, error),
      METAOPS_INVALID_FILE);
  EXPECT_NE(error.str().find("the checksum of its header is wrong"),
            std::string::npos);
  std::string path =
      ::testing::TempDir() + "metaops-c-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(metaops_open(path.c_str(), nullptr, &other, error), METAOPS_OK);
  EXPECT_EQ(metaops_num_outputs(other), 3u);
  metaops_close(other);
  ::unlink(path.c_str());
}

TEST_F(CInterfaceTest, SeveralThreadsRunOneProgram) {
  std::vector<std::thread> callers;
  std::atomic<unsigned> wrong{0};
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&, caller] {
      std::vector<float> from(kElements, float(caller)), to = from, more = to,
                                                         last = to;
      metaops_input_memory input = {from.data(), kBytes};
      metaops_output_memory outputs[] = {
          {to.data(), kBytes}, {more.data(), kBytes}, {last.data(), kBytes}};
      for (int time = 0; time < 30; ++time) {
        wrong +=
            metaops_run(program, &input, 1, outputs, 3, nullptr) != METAOPS_OK;
        for (int64_t i = 0; i < kElements; ++i)
          wrong +=
              to[i] != float(caller) + example.weight[i] + example.weight[i];
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CInterfaceTest, OpensSizes) {
  EXPECT_EQ(metaops_num_extents(program), 0u);
  EXPECT_EQ(metaops_get_extent(program, 0), nullptr);
  int64_t three = 3, four = 4;
  metaops_program *sized = nullptr, *several = nullptr;
  EXPECT_EQ(metaops_open_sizes(program, &three, 1, &sized, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(error.str(), "the function 'main' has fixed shapes");

  ProgramFileExample rows;
  rows.addSizes("main");
  std::string file = rows.write();
  ASSERT_EQ(
      metaops_open_bytes(file.data(), file.size(), nullptr, &several, error),
      METAOPS_OK);
  EXPECT_EQ(metaops_num_extents(several), 1u);
  EXPECT_STREQ(metaops_get_extent(several, 0), "rows");
  size_t number = 7;
  EXPECT_EQ(metaops_find_extent(several, 0, 0, &number, error), METAOPS_OK);
  EXPECT_EQ(number, 0u);
  EXPECT_EQ(metaops_find_extent(several, 0, 1, &number, error), METAOPS_OK);
  EXPECT_EQ(number, METAOPS_NO_EXTENT);
  EXPECT_EQ(metaops_find_extent(several, 1, 0, &number, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(metaops_find_extent(several, 0, 2, &number, error),
            METAOPS_INVALID_ARGUMENT);
  metaops_tensor_info info;
  EXPECT_EQ(metaops_get_input(several, 0, &info, error), METAOPS_OK);
  EXPECT_EQ(info.shape[0], -1);
  EXPECT_EQ(info.bytes, 0u);

  EXPECT_EQ(metaops_open_sizes(several, &four, 1, &sized, error),
            METAOPS_INVALID_ARGUMENT);
  EXPECT_EQ(sized, nullptr);
  EXPECT_EQ(metaops_open_sizes(several, nullptr, 1, &sized, error),
            METAOPS_INVALID_ARGUMENT);
  ASSERT_EQ(metaops_open_sizes(several, &three, 1, &sized, error), METAOPS_OK);
  metaops_close(several);
  EXPECT_EQ(metaops_get_output(sized, 0, &info, error), METAOPS_OK);
  EXPECT_EQ(info.shape[0], 3);
  EXPECT_EQ(info.bytes, 600u);
  EXPECT_EQ(metaops_scratch_bytes(sized), 600u);
  metaops_input_memory input = {x.data(), 600};
  metaops_output_memory outputs[] = {
      {sum.data(), 600}, {same.data(), 600}, {again.data(), 600}};
  EXPECT_EQ(metaops_run(sized, &input, 1, outputs, 3, error), METAOPS_OK)
      << error.str();
  for (int i = 0; i < 150; ++i)
    EXPECT_EQ(sum[i], x[i] + 2 * rows.weight[i]);
  metaops_close(sized);
}

} // namespace
