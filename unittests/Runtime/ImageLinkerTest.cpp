//===- ImageLinkerTest.cpp - What images cannot be made of ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImageFixture.h"

using namespace metaops;

namespace {

std::string failureOfLinking(StringRef text, StringRef triple = hostTriple()) {
  return failureOf(link(compile(text, "a.o", triple), {"f"}, triple));
}

TEST(ImageLinkerTest, WhatImagesDoNotHaveIsAnError) {
  for (StringRef triple : {kX86, kAArch64}) {
    EXPECT_TRUE(contains(
        failureOfLinking("define weak void @f() { ret void }\n", triple),
        "symbol 'f' is weak"));
    EXPECT_TRUE(contains(failureOfLinking("@v = common global i64 0\n"
                                          "define ptr @f() { ret ptr @v }\n",
                                          triple),
                         "has variables"));
    EXPECT_TRUE(contains(failureOfLinking("@v = extern_weak global i64\n"
                                          "define ptr @f() { ret ptr @v }\n",
                                          triple),
                         "'v' is weak"));
    for (StringRef value : {"0", "7"})
      EXPECT_TRUE(
          contains(failureOfLinking(("@v = internal global i64 " + value +
                                     "\ndefine ptr @f() { ret ptr @v }\n")
                                        .str(),
                                    triple),
                   "has variables"));
    EXPECT_NE(failureOfLinking("@v = thread_local global i64 7\n"
                               "define ptr @f() { ret ptr @v }\n",
                               triple),
              "no failure");
    EXPECT_TRUE(
        contains(failureOfLinking("@llvm.global_ctors = appending global "
                                  "[1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } "
                                  "{ i32 65535, ptr @f, ptr null }]\n"
                                  "define void @f() { ret void }\n",
                                  triple),
                 "has initialisers"));
    EXPECT_TRUE(contains(
        failureOfLinking("@v = external global [9 x i8]\n"
                         "@p = constant ptr getelementptr (i8, ptr @v, i64 4)\n"
                         "define ptr @f() { ret ptr @p }\n",
                         triple),
        "an address 4 bytes behind 'v'"));
    EXPECT_TRUE(contains(
        failureOfLinking("@p = constant <{ i8, ptr }> <{ i8 1, ptr @f }>\n"
                         "define ptr @f() { ret ptr @p }\n",
                         triple),
        "holds the address of 'f' at no multiple of 8"));
    // Errors name the object.
    EXPECT_TRUE(contains(
        failureOfLinking("define weak void @f() { ret void }\n", triple),
        "cannot link 'a.o'"));
  }
}

TEST(ImageLinkerTest, CodeThatCannotMoveIsAnError) {
  auto object =
      compile("@t = internal constant [3 x i32] [i32 1, i32 2, i32 3]\n"
              "define i32 @f(i64 %i) {\n"
              "  %p = getelementptr i32, ptr @t, i64 %i\n"
              "  %v = load i32, ptr %p\n  ret i32 %v\n}\n",
              "a.o", kX86, llvm::Reloc::Static);
  EXPECT_TRUE(contains(failureOf(link(std::move(object), {"f"}, kX86)),
                       "depends on where the code is loaded"));
  object = compile(kernelText("f"), "a.o", kAArch64, llvm::Reloc::Static,
                   llvm::CodeModel::Large);
  EXPECT_TRUE(contains(failureOf(link(std::move(object), {"f"}, kAArch64)),
                       "depends on where the code is loaded"));
  // What is taken for near, and is outside.
  EXPECT_TRUE(contains(failureOfLinking("@v = external dso_local global i64\n"
                                        "define ptr @f() { ret ptr @v }\n",
                                        kX86),
                       "refers to 'v' in a way"));
}

TEST(ImageLinkerTest, GlobalNamesAreUnique) {
  std::vector<Object> objects;
  objects.push_back(compile("define void @f() { ret void }\n", "one.o"));
  objects.push_back(compile("define void @g() { ret void }\n"
                            "define void @f() { ret void }\n",
                            "two.o"));
  EXPECT_EQ(failureOf(link(objects, {"f"})),
            "cannot link 'two.o': it defines 'f', which 'one.o' defines, too");
}

TEST(ImageLinkerTest, HiddenAndWeakDefinitionsAreEachObjectsOwn) {
  auto textOf = [](StringRef name, StringRef value) {
    return ("define weak_odr i64 @w() noinline { ret i64 " + value +
            " }\ndefine hidden i64 @h() noinline { ret i64 " + value +
            " }\ndefine i64 @" + name +
            "() { %a = call i64 @w()\n%b = call i64 @h()\n"
            "%c = mul i64 %a, 10\n%d = add i64 %c, %b\nret i64 %d }\n")
        .str();
  };
  std::vector<Object> objects;
  objects.push_back(compile(textOf("f", "1"), "one.o"));
  objects.push_back(compile(textOf("g", "2"), "two.o"));
  auto image = load(cantFail(link(objects, {"f", "g"})));
  EXPECT_EQ(find<int64_t()>(*image, "f")(), 11);
  EXPECT_EQ(find<int64_t()>(*image, "g")(), 22);
}

TEST(ImageLinkerTest, EntriesAreFunctionsOfTheObjects) {
  StringRef text = "@v = constant i64 7\n"
                   "define internal void @i() noinline { ret void }\n"
                   "define void @f() { call void @i() ret void }\n";
  EXPECT_EQ(failureOf(link(compile(text), {"f", "g"})),
            "no object defines the entry 'g'");
  EXPECT_EQ(failureOf(link(compile(text), {"i"})),
            "no object defines the entry 'i'");
  EXPECT_EQ(failureOf(link(compile(text), {"v"})),
            "the entry 'v' is no function");
  EXPECT_EQ(failureOf(link(compile(text), {"f", "f"})),
            "the entry 'f' is asked for twice");
  EXPECT_EQ(failureOf(link(std::vector<Object>(), {})),
            "the code image is damaged: it has no code");
}

TEST(ImageLinkerTest, WhatIsNoObjectIsAnError) {
  EXPECT_TRUE(contains(
      failureOf(link(llvm::MemoryBuffer::getMemBufferCopy("no object", "a.o"),
                     {"f"})),
      "cannot link 'a.o'"));
  auto object = compile(kernelText("kernel"));
  StringRef text = object->getBuffer();
  for (size_t part = 0; part < 40; ++part)
    EXPECT_NE(failureOf(link(llvm::MemoryBuffer::getMemBufferCopy(
                                 text.take_front(text.size() * part / 40)),
                             {"kernel"})),
              "no failure");
  EXPECT_EQ(failureOf(link(compile(kernelText("kernel"), "a.o", kAArch64),
                           {"kernel"}, kX86)),
            "cannot link 'a.o': it is for aarch64, and the image for x86_64");
  EXPECT_TRUE(contains(failureOf(link(compile(kernelText("kernel")), {"kernel"},
                                      "riscv64-unknown-linux-gnu")),
                       "there are no code images for riscv64"));
}

} // namespace
