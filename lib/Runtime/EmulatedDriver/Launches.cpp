//===- Launches.cpp - Modules and launches of an emulated driver ----------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch whose call was described uses its pieces, each by itself, so that an
// access behind one is a fault even where another follows. Of another launch,
// all memory that an argument points into counts as read and as written.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "llvm/Support/Endian.h"

#include <cstring>

using namespace metaops;
using namespace metaops::emulated;

/// The beginning of an image; the bytes of the module follow, behind how many
/// there are.
static constexpr llvm::StringLiteral kMagic = "MetaOps, the phase nvvm";

std::string EmulatedDriver::makeImage(llvm::StringRef module) {
  char size[sizeof(uint64_t)];
  llvm::support::endian::write64le(size, module.size());
  return (kMagic + llvm::StringRef(size, sizeof(size)) + module).str();
}

/// Returns the module of an image, or nothing.
static llvm::StringRef readImage(const void *image) {
  const auto *bytes = static_cast<const char *>(image);
  if (!image || std::strncmp(bytes, kMagic.data(), kMagic.size()) != 0)
    return {};
  bytes += kMagic.size();
  return {bytes + sizeof(uint64_t), llvm::support::endian::read64le(bytes)};
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

llvm::Expected<std::map<std::string, std::unique_ptr<EmulatedKernel>>>
Machine::compile(llvm::StringRef source) {
  PooledContext context(compilers);
  context.countKernels();
  return EmulatedKernel::compileAll(source, *context.get());
}

DriverResult Machine::loadModule(DriverHandle *handle, const void *image) {
  Context *context = getCurrent();
  if (!context)
    return fail(ERROR_INVALID_CONTEXT, "this thread has no context");
  llvm::StringRef source = readImage(image);
  if (source.empty())
    return fail(ERROR_INVALID_IMAGE, "it is no module in the phase nvvm");
  // It takes long, and others may go on.
  mutex.unlock();
  auto kernels = compile(source);
  mutex.lock();
  if (!kernels)
    return fail(ERROR_INVALID_IMAGE, toString(kernels.takeError()));
  auto module = std::make_shared<Module>();
  module->context = context;
  for (auto &[name, kernel] : *kernels) {
    Function &function = module->functions[name];
    function.module = module.get();
    function.kernel = std::move(kernel);
  }
  *handle = module.get();
  modules[*handle] = std::move(module);
  return SUCCESS;
}

DriverResult Machine::unloadModule(DriverHandle handle) {
  Module *module = find(modules, handle, "module");
  if (!module)
    return ERROR_INVALID_HANDLE;
  // Launches that are still to come keep their code.
  modules.erase(handle);
  return SUCCESS;
}

DriverResult Machine::getFunction(DriverHandle *function, DriverHandle handle,
                                  const char *name) {
  Module *module = find(modules, handle, "module");
  if (!module)
    return ERROR_INVALID_HANDLE;
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return ERROR_NOT_FOUND;
  *function = &found->second;
  return SUCCESS;
}

Function *Machine::findFunction(DriverHandle handle) {
  for (const auto &[key, module] : modules)
    for (auto &[name, function] : module->functions)
      if (&function == handle)
        return find(modules, key, "module") ? &function : nullptr;
  fail(ERROR_INVALID_HANDLE, "there is no such function");
  return nullptr;
}

DriverResult Machine::setFunctionAttribute(DriverHandle handle, int attribute,
                                           int value) {
  Function *function = findFunction(handle);
  if (!function)
    return ERROR_INVALID_HANDLE;
  const mlir::metaop::Chip &chip = *options.chip;
  if (attribute == DYNAMIC_SHARED_BYTES && value >= 0 &&
      value <= chip.sharedBytesOfBlock)
    function->sharedBytes = value;
  else if (attribute == LARGE_CLUSTERS && chip.maxCluster > 1)
    function->cluster = static_cast<unsigned>(chip.maxCluster);
  else
    return fail(ERROR_INVALID_VALUE,
                "an " + chip.name.str() + " has no such attribute or value");
  return SUCCESS;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Allocation makeAllocation(const CallPiece &piece) {
  Allocation allocation;
  allocation.name = piece.name;
  allocation.begin = reinterpret_cast<void *>(piece.begin);
  allocation.bytes = piece.bytes;
  allocation.isReadOnly = !piece.isResult;
  return allocation;
}

DescribedCall::DescribedCall(CallDescription call)
    : description(std::move(call)) {
  for (const CallPiece &piece : description.pieces) {
    Allocation &made = allocations.emplace_back(makeAllocation(piece));
    if (!piece.isInput)
      made.written = &written.emplace_back(piece.bytes);
  }
}

void Machine::beginCall(CallDescription call) {
  if (checkProcess())
    return;
  std::lock_guard lock(mutex);
  calls[std::this_thread::get_id()] =
      std::make_shared<DescribedCall>(std::move(call));
}

LaunchCounts Machine::endCall() {
  if (checkProcess())
    return LaunchCounts();
  std::lock_guard lock(mutex);
  auto found = calls.find(std::this_thread::get_id());
  if (found == calls.end())
    return LaunchCounts();
  LaunchCounts counts = std::move(found->second->counts);
  calls.erase(found);
  return counts;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Reads the arguments of a launch, of which only the addresses are given.
static std::vector<uint64_t> readArguments(const EmulatedKernel &kernel,
                                           void **arguments) {
  std::vector<uint64_t> words;
  for (auto [i, bytes] : llvm::enumerate(kernel.getParameters())) {
    uint64_t word = 0;
    std::memcpy(&word, arguments[i], bytes);
    words.push_back(word);
  }
  return words;
}

/// Returns this thread's call, or what is known of one without a description.
std::shared_ptr<DescribedCall>
Machine::describeLaunch(llvm::ArrayRef<uint64_t> words) const {
  auto found = calls.find(std::this_thread::get_id());
  if (found != calls.end())
    return found->second;
  CallDescription call;
  for (auto [i, word] : llvm::enumerate(words)) {
    const Block *block = memory.find(word);
    auto isOfBlock = [&](const CallPiece &piece) {
      return piece.begin == block->begin;
    };
    if (block && llvm::none_of(call.pieces, isOfBlock))
      call.pieces.push_back({"argument " + std::to_string(i), block->begin,
                             block->bytes, /*isInput=*/true,
                             /*isResult=*/true});
  }
  return std::make_shared<DescribedCall>(std::move(call));
}

DriverResult Machine::checkArguments(const EmulatedKernel &kernel,
                                     const KernelNode &node) {
  llvm::ArrayRef<uint32_t> parameters = kernel.getParameters();
  std::string what = "a launch of " + kernel.getName();
  if (node.extra || (!node.arguments && !parameters.empty()))
    return fail(ERROR_INVALID_VALUE, what + " has no addresses of arguments");
  for (uint32_t bytes : parameters)
    if (bytes > sizeof(uint64_t))
      return fail(ERROR_INVALID_VALUE, what + " has an argument of " +
                                           std::to_string(bytes) +
                                           " bytes, where at most 8 are known");
  auto found = calls.find(std::this_thread::get_id());
  if (found == calls.end())
    return SUCCESS;
  size_t given =
      found->second->description.numArguments.value_or(parameters.size());
  if (given == parameters.size())
    return SUCCESS;
  return fail(ERROR_INVALID_VALUE, what + " has " + std::to_string(given) +
                                       " arguments, not " +
                                       std::to_string(parameters.size()));
}

DriverResult Machine::checkPieces(const DescribedCall &call) {
  for (const CallPiece &piece : call.description.pieces)
    if (piece.bytes > 0)
      if (DriverResult result = checkDevice("a launch (" + piece.name + ")",
                                            piece.begin, piece.bytes))
        return result;
  return SUCCESS;
}

void Machine::run(const PreparedLaunch &launch) {
  DescribedCall &call = *launch.call;
  EmulatorOptions emulator;
  emulator.seed = options.seed;
  emulator.countsAccesses = call.description.isCounted;
  emulator.sharedLimit =
      static_cast<uint32_t>(options.chip->sharedBytesOfBlock);
  std::vector<KernelArgument> arguments(launch.words.begin(),
                                        launch.words.end());
  auto report = launch.kernel->launch(launch.shape, arguments, call.allocations,
                                      emulator);
  if (!report)
    fail(ERROR_LAUNCH_FAILED, toString(report.takeError()));
  else if (!report->isSound())
    fail(ERROR_LAUNCH_FAILED, report->str());
  else if (call.description.isCounted)
    call.counts.add(std::move(report->counts));
}

DriverResult Machine::prepare(const KernelNode &node, PreparedLaunch &launch) {
  Function *function = findFunction(node.function);
  if (!function)
    return ERROR_INVALID_HANDLE;
  launch.module = modules[function->module];
  launch.kernel = function->kernel.get();
  launch.shape = {{node.gridX, node.gridY, node.gridZ},
                  {node.blockX, node.blockY, node.blockZ},
                  launch.kernel->getCluster(),
                  node.sharedBytes};
  if (node.sharedBytes > function->sharedBytes)
    return fail(ERROR_INVALID_VALUE,
                "a launch of " + std::to_string(node.sharedBytes) +
                    " bytes of shared memory, where " +
                    std::to_string(function->sharedBytes) + " were asked for");
  if (launch.shape.cluster.count() > function->cluster)
    return fail(ERROR_INVALID_CLUSTER_SIZE, "clusters of " +
                                                launch.shape.cluster.str() +
                                                " blocks were not asked for");
  if (DriverResult result = checkArguments(*launch.kernel, node))
    return result;
  launch.words = readArguments(*launch.kernel, node.arguments);
  launch.call = describeLaunch(launch.words);
  return checkPieces(*launch.call);
}

OperationRef Machine::makeOperation(const PreparedLaunch &launch) {
  auto operation = std::make_shared<Operation>();
  operation->description = "a launch of " + launch.kernel->getName();
  for (const CallPiece &piece : launch.call->description.pieces)
    operation->accesses.push_back(
        {piece.begin, piece.begin + piece.bytes, piece.isResult});
  operation->run = [this, launch] { run(launch); };
  return operation;
}

DriverResult Machine::launch(DriverHandle handle, unsigned gridX,
                             unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ,
                             unsigned sharedBytes, DriverHandle into,
                             void **arguments, void **extra) {
  KernelNode node{handle, gridX,  gridY,       gridZ,     blockX,
                  blockY, blockZ, sharedBytes, arguments, extra};
  PreparedLaunch prepared;
  if (DriverResult result = prepare(node, prepared))
    return result;
  return enqueueOn(into, makeOperation(prepared));
}
