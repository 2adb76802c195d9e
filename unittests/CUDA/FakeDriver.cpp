//===- FakeDriver.cpp - A driver without a GPU ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Built as a library of its own, in place of libcuda.so.1. It writes down what
// it is asked for, keeps GPU memory in the host's, and fails where it is told
// to. What kernels do does not depend on their code.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include <cstdlib>
#include <cstring>
#include <set>

static FakeDriver state;

FakeDriver *fakeDriver() { return &state; }

/// Writes a call down, and tells whether it fails.
static int call(const std::string &name, const std::string &details = "") {
  state.calls.push_back(details.empty() ? name : name + " " + details);
  return name == state.failing ? 2 : 0;
}

static std::string text(unsigned number) { return std::to_string(number); }

/// A thing that has to be given back.
static void *makeHandle() {
  ++state.live;
  return std::malloc(1);
}
static void dropHandle(void *handle) {
  --state.live;
  std::free(handle);
}

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the names are the driver's.

int cuInit(unsigned) { return call("cuInit"); }
int cuDriverGetVersion(int *version) {
  *version = state.version;
  return 0;
}
int cuGetErrorName(int, const char **name) {
  *name = "CUDA_ERROR_OUT_OF_MEMORY";
  return 0;
}
int cuGetErrorString(int, const char **text) {
  *text = "out of memory";
  return 0;
}
int cuDeviceGetCount(int *count) {
  *count = state.devices;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = 7 + ordinal;
  return call("cuDeviceGet", text(ordinal));
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75 ? state.capability / 10 : state.capability % 10;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (int error = call("cuDevicePrimaryCtxRetain", text(device)))
    return error;
  *context = &state;
  ++state.live;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --state.live;
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  if (int error = call("cuCtxPushCurrent"))
    return error;
  state.depth += context == &state;
  return 0;
}
int cuCtxPopCurrent_v2(void **) {
  --state.depth;
  return 0;
}
int cuMemAlloc_v2(uint64_t *address, size_t size) {
  if (int error = call("cuMemAlloc", text(size)))
    return error;
  ++state.live;
  *address = reinterpret_cast<uint64_t>(std::malloc(size));
  return 0;
}
int cuMemFree_v2(uint64_t address) {
  dropHandle(reinterpret_cast<void *>(address));
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return call("cuMemcpyHtoD", text(size));
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return call("cuMemcpyDtoH", text(size));
}
int cuModuleLoadData(void **module, const void *image) {
  if (int error = call("cuModuleLoadData", static_cast<const char *>(image)))
    return error;
  if (static_cast<const char *>(image) == state.refused)
    return 209;
  *module = makeHandle();
  return 0;
}
int cuModuleUnload(void *module) {
  dropHandle(module);
  return 0;
}
int cuModuleGetFunction(void **function, void *, const char *name) {
  *function = &state;
  return call("cuModuleGetFunction", name);
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  return call("cuFuncSetAttribute", text(attribute) + " " + text(value));
}
int cuLaunchKernel(void *, unsigned gridX, unsigned gridY, unsigned gridZ,
                   unsigned blockX, unsigned blockY, unsigned blockZ,
                   unsigned sharedBytes, void *, void **arguments, void **) {
  if (int error =
          call("cuLaunchKernel", text(gridX * gridY * gridZ) + " x " +
                                     text(blockX * blockY * blockZ) + ", " +
                                     text(sharedBytes) + " bytes"))
    return error;
  state.blocks = gridX * gridY * gridZ;
  state.threads = blockX * blockY * blockZ;
  if (state.kernel)
    state.kernel(arguments);
  return 0;
}
int cuEventCreate(void **event, unsigned) {
  *event = makeHandle();
  return 0;
}
int cuEventDestroy_v2(void *event) {
  dropHandle(event);
  return 0;
}
int cuEventRecord(void *, void *) { return call("cuEventRecord"); }
int cuEventSynchronize(void *) { return call("cuEventSynchronize"); }
int cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = state.time ? state.time(state.blocks) : 1.5f;
  return 0;
}

int cuLinkCreate_v2(unsigned count, int *names, void **values, void **link) {
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] == 3)
      state.info = static_cast<char *>(values[i]);
    if (names[i] == 5)
      state.errors = static_cast<char *>(values[i]);
    if (names[i] == 9)
      state.target = static_cast<int>(reinterpret_cast<uintptr_t>(values[i]));
  }
  *link = makeHandle();
  return call("cuLinkCreate");
}
int cuLinkAddData_v2(void *, int, void *data, size_t, const char *, unsigned,
                     int *, void **) {
  if (std::string(static_cast<char *>(data)).find("bogus") == std::string::npos)
    return call("cuLinkAddData");
  std::strcpy(state.errors, "ptxas ptx, line 3; error : bogus\n");
  return 218;
}
int cuLinkComplete(void *, void **code, size_t *size) {
  std::strcpy(state.info,
              "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
              "ptxas info    : Used 40 registers\n");
  *code = state.code.data();
  *size = state.code.size();
  return call("cuLinkComplete");
}
#ifndef WITHOUT_LINK_DESTROY
int cuLinkDestroy(void *link) {
  dropHandle(link);
  return 0;
}
#endif

// NOLINTEND(readability-identifier-naming)
} // extern "C"
