//===- CodeImageTest.cpp - Object files as images, and images in memory ---===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Image/CodeImage.h"
#include "MetaOps/Runtime/Image/ImageFormat.h"
#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "MetaOps/Runtime/JIT/Jit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

using namespace metaops;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

constexpr StringRef kX86 = "x86_64-unknown-linux-gnu";
constexpr StringRef kAArch64 = "aarch64-unknown-linux-gnu";

StringRef hostTriple() {
  return getHostArchitecture() == ImageArchitecture::AArch64 ? kAArch64 : kX86;
}

using Object = std::unique_ptr<llvm::MemoryBuffer>;

/// The object file of a module in LLVM's assembly.
Object compile(StringRef text, StringRef name = "a.o",
               StringRef triple = hostTriple(),
               llvm::Reloc::Model model = llvm::Reloc::PIC_,
               llvm::CodeModel::Model size = llvm::CodeModel::Small) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str() << " in line "
                      << diagnostic.getLineNo();
  std::string error;
  llvm::Triple target(triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(target, error);
  EXPECT_TRUE(found) << error;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      target, "", "", llvm::TargetOptions(), model, size));
  module->setTargetTriple(target);
  module->setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  EXPECT_FALSE(machine->addPassesToEmitFile(passes, stream, nullptr,
                                            llvm::CodeGenFileType::ObjectFile));
  passes.run(*module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(object), name, /*RequiresNullTerminator=*/false);
}

llvm::Expected<std::string> link(ArrayRef<Object> objects,
                                 ArrayRef<std::string> entries,
                                 StringRef triple = hostTriple()) {
  std::vector<llvm::MemoryBufferRef> references;
  for (const Object &object : objects)
    references.push_back(object->getMemBufferRef());
  return linkImage(references, entries, llvm::Triple(triple));
}

llvm::Expected<std::string> link(Object object, ArrayRef<std::string> entries,
                                 StringRef triple = hostTriple()) {
  std::vector<Object> objects;
  objects.push_back(std::move(object));
  return link(objects, entries, triple);
}

/// The C library's functions that the tests need.
void *resolve(StringRef name) {
  if (name == "exp")
    return reinterpret_cast<void *>(static_cast<double (*)(double)>(std::exp));
  if (name == "memset")
    return reinterpret_cast<void *>(std::memset);
  return nullptr;
}

ArrayRef<char> bytesOf(const std::string &text) {
  return ArrayRef(text.data(), text.size());
}

std::shared_ptr<const CodeImage> load(const std::string &bytes) {
  return cantFail(CodeImage::load(bytesOf(bytes), resolve));
}

template <typename T> std::string failureOf(llvm::Expected<T> result) {
  return result ? "no failure" : toString(result.takeError());
}

testing::AssertionResult contains(StringRef text, StringRef part) {
  if (text.contains(part))
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "\"" << part.str() << "\" is not in: " << text.str();
}

template <typename Function>
Function *find(const CodeImage &image, StringRef name) {
  void *address = image.lookup(name);
  EXPECT_NE(address, nullptr) << name.str();
  return reinterpret_cast<Function *>(address);
}

/// A kernel with what kernels have: constants in the code's reach, a table of
/// numbers, a table of addresses, a switch with a jump table, calls of the C
/// library. For each place i of its range
///   out[i] = exp(f[i % 3](x[i])) * table[i % 4] + pick(i % 7) + scalars[0],
/// and marks[i] = 90.
std::string kernelText(StringRef name) {
  return R"(
@table = internal constant [4 x double] [double 1.5, double -2.25, double 3.125, double 0.75]
@functions = internal constant [3 x ptr] [ptr @square, ptr @halve, ptr @negate]
declare double @exp(double)
declare ptr @memset(ptr, i32, i64)
define internal double @square(double %x) noinline {
  %y = fmul double %x, %x
  ret double %y
}
define internal double @halve(double %x) noinline {
  %y = fmul double %x, 0.5
  ret double %y
}
define internal double @negate(double %x) noinline {
  %y = fsub double 1.1, %x
  ret double %y
}
define internal double @pick(i64 %i, double %x) noinline {
  switch i64 %i, label %other [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
    i64 5, label %f
  ]
a:
  %ya = fadd double %x, 10.25
  ret double %ya
b:
  %yb = fmul double %x, 20.5
  ret double %yb
c:
  %yc = fsub double 30.75, %x
  ret double %yc
d:
  %yd = fmul double %x, %x
  ret double %yd
e:
  %ye = call double @exp(double %x)
  ret double %ye
f:
  %yf = fdiv double %x, 3.5
  ret double %yf
other:
  ret double -7.0
}
define void @)" +
         name.str() + R"((ptr %buffers, ptr %scalars, i64 %begin, i64 %end) {
entry:
  %x = load ptr, ptr %buffers
  %p1 = getelementptr ptr, ptr %buffers, i64 1
  %out = load ptr, ptr %p1
  %p2 = getelementptr ptr, ptr %buffers, i64 2
  %marks = load ptr, ptr %p2
  %scalar = load i64, ptr %scalars
  %added = sitofp i64 %scalar to double
  %first = getelementptr i8, ptr %marks, i64 %begin
  %count = sub i64 %end, %begin
  %unused = call ptr @memset(ptr %first, i32 90, i64 %count)
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %px = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %px
  %i3 = urem i64 %i, 3
  %pf = getelementptr ptr, ptr @functions, i64 %i3
  %function = load volatile ptr, ptr %pf
  %mapped = call double %function(double %value)
  %power = call double @exp(double %mapped)
  %i4 = urem i64 %i, 4
  %pt = getelementptr double, ptr @table, i64 %i4
  %factor = load double, ptr %pt
  %product = fmul double %power, %factor
  %i7 = urem i64 %i, 7
  %picked = call double @pick(i64 %i7, double %value)
  %sum = fadd double %product, %picked
  %result = fadd double %sum, %added
  %py = getelementptr double, ptr %out, i64 %i
  store double %result, ptr %py
  %next = add i64 %i, 1
  br label %loop
done:
  ret void
}
)";
}

double expectedOf(int64_t i, double x, int64_t scalar) {
  const double table[] = {1.5, -2.25, 3.125, 0.75};
  const double mapped[] = {x * x, x * 0.5, 1.1 - x};
  const double picked[] = {x + 10.25,   x * 20.5, 30.75 - x, x * x,
                           std::exp(x), x / 3.5,  -7.0};
  return std::exp(mapped[i % 3]) * table[i % 4] + picked[i % 7] + scalar;
}

/// Runs a kernel of `kernelText` over part of its data, and looks at all.
void checkKernel(const CodeImage &image, StringRef name, int64_t begin,
                 int64_t end, int64_t scalar) {
  auto *kernel = reinterpret_cast<KernelFunction>(image.lookup(name));
  ASSERT_NE(kernel, nullptr);
  constexpr int64_t size = 300;
  std::vector<double> x(size), out(size, -1);
  std::vector<char> marks(size, 'x');
  for (int64_t i = 0; i < size; ++i)
    x[i] = double((i * 37) % 101) / 40 - 1.2;
  void *buffers[] = {x.data(), out.data(), marks.data()};
  kernel(buffers, &scalar, begin, end);
  for (int64_t i = 0; i < size; ++i) {
    bool isInside = begin <= i && i < end;
    double expected = isInside ? expectedOf(i, x[i], scalar) : -1;
    EXPECT_NEAR(out[i], expected, 1e-12 * std::abs(expected)) << i;
    EXPECT_EQ(marks[i], isInside ? 90 : 'x') << i;
  }
}

//===----------------------------------------------------------------------===//
// Linking and running
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// What is not linked
//===----------------------------------------------------------------------===//

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
                         "'v' is weak or common"));
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

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

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
