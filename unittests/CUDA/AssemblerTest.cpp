//===- AssemblerTest.cpp - From PTX to machine code -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/Assembler.h"
#include "FakeDriver.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <fstream>
#include <thread>

using namespace metaops;
using mlir::metaop::Chip;

namespace {

/// y[i] = x[i] + i, and a barrier, in 64 bytes of shared memory.
constexpr const char *kPtx = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry adds(.param .u64 x)
{
  .shared .align 16 .b8 memory[64];
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [x];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.u32 %r2, [%d3];
  mov.u64 %d4, memory;
  st.shared.u32 [%d4], %r2;
  bar.sync 0;
  ld.shared.u32 %r3, [%d4];
  add.s32 %r2, %r3, %r1;
  st.global.u32 [%d3], %r2;
  ret;
}
)";

std::vector<std::string> getPackages() {
  return Toolkits::listPackages(METAOPS_PYTHON_PACKAGES);
}

/// Finds one kind of assembler alone.
AssemblerSearch searchNothing() {
  AssemblerSearch search;
  search.toolkits = Toolkits(getPackages());
  search.nvJitLinks = {};
  search.driver = "libcuda-absent.so";
  search.ptxas = "ptxas-absent";
  return search;
}

const Chip &getChip(const char *name = "sm_80") {
  return *llvm::cantFail(Chip::find(name));
}

bool isElf(const Cubin &cubin) {
  return cubin.code.substr(0, 4) == "\x7f"
                                    "ELF";
}

/// Checks what holds for each assembler: code, what it takes, errors with
/// lines.
void checkAssembler(Assembler &assembler) {
  Cubin cubin = llvm::cantFail(assembler.assemble(kPtx, getChip()));
  EXPECT_TRUE(isElf(cubin));
  ASSERT_EQ(cubin.kernels.size(), 1u);
  const KernelResources &kernel = cubin.kernels[0];
  EXPECT_EQ(kernel.name, "adds");
  EXPECT_GT(kernel.registers, 3);
  EXPECT_EQ(kernel.localBytes, 0);
  EXPECT_EQ(kernel.spillStoreBytes, 0);
  EXPECT_EQ(kernel.spillLoadBytes, 0);
  EXPECT_GE(kernel.sharedBytes, 64);
  // That of CUDA 12.1 does not tell.
  EXPECT_LE(kernel.barriers, 1);

  std::string wrong = kPtx;
  wrong.replace(wrong.find("bar.sync"), 8, "bar.sink");
  std::string message =
      toString(assembler.assemble(wrong, getChip()).takeError());
  EXPECT_NE(message.find(assembler.getDescription() + " refuses the PTX"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("line 18"), std::string::npos) << message;
  // The next is no worse for it.
  EXPECT_TRUE(isElf(llvm::cantFail(assembler.assemble(kPtx, getChip()))));
}

TEST(AssemblerTest, nvJitLink) {
  AssemblerSearch search = searchNothing();
  search.nvJitLinks = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
  auto assembler = findAssembler(search);
  if (!assembler)
    GTEST_SKIP() << toString(assembler.takeError());
  EXPECT_EQ((*assembler)->getDescription().substr(0, 11), "nvJitLink 1");
  checkAssembler(**assembler);
}

TEST(AssemblerTest, ptxas) {
  AssemblerSearch search = searchNothing();
  search.ptxas = "ptxas";
  auto assembler = findAssembler(search);
  if (!assembler)
    GTEST_SKIP() << toString(assembler.takeError());
  EXPECT_EQ((*assembler)->getDescription().substr(0, 7), "ptxas 1");
  checkAssembler(**assembler);
}

TEST(AssemblerTest, severalThreads) {
  AssemblerSearch search = searchNothing();
  search.nvJitLinks = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
  auto assembler = findAssembler(search);
  if (!assembler)
    GTEST_SKIP() << toString(assembler.takeError());
  Cubin expected = llvm::cantFail((*assembler)->assemble(kPtx, getChip()));
  std::vector<std::thread> threads;
  std::vector<Cubin> cubins(4);
  for (Cubin &cubin : cubins)
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i)
        cubin = llvm::cantFail((*assembler)->assemble(kPtx, getChip()));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Cubin &cubin : cubins) {
    EXPECT_EQ(cubin.kernels, expected.kernels);
    EXPECT_EQ(cubin.code, expected.code);
  }
}

TEST(AssemblerTest, codeIsForTheChipThatIsAskedFor) {
  AssemblerSearch search = searchNothing();
  search.nvJitLinks = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
  auto assembler = findAssembler(search);
  if (!assembler)
    GTEST_SKIP() << toString(assembler.takeError());
  Cubin old = llvm::cantFail((*assembler)->assemble(kPtx, getChip()));
  Cubin fresh = llvm::cantFail((*assembler)->assemble(kPtx, getChip("sm_90")));
  EXPECT_NE(old.code, fresh.code);
  std::string later = kPtx;
  later.replace(later.find("sm_80"), 5, "sm_90a");
  std::string message =
      toString((*assembler)->assemble(later, getChip()).takeError());
  EXPECT_NE(message.find("SM version specified by .target is higher"),
            std::string::npos)
      << message;
}

TEST(AssemblerTest, aNewerAssemblerGivesWayToTheDriver) {
  AssemblerSearch search = searchNothing();
  search.nvJitLinks = {"libnvJitLink.so.13", "libnvJitLink.so.12"};
  if (auto alone = findAssembler(search); !alone)
    GTEST_SKIP() << toString(alone.takeError());
  search.driver = METAOPS_FAKE_DRIVER;
  void *library = dlopen(METAOPS_FAKE_DRIVER, RTLD_NOW);
  auto *fake =
      reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "fakeDriver"))();
  auto describe = [&](int version) {
    *fake = FakeDriver();
    fake->version = version;
    return llvm::cantFail(findAssembler(search))->getDescription();
  };
  EXPECT_EQ(describe(11080), "the driver of CUDA 11.8");
  EXPECT_EQ(describe(99000).substr(0, 9), "nvJitLink");
  // A driver without a GPU decides nothing.
  *fake = FakeDriver();
  fake->version = 11080;
  fake->failing = "cuInit";
  EXPECT_EQ(
      llvm::cantFail(findAssembler(search))->getDescription().substr(0, 9),
      "nvJitLink");
}

TEST(AssemblerTest, saysWhatWasLookedFor) {
  AssemblerSearch search = searchNothing();
  search.toolkits = Toolkits({"/opt/one", "/opt/two"});
  search.nvJitLinks = {"libnvJitLink-absent.so.13"};
  EXPECT_EQ(
      toString(findAssembler(search).takeError()),
      "there is no assembler for GPUs. Looked for, with what brings it:\n"
      "  libnvJitLink-absent.so.13: the Python package nvidia-nvjitlink, or "
      "the "
      "CUDA toolkit\n"
      "  libcuda-absent.so: NVIDIA's driver; there is no use of a GPU: "
      "libcuda-absent.so: cannot open shared object file: No such file or "
      "directory (libcuda-absent.so is a part of NVIDIA's driver)\n"
      "  ptxas-absent: the Python package nvidia-cuda-nvcc, or the CUDA "
      "toolkit; there is none\n"
      "in /opt/one, /opt/two, and where the system looks for libraries and "
      "programs");
}

TEST(AssemblerTest, resources) {
  std::vector<KernelResources> kernels = parseResources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
      "ptxas info    : Function properties for a\n"
      "ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 "
      "bytes "
      "spill loads\n"
      "ptxas info    : Used 255 registers, used 2 barriers, 16 bytes "
      "cumulative "
      "stack size, 1024 bytes smem, 376 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
      "ptxas info    : Function properties for b\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers, 376 bytes cmem[0]\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], (KernelResources{"a", 255, 16, 8, 12, 1024, 2}));
  EXPECT_EQ(kernels[1], (KernelResources{"b", 8, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(parseResources("").empty());
  EXPECT_TRUE(parseResources("Used many registers\n").empty());
}

class ToolkitsTest : public ::testing::Test {
protected:
  ToolkitsTest() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(
        llvm::sys::fs::createUniqueDirectory("metaops-toolkits", path));
    folder = std::string(path);
  }
  ~ToolkitsTest() override { (void)llvm::sys::fs::remove_directories(folder); }
  std::string make(const std::string &parent, const std::string &name) {
    EXPECT_FALSE(llvm::sys::fs::create_directories(folder + "/" + parent));
    std::string path = folder + "/" + parent + "/" + name;
    std::ofstream(path) << "x";
    return path;
  }

  std::string folder;
};

TEST_F(ToolkitsTest, findFilesInOrder) {
  std::string second = make("two/nvvm/libdevice", "libdevice.10.bc");
  std::string library = make("two/lib", "liba.so");
  std::string other = make("one/lib64", "liba.so");
  Toolkits toolkits({folder + "/one", folder + "/two"});
  EXPECT_EQ(llvm::cantFail(toolkits.findLibdevice()), second);
  EXPECT_EQ(toolkits.findLibraries("liba.so"),
            (std::vector<std::string>{other, library}));
  EXPECT_TRUE(toolkits.findLibraries("libb.so").empty());
  // A file that cannot be run is no program.
  make("one/bin", "metaops-absent-program");
  EXPECT_FALSE(toolkits.findProgram("metaops-absent-program"));
}

TEST_F(ToolkitsTest, sayWhoBringsLibdevice) {
  EXPECT_EQ(toString(Toolkits({folder}).findLibdevice().takeError()),
            "nvvm/libdevice/libdevice.10.bc was looked for in " + folder +
                "; the CUDA toolkit brings it, and so does the Python package "
                "nvidia-nvvm (for CUDA 12, nvidia-cuda-nvcc-cu12)");
}

TEST_F(ToolkitsTest, packagesAndVariables) {
  make("nvidia/cu13/lib", "a");
  make("nvidia/cuda_nvcc/lib", "a");
  make("nvidia", "__init__.py");
  EXPECT_EQ(Toolkits::listPackages(folder),
            (std::vector<std::string>{folder + "/nvidia/cu13",
                                      folder + "/nvidia/cuda_nvcc"}));
  EXPECT_TRUE(Toolkits::listPackages(folder + "/absent").empty());
  setenv("CUDA_HOME", "/opt/home", 1);
  setenv("CUDA_PATH", "", 1);
  std::vector<std::string> roots = Toolkits::detect({"/opt/first"}).getRoots();
  unsetenv("CUDA_HOME");
  unsetenv("CUDA_PATH");
  ASSERT_GE(roots.size(), 3u);
  EXPECT_EQ(roots[0], "/opt/first");
  EXPECT_EQ(roots[1], "/opt/home");
  EXPECT_EQ(roots[2], "/usr/local/cuda");
}

} // namespace
