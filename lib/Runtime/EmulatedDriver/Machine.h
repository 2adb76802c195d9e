//===- Machine.h - The GPUs of an emulated driver ---------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_LIB_RUNTIME_EMULATEDDRIVER_MACHINE_H
#define METAOPS_LIB_RUNTIME_EMULATEDDRIVER_MACHINE_H

#include "AddressSpace.h"
#include "MetaOps/Runtime/CUDA/DriverEmulation.h"
#include "MetaOps/Runtime/CUDA/GraphNodes.h"
#include "MetaOps/Runtime/EmulatedDriver/EmulatedDriver.h"
#include "MetaOps/Runtime/Emulator/EmulatedKernel.h"
#include "MetaOps/Runtime/Kernels/ContextPool.h"
#include "Results.h"
#include "Schedule.h"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace metaops::emulated {

struct Context;

/// Work in order. One that blocks is in order with the legacy stream, too.
struct Stream {
  Context *context;
  bool isBlocking;
  /// Null where there is none.
  OperationRef last;
};

/// The context of a GPU, which all who retain it share.
struct Context {
  unsigned device;
  unsigned retained = 0;
  Stream legacy{this, true, nullptr};
  /// The last operations of streams that block and are gone.
  std::vector<OperationRef> ends;

  explicit Context(unsigned device) : device(device) {}
};

struct Event {
  Context *context;
  /// Null before it was recorded.
  OperationRef recorded;
};

struct Module;

/// A kernel of a module, and what launches of it may ask for.
struct Function {
  Module *module;
  std::unique_ptr<EmulatedKernel> kernel;
  unsigned sharedBytes = 48 << 10;
  unsigned cluster = 8;
};

struct Module {
  Context *context;
  std::map<std::string, Function> functions;
};

/// A call whose launches were described, and what they have done so far.
struct DescribedCall {
  explicit DescribedCall(CallDescription call);

  CallDescription description;
  /// The pieces as the host's emulator knows them.
  std::vector<Allocation> allocations;
  std::deque<WrittenBytes> written;
  LaunchCounts counts;
};

/// A launch with all that it takes, by value.
struct PreparedLaunch {
  std::shared_ptr<Module> module;
  const EmulatedKernel *kernel = nullptr;
  LaunchShape shape;
  std::vector<uint64_t> words;
  std::shared_ptr<DescribedCall> call;
};

/// Calls of one launch of a graph, by those that its nodes were made in.
using FreshCalls =
    std::map<const DescribedCall *, std::shared_ptr<DescribedCall>>;

/// The work of a graph's node, which is looked into at each launch.
struct GraphWork {
  std::function<DriverResult()> check;
  std::function<OperationRef(FreshCalls &)> make;
};

struct GraphNode {
  GraphWork work;
  /// The places of others in the graph.
  std::vector<size_t> before;
};

/// A graph, or an instance of one, which has its own work for the same nodes.
struct Graph {
  Context *context;
  std::vector<GraphNode> nodes;
  std::vector<std::shared_ptr<char>> handles;
  /// The end of an instance's last launch, which its next one comes behind.
  OperationRef last;

  std::optional<size_t> getNumber(DriverHandle handle) const {
    for (size_t i = 0; i < handles.size(); ++i)
      if (handles[i].get() == handle)
        return i;
    return std::nullopt;
  }
};

/// The state of an emulated driver. Its functions are those of the driver's
/// table, by the same names, and are called one at a time.
class Machine : public DriverEmulation {
public:
  explicit Machine(const EmulatedDriverOptions &options);
  ~Machine() override;

  /// Has one of the functions do its work, if this process may call it.
  template <typename FunctionT> DriverResult call(FunctionT function) {
    // A child may find the lock held by a thread that it does not have.
    if (DriverResult result = checkProcess())
      return result;
    std::lock_guard lock(mutex);
    faults.erase(std::this_thread::get_id());
    return function();
  }

  // Devices.cpp: GPUs and their contexts.
  DriverResult init(unsigned flags);
  DriverResult getVersion(int *version);
  DriverResult countDevices(int *count);
  DriverResult getDevice(int *device, int ordinal);
  DriverResult getDeviceAttribute(int *value, int attribute, int device);
  DriverResult getDeviceName(char *name, int size, int device);
  DriverResult getTotalMemory(size_t *bytes, int device);
  DriverResult retainContext(DriverHandle *context, int device);
  DriverResult releaseContext(int device);
  DriverResult pushContext(DriverHandle context);
  DriverResult popContext(DriverHandle *context);
  DriverResult waitForContext();

  // Memory.cpp: memory, and copies of it.
  DriverResult getFreeMemory(size_t *free, size_t *total);
  DriverResult allocate(DevicePointer *address, size_t bytes);
  DriverResult free(DevicePointer address);
  DriverResult allocateHost(void **address, size_t bytes, unsigned flags);
  DriverResult freeHost(void *address);
  DriverResult copyToDevice(DevicePointer to, const void *from, size_t bytes);
  DriverResult copyToHost(void *to, DevicePointer from, size_t bytes);
  DriverResult enqueueToDevice(DevicePointer to, const void *from, size_t bytes,
                               DriverHandle stream);
  DriverResult enqueueToHost(void *to, DevicePointer from, size_t bytes,
                             DriverHandle stream);
  DriverResult enqueueCopy(DevicePointer to, DevicePointer from, size_t bytes,
                           DriverHandle stream);
  DriverResult enqueueFill(DevicePointer to, unsigned char value, size_t bytes,
                           DriverHandle stream);

  // Streams.cpp: streams and events.
  DriverResult createStream(DriverHandle *stream, unsigned flags);
  DriverResult destroyStream(DriverHandle stream);
  DriverResult waitForStream(DriverHandle stream);
  DriverResult queryStream(DriverHandle stream);
  DriverResult enqueueWait(DriverHandle stream, DriverHandle event,
                           unsigned flags);
  DriverResult createEvent(DriverHandle *event, unsigned flags);
  DriverResult destroyEvent(DriverHandle event);
  DriverResult recordEvent(DriverHandle event, DriverHandle stream);
  DriverResult waitForEvent(DriverHandle event);
  DriverResult queryEvent(DriverHandle event);
  DriverResult getElapsedTime(float *milliseconds, DriverHandle begin,
                              DriverHandle end);

  // Launches.cpp: modules and launches.
  DriverResult loadModule(DriverHandle *module, const void *image);
  DriverResult unloadModule(DriverHandle module);
  DriverResult getFunction(DriverHandle *function, DriverHandle module,
                           const char *name);
  DriverResult setFunctionAttribute(DriverHandle function, int attribute,
                                    int value);
  DriverResult launch(DriverHandle function, unsigned gridX, unsigned gridY,
                      unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned sharedBytes,
                      DriverHandle stream, void **arguments, void **extra);

  // Graphs.cpp: graphs of launches and copies.
  DriverResult createGraph(DriverHandle *graph, unsigned flags);
  DriverResult destroyGraph(DriverHandle graph);
  DriverResult addKernelNode(DriverHandle *node, DriverHandle graph,
                             const DriverHandle *before, size_t count,
                             const KernelNode *parameters);
  DriverResult addCopyNode(DriverHandle *node, DriverHandle graph,
                           const DriverHandle *before, size_t count,
                           const CopyNode *parameters, DriverHandle context);
  DriverResult addFillNode(DriverHandle *node, DriverHandle graph,
                           const DriverHandle *before, size_t count,
                           const FillNode *parameters, DriverHandle context);
  DriverResult instantiateGraph(DriverHandle *instance, DriverHandle graph,
                                unsigned long long flags);
  DriverResult setKernelNode(DriverHandle instance, DriverHandle node,
                             const KernelNode *parameters);
  DriverResult launchGraph(DriverHandle instance, DriverHandle stream);
  DriverResult destroyInstance(DriverHandle instance);

  void beginCall(CallDescription call) override;
  LaunchCounts endCall() override;

  std::string takeFaults() override;
  std::vector<std::string> listLeaks();

private:
  using ThreadId = std::thread::id;

  DriverResult checkProcess() const;
  /// Writes down what is wrong with a call of this thread.
  DriverResult fail(DriverResult result, const std::string &fault);
  bool hasFaults() const { return faults.count(std::this_thread::get_id()); }

  Context *findDevice(int device);
  /// Returns this thread's context, or null.
  Context *getCurrent() const;
  void destroy(Context &context);

  /// Finds a thing by its handle; null, and a fault, where this thread's
  /// context has no such.
  Stream *findStream(DriverHandle handle);
  template <typename ThingT>
  ThingT *find(std::map<DriverHandle, std::shared_ptr<ThingT>> &things,
               DriverHandle handle, const char *kind);
  Function *findFunction(DriverHandle handle);

  /// Adds work to a stream: behind what is in it, and another operation.
  DriverResult enqueue(Stream &stream, const OperationRef &operation,
                       OperationRef behind = nullptr);
  DriverResult failOrder(const Operation &second, const Operation &first);
  DriverResult wait(const OperationRef &operation);
  DriverResult query(const OperationRef &operation);
  std::vector<OperationRef> listLast(const Stream &stream) const;

  DriverResult release(uint64_t address, bool isPinned);
  /// Fails unless some bytes are memory of this thread's GPU.
  DriverResult checkDevice(const std::string &what, uint64_t begin,
                           uint64_t bytes);
  /// Fails where they cannot be the host's.
  DriverResult checkHost(const std::string &what, uint64_t begin,
                         uint64_t bytes);
  DriverResult enqueueOn(DriverHandle stream, const OperationRef &operation);

  llvm::Expected<std::map<std::string, std::unique_ptr<EmulatedKernel>>>
  compile(llvm::StringRef source);
  std::shared_ptr<DescribedCall>
  describeLaunch(llvm::ArrayRef<uint64_t> words) const;
  /// Fails unless all arguments of a launch can be read.
  DriverResult checkArguments(const EmulatedKernel &kernel,
                              const KernelNode &node);
  DriverResult checkPieces(const DescribedCall &call);
  /// Reads what a launch takes, and fails where a GPU would not launch it.
  DriverResult prepare(const KernelNode &node, PreparedLaunch &launch);
  OperationRef makeOperation(const PreparedLaunch &launch);
  void run(const PreparedLaunch &launch);

  DriverResult addNode(DriverHandle *node, DriverHandle graph,
                       const DriverHandle *before, size_t count,
                       GraphWork work);
  DriverResult makeKernelWork(const KernelNode &node, GraphWork &work);

  const EmulatedDriverOptions options;
  const int process;
  std::mutex mutex;
  /// Used without the lock: modules are compiled by several threads at once.
  ContextPool compilers;
  AddressSpace memory;
  Schedule schedule;
  std::vector<std::unique_ptr<Context>> contexts;
  /// The GPUs that are visible, in their order; none before the driver is
  /// started.
  std::vector<unsigned> visible;
  bool isStarted = false;
  std::map<ThreadId, std::vector<Context *>> current;
  std::map<ThreadId, std::string> faults;
  std::map<ThreadId, std::shared_ptr<DescribedCall>> calls;
  std::map<DriverHandle, std::shared_ptr<Stream>> streams;
  std::map<DriverHandle, std::shared_ptr<Event>> events;
  std::map<DriverHandle, std::shared_ptr<Module>> modules;
  std::map<DriverHandle, std::shared_ptr<Graph>> graphs, instances;
  /// Things that contexts took with them.
  std::vector<std::string> lost;
};

template <typename ThingT>
ThingT *Machine::find(std::map<DriverHandle, std::shared_ptr<ThingT>> &things,
                      DriverHandle handle, const char *kind) {
  auto found = things.find(handle);
  if (found == things.end()) {
    fail(ERROR_INVALID_HANDLE, std::string("there is no such ") + kind);
    return nullptr;
  }
  if (found->second->context == getCurrent())
    return found->second.get();
  fail(ERROR_INVALID_HANDLE,
       std::string("the ") + kind + " is of GPU " +
           std::to_string(found->second->context->device) +
           ", whose context is not this thread's");
  return nullptr;
}

} // namespace metaops::emulated

#endif // METAOPS_LIB_RUNTIME_EMULATEDDRIVER_MACHINE_H
