//===- Devices.cpp - GPUs and their contexts ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace metaops;
using namespace metaops::emulated;

/// The handle of the first GPU, which is not its ordinal.
static constexpr int kFirstDevice = 100;
static constexpr int kCudaVersion = 13000;

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerEmulatorDialects(registry);
  return registry;
}

Machine::Machine(const EmulatedDriverOptions &options)
    : options(options), process(getpid()), compilers(makeRegistry()),
      memory(options.devices, options.memory), schedule(options.seed) {
  for (unsigned device = 0; device < options.devices; ++device)
    contexts.push_back(std::make_unique<Context>(device));
}

Machine::~Machine() = default;

DriverResult Machine::checkProcess() const {
  // The driver does not follow a process into its children.
  return getpid() == process ? SUCCESS : ERROR_NOT_INITIALIZED;
}

DriverResult Machine::fail(DriverResult result, const std::string &fault) {
  std::string &found = faults[std::this_thread::get_id()];
  found += (found.empty() ? "" : "\n") + fault;
  return result;
}

std::string Machine::takeFaults() {
  if (checkProcess())
    return "";
  std::lock_guard lock(mutex);
  auto found = faults.find(std::this_thread::get_id());
  if (found == faults.end())
    return "";
  std::string text = std::move(found->second);
  faults.erase(found);
  return text;
}

/// Returns the GPUs that programs see: all where nothing hides them, else those
/// that CUDA_VISIBLE_DEVICES lists before the first that there is not.
static std::vector<unsigned> listVisible(const EmulatedDriverOptions &options) {
  std::vector<unsigned> visible;
  const char *text =
      options.mayBeHidden ? std::getenv("CUDA_VISIBLE_DEVICES") : nullptr;
  if (!text) {
    for (unsigned device = 0; device < options.devices; ++device)
      visible.push_back(device);
    return visible;
  }
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(text).split(names, ',');
  for (llvm::StringRef name : names) {
    unsigned device = 0;
    if (name.trim().getAsInteger(10, device) || device >= options.devices)
      break;
    visible.push_back(device);
  }
  return visible;
}

DriverResult Machine::init(unsigned) {
  if (!isStarted)
    visible = listVisible(options);
  isStarted = true;
  return visible.empty() ? ERROR_NO_DEVICE : SUCCESS;
}

DriverResult Machine::getVersion(int *version) {
  *version = kCudaVersion;
  return SUCCESS;
}

DriverResult Machine::countDevices(int *count) {
  *count = static_cast<int>(visible.size());
  return isStarted ? SUCCESS : ERROR_NOT_INITIALIZED;
}

DriverResult Machine::getDevice(int *device, int ordinal) {
  if (!isStarted)
    return ERROR_NOT_INITIALIZED;
  if (ordinal < 0 || size_t(ordinal) >= visible.size())
    return fail(ERROR_INVALID_DEVICE, "there are " +
                                          std::to_string(visible.size()) +
                                          " GPUs, the first of which is 0");
  *device = kFirstDevice + static_cast<int>(visible[ordinal]);
  return SUCCESS;
}

Context *Machine::findDevice(int device) {
  size_t number = size_t(device) - kFirstDevice;
  return number < contexts.size() ? contexts[number].get() : nullptr;
}

/// Returns 90 for sm_90a.
static int getCapability(const mlir::metaop::Chip &chip) {
  int capability = 0;
  llvm::StringRef(chip.name)
      .drop_front(strlen("sm_"))
      .take_while(llvm::isDigit)
      .getAsInteger(10, capability);
  return capability;
}

DriverResult Machine::getDeviceAttribute(int *value, int attribute,
                                         int device) {
  if (!findDevice(device))
    return ERROR_INVALID_DEVICE;
  const mlir::metaop::Chip &chip = *options.chip;
  switch (attribute) {
  case CAPABILITY_MAJOR:
    *value = getCapability(chip) / 10;
    return SUCCESS;
  case CAPABILITY_MINOR:
    *value = getCapability(chip) % 10;
    return SUCCESS;
  case MULTIPROCESSORS:
    *value = static_cast<int>(chip.multiprocessors);
    return SUCCESS;
  case SHARED_BYTES_OF_BLOCK:
    *value = static_cast<int>(chip.sharedBytesOfBlock);
    return SUCCESS;
  default:
    return fail(ERROR_NOT_SUPPORTED, "an emulated GPU has no attribute " +
                                         std::to_string(attribute));
  }
}

DriverResult Machine::getDeviceName(char *name, int size, int device) {
  if (!findDevice(device) || size <= 0)
    return ERROR_INVALID_DEVICE;
  std::string text = ("emulated " + options.chip->name).str();
  std::strncpy(name, text.c_str(), size - 1);
  name[size - 1] = 0;
  return SUCCESS;
}

DriverResult Machine::getTotalMemory(size_t *bytes, int device) {
  if (!findDevice(device))
    return ERROR_INVALID_DEVICE;
  *bytes = options.memory;
  return SUCCESS;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

DriverResult Machine::retainContext(DriverHandle *context, int device) {
  Context *found = findDevice(device);
  if (!found)
    return ERROR_INVALID_DEVICE;
  ++found->retained;
  *context = found;
  return SUCCESS;
}

DriverResult Machine::releaseContext(int device) {
  Context *context = findDevice(device);
  if (!context || context->retained == 0)
    return ERROR_INVALID_CONTEXT;
  if (--context->retained == 0)
    destroy(*context);
  return SUCCESS;
}

/// Takes all with it that was made in a context.
void Machine::destroy(Context &context) {
  for (const OperationRef &last : listLast(context.legacy))
    wait(last);
  context.legacy.last = nullptr;
  context.ends.clear();
  auto erase = [&](auto &things, const std::string &kind) {
    for (auto it = things.begin(); it != things.end();) {
      bool isOfContext = it->second->context == &context;
      if (isOfContext)
        lost.push_back(kind + " of GPU " + std::to_string(context.device));
      it = isOfContext ? things.erase(it) : std::next(it);
    }
  };
  erase(streams, "a stream");
  erase(events, "an event");
  erase(modules, "a module");
  erase(graphs, "a graph");
  erase(instances, "an instance of a graph");
  for (const Block &block : memory.list())
    if (block.device == context.device) {
      schedule.completeUses(block.begin, block.getEnd());
      memory.giveBack(block.begin);
      lost.push_back(block.str());
    }
}

std::vector<std::string> Machine::listLeaks() {
  std::lock_guard lock(mutex);
  std::vector<std::string> leaks = lost;
  for (const Block &block : memory.list())
    leaks.push_back(block.str());
  auto add = [&](size_t count, const std::string &kind) {
    leaks.insert(leaks.end(), count, kind);
  };
  add(streams.size(), "a stream");
  add(events.size(), "an event");
  add(modules.size(), "a module");
  add(graphs.size(), "a graph");
  add(instances.size(), "an instance of a graph");
  for (const auto &context : contexts)
    add(context->retained, "a context");
  return leaks;
}

DriverResult Machine::pushContext(DriverHandle handle) {
  for (const std::unique_ptr<Context> &context : contexts)
    if (context.get() == handle && context->retained > 0) {
      current[std::this_thread::get_id()].push_back(context.get());
      return SUCCESS;
    }
  return fail(ERROR_INVALID_CONTEXT, "nobody retains such a context");
}

DriverResult Machine::popContext(DriverHandle *context) {
  auto found = current.find(std::this_thread::get_id());
  if (found == current.end())
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  *context = found->second.back();
  found->second.pop_back();
  if (found->second.empty())
    current.erase(found);
  return SUCCESS;
}

Context *Machine::getCurrent() const {
  auto found = current.find(std::this_thread::get_id());
  return found == current.end() ? nullptr : found->second.back();
}

DriverResult Machine::waitForContext() {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  for (const OperationRef &last : listLast(context->legacy))
    wait(last);
  for (const auto &[handle, stream] : streams)
    if (stream->context == context)
      wait(stream->last);
  return hasFaults() ? ERROR_LAUNCH_FAILED : SUCCESS;
}
