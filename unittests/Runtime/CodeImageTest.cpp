//===- CodeImageTest.cpp - Linked kernels in memory -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageFixture.h"

#include <fstream>
#include <sstream>

using namespace metaops;

namespace {

TEST(CodeImageTest, RunsAKernelThatWasLinked) {
  auto bytes = cantFail(link(compile(kernelText("kernel")), {"kernel"}));
  auto image = load(bytes);
  for (int64_t scalar : {0, 5, -123456})
    for (auto [begin, end] : {std::pair(0, 300), {7, 7}, {12, 13}, {100, 291}})
      checkKernel(*image, "kernel", begin, end, scalar);
  ASSERT_EQ(image->getEntries().size(), 1u);
  EXPECT_EQ(image->getEntries()[0].first, "kernel");
  EXPECT_EQ(image->getImports().vec(),
            (std::vector<std::string>{"exp", "memset"}));
  EXPECT_EQ(image->lookup("kerne"), nullptr);
  EXPECT_EQ(image->lookup("square"), nullptr);
  EXPECT_EQ(image->lookup("exp"), nullptr);
  // The table of addresses and those of functions outside are there.
  auto contents = cantFail(parseImage(bytesOf(bytes)));
  EXPECT_EQ(contents.bases.size(), 3u);
  EXPECT_FALSE(contents.constants.empty());
  EXPECT_EQ(contents.imports.size(), 2u);
}

TEST(CodeImageTest, RunsCodeOfTheLargeModel) {
  // As LLVM makes it for JITs.
  std::vector<Object> objects;
  for (StringRef name : {"first", "second"})
    objects.push_back(compile(kernelText(name), name, hostTriple(),
                              llvm::Reloc::PIC_, llvm::CodeModel::Large));
  // Without calls, there are no addresses to have a table of.
  objects.push_back(compile("define double @third(double %x) {\n"
                            "  %y = fmul double %x, 1.25\n  ret double %y\n}\n",
                            "third", hostTriple(), llvm::Reloc::PIC_,
                            llvm::CodeModel::Large));
  auto bytes = cantFail(link(objects, {"first", "second", "third"}));
  EXPECT_EQ(cantFail(link(objects, {"first", "second", "third"})), bytes);
  // The two tables of functions, and what else large code has addresses for.
  EXPECT_GE(cantFail(parseImage(bytesOf(bytes))).bases.size(), 6u);
  auto image = load(bytes);
  checkKernel(*image, "first", 0, 300, 3);
  checkKernel(*image, "second", 17, 200, -3);
  auto *third = find<double(double)>(*image, "third");
  for (double x : {0.0, 8.0, -3.5})
    EXPECT_EQ(third(x), 1.25 * x);
}

TEST(CodeImageTest, AnImageIsLoadedWhereverThereIsRoom) {
  auto bytes = cantFail(link(compile(kernelText("kernel")), {"kernel"}));
  auto first = load(bytes), second = load(bytes);
  EXPECT_NE(first->lookup("kernel"), second->lookup("kernel"));
  checkKernel(*first, "kernel", 0, 300, 1);
  checkKernel(*second, "kernel", 0, 300, 2);
  first.reset();
  // Nothing refers to what is gone, nor to the bytes.
  std::fill(bytes.begin(), bytes.end(), '\0');
  checkKernel(*second, "kernel", 3, 299, 3);
}

TEST(CodeImageTest, LinksManyObjects) {
  std::vector<Object> objects;
  std::vector<std::string> entries;
  for (int i = 0; i < 20; ++i) {
    entries.push_back("kernel_" + std::to_string(i));
    objects.push_back(compile(kernelText(entries.back()), entries.back()));
  }
  // The internal names of all are the same.
  auto image = load(cantFail(link(objects, entries)));
  EXPECT_EQ(image->getEntries().size(), 20u);
  for (const std::string &entry : entries)
    checkKernel(*image, entry, 5, 280, 4);
}

TEST(CodeImageTest, ObjectsReferToEachOther) {
  std::vector<Object> objects;
  objects.push_back(compile(R"(
define internal i64 @helper(i64 %x) noinline {
  %y = add i64 %x, 1
  ret i64 %y
}
define i64 @first(i64 %x) {
  %y = call i64 @helper(i64 %x)
  ret i64 %y
}
)"));
  objects.push_back(compile(R"(
@address = internal constant ptr @first
declare i64 @first(i64)
define internal i64 @helper(i64 %x) noinline {
  %y = mul i64 %x, 3
  ret i64 %y
}
define i64 @second(i64 %x) {
  %a = call i64 @first(i64 %x)
  %b = call i64 @helper(i64 %a)
  %f = load volatile ptr, ptr @address
  %c = call i64 %f(i64 %b)
  ret i64 %c
}
define i64 @is_first(i64 %x) {
  %y = icmp eq i64 %x, ptrtoint (ptr @first to i64)
  %z = zext i1 %y to i64
  ret i64 %z
}
)",
                            "b.o"));
  auto image = load(cantFail(link(objects, {"second", "first", "is_first"})));
  EXPECT_TRUE(image->getImports().empty());
  auto *first = find<int64_t(int64_t)>(*image, "first");
  auto *second = find<int64_t(int64_t)>(*image, "second");
  auto *isFirst = find<int64_t(int64_t)>(*image, "is_first");
  for (int64_t x : {0, 1, 41, -1000}) {
    EXPECT_EQ(first(x), x + 1);
    EXPECT_EQ(second(x), (x + 1) * 3 + 1);
    EXPECT_EQ(isFirst(x), 0);
  }
  EXPECT_EQ(isFirst(reinterpret_cast<int64_t>(first)), 1);
}

TEST(CodeImageTest, EqualObjectsGiveEqualBytes) {
  std::vector<std::string> images;
  std::vector<std::vector<Object>> kept;
  for (int time = 0; time < 4; ++time)
    for (StringRef triple : {kX86, kAArch64}) {
      std::vector<Object> &objects = kept.emplace_back();
      for (StringRef name : {"a", "b", "c"})
        objects.push_back(compile(kernelText(name), name, triple));
      images.push_back(cantFail(link(objects, {"c", "a", "b"}, triple)));
    }
  for (size_t i = 2; i < images.size(); ++i)
    EXPECT_EQ(images[i], images[i % 2]);
  EXPECT_NE(images[0], images[1]);
}

TEST(CodeImageTest, LinksForAnotherArchitecture) {
  for (StringRef triple : {kX86, kAArch64}) {
    auto bytes = cantFail(
        link(compile(kernelText("kernel"), "a.o", triple), {"kernel"}, triple));
    auto contents = cantFail(parseImage(bytesOf(bytes)));
    EXPECT_EQ(getName(contents.architecture),
              llvm::Triple(triple).getArchName());
    ASSERT_EQ(contents.imports.size(), 2u);
    EXPECT_EQ(contents.imports[0].name, "exp");
    EXPECT_EQ(contents.imports[1].name, "memset");
    EXPECT_EQ(contents.bases.size(), 3u);
    // They count from the start of the image, and lead to its code.
    for (uint32_t place : contents.bases)
      EXPECT_LT(
          llvm::support::endian::read64le(contents.pointers.data() + place),
          contents.code.size());
    if (contents.architecture != getHostArchitecture())
      EXPECT_TRUE(contains(failureOf(CodeImage::load(bytesOf(bytes), resolve)),
                           "the code image is for " +
                               getName(contents.architecture).str() +
                               ", and this process runs on " +
                               getName(*getHostArchitecture()).str()));
  }
}

/// The protection of the page at `address`, as "r-xp".
std::string protectionOf(const void *address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash;
    std::string protection;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> protection;
    auto place = reinterpret_cast<uintptr_t>(address);
    if (begin <= place && place < end)
      return protection;
  }
  return "none";
}

TEST(CodeImageTest, NothingThatIsLoadedCanBeWritten) {
  auto bytes = cantFail(link(compile(kernelText("kernel")), {"kernel"}));
  auto contents = cantFail(parseImage(bytesOf(bytes)));
  ASSERT_EQ(contents.entries.size(), 1u);
  auto image = load(bytes);
  char *base =
      static_cast<char *>(image->lookup("kernel")) - contents.entries[0].offset;
  EXPECT_EQ(protectionOf(base), "r-xp");
  EXPECT_EQ(protectionOf(base + contents.getConstantsOffset()), "r--p");
  EXPECT_EQ(protectionOf(base + contents.getPointersOffset()), "r--p");
  EXPECT_EQ(protectionOf(base + contents.getMappedBytes() - 1), "r--p");
  image.reset();
  EXPECT_NE(protectionOf(base), "r-xp");
}

TEST(CodeImageTest, AllMissingImportsAreNamed) {
  auto bytes = cantFail(link(compile(kernelText("kernel")), {"kernel"}));
  auto none = [](StringRef) -> void * { return nullptr; };
  EXPECT_EQ(failureOf(CodeImage::load(bytesOf(bytes), none)),
            "the code image needs symbols that are not there: exp, memset");
  auto some = [](StringRef name) -> void * {
    return name == "exp" ? resolve(name) : nullptr;
  };
  EXPECT_EQ(failureOf(CodeImage::load(bytesOf(bytes), some)),
            "the code image needs symbols that are not there: memset");
}

} // namespace
