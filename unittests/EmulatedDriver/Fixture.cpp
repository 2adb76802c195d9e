//===- Fixture.cpp - An emulated driver in a test -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "llvm/ADT/StringRef.h"

using namespace metaops;

namespace metaops {
const char *const kKernels = R"(
gpu.module @m {
  llvm.func @add(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %k: f32)
      attributes {gpu.kernel, nvvm.kernel} {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    %sum = llvm.fadd %v, %k : f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %sum, %to : f32, !llvm.ptr<1>
    llvm.return
  }
  llvm.func @late(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %k: f32)
      attributes {gpu.kernel, nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %offset = llvm.mlir.constant(1024 : i32) : i32
    %i = llvm.add %tid, %offset : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %v, %to : f32, !llvm.ptr<1>
    llvm.return
  }
})";
} // namespace metaops

void EmulatedDriverTest::start(EmulatedDriverOptions options) {
  stop();
  emulated = std::make_unique<EmulatedDriver>(options);
  driver = llvm::cantFail(emulated->open());
  expectSuccess(driver->getDevice(&device, 0));
  expectSuccess(driver->retainContext(&context, device));
  expectSuccess(driver->pushContext(context));
}

void EmulatedDriverTest::stop() {
  if (!driver)
    return;
  if (module)
    expectSuccess(driver->unloadModule(module));
  module = nullptr;
  DriverHandle popped = nullptr;
  expectSuccess(driver->popContext(&popped));
  EXPECT_EQ(popped, context);
  expectSuccess(driver->releaseContext(device));
  driver.reset();
}

void EmulatedDriverTest::expect(DriverResult wanted, const std::string &fault,
                                DriverResult result) {
  std::string found = driver->getEmulation()->takeFaults();
  EXPECT_EQ(result, wanted) << found;
  EXPECT_EQ(fault.empty(), found.empty()) << found;
  EXPECT_TRUE(llvm::StringRef(found).contains(fault))
      << found << "\nis expected to say\n"
      << fault;
}

DevicePointer EmulatedDriverTest::allocate(size_t count) {
  DevicePointer address = 0;
  expectSuccess(driver->allocate(&address, count * sizeof(float)));
  return address;
}

DriverHandle EmulatedDriverTest::makeStream(unsigned flags) {
  DriverHandle stream = nullptr;
  expectSuccess(driver->createStream(&stream, flags));
  return stream;
}

DriverHandle EmulatedDriverTest::makeEvent() {
  DriverHandle event = nullptr;
  expectSuccess(driver->createEvent(&event, 0));
  return event;
}

DriverHandle EmulatedDriverTest::getFunction(const char *name) {
  if (!module)
    expectSuccess(driver->loadModule(
        &module, EmulatedDriver::makeImage(kKernels).data()));
  DriverHandle function = nullptr;
  expectSuccess(driver->getFunction(&function, module, name));
  return function;
}

DriverResult EmulatedDriverTest::upload(DevicePointer to,
                                        const std::vector<float> &from,
                                        DriverHandle stream) {
  return driver->enqueueToDevice(to, from.data(), from.size() * sizeof(float),
                                 stream);
}

DriverResult EmulatedDriverTest::download(std::vector<float> &to,
                                          DevicePointer from,
                                          DriverHandle stream) {
  return driver->enqueueToHost(to.data(), from, to.size() * sizeof(float),
                               stream);
}

DriverResult EmulatedDriverTest::launch(DriverHandle function, DevicePointer x,
                                        DevicePointer y, float k,
                                        DriverHandle stream) {
  void *arguments[] = {&x, &y, &k};
  return driver->launch(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments,
                        nullptr);
}

CallPiece EmulatedDriverTest::makePiece(const char *name, DevicePointer begin,
                                        bool isInput, bool isResult) {
  return {name, begin, 32 * sizeof(float), isInput, isResult};
}
