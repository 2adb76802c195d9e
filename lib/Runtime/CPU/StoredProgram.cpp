//===- StoredProgram.cpp - Programs as bytes ------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout is described once, by functions that visit what a program consists
// of; a writer and a reader are the visitors. Numbers are LEB128, texts and
// lists follow their length.
//
// The bytes are of this build, and have not changed since they were written: a
// key and a checksum have told. Nevertheless everything that is used as an
// index is compared with what it indexes before the program is run.
//
//===----------------------------------------------------------------------===//

#include "CpuProgram.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MathExtras.h"

using namespace metaops;

namespace {
struct StoredCall {
  /// The kernel's name; empty for copies and routines.
  std::string kernel;
  std::vector<Copy> copies;
  Routine routine;
  std::vector<int64_t> scalars;
  int64_t parallelRange = 0;
  int64_t workPerStep = 0;
  bool flushesDenormals = false;
  int64_t grain = 0;
  std::vector<Slot> buffers;
  unsigned numInputs = 0;
};
} // namespace

/// All of a program, its kernels by name.
struct CpuProgram::Stored {
  unsigned numArguments = 0;
  int64_t arenaBytes = 0;
  std::vector<Slot> results;
  std::vector<StoredCall> calls;
  ProgramInfo info;

  bool isValid() const;
};

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

// A field that is added to one of these structures does not compile until it is
// visited here.

template <typename Visitor> static void visit(Visitor &visitor, Slot &slot) {
  auto &[kind, index, bytes, offset, row, pitch, packed] = slot;
  visitor.number(kind);
  visitor.number(index);
  visitor.number(bytes);
  visitor.number(offset);
  visitor.number(row);
  visitor.number(pitch);
  visitor.number(packed);
}

template <typename Visitor> static void visit(Visitor &visitor, CopyDim &dim) {
  auto &[extent, room, start, startBuffer] = dim;
  visitor.number(extent);
  visitor.number(room);
  visitor.number(start);
  visitor.number(startBuffer);
}

template <typename Visitor> static void visit(Visitor &visitor, Copy &copy) {
  auto &[source, elementBytes, dims] = copy;
  visitor.number(source);
  visitor.number(elementBytes);
  visitor.list(dims);
}

template <typename Visitor>
static void visit(Visitor &visitor, Routine &routine) {
  auto &[kind, dtype, outer, extent, inner, begin, count, isReverse,
         givesValues, givesIndices] = routine;
  visitor.number(kind);
  visitor.number(dtype);
  visitor.number(outer);
  visitor.number(extent);
  visitor.number(inner);
  visitor.number(begin);
  visitor.number(count);
  visitor.number(isReverse);
  visitor.number(givesValues);
  visitor.number(givesIndices);
}

template <typename Visitor>
static void visit(Visitor &visitor, StoredCall &call) {
  auto &[kernel, copies, routine, scalars, parallelRange, workPerStep,
         flushesDenormals, grain, buffers, numInputs] = call;
  visitor.text(kernel);
  visitor.list(copies);
  visit(visitor, routine);
  visitor.list(scalars);
  visitor.number(parallelRange);
  visitor.number(workPerStep);
  visitor.number(flushesDenormals);
  visitor.number(grain);
  visitor.list(buffers);
  visitor.number(numInputs);
}

template <typename Visitor>
static void visit(Visitor &visitor, KernelInfo &info) {
  auto &[name, isCopy, nodes, operators, bytesRead, bytesWritten, flops,
         instructions, routineWork, loopOps, maxThreads, mayKeep,
         scheduleLines] = info;
  visitor.text(name);
  visitor.number(isCopy);
  visitor.list(nodes);
  visitor.list(operators);
  visitor.number(bytesRead);
  visitor.number(bytesWritten);
  visitor.number(flops);
  visitor.list(instructions);
  visitor.number(routineWork);
  visitor.number(loopOps);
  visitor.number(maxThreads);
  visitor.number(mayKeep);
  visitor.list(scheduleLines);
}

template <typename Visitor>
static void visit(Visitor &visitor, ProgramInfo &info) {
  // How it was made is not what it is.
  auto &[calls, metaOps, distinctKernels, compiledKernels, isLoaded,
         loadedKernels, arenaBytes, compileSeconds] = info;
  visitor.list(calls);
  visitor.number(metaOps);
  visitor.number(distinctKernels);
  visitor.number(arenaBytes);
}

namespace {
/// Appends what it visits to a text.
class Writer {
public:
  explicit Writer(std::string &bytes) : stream(bytes) {}

  template <typename T> void number(T value) {
    llvm::encodeSLEB128(static_cast<int64_t>(value), stream);
  }
  void text(const std::string &value) {
    number(value.size());
    stream << value;
  }
  template <typename T> void list(std::vector<T> &values) {
    number(values.size());
    for (T &value : values)
      element(value);
  }

private:
  template <typename T> void element(T &value) {
    if constexpr (std::is_integral_v<T>)
      number(value);
    else
      visit(*this, value);
  }
  void element(std::string &value) { text(value); }

  llvm::raw_string_ostream stream;
};

/// Fills what it visits. After the first failure everything else is zero or
/// empty.
class Reader {
public:
  explicit Reader(llvm::StringRef bytes)
      : data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8), cursor(0) {}

  template <typename T> void number(T &value) {
    int64_t read = data.getSLEB128(cursor);
    value = static_cast<T>(read);
    // A number that its field cannot hold is none that was written.
    if (static_cast<int64_t>(value) != read)
      isWrong = true;
  }
  void text(std::string &value) {
    value = data.getBytes(cursor, length()).str();
  }
  template <typename T> void list(std::vector<T> &values) {
    values.resize(length());
    for (T &value : values)
      element(value);
  }

  /// Whether all was there and nothing is left.
  bool finish() {
    bool isAtEnd = data.eof(cursor);
    if (llvm::Error error = cursor.takeError()) {
      llvm::consumeError(std::move(error));
      return false;
    }
    return isAtEnd && !isWrong;
  }

private:
  /// Elements take a byte or more, so a length that was not written asks for no
  /// more memory than a few times the size of the data.
  size_t length() {
    uint64_t size = 0;
    number(size);
    if (!cursor || size > data.size() - cursor.tell()) {
      isWrong = true;
      return 0;
    }
    return size;
  }
  template <typename T> void element(T &value) {
    if constexpr (std::is_integral_v<T>)
      number(value);
    else
      visit(*this, value);
  }
  void element(std::string &value) { text(value); }

  llvm::DataExtractor data;
  llvm::DataExtractor::Cursor cursor;
  bool isWrong = false;
};
} // namespace

template <typename Visitor, typename Stored>
static void visitProgram(Visitor &visitor, Stored &stored) {
  auto &[numArguments, arenaBytes, results, calls, info] = stored;
  visitor.number(numArguments);
  visitor.number(arenaBytes);
  visitor.list(results);
  visitor.list(calls);
  visit(visitor, info);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether a copy reads and writes inside of its buffers.
static bool isCopy(const Copy &copy, const StoredCall &call) {
  auto isInput = [&](int64_t number) {
    return number >= 0 && number < static_cast<int64_t>(call.numInputs);
  };
  if (!isInput(copy.source) || copy.elementBytes <= 0)
    return false;
  int64_t read = copy.elementBytes, written = copy.elementBytes;
  for (const CopyDim &dim : copy.dims) {
    if (dim.extent < 0 || dim.room < dim.extent ||
        llvm::MulOverflow(read, dim.extent, read) ||
        llvm::MulOverflow(written, dim.room, written))
      return false;
    bool isFixed = dim.startBuffer == -1;
    if (isFixed ? dim.start < 0 || dim.start > dim.room - dim.extent
                : !isInput(dim.startBuffer) ||
                      call.buffers[dim.startBuffer].bytes !=
                          static_cast<int64_t>(sizeof(int64_t)))
      return false;
  }
  return read <= call.buffers[copy.source].bytes &&
         written <= call.buffers.back().bytes;
}

/// Whether a routine reads and writes inside of its buffers.
static bool isRoutine(const StoredCall &call) {
  const Routine &routine = call.routine;
  if (routine.kind == Routine::Kind::None)
    return true;
  if (!routine.isValid() || !call.copies.empty() ||
      routine.getNumResults() == 0 || call.numInputs != 1 ||
      call.buffers.size() != call.numInputs + routine.getNumResults())
    return false;
  // Each of these numbers fits: a valid routine has far fewer elements.
  int64_t results = routine.countResults(), size = sizeOf(routine.dtype);
  llvm::SmallVector<int64_t> expected = {routine.countElements() * size};
  if (routine.givesValues)
    expected.push_back(results * size);
  if (routine.givesIndices)
    expected.push_back(results * int64_t(sizeof(int64_t)));
  return llvm::equal(
      call.buffers, expected,
      [](const Slot &slot, int64_t bytes) { return slot.bytes == bytes; });
}

/// Whether everything refers to something that is there; see
/// CpuProgram::prepare and execute.
bool CpuProgram::Stored::isValid() const {
  auto isFresh = [&](int64_t index) {
    return index >= 0 && index < static_cast<int64_t>(results.size()) &&
           results[index].kind == Slot::Kind::Result &&
           results[index].index == index;
  };
  auto isSlot = [&](const Slot &slot) {
    if (slot.bytes < 0 || slot.offset < 0 || slot.row < 0 ||
        slot.pitch < slot.row)
      return false;
    switch (slot.kind) {
    case Slot::Kind::Argument:
      return slot.index >= 0 && slot.index < int64_t(numArguments);
    case Slot::Kind::Result:
      return isFresh(slot.index) && slot.offset <= results[slot.index].bytes &&
             slot.bytes <= results[slot.index].bytes - slot.offset;
    case Slot::Kind::Arena:
      return slot.index >= 0 && slot.index <= arenaBytes &&
             slot.bytes <= arenaBytes - slot.index;
    }
    return false;
  };
  auto isResult = [&](const auto &indexed) {
    const Slot &slot = indexed.value();
    return isSlot(slot) && slot.kind != Slot::Kind::Arena &&
           slot.packed == -1 && slot.offset == 0 &&
           (slot.kind == Slot::Kind::Argument ||
            slot.index <= static_cast<int64_t>(indexed.index()));
  };
  // The bytes of each result that may be kept, in the order of the calls that
  // make them.
  std::vector<int64_t> packedBytes;
  auto isPacked = [&](const StoredCall &call) {
    for (auto [i, slot] : llvm::enumerate(call.buffers)) {
      if (slot.packed < -1 ||
          (slot.packed >= 0 && slot.kind != Slot::Kind::Arena))
        return false;
      if (slot.packed < 0)
        continue;
      if (i < call.numInputs) {
        if (slot.packed >= static_cast<int64_t>(packedBytes.size()) ||
            slot.bytes != packedBytes[slot.packed])
          return false;
        continue;
      }
      auto inputs = llvm::ArrayRef(call.buffers).take_front(call.numInputs);
      if (inputs.empty() || call.buffers.size() != call.numInputs + 1 ||
          slot.packed != static_cast<int64_t>(packedBytes.size()) ||
          !llvm::all_of(inputs, [](const Slot &input) {
            return input.kind == Slot::Kind::Argument;
          }))
        return false;
      packedBytes.push_back(slot.bytes);
    }
    return true;
  };
  auto isCall = [&](const StoredCall &call) {
    return call.parallelRange >= 0 && call.workPerStep >= 0 && call.grain > 0 &&
           call.numInputs <= call.buffers.size() &&
           llvm::all_of(call.buffers, isSlot) && isPacked(call) &&
           isRoutine(call) &&
           (call.copies.empty() || call.numInputs + 1 == call.buffers.size()) &&
           llvm::all_of(call.copies,
                        [&](const Copy &copy) { return isCopy(copy, call); });
  };
  return arenaBytes >= 0 && info.calls.size() == calls.size() &&
         llvm::all_of(llvm::enumerate(results), isResult) &&
         llvm::all_of(calls, isCall);
}

//===----------------------------------------------------------------------===//
// CpuProgram
//===----------------------------------------------------------------------===//

std::string CpuProgram::write() const {
  Stored stored;
  stored.numArguments = numArguments;
  stored.arenaBytes = arenaBytes;
  stored.results.assign(results.begin(), results.end());
  stored.info = info;
  for (const Call &call : calls) {
    StoredCall &storedCall = stored.calls.emplace_back();
    storedCall.copies = call.copies;
    storedCall.routine = call.routine;
    storedCall.grain = call.grain;
    storedCall.buffers.assign(call.buffers.begin(), call.buffers.end());
    storedCall.numInputs = call.numInputs;
    if (!call.kernel)
      continue;
    storedCall.kernel = call.kernel->kernel->name;
    storedCall.scalars = call.kernel->scalars;
    storedCall.parallelRange = call.kernel->parallelRange;
    storedCall.workPerStep = call.kernel->workPerStep;
    storedCall.flushesDenormals = call.kernel->flushesDenormals;
  }
  std::string bytes;
  Writer writer(bytes);
  visitProgram(writer, stored);
  return bytes;
}

std::shared_ptr<CpuProgram> CpuProgram::read(llvm::StringRef bytes,
                                             KernelCache &kernels) {
  Stored stored;
  Reader reader(bytes);
  visitProgram(reader, stored);
  if (!reader.finish() || !stored.isValid())
    return nullptr;

  auto program = std::make_shared<CpuProgram>();
  program->numArguments = stored.numArguments;
  program->arenaBytes = stored.arenaBytes;
  program->results.assign(stored.results.begin(), stored.results.end());
  program->info = std::move(stored.info);
  program->info.isLoaded = true;
  for (StoredCall &storedCall : stored.calls) {
    Call call;
    call.routine = storedCall.routine;
    if (storedCall.copies.empty() && call.routine.kind == Routine::Kind::None) {
      auto kernel = kernels.find(storedCall.kernel);
      if (!kernel)
        return nullptr;
      call.kernel = std::make_shared<const KernelCall>(
          KernelCall{std::move(kernel), std::move(storedCall.scalars),
                     storedCall.parallelRange, storedCall.workPerStep,
                     storedCall.flushesDenormals});
    }
    call.copies = std::move(storedCall.copies);
    call.buffers.assign(storedCall.buffers.begin(), storedCall.buffers.end());
    call.numInputs = storedCall.numInputs;
    call.grain = storedCall.grain;
    program->calls.push_back(std::move(call));
  }
  program->planSteps();
  program->noteResults();
  return program;
}
