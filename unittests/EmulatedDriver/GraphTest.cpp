//===- GraphTest.cpp - Graphs that are emulated ---------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "MetaOps/Runtime/CUDA/GraphNodes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace metaops;

namespace {

/// A graph that copies ones to x, adds 1 in y and 2 in z, each from x, and
/// copies both back.
class GraphTest : public EmulatedDriverTest {
protected:
  GraphTest() { make(0); }
  ~GraphTest() override { drop(); }

  void make(uint64_t seed) {
    EmulatedDriverOptions options;
    options.seed = seed;
    start(options);
    for (DevicePointer *memory : {&x, &y, &z})
      *memory = allocate();
    stream = makeStream();
    expectSuccess(driver->createGraph(&graph, 0));
    add = getFunction("add");
  }
  void drop() {
    expectSuccess(driver->waitForContext());
    if (instance)
      expectSuccess(driver->destroyInstance(instance));
    instance = nullptr;
    expectSuccess(driver->destroyGraph(graph));
    expectSuccess(driver->destroyStream(stream));
    for (DevicePointer memory : {x, y, z})
      if (memory)
        expectSuccess(driver->free(memory));
    stop();
    EXPECT_EQ(emulated->listLeaks(), std::vector<std::string>());
  }

  using Nodes = std::vector<DriverHandle>;

  DriverHandle addUpload(const std::vector<float> &from) {
    CopyNode copy;
    copy.from.memoryType = CopyEnd::kHost;
    copy.from.host = from.data();
    copy.to.memoryType = CopyEnd::kDevice;
    copy.to.device = x;
    copy.bytes = 128;
    DriverHandle node = nullptr;
    expectSuccess(
        driver->addCopyNode(&node, graph, nullptr, 0, &copy, context));
    return node;
  }
  DriverHandle addDownload(std::vector<float> &to, DevicePointer from,
                           const Nodes &before) {
    CopyNode copy;
    copy.from.memoryType = CopyEnd::kDevice;
    copy.from.device = from;
    copy.to.memoryType = CopyEnd::kHost;
    copy.to.host = to.data();
    copy.bytes = 128;
    DriverHandle node = nullptr;
    expectSuccess(driver->addCopyNode(&node, graph, before.data(),
                                      before.size(), &copy, context));
    return node;
  }
  /// Says what the launch reads and writes, of which two may read the same.
  DriverResult withLaunch(DevicePointer from, DevicePointer to, float k,
                          llvm::function_ref<DriverResult(KernelNode &)> use) {
    CallDescription call;
    call.pieces = {makePiece("input 0", from, true, false),
                   makePiece("result 0", to, false, true)};
    driver->getEmulation()->beginCall(std::move(call));
    void *arguments[] = {&from, &to, &k};
    KernelNode kernel;
    kernel.function = add;
    kernel.blockX = 32;
    kernel.arguments = arguments;
    DriverResult result = use(kernel);
    driver->getEmulation()->endCall();
    return result;
  }
  DriverHandle addLaunch(DevicePointer from, DevicePointer to, float k,
                         const Nodes &before) {
    DriverHandle node = nullptr;
    expectSuccess(withLaunch(from, to, k, [&](KernelNode &kernel) {
      return driver->addKernelNode(&node, graph, before.data(), before.size(),
                                   &kernel);
    }));
    return node;
  }
  void instantiate() {
    expectSuccess(driver->instantiateGraph(&instance, graph, 0));
  }

  DevicePointer x, y, z;
  DriverHandle stream, graph, instance = nullptr, add;
  std::vector<float> ones = std::vector<float>(32, 1);
  std::vector<float> first = std::vector<float>(32);
  std::vector<float> second = std::vector<float>(32);
};

TEST_F(GraphTest, nodesRunInAnyOrderOfTheirEdges) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    drop();
    make(seed);
    DriverHandle upload = addUpload(ones);
    DriverHandle one = addLaunch(x, y, 1, {upload});
    DriverHandle two = addLaunch(x, z, 2, {upload});
    addDownload(first, y, {one});
    addDownload(second, z, {two});
    instantiate();
    for (float value : {1.0f, 5.0f}) {
      ones.assign(32, value);
      expectSuccess(driver->launchGraph(instance, stream));
      // Later work of the stream is behind all of it.
      expectSuccess(driver->enqueueFill(x, 0, 128, stream));
      expectSuccess(driver->waitForStream(stream));
      EXPECT_EQ(first, std::vector<float>(32, value + 1));
      EXPECT_EQ(second, std::vector<float>(32, value + 2));
    }
  }
}

TEST_F(GraphTest, anEdgeThatIsLeftOutIsFound) {
  addUpload(ones);
  addLaunch(x, y, 1, {});
  instantiate();
  expect(kLaunchFailed,
         "a launch of add and a graph's copy of 128 bytes use the same bytes",
         driver->launchGraph(instance, stream));
}

TEST_F(GraphTest, addressesThatAreStaleAreFound) {
  expectSuccess(driver->enqueueFill(x, 0, 128, stream));
  DriverHandle node = addLaunch(x, y, 1, {});
  DriverHandle fetched = addDownload(first, z, {});
  EXPECT_NE(node, fetched);
  instantiate();
  expectSuccess(driver->waitForStream(stream));
  expectSuccess(driver->free(y));
  expect(kInvalidValue, "128 bytes of GPU 0, which were freed",
         driver->launchGraph(instance, stream));
  y = allocate();
  // The node's parameters are its own until they are set.
  expect(kInvalidValue, "which were freed",
         driver->launchGraph(instance, stream));
  expectSuccess(withLaunch(x, y, 3, [&](KernelNode &kernel) {
    return driver->setKernelNode(instance, node, &kernel);
  }));
  expectSuccess(driver->launchGraph(instance, stream));
  expectSuccess(driver->copyToHost(first.data(), y, 128));
  EXPECT_EQ(first, std::vector<float>(32, 3));
}

TEST_F(GraphTest, whatIsNotInAGraphIsRefused) {
  DriverHandle node = nullptr, other = nullptr;
  FillNode fill;
  fill.to = x;
  fill.width = 128;
  expectSuccess(driver->addFillNode(&node, graph, nullptr, 0, &fill, context));
  expectSuccess(driver->createGraph(&other, 0));
  DriverHandle second = nullptr;
  expect(kInvalidHandle, "an edge is from no node of the graph",
         driver->addFillNode(&second, other, &node, 1, &fill, context));
  expect(kInvalidHandle, "there is no such graph",
         driver->instantiateGraph(&second, node, 0));
  fill.width = 256;
  expect(kInvalidValue, "which are not as many",
         driver->addFillNode(&second, other, nullptr, 0, &fill, context));
  expectSuccess(driver->destroyGraph(other));
}

TEST_F(GraphTest, anInstanceIsInOrderWithItself) {
  FillNode fill;
  fill.to = x;
  fill.width = 128;
  DriverHandle node = nullptr;
  expectSuccess(driver->addFillNode(&node, graph, nullptr, 0, &fill, context));
  instantiate();
  DriverHandle other = makeStream(/*non-blocking*/ 1);
  expectSuccess(driver->launchGraph(instance, stream));
  expectSuccess(driver->launchGraph(instance, other));
  expectSuccess(driver->waitForStream(other));
  expectSuccess(driver->destroyStream(other));
}

} // namespace
