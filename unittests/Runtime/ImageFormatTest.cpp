//===- ImageFormatTest.cpp - Images as bytes ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageFixture.h"

#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

using namespace metaops;

namespace {

/// Contents of which each test spoils a part.
class ImageFormatTest : public ::testing::Test {
protected:
  ImageFormatTest() {
    contents.code = code;
    contents.constants = constants;
    contents.pointers = pointers;
    contents.entries = {{"f", 0}, {"g", 99}};
    contents.imports = {{"exp", {0, 16}}, {"log", {24}}};
    contents.bases = {8, 32};
  }

  std::string failure() {
    return failureOf(parseImage(bytesOf(bytes = writeImage(contents))));
  }
  static std::string sumOf(StringRef text) {
    llvm::BLAKE3 hasher;
    hasher.update(text);
    auto sum = hasher.final<32>();
    return std::string(sum.begin(), sum.end());
  }
  /// Makes the checksum right again.
  static void correct(std::string &bytes) {
    if (bytes.size() < 32)
      return;
    bytes.resize(bytes.size() - 32);
    bytes += sumOf(bytes);
  }

  std::vector<char> code = std::vector<char>(100, '\x90');
  std::vector<char> constants = {'a', 'b', 'c'};
  std::vector<char> pointers = std::vector<char>(40, '\0');
  ImageContents contents;
  std::string bytes;
};

TEST_F(ImageFormatTest, WhatIsWrittenIsRead) {
  bytes = writeImage(contents);
  auto read = cantFail(parseImage(bytesOf(bytes)));
  EXPECT_EQ(read.architecture, contents.architecture);
  EXPECT_EQ(read.pageBytes, 4096u);
  EXPECT_EQ(read.code, ArrayRef(code));
  EXPECT_EQ(read.constants, ArrayRef(constants));
  EXPECT_EQ(read.pointers, ArrayRef(pointers));
  ASSERT_EQ(read.entries.size(), 2u);
  EXPECT_EQ(read.entries[1].name, "g");
  EXPECT_EQ(read.entries[1].offset, 99u);
  ASSERT_EQ(read.imports.size(), 2u);
  EXPECT_EQ(read.imports[0].name, "exp");
  EXPECT_EQ(read.imports[0].slots, (std::vector<uint32_t>{0, 16}));
  EXPECT_EQ(read.imports[1].slots, (std::vector<uint32_t>{24}));
  EXPECT_EQ(read.bases, contents.bases);
  EXPECT_EQ(read.getConstantsOffset(), 4096u);
  EXPECT_EQ(read.getPointersOffset(), 8192u);
  EXPECT_EQ(read.getMappedBytes(), 12288u);
}

TEST_F(ImageFormatTest, NamesAreChecked) {
  contents.entries[1].name = "f";
  EXPECT_TRUE(
      contains(failure(), "the name of an entry is not behind the one before"));
  contents.entries[1].name = StringRef("g\0h", 3);
  EXPECT_TRUE(contains(failure(), "the name of an entry contains a zero"));
  contents.entries[1].name = "g";
  contents.imports[0].name = "";
  EXPECT_TRUE(contains(failure(), "the name of an import is empty"));
}

TEST_F(ImageFormatTest, PlacesAreChecked) {
  contents.entries[0].offset = 100;
  EXPECT_TRUE(contains(failure(), "an entry is at 100 of 100 bytes of code"));
  contents.entries[0].offset = 0;
  EXPECT_EQ(failure(), "no failure");
  contents.architecture = ImageArchitecture::AArch64;
  EXPECT_TRUE(contains(failure(), "an entry is at 99 of 100 bytes of code"));
  contents.entries[1].offset = 96;
  EXPECT_EQ(failure(), "no failure");
  for (uint32_t place : {4u, 40u, 48u, 0xfffffff8u}) {
    contents.bases[1] = place;
    EXPECT_TRUE(contains(failure(), "an address is at"));
    contents.bases[1] = 32;
    contents.imports[1].slots[0] = place;
    EXPECT_TRUE(contains(failure(), "an address is at"));
    contents.imports[1].slots[0] = 24;
  }
  contents.bases[1] = 8;
  EXPECT_TRUE(contains(failure(), "two addresses are at the same place, 8"));
  contents.bases[1] = 16;
  EXPECT_TRUE(contains(failure(), "two addresses are at the same place, 16"));
  contents.bases[1] = 32;
  contents.imports[0].slots.clear();
  EXPECT_TRUE(contains(failure(), "an import has no places"));
}

TEST_F(ImageFormatTest, SizesAreChecked) {
  for (uint32_t size : {0u, 1u, 2048u, 4097u, 131072u, 0x80000000u}) {
    contents.pageBytes = size;
    EXPECT_TRUE(contains(failure(), "its pages have"));
  }
  contents.pageBytes = 65536;
  EXPECT_EQ(failure(), "no failure");
  contents.pointers = contents.pointers.drop_back();
  EXPECT_TRUE(contains(failure(), "no multiple of 8"));
  contents.pointers = pointers;
  contents.code = {};
  EXPECT_TRUE(contains(failure(), "it has no code"));
}

TEST_F(ImageFormatTest, CountsAreChecked) {
  bytes = writeImage(contents);
  // Six numbers follow the magic and three others; none fits the bytes that
  // are left.
  for (size_t field = 20; field < 44; field += 4)
    for (uint32_t count : {1000u, 0x7fffffffu, 0xffffffffu}) {
      std::string wrong = bytes;
      llvm::support::endian::write32le(wrong.data() + field, count);
      correct(wrong);
      EXPECT_NE(failureOf(parseImage(bytesOf(wrong))), "no failure") << field;
    }
}

TEST_F(ImageFormatTest, AnotherVersionIsTold) {
  bytes = writeImage(contents);
  bytes[8] = 9;
  EXPECT_EQ(failureOf(parseImage(bytesOf(bytes))),
            "the code image has version 9; this program reads version 1");
  bytes[8] = 1;
  bytes[12] = 77;
  correct(bytes);
  EXPECT_TRUE(contains(failureOf(parseImage(bytesOf(bytes))),
                       "an architecture of number 77"));
  EXPECT_TRUE(contains(failureOf(parseImage(bytesOf("no image"))),
                       "this is no code image"));
}

TEST_F(ImageFormatTest, EachBitAndEachByteCounts) {
  bytes = writeImage(contents);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string wrong = bytes;
    wrong[i] ^= char(1 << i % 8);
    EXPECT_NE(failureOf(parseImage(bytesOf(wrong))), "no failure") << i;
    std::string part = bytes.substr(0, i);
    EXPECT_NE(failureOf(parseImage(bytesOf(part))), "no failure") << i;
    correct(part);
    EXPECT_NE(failureOf(parseImage(bytesOf(part))), "no failure") << i;
  }
  EXPECT_NE(failureOf(parseImage(bytesOf(bytes + "x"))), "no failure");
}

/// Changes some of the bytes: bits, numbers, what is between two places.
void mutate(std::string &bytes, std::mt19937 &random) {
  const uint32_t numbers[] = {0,          1,          4,     7,
                              8,          4096,       65536, 0x7fffffff,
                              0x80000000, 0xfffffff8, ~0u,   0xfffff000};
  // Most of what there is to break is in front.
  auto place = [&](size_t width) -> size_t {
    size_t size = bytes.size() - width;
    return random() % (random() % 4 ? std::min<size_t>(size, 160) : size);
  };
  for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
    if (bytes.size() < 64)
      return;
    switch (random() % 4) {
    case 0:
      bytes[place(1)] ^= char(1 << random() % 8);
      break;
    case 1:
      llvm::support::endian::write32le(bytes.data() + place(4),
                                       numbers[random() % std::size(numbers)]);
      break;
    case 2:
      bytes.erase(place(1), 1 + random() % 16);
      break;
    default:
      bytes.insert(place(1), 1 + random() % 16, char(random()));
    }
  }
}

TEST_F(ImageFormatTest, MutantsAreLoadedOrRefused) {
  std::vector<std::string> seeds = {
      writeImage(contents),
      cantFail(link(compile(kernelText("kernel")), {"kernel"}))};
  std::mt19937 random(1);
  unsigned loaded = 0, refused = 0;
  char somewhere;
  auto resolveAll = [&](StringRef) -> void * { return &somewhere; };
  for (int i = 0; i < 20000; ++i) {
    std::string mutant = seeds[i % seeds.size()];
    mutate(mutant, random);
    correct(mutant);
    // So that reading past the end is seen by tools that look for it.
    std::vector<char> exact(mutant.begin(), mutant.end());
    auto image = CodeImage::load(exact, resolveAll);
    if (image) {
      ++loaded;
      for (const auto &[name, address] : (*image)->getEntries())
        EXPECT_EQ((*image)->lookup(name), address);
    } else {
      ++refused;
      EXPECT_FALSE(toString(image.takeError()).empty());
    }
  }
  // Both are common: mutants get past the checksum, and to all other checks.
  EXPECT_GT(loaded, 500u);
  EXPECT_GT(refused, 5000u);
}

} // namespace
