//===- ImageFixture.h - Kernels as images, for tests ------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_RUNTIME_IMAGEFIXTURE_H
#define METAOPS_UNITTESTS_RUNTIME_IMAGEFIXTURE_H

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
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>

namespace metaops {

using llvm::ArrayRef;
using llvm::StringRef;

constexpr StringRef kX86 = "x86_64-unknown-linux-gnu";
constexpr StringRef kAArch64 = "aarch64-unknown-linux-gnu";

inline StringRef hostTriple() {
  return getHostArchitecture() == ImageArchitecture::AArch64 ? kAArch64 : kX86;
}

using Object = std::unique_ptr<llvm::MemoryBuffer>;

/// The object file of a module in LLVM's assembly.
inline Object compile(StringRef text, StringRef name = "a.o",
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

inline llvm::Expected<std::string> link(ArrayRef<Object> objects,
                                        ArrayRef<std::string> entries,
                                        StringRef triple = hostTriple()) {
  std::vector<llvm::MemoryBufferRef> references;
  for (const Object &object : objects)
    references.push_back(object->getMemBufferRef());
  return linkImage(references, entries, llvm::Triple(triple));
}

inline llvm::Expected<std::string> link(Object object,
                                        ArrayRef<std::string> entries,
                                        StringRef triple = hostTriple()) {
  std::vector<Object> objects;
  objects.push_back(std::move(object));
  return link(objects, entries, triple);
}

/// The C library's functions that the tests need.
inline void *resolve(StringRef name) {
  if (name == "exp")
    return reinterpret_cast<void *>(static_cast<double (*)(double)>(std::exp));
  if (name == "memset")
    return reinterpret_cast<void *>(std::memset);
  return nullptr;
}

inline ArrayRef<char> bytesOf(const std::string &text) {
  return ArrayRef(text.data(), text.size());
}

inline std::shared_ptr<const CodeImage> load(const std::string &bytes) {
  return cantFail(CodeImage::load(bytesOf(bytes), resolve));
}

template <typename T> std::string failureOf(llvm::Expected<T> result) {
  return result ? "no failure" : toString(result.takeError());
}

inline testing::AssertionResult contains(StringRef text, StringRef part) {
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
inline std::string kernelText(StringRef name) {
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

inline double expectedOf(int64_t i, double x, int64_t scalar) {
  const double table[] = {1.5, -2.25, 3.125, 0.75};
  const double mapped[] = {x * x, x * 0.5, 1.1 - x};
  const double picked[] = {x + 10.25,   x * 20.5, 30.75 - x, x * x,
                           std::exp(x), x / 3.5,  -7.0};
  return std::exp(mapped[i % 3]) * table[i % 4] + picked[i % 7] + scalar;
}

/// Runs a kernel of `kernelText` over part of its data, and looks at all.
inline void checkKernel(const CodeImage &image, StringRef name, int64_t begin,
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

} // namespace metaops

#endif // METAOPS_UNITTESTS_RUNTIME_IMAGEFIXTURE_H
