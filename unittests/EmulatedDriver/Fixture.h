//===- Fixture.h - An emulated driver in a test -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_UNITTESTS_EMULATEDDRIVER_FIXTURE_H
#define METAOPS_UNITTESTS_EMULATEDDRIVER_FIXTURE_H

#include "MetaOps/Runtime/CUDA/DriverEmulation.h"
#include "MetaOps/Runtime/EmulatedDriver/EmulatedDriver.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace metaops {

/// Kernels of 32 threads: @add(%x, %y, %k), y[i] = x[i] + k, and @late(%x, %y,
/// %k), which reads and writes 1024 elements on.
extern const char *const kKernels;

/// Results of the driver that tests ask for.
enum : DriverResult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kLaunchFailed = 719
};

class EmulatedDriverTest : public ::testing::Test {
protected:
  EmulatedDriverTest() { start({}); }

  /// Opens a driver, and uses its first GPU.
  void start(EmulatedDriverOptions options);
  /// Gives back what start has taken.
  void stop();

  /// Expects a result, and a fault that says something; none where it is empty.
  void expect(DriverResult wanted, const std::string &fault,
              DriverResult result);
  void expectSuccess(DriverResult result) { expect(kSuccess, "", result); }

  DevicePointer allocate(size_t count = 32);
  DriverHandle makeStream(unsigned flags = 0);
  DriverHandle makeEvent();
  /// Of a module with kKernels.
  DriverHandle getFunction(const char *name);

  DriverResult upload(DevicePointer to, const std::vector<float> &from,
                      DriverHandle stream);
  DriverResult download(std::vector<float> &to, DevicePointer from,
                        DriverHandle stream);
  DriverResult launch(DriverHandle function, DevicePointer x, DevicePointer y,
                      float k, DriverHandle stream = nullptr);
  static CallPiece makePiece(const char *name, DevicePointer begin,
                             bool isInput, bool isResult);

  std::unique_ptr<EmulatedDriver> emulated;
  std::shared_ptr<const Driver> driver;
  DriverHandle context = nullptr, module = nullptr;
  int device = 0;
};

} // namespace metaops

#endif // METAOPS_UNITTESTS_EMULATEDDRIVER_FIXTURE_H
