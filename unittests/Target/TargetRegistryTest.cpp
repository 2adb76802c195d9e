//===- TargetRegistryTest.cpp - Targets by name ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Target/AllTargets.h"
#include "MetaOps/Target/CPU/CpuTarget.h"
#include "MetaOps/Target/NVGPU/NvgpuTarget.h"

#include "gtest/gtest.h"

using namespace mlir::metaop;

namespace {

class TargetRegistryTest : public ::testing::Test {
protected:
  TargetRegistryTest() { registerAllTargets(registry); }

  std::string print(llvm::StringRef text) {
    return cantFail(registry.create(text))->str();
  }
  std::string getError(llvm::StringRef text) {
    auto target = registry.create(text);
    return target ? "" : toString(target.takeError());
  }

  TargetRegistry registry;
};

TEST_F(TargetRegistryTest, HasThoseOfTheBuild) {
  for (const char *name : {"cpu", "cuda"}) {
    const TargetKind *kind = registry.find(name);
    ASSERT_NE(kind, nullptr) << name;
    EXPECT_FALSE(kind->summary.empty());
    EXPECT_GE(cantFail(kind->create(""))->getPhases().size(), 2u);
  }
  EXPECT_EQ(registry.find("abacus"), nullptr);
}

TEST_F(TargetRegistryTest, OptionsAreBound) {
  EXPECT_EQ(print("cpu processor={avx2 l2=99}"),
            "cpu processor={vector-bits=256 registers=16 l1=32768 l2=99 "
            "stream=33554432 fma=1 vector-math=1}");
  EXPECT_EQ(print("cuda"), "cuda chip=sm_90a");
  EXPECT_EQ(print("cuda float-atomics=true chip=sm_80 libdevice=/x.bc"),
            "cuda chip=sm_80 libdevice={/x.bc} float-atomics=true");
}

TEST_F(TargetRegistryTest, WhatATargetPrintsMakesItAgain) {
  for (const char *text :
       {"cpu", "cpu processor=sse", "cuda chip=sm_86",
        "cuda chip=sm_80 float-atomics=true", "cuda libdevice={/a folder/x.bc}",
        "cuda libdevice=\"/a folder/x.bc\" chip=sm_80"})
    EXPECT_EQ(print(print(text)), print(text));
}

TEST_F(TargetRegistryTest, ErrorsSayWhatThereIs) {
  EXPECT_EQ(getError("abacus beads=10"),
            "there is no target 'abacus'; expected cpu or cuda");
  EXPECT_EQ(getError(""), "there is no target ''; expected cpu or cuda");
  EXPECT_EQ(getError("cpu processor={avx2 l2=5} chip=sm_80"),
            "target 'cpu' has no option 'chip'; it has processor");
}

TEST_F(TargetRegistryTest, AKindReplacesOneOfItsName) {
  size_t count = registry.getKinds().size();
  TargetKind kind;
  kind.name = "cpu";
  kind.summary = "another one";
  kind.create =
      [](llvm::StringRef) -> llvm::Expected<std::shared_ptr<const Target>> {
    return llvm::createStringError("cannot be made");
  };
  registry.add(std::move(kind));
  EXPECT_EQ(registry.getKinds().size(), count);
  EXPECT_EQ(getError("cpu"), "target 'cpu': cannot be made");
}

} // namespace
