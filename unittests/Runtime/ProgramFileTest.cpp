//===- ProgramFileTest.cpp - Programs in files ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramFileFixture.h"

#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace metaops;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;
using llvm::support::endian::write32le;
using llvm::support::endian::write64le;

namespace {

std::string sumOf(ArrayRef<StringRef> parts) {
  llvm::BLAKE3 hasher;
  for (StringRef part : parts)
    hasher.update(part);
  auto sum = hasher.final<32>();
  return std::string(sum.begin(), sum.end());
}

/// The numbers of the documented layout, so that a change of it is seen.
struct Entry {
  uint32_t kind, target, function;
  uint64_t offset, size;
};

std::vector<Entry> listEntries(StringRef bytes) {
  std::vector<Entry> entries;
  for (uint32_t i = 0; i < read32le(bytes.data() + 12); ++i) {
    const char *entry = bytes.data() + 64 + 64 * i;
    entries.push_back({read32le(entry), read32le(entry + 4),
                       read32le(entry + 24), read64le(entry + 8),
                       read64le(entry + 16)});
  }
  return entries;
}

Entry findEntry(StringRef bytes, uint32_t kind, uint32_t target = 0) {
  for (const Entry &entry : listEntries(bytes))
    if (entry.kind == kind && entry.target == target)
      return entry;
  ADD_FAILURE() << "no section of kind " << kind;
  return {};
}

/// Makes all checksums right again that a reader can come to.
void correct(std::string &bytes) {
  if (bytes.size() < 64)
    return;
  write64le(bytes.data() + 16, bytes.size());
  uint64_t count =
      std::min<uint64_t>(read32le(bytes.data() + 12), bytes.size() / 64 - 1);
  StringRef text = bytes;
  for (uint64_t i = 0; i < count; ++i) {
    char *entry = bytes.data() + 64 + 64 * i;
    sumOf(text.substr(read64le(entry + 8), read64le(entry + 16)))
        .copy(entry + 32, 32);
  }
  sumOf({text.take_front(32), text.substr(64, 64 * count)})
      .copy(bytes.data() + 32, 32);
}

/// The file with a section replaced by one of the same size or smaller.
std::string replaceSection(std::string bytes, uint32_t kind, StringRef text,
                           uint32_t target = 0) {
  for (auto [i, entry] : llvm::enumerate(listEntries(bytes))) {
    if (entry.kind != kind || entry.target != target)
      continue;
    EXPECT_LE(text.size(), entry.size);
    text.str().copy(bytes.data() + entry.offset, text.size());
    write64le(bytes.data() + 64 + 64 * i + 16, text.size());
  }
  correct(bytes);
  return bytes;
}

std::string failureOfReading(const std::string &bytes) {
  return failureOf(ProgramFile::read(bytes));
}

class ProgramFileTest : public ::testing::Test {
protected:
  ~ProgramFileTest() override {
    if (!path.empty())
      ::unlink(path.c_str());
  }

  /// A file with these bytes.
  const std::string &store(const std::string &bytes) {
    path = ::testing::TempDir() + "metaops-program-" +
           std::to_string(::getpid()) + ".metaops";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  ProgramFileExample example;
  std::string path;
};

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

TEST_F(ProgramFileTest, WhatIsWrittenIsRead) {
  example.addFunction("other");
  example.contents.signature.functions[1].structure = "{\"version\": 1}";
  std::string bytes = example.write();
  for (bool isFile : {false, true}) {
    auto file = valueOf(isFile ? ProgramFile::open(store(bytes))
                               : ProgramFile::read(bytes));
    const ProgramSignature &read = file.getSignature();
    const ProgramSignature &written = example.contents.signature;
    EXPECT_EQ(writeSignature(read), writeSignature(written));
    EXPECT_EQ(read.keys, written.keys);
    EXPECT_EQ(read.producer, "a test");
    ASSERT_EQ(read.functions.size(), 2u);
    const FunctionSignature &function = read.functions[0];
    EXPECT_EQ(function.name, "main");
    EXPECT_EQ(function.arguments, written.functions[0].arguments);
    EXPECT_EQ(function.structure, "");
    ASSERT_EQ(function.outputs.size(), 3u);
    EXPECT_EQ(function.outputs[2].name, "again");
    EXPECT_EQ(function.outputs[2].dtype, DType::F32);
    EXPECT_EQ(function.outputs[2].shape, (std::vector<int64_t>{100, 50}));
    EXPECT_EQ(read.functions[1].name, "other");
    EXPECT_EQ(read.functions[1].inputs[0].name, "z");
    EXPECT_EQ(read.functions[1].structure, "{\"version\": 1}");
    ASSERT_EQ(read.targets.size(), 2u);
    EXPECT_EQ(read.targets[0].features, written.targets[0].features);
    EXPECT_EQ(valueOf(file.readIR(0)), "the IR");
    EXPECT_EQ(valueOf(file.readIR(1)), "another IR");
    for (unsigned function : {0, 1}) {
      EXPECT_TRUE(file.hasIR(function));
      for (unsigned target : {0, 1}) {
        EXPECT_EQ(valueOf(file.readProgram(function, target)), example.program);
        EXPECT_EQ(valueOf(file.readImage(function, target)), example.image);
      }
    }
    EXPECT_FALSE(file.hasIR(2));
    for (unsigned i : {0, 1}) {
      BufferRef weight = file.getWeight(i);
      ASSERT_EQ(weight->bytes(), example.contents.weights[i].size());
      EXPECT_EQ(std::memcmp(weight->data(), example.contents.weights[i].data(),
                            weight->bytes()),
                0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(weight->data()) % 64, 0u);
    }
    EXPECT_FALSE(file.verify());
  }
}

TEST_F(ProgramFileTest, WeightsOutliveTheFile) {
  auto file = std::make_unique<ProgramFile>(
      valueOf(ProgramFile::open(store(example.write()))));
  BufferRef weight = file->getWeight(0);
  file.reset();
  EXPECT_EQ(std::memcmp(weight->data(), example.weight.data(),
                        ProgramFileExample::kBytes),
            0);
}

TEST_F(ProgramFileTest, EqualContentsGiveEqualBytes) {
  ProgramFileExample other;
  EXPECT_EQ(example.write(), other.write());
  other.contents.signature.keys["b"] = "changed";
  EXPECT_NE(example.write(), other.write());
}

TEST_F(ProgramFileTest, TheLayoutIsAsDocumented) {
  std::string bytes = example.write();
  EXPECT_EQ(bytes.substr(0, 8), "MetaOpsP");
  EXPECT_EQ(read32le(bytes.data() + 8), 8u);
  EXPECT_EQ(read64le(bytes.data() + 16), bytes.size());
  EXPECT_EQ(bytes.size() % 64, 0u);
  std::vector<Entry> entries = listEntries(bytes);
  ASSERT_EQ(entries.size(), 7u);
  uint64_t end = 64 + 64 * entries.size();
  for (const Entry &entry : entries) {
    EXPECT_EQ(entry.offset % 64, 0u);
    EXPECT_GE(entry.offset, end);
    EXPECT_LT(entry.offset, end + 64);
    end = entry.offset + entry.size;
  }
  EXPECT_LE(end, bytes.size());
  Entry ir = findEntry(bytes, 4);
  EXPECT_EQ(bytes.substr(ir.offset, ir.size), "the IR");

  // The weights are a file of safetensors.
  Entry weights = findEntry(bytes, 5);
  const char *begin = bytes.data() + weights.offset;
  uint64_t size = read64le(begin);
  auto header = valueOf(llvm::json::parse(StringRef(begin + 8, size)));
  const llvm::json::Object *w = header.getAsObject()->getObject("w");
  ASSERT_TRUE(w);
  EXPECT_EQ(w->getString("dtype"), "F32");
  uint64_t total = 0;
  for (const auto &[name, value] : *header.getAsObject()) {
    const llvm::json::Array &offsets =
        *value.getAsObject()->getArray("data_offsets");
    total += *offsets[1].getAsInteger() - *offsets[0].getAsInteger();
  }
  // No byte of the data belongs to no tensor.
  EXPECT_EQ(8 + size + total, weights.size);
  EXPECT_EQ(weights.size % 64, 0u);
}

TEST_F(ProgramFileTest, AFileMayHaveNeitherIRNorWeightsNorCode) {
  ProgramFileContents contents;
  contents.signature.functions = {
      {"f", {}, {{"y", DType::I64, {}}}, {}, {}, {}, ""}};
  contents.functions.resize(1);
  auto file = valueOf(ProgramFile::read(valueOf(writeProgramFile(contents))));
  EXPECT_FALSE(file.hasIR(0));
  EXPECT_TRUE(contains(failureOf(file.readIR(0)), "no section of kind 4"));
  EXPECT_TRUE(contains(failureOf(file.readProgram(0, 0)), "no section"));
  const TensorSpec &output = file.getSignature().functions[0].outputs[0];
  EXPECT_EQ(output.shape.size(), 0u);
  EXPECT_EQ(output.dtype, DType::I64);
}

TEST_F(ProgramFileTest, EmptyTensorsAndAllTypesAreWeights) {
  std::vector<std::string> data;
  ProgramFileContents contents;
  ProgramSignature &signature = contents.signature;
  signature.functions.emplace_back().name = "main";
  contents.functions.resize(1);
  for (unsigned i = 0; i < numDTypes; ++i) {
    signature.weights.push_back(
        {"w" + std::to_string(i), DType(i), {7, i % 3}});
    signature.functions[0].arguments.push_back(i);
    data.emplace_back(signature.weights[i].getBytes(), char('a' + i));
  }
  for (const std::string &text : data)
    contents.weights.emplace_back(text.data(), text.size());
  auto file = valueOf(ProgramFile::read(valueOf(writeProgramFile(contents))));
  for (unsigned i = 0; i < numDTypes; ++i) {
    BufferRef weight = file.getWeight(i);
    EXPECT_EQ(file.getSignature().weights[i].dtype, DType(i));
    EXPECT_EQ(std::string(static_cast<char *>(weight->data()), weight->bytes()),
              data[i]);
  }
}

TEST_F(ProgramFileTest, WhatCannotBeWrittenIsAnError) {
  auto spoil = [](auto change) {
    ProgramFileExample example;
    change(example.contents.signature, example.contents);
    return failureOf(example.tryWrite());
  };
  using Signature = ProgramSignature &;
  using Contents = ProgramFileContents &;
  EXPECT_EQ(spoil([](Signature, Contents) {}), "no failure");
  EXPECT_TRUE(
      contains(spoil([](Signature s, Contents) { s.weights[1].name = "w"; }),
               "two weights have the name 'w'"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions[0].inputs.push_back(
                             s.functions[0].inputs[0]);
                         s.functions[0].arguments.push_back(std::nullopt);
                       }),
                       "two inputs have the name 'x'"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions[0].outputs[1].name = "sum";
                       }),
                       "two outputs have the name 'sum'"));
  EXPECT_TRUE(contains(
      spoil([](Signature s, Contents) { s.functions[0].inputs[0].name = ""; }),
      "is empty"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions[0].inputs[0].name = std::string("a\0b", 3);
                       }),
                       "contains a zero"));
  EXPECT_TRUE(
      contains(spoil([](Signature s, Contents) { s.keys["k"] = "\xff"; }),
               "is no UTF-8"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions[0].inputs[0].shape = {1, -2};
                       }),
                       "an impossible shape, (1, -2)"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions[0].inputs[0].shape = {int64_t(1) << 40,
                                                           int64_t(1) << 40};
                       }),
                       "an impossible shape"));
  EXPECT_TRUE(contains(
      spoil([](Signature s, Contents) { s.functions[0].arguments.pop_back(); }),
      "of the 2 arguments of the function 'main' 0 are no "
      "weights, and there are 1 inputs"));
  EXPECT_TRUE(contains(
      spoil([](Signature s, Contents) { s.functions[0].arguments[1] = 2; }),
      "an argument of the function 'main' is weight number 2 of 2"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions.push_back(s.functions[0]);
                       }),
                       "names of functions are not different"));
  EXPECT_TRUE(
      contains(spoil([](Signature s, Contents) { s.functions.clear(); }),
               "there is no function"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.functions.resize(30000, s.functions[0]);
                         for (auto [i, f] : llvm::enumerate(s.functions))
                           f.name = std::to_string(i);
                       }),
                       "30000 programs for 2 targets, too many"));
  EXPECT_TRUE(contains(spoil([](Signature, Contents c) {
                         c.weights[0] = c.weights[0].drop_back();
                       }),
                       "the weight 'w' is float32 (100, 50) of 20000 bytes, "
                       "given 19999"));
  EXPECT_TRUE(
      contains(spoil([](Signature, Contents c) { c.weights.pop_back(); }),
               "2 weights, given 1"));
  EXPECT_TRUE(contains(spoil([](Signature s, Contents) {
                         s.weights[1].name = "__metaops_gap_7";
                       }),
                       "no weight can have the name '__metaops_gap_7'"));
  EXPECT_TRUE(
      contains(spoil([](Signature s, Contents) { s.targets[0].name = "near"; }),
               "names of targets are not different"));
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

TEST_F(ProgramFileTest, WhatIsNoFileIsAnError) {
  EXPECT_TRUE(contains(failureOfReading(""), "this is no program file"));
  EXPECT_TRUE(contains(failureOfReading("MetaOpsI and more of that"),
                       "this is no program file"));
  EXPECT_TRUE(contains(failureOfReading("MetaOpsP"), "it has 8 bytes, of 64"));
  EXPECT_TRUE(contains(failureOf(ProgramFile::open("/no/such/file")),
                       "it cannot be opened: No such file or directory"));
  EXPECT_TRUE(
      contains(failureOf(ProgramFile::open("/tmp")), "it is no regular file"));
  std::string pipe =
      ::testing::TempDir() + "metaops-pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(
      contains(failureOf(ProgramFile::open(pipe)), "it is no regular file"));
  ::unlink(pipe.c_str());
  std::string bytes = example.write();
  // Calls of kernels had other fields.
  bytes[8] = 1;
  EXPECT_EQ(
      failureOfReading(bytes),
      "the program file has version 1; this program reads versions 7 and 8");
  // The file was a function.
  bytes[8] = 2;
  EXPECT_EQ(
      failureOfReading(bytes),
      "the program file has version 2; this program reads versions 7 and 8");
  // Carries of a loop had no rows.
  bytes[8] = 3;
  EXPECT_EQ(
      failureOfReading(bytes),
      "the program file has version 3; this program reads versions 7 and 8");
  // Checks had one field less.
  bytes[8] = 4;
  EXPECT_EQ(
      failureOfReading(bytes),
      "the program file has version 4; this program reads versions 7 and 8");
  // Loops had no numbers of their first trip and of a block's.
  bytes[8] = 5;
  EXPECT_EQ(
      failureOfReading(bytes),
      "the program file has version 5; this program reads versions 7 and 8");
}

TEST_F(ProgramFileTest, PartsOfAFileAreErrors) {
  std::string bytes = example.write();
  for (size_t size = 0; size < bytes.size(); size += size < 3000 ? 1 : 997) {
    std::string part = bytes.substr(0, size);
    EXPECT_NE(failureOfReading(part), "no failure") << size;
    EXPECT_NE(failureOf(ProgramFile::open(store(part))), "no failure") << size;
  }
  EXPECT_NE(failureOfReading(bytes + std::string(64, '\0')), "no failure");
}

TEST_F(ProgramFileTest, EachBitOfWhatIsUsedCounts) {
  std::string bytes = example.write();
  std::vector<bool> isPadding(bytes.size(), true);
  std::fill_n(isPadding.begin(), 64 + 64 * 7, false);
  for (const Entry &entry : listEntries(bytes))
    std::fill_n(isPadding.begin() + entry.offset, entry.size, false);
  LoadOptions options;
  options.verify = true;
  for (size_t i = 0; i < bytes.size(); i += i < 4000 ? 1 : 61) {
    std::string wrong = bytes;
    wrong[i] ^= char(1 << i % 8);
    bool isRead =
        failureOf(LoadedProgram::read(wrong, options)) == "no failure";
    EXPECT_EQ(isRead, isPadding[i]) << i;
  }
}

TEST_F(ProgramFileTest, WeightsAreComparedWhenAskedFor) {
  std::string bytes = example.write();
  Entry weights = findEntry(bytes, 5);
  bytes[weights.offset + weights.size - 64 - 200] ^= 1;
  LoadOptions options;
  EXPECT_EQ(failureOf(LoadedProgram::read(bytes, options)), "no failure");
  options.verify = true;
  EXPECT_TRUE(contains(failureOf(LoadedProgram::read(bytes, options)),
                       "the checksum of its weights is wrong"));
  EXPECT_TRUE(contains(failureOf(LoadedProgram::open(store(bytes), options)),
                       "the checksum of its weights is wrong"));
}

TEST_F(ProgramFileTest, SectionsAreInTheirPlaces) {
  std::string bytes = example.write();
  auto spoil = [&](size_t place, uint64_t value, bool isWide = true) {
    std::string wrong = bytes;
    if (isWide)
      write64le(wrong.data() + place, value);
    else
      write32le(wrong.data() + place, value);
    correct(wrong);
    return failureOfReading(wrong);
  };
  // Offset and size of the second section.
  for (uint64_t value : {uint64_t(0), uint64_t(64), uint64_t(513),
                         uint64_t(bytes.size()) + 64, ~uint64_t(63)})
    EXPECT_TRUE(contains(spoil(64 + 64 + 8, value), "is not in its place"))
        << value;
  for (uint64_t value : {uint64_t(bytes.size()), ~uint64_t(0)})
    EXPECT_TRUE(contains(spoil(64 + 64 + 16, value), "is not in its place"));
  EXPECT_TRUE(
      contains(spoil(64 + 64, 1, false),
               "it has two sections of kind 1 of function 0 for target 0"));
  EXPECT_TRUE(contains(spoil(64, 77, false), "it has no signature"));
  EXPECT_TRUE(contains(spoil(64 + 128, 77, false),
                       "it lacks a program or the code of its function 'main' "
                       "for its target 'far'"));
  for (uint32_t count : {65537u, 0x7fffffffu, ~0u})
    EXPECT_TRUE(
        contains(spoil(12, count, false), "sections, of 65536 at most"));
}

TEST_F(ProgramFileTest, SignaturesAreChecked) {
  std::string bytes = example.write();
  auto spoil = [&](StringRef text) {
    return failureOfReading(replaceSection(bytes, 1, text));
  };
  EXPECT_TRUE(contains(spoil(""), "its JSON is wrong"));
  EXPECT_TRUE(contains(spoil("[]"), "its JSON is no object"));
  EXPECT_TRUE(contains(spoil("{\"weights\": []}"), "no list 'functions'"));
  EXPECT_TRUE(contains(spoil(std::string(500, '[')), "nested too deeply"));
  EXPECT_TRUE(contains(spoil("{\"a\": \"[[[[[[[[[[[[[[[[[[[[[[[[\"}"),
                       "no list 'weights'"));
  std::string file = "{\"weights\": [], \"targets\": [], \"functions\": [";
  EXPECT_TRUE(contains(spoil(file + "]}"), "there is no function"));
  EXPECT_TRUE(contains(spoil(file + "{}]}"), "functions has no name"));
  EXPECT_TRUE(
      contains(spoil(file + "{\"name\": \"f\"}]}"), "no list 'arguments'"));
  EXPECT_TRUE(contains(spoil(file + "{\"name\": \"f\", \"arguments\": []}]}"),
                       "no list 'outputs'"));
  for (StringRef number : {"-1", "0.5", "\"0\"", "4294967296", "[]"})
    EXPECT_TRUE(contains(
        spoil(file + "{\"name\": \"f\", \"arguments\": [{\"weight\": " +
              number.str() + "}]}]}"),
        "the number of a weight is none"));
  EXPECT_TRUE(contains(
      spoil(file + "{\"name\": \"f\", \"arguments\": [{\"weight\": 0}], "
                   "\"outputs\": []}]}"),
      "is weight number 0 of 0"));
  std::string front =
      file + "{\"name\": \"f\", \"arguments\": [], \"outputs\": [";
  EXPECT_EQ(spoil(front + "]}]}"), "no failure");
  EXPECT_TRUE(contains(spoil(front + "{}]}]}"), "has no name"));
  EXPECT_TRUE(contains(spoil(front + "{\"name\": \"y\"}]}]}"), "has no dtype"));
  EXPECT_TRUE(contains(
      spoil(front + "{\"name\": \"y\", \"dtype\": \"int8\"}]}]}"), "no shape"));
  for (StringRef extent : {"-1", "1.5", "\"1\"", "18446744073709551615", "[]"})
    EXPECT_TRUE(contains(spoil(front +
                               "{\"name\": \"y\", \"dtype\": \"int8\", "
                               "\"shape\": [" +
                               extent.str() + "]}]}]}"),
                         "an extent that is no number from 0 on"));
  EXPECT_TRUE(contains(spoil(front + "{\"name\": \"y\", \"dtype\": \"int64\", "
                                     "\"shape\": [4611686018427387904]}]}]}"),
                       "impossible shape"));
}

TEST_F(ProgramFileTest, WeightsAreChecked) {
  std::string bytes = example.write();
  Entry section = findEntry(bytes, 5);
  uint64_t headerBytes = read64le(bytes.data() + section.offset);
  auto spoil = [&](StringRef from, StringRef to) {
    std::string wrong = bytes;
    size_t place = wrong.find(from.str(), section.offset);
    EXPECT_LT(place, section.offset + headerBytes) << from.str();
    EXPECT_EQ(from.size(), to.size());
    wrong.replace(place, from.size(), to.str());
    correct(wrong);
    return failureOfReading(wrong);
  };
  EXPECT_TRUE(contains(spoil("\"w\"", "\"v\""), "its weight 'w' is not there"));
  EXPECT_TRUE(contains(spoil("\"F32\"", "\"F33\""), "no dtype that is known"));
  EXPECT_TRUE(contains(spoil("\"F32\"", "\"I32\""),
                       "is int32 (100, 50), and float32 (100, 50) by its "));
  EXPECT_TRUE(contains(spoil("[100,50]", "[50,100]"),
                       "is float32 (50, 100), and float32 (100, 50) by its "));
  EXPECT_TRUE(contains(spoil("[100,50]", "[100,51]"),
                       "has 20000 bytes, and float32 (100, 51) needs 20400"));
  EXPECT_TRUE(contains(spoil("[0,20000]", "[1,20001]"), "is not aligned"));
  EXPECT_TRUE(contains(spoil("[0,20000]", "[9,20000]"), "has 19991 bytes"));
  EXPECT_TRUE(contains(spoil("[0,20000]", "[99,     "), "its JSON is wrong"));
  EXPECT_TRUE(contains(spoil("[0,20000]", "[0,90000]"), "outside of the data"));
  std::string wrong = bytes;
  write64le(wrong.data() + section.offset, ~uint64_t(0));
  correct(wrong);
  EXPECT_TRUE(contains(failureOfReading(wrong), "is longer than these"));
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

/// Changes some of the bytes: bits, numbers, what is between two places. Most
/// changes are in the header and in front of sections.
void mutate(std::string &bytes, std::mt19937 &random) {
  const uint64_t numbers[] = {0,
                              1,
                              7,
                              63,
                              64,
                              4096,
                              0x7fffffff,
                              0xffffffff,
                              uint64_t(1) << 62,
                              uint64_t(1) << 63,
                              ~uint64_t(63),
                              ~uint64_t(0)};
  std::vector<Entry> entries = listEntries(bytes);
  auto place = [&](size_t width) -> size_t {
    const Entry &entry = entries[random() % entries.size()];
    uint64_t front = std::min<uint64_t>(entry.size, 600);
    size_t at = random() % 4 == 0 ? random() % 512
                                  : entry.offset + random() % (front + 1);
    return std::min(at, bytes.size() - width);
  };
  const StringRef digits = "0123456789[]{},:\"-";
  for (unsigned changes = 1 + random() % 3; changes != 0; --changes)
    switch (random() % 6) {
    case 0:
      bytes[place(1)] ^= char(1 << random() % 8);
      break;
    case 1:
      bytes[place(1)] = digits[random() % digits.size()];
      break;
    case 2:
      write32le(bytes.data() + place(4),
                numbers[random() % std::size(numbers)]);
      break;
    case 3:
      write64le(bytes.data() + place(8),
                numbers[random() % std::size(numbers)]);
      break;
    case 4: {
      size_t at = place(1);
      bytes.replace(at, 1 + random() % 16, 1 + random() % 16, char(random()));
      break;
    }
    default:
      bytes.resize(bytes.size() - random() % 128);
    }
}

/// Checksums of the code image inside are made right, too.
void correctImage(std::string &bytes) {
  for (const Entry &entry : listEntries(bytes))
    if (entry.kind == 3 && entry.size > 32 && entry.offset <= bytes.size() &&
        entry.size <= bytes.size() - entry.offset) {
      StringRef image(bytes.data() + entry.offset, entry.size - 32);
      sumOf(image).copy(bytes.data() + entry.offset + entry.size - 32, 32);
    }
}

TEST_F(ProgramFileTest, MutantsAreLoadedOrRefused) {
  const char *given = std::getenv("METAOPS_TEST_MUTANTS");
  unsigned mutants = given ? std::strtoul(given, nullptr, 10) : 4000;
  example.addFunction("other");
  example.addSizes("other");
  std::string seed = example.write();
  std::mt19937 random(20240607);
  unsigned loaded = 0, refused = 0;
  for (unsigned i = 0; i < mutants; ++i) {
    std::string mutant = seed;
    mutate(mutant, random);
    if (read32le(mutant.data() + 12) <= 16)
      correctImage(mutant);
    correct(mutant);
    LoadOptions options;
    options.threads = 1;
    options.code = i % 8 != 0;
    options.verify = i % 16 == 1;
    options.function = i % 3 == 0 ? "other" : "";
    bool isFile = i % 64 == 2;
    auto program = isFile ? LoadedProgram::open(store(mutant), options)
                          : LoadedProgram::read(mutant, options);
    if (!program) {
      ++refused;
      EXPECT_FALSE(toString(program.takeError()).empty());
      continue;
    }
    ++loaded;
    // What is offered is there; code is not run, for it is as it was written.
    unsigned sum = 0;
    for (unsigned j = 0; j < (*program)->getWeights().size(); ++j) {
      BufferRef weight = (*program)->getWeight(j);
      for (size_t at = 0; at < llvm::alignTo(weight->bytes(), 64); ++at)
        sum += static_cast<const unsigned char *>(weight->data())[at];
    }
    EXPECT_GE((*program)->getScratchBytes(), 0);
    for (const FunctionSignature &function :
         (*program)->getSignature().functions) {
      options.function = function.name;
      auto opened = (*program)->openFunction(options);
      if (!opened) {
        llvm::consumeError(opened.takeError());
        continue;
      }
      for (const SizedProgram &sized : function.programs)
        llvm::consumeError((*opened)->openSizes(sized.sizes).takeError());
    }
    if ((*program)->hasIR())
      llvm::consumeError((*program)->readIR().takeError());
    EXPECT_LT(sum, ~0u);
  }
  // Both are common: mutants get past checksums, and to all other checks.
  EXPECT_GT(loaded, mutants / 40);
  EXPECT_GT(refused, mutants / 4);
}

} // namespace
