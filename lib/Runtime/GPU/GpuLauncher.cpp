//===- GpuLauncher.cpp - Calls of kernels on a GPU ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call takes memory of the GPU for its buffers, copies them there, launches
// its functions, and copies back what it has written. A buffer that is written
// may have bytes in it that the call leaves as they are, as where rows lie
// apart, so all are copied to the GPU. What is read and written by the same
// call, in place, is one piece of memory there, too. What a kernel asks for of
// its own lives as long as the call. Times are of the kernels alone.
//
//===----------------------------------------------------------------------===//

#include "GpuLauncher.h"
#include "MetaOps/Runtime/CUDA/DriverEmulation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace metaops {
namespace {

/// The memory of a call on the GPU.
class StagedCall {
public:
  StagedCall(const GpuRunner &runner, llvm::ArrayRef<KernelBuffer> buffers)
      : runner(runner), buffers(buffers), pieces(findShared(buffers)),
        addresses(buffers.size()) {}

  /// Takes the memory, and copies the buffers there.
  llvm::Error upload();
  /// Takes memory of the call's own.
  llvm::Error addWords(int64_t count);
  /// Copies back what has results in it.
  llvm::Error download(unsigned numInputs);

  /// Says what each piece is for: inputs, results, or the call's own.
  CallDescription describe(unsigned numInputs) const;
  /// Of the buffers, then of what was added.
  llvm::ArrayRef<DevicePointer> getAddresses() const { return addresses; }

private:
  const GpuRunner &runner;
  llvm::ArrayRef<KernelBuffer> buffers;
  std::vector<SharedBuffers> pieces;
  /// Of the pieces, then of what was added.
  std::vector<GpuMemory> memory;
  /// The address of a buffer of no bytes is null.
  std::vector<DevicePointer> addresses;
  /// Of what was added.
  std::vector<CallPiece> words;
};

llvm::Error StagedCall::upload() {
  for (const SharedBuffers &piece : pieces) {
    auto taken = runner.allocate(piece.memory.size());
    if (!taken)
      return taken.takeError();
    if (llvm::Error error =
            runner.write(*taken, piece.memory.data(), piece.memory.size()))
      return error;
    for (unsigned buffer : piece.buffers)
      addresses[buffer] =
          taken->getAddress() + (buffers[buffer].data() - piece.memory.data());
    memory.push_back(std::move(*taken));
  }
  return llvm::Error::success();
}

llvm::Error StagedCall::addWords(int64_t count) {
  uint64_t bytes = count * sizeof(int64_t);
  auto taken = runner.allocate(bytes);
  if (!taken)
    return taken.takeError();
  words.push_back({"scratch", taken->getAddress(), bytes, /*isInput=*/false,
                   /*isResult=*/true});
  addresses.push_back(taken->getAddress());
  memory.push_back(std::move(*taken));
  return llvm::Error::success();
}

llvm::Error StagedCall::download(unsigned numInputs) {
  for (auto [piece, taken] : llvm::zip_first(pieces, memory)) {
    // Results are behind inputs.
    if (piece.buffers.back() < numInputs)
      continue;
    if (llvm::Error error =
            runner.read(piece.memory.data(), taken, piece.memory.size()))
      return error;
  }
  return llvm::Error::success();
}

CallDescription StagedCall::describe(unsigned numInputs) const {
  auto getName = [&](unsigned buffer) {
    return buffer < numInputs ? "input " + std::to_string(buffer)
                              : "result " + std::to_string(buffer - numInputs);
  };
  CallDescription call;
  for (auto [piece, taken] : llvm::zip_first(pieces, memory)) {
    CallPiece &made = call.pieces.emplace_back();
    made.name = llvm::join(llvm::map_range(piece.buffers, getName), ", ");
    made.begin = taken.getAddress();
    made.bytes = piece.memory.size();
    // Results are behind inputs.
    made.isInput = piece.buffers.front() < numInputs;
    made.isResult = piece.buffers.back() >= numInputs;
  }
  llvm::append_range(call.pieces, words);
  return call;
}

/// Tells an emulated driver of a call, as long as this exists.
class DescribedLaunches {
public:
  DescribedLaunches(DriverEmulation *emulation, const StagedCall &staged,
                    unsigned numInputs, size_t numArguments, bool isCounted)
      : emulation(emulation) {
    if (!emulation)
      return;
    CallDescription call = staged.describe(numInputs);
    call.numArguments = numArguments;
    call.isCounted = isCounted;
    emulation->beginCall(std::move(call));
  }
  ~DescribedLaunches() {
    if (emulation)
      emulation->endCall();
  }
  DescribedLaunches(const DescribedLaunches &) = delete;
  DescribedLaunches &operator=(const DescribedLaunches &) = delete;

  /// Returns what was counted; null of a driver that is not emulated.
  std::shared_ptr<const LaunchCounts> takeCounts() {
    if (!emulation)
      return nullptr;
    auto counts = std::make_shared<const LaunchCounts>(emulation->endCall());
    emulation = nullptr;
    return counts;
  }

private:
  DriverEmulation *emulation;
};

} // namespace

llvm::Expected<const GpuModule *> GpuLauncher::load() const {
  std::lock_guard lock(mutex);
  if (!module) {
    std::vector<GpuLaunch> functions;
    for (const LaunchedFunction &function : plan.getFunctions())
      functions.push_back({function.name, function.threads, function.cluster,
                           function.sharedBytes});
    auto loaded = gpu->load(code, functions);
    if (!loaded)
      return loaded.takeError();
    module = std::move(*loaded);
  }
  return module.get();
}

/// Returns the milliseconds of all.
llvm::Expected<float>
GpuLauncher::runFunctions(const GpuRunner &runner, const GpuModule &module,
                          llvm::ArrayRef<int64_t> grids,
                          llvm::ArrayRef<uint64_t> arguments) const {
  float milliseconds = 0;
  for (auto [i, numBlocks] : llvm::enumerate(grids)) {
    if (numBlocks == 0)
      continue;
    auto time = runner.run(module, i, numBlocks, arguments);
    if (!time)
      return time.takeError();
    milliseconds += *time;
  }
  return milliseconds;
}

llvm::Error GpuLauncher::launch(const KernelCall &call,
                                llvm::ArrayRef<KernelBuffer> buffers,
                                unsigned numInputs, ThreadPool &,
                                LaunchMeasures *measures) const {
  auto grids = plan.getGrids(call);
  if (!grids)
    return grids.takeError();
  auto runner = gpu->getRunner();
  if (!runner)
    return runner.takeError();
  auto module = load();
  if (!module)
    return module.takeError();
  StagedCall staged(**runner, buffers);
  if (llvm::Error error = staged.upload())
    return error;
  for (int64_t count : plan.getScratch())
    if (llvm::Error error = staged.addWords(count))
      return error;
  std::vector<uint64_t> arguments(staged.getAddresses());
  llvm::append_range(arguments, call.scalars);
  DescribedLaunches described(
      (*runner)->getContext().getDriver().getEmulation(), staged, numInputs,
      arguments.size(), measures != nullptr);
  auto milliseconds = runFunctions(**runner, **module, *grids, arguments);
  if (!milliseconds)
    return milliseconds.takeError();
  if (llvm::Error error = staged.download(numInputs))
    return error;
  if (measures) {
    measures->nanoseconds = int64_t(double(*milliseconds) * 1e6);
    measures->counts = described.takeCounts();
  }
  return llvm::Error::success();
}

} // namespace metaops
