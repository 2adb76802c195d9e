//===- ProgramFormat.cpp - Programs as bytes ------------------------------===//
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
// Everything that is used as an index is compared with what it indexes before
// the program is run (VerifyProgram.cpp). The reader sees to it that no bytes
// ask for more memory than a few times their number, nor for deep recursion.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Program/ProgramData.h"
#include "ReadRoutines.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/raw_ostream.h"

#include <type_traits>

using namespace metaops;

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

// A field that is added to one of these structures does not compile until it is
// visited here.

template <typename Visitor> static void visit(Visitor &visitor, Slot &slot) {
  auto &[entry, offset, bytes, row, pitch] = slot;
  visitor.number(entry);
  visitor.number(offset);
  visitor.number(bytes);
  visitor.number(row);
  visitor.number(pitch);
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
static void visit(Visitor &visitor, RoutineAttribute &attribute) {
  auto &[name, values] = attribute;
  visitor.text(name);
  visitor.values(values);
}

template <typename Visitor>
static void visit(Visitor &visitor, RoutineTensor &tensor) {
  auto &[role, dtype, shape, strides, over] = tensor;
  visitor.text(role);
  visitor.number(dtype);
  visitor.list(shape);
  visitor.list(strides);
  visitor.number(over);
}

template <typename Visitor>
static void visit(Visitor &visitor, Routine &routine) {
  auto &[name, attributes, operands, results] = routine;
  visitor.text(name);
  visitor.list(attributes);
  visitor.list(operands);
  visitor.list(results);
}

template <typename Visitor>
static void visit(Visitor &visitor, RoutineCall &call) {
  auto &[routine, library, version, plan] = call;
  if (!visitor.isOfSorts()) {
    visit(visitor, routine);
    visitor.text(library);
    visitor.text(version);
  }
  visitor.plan(call);
}

template <typename Visitor>
static void visit(Visitor &visitor, KernelCall &call) {
  auto &[kernel, scalars, parallelRange, furtherGrids, workPerStep,
         flushesDenormals, loopOps] = call;
  visitor.kernel(kernel);
  visitor.list(scalars);
  visitor.number(parallelRange);
  visitor.list(furtherGrids);
  visitor.number(workPerStep);
  visitor.number(flushesDenormals);
  visitor.number(loopOps);
}

template <typename Visitor>
static void visit(Visitor &visitor, Copies &copies) {
  visitor.list(copies);
}

template <typename Visitor> static void visit(Visitor &visitor, View &view) {
  auto &[entry] = view;
  visitor.number(entry);
}

template <typename Visitor>
static void visit(Visitor &visitor, std::optional<int64_t> &number) {
  bool isThere = number.has_value();
  visitor.number(isThere);
  int64_t value = number.value_or(0);
  visitor.number(value);
  number = isThere ? std::optional(value) : std::nullopt;
}

template <typename Visitor> static void visit(Visitor &visitor, Check &check) {
  auto &[range, place] = check;
  auto &[dim, extent, hasNegative, ignored, areTrips] = range;
  visit(visitor, dim);
  visitor.number(extent);
  visitor.number(hasNegative);
  visit(visitor, ignored);
  visitor.number(areTrips);
  visitor.text(place);
}

template <typename Visitor> static void visit(Visitor &visitor, If &branches) {
  auto &[onTrue, onFalse] = branches;
  visitor.steps(onTrue);
  visitor.steps(onFalse);
}

template <typename Visitor> static void visit(Visitor &visitor, Carry &carry) {
  auto &[current, next, isRow, initial, even, odd, settles] = carry;
  visitor.number(current);
  visitor.number(next);
  visitor.number(isRow);
  visit(visitor, initial);
  visit(visitor, even);
  visit(visitor, odd);
  visitor.number(settles);
}

template <typename Visitor> static void visit(Visitor &visitor, While &loop) {
  auto &[carries, condition, body] = loop;
  visitor.list(carries);
  visitor.steps(condition);
  visitor.steps(body);
}

template <typename Visitor>
static void visit(Visitor &visitor, LoopRows &rows) {
  auto &[entry, whole, areMade] = rows;
  visitor.number(entry);
  visit(visitor, whole);
  visitor.number(areMade);
}

template <typename Visitor> static void visit(Visitor &visitor, For &loop) {
  auto &[trips, isReverse, firstTrip, blockTrips, carries, rows, body] = loop;
  visit(visitor, trips);
  visitor.number(isReverse);
  visitor.number(firstTrip);
  visitor.number(blockTrips);
  visitor.list(carries);
  visitor.list(rows);
  visitor.steps(body);
}

template <typename Visitor> static void visit(Visitor &visitor, Step &step) {
  auto &[action, buffers, numInputs] = step;
  visitor.action(action);
  visitor.list(buffers);
  visitor.number(numInputs);
}

template <typename Visitor>
static void visit(Visitor &visitor, ResultPlace &place) {
  auto &[entry, bytes] = place;
  visitor.number(entry);
  visitor.number(bytes);
}

template <typename Visitor>
static void visit(Visitor &visitor, PackedPlace &place) {
  auto &[offset, bytes] = place;
  visitor.number(offset);
  visitor.number(bytes);
}

template <typename Visitor>
static void visit(Visitor &visitor, ProgramData &program) {
  auto &[arguments, results, arenaBytes, pointers, packed, steps] = program;
  visitor.list(arguments);
  visitor.list(results);
  visitor.number(arenaBytes);
  visitor.list(pointers);
  visitor.list(packed);
  visitor.steps(steps);
}

template <typename Visitor>
static void visit(Visitor &visitor, KernelInfo &info) {
  auto &[name, isKernel, nodes, operators, bytesRead, bytesWritten, flops,
         instructions, routineWork, cardWork, loopOps, maxThreads, mayKeep,
         scheduleLines] = info;
  visitor.text(name);
  visitor.number(isKernel);
  visitor.list(nodes);
  visitor.list(operators);
  visitor.number(bytesRead);
  visitor.number(bytesWritten);
  visitor.number(flops);
  visitor.list(instructions);
  visitor.number(routineWork);
  visitor.number(cardWork);
  visitor.number(loopOps);
  visitor.number(maxThreads);
  visitor.number(mayKeep);
  visitor.list(scheduleLines);
}

template <typename Visitor>
static void visit(Visitor &visitor, ProgramInfo &info) {
  // A program is the same however it was made.
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
  void steps(StepList &steps) { list(steps); }
  void action(Step::Action &action) {
    number(action.index());
    std::visit([this](auto &what) { visit(*this, what); }, action);
  }
  void kernel(std::shared_ptr<const Kernel> &kernel) { text(kernel->name); }
  template <typename... Lists> void values(std::variant<Lists...> &values) {
    number(values.index());
    std::visit([this](auto &list) { this->list(list); }, values);
  }
  bool isOfSorts() const { return false; }
  void plan(RoutineCall &) {}

private:
  template <typename T> void element(T &value) {
    if constexpr (std::is_integral_v<T>)
      number(value);
    else
      visit(*this, value);
  }
  void element(std::string &value) { text(value); }
  void element(double &value) { number(llvm::bit_cast<int64_t>(value)); }

  llvm::raw_string_ostream stream;
};

/// Fills what it visits. After the first failure everything else is zero or
/// empty.
class Reader {
public:
  using FindKernel =
      llvm::function_ref<std::shared_ptr<const Kernel>(llvm::StringRef)>;

  Reader(llvm::StringRef bytes, FindKernel findKernel,
         const RoutineRegistry &routines, ProgramLayout layout)
      : data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8), cursor(0),
        findKernel(findKernel), routines(routines), layout(layout) {}

  template <typename T> void number(T &value) {
    int64_t read = data.getSLEB128(cursor);
    value = static_cast<T>(read);
    // A number that its field cannot hold is none that was written.
    if (static_cast<int64_t>(value) != read)
      fail("a number that is too large");
  }
  void text(std::string &value) {
    value = data.getBytes(cursor, length()).str();
  }
  template <typename T> void list(std::vector<T> &values) {
    for (size_t left = length(); left > 0 && cursor && problem.empty(); --left)
      element(values.emplace_back());
  }
  void steps(StepList &steps) {
    if (++depth > kMaxDepth)
      fail("control flow that is nested too deeply");
    else
      list(steps);
    --depth;
  }
  void action(Step::Action &action) {
    size_t kind = 0;
    number(kind);
    if (!makeAlternative<0>(action, kind))
      fail("a step of an unknown kind");
    std::visit([this](auto &what) { visit(*this, what); }, action);
  }
  void kernel(std::shared_ptr<const Kernel> &kernel) {
    std::string name;
    text(name);
    if (problem.empty() && !(kernel = findKernel(name)))
      fail("a kernel '" + name + "' that is not there");
  }
  template <typename... Lists> void values(std::variant<Lists...> &values) {
    size_t kind = 0;
    number(kind);
    if (!makeAlternative<0>(values, kind))
      fail("an attribute of an unknown kind");
    std::visit([this](auto &list) { this->list(list); }, values);
  }
  bool isOfSorts() const { return layout == ProgramLayout::SortsAlone; }
  void plan(RoutineCall &call) {
    if (isOfSorts()) {
      FormerSort sort;
      for (int64_t &field : sort.numbers)
        number(field);
      call.routine = makeRoutine(sort);
      call.library = "host";
    }
    if (!problem.empty() || !cursor)
      return;
    if (llvm::Error error = planRoutine(call, routines))
      fail(toString(std::move(error)));
  }

  /// Fails where not all was there, or something is left.
  llvm::Error finish() {
    bool isAtEnd = data.eof(cursor);
    if (llvm::Error error = cursor.takeError())
      return error;
    if (!problem.empty())
      return llvm::createStringError("a program has " + problem);
    if (!isAtEnd)
      return llvm::createStringError("a program has bytes behind its end");
    return llvm::Error::success();
  }

private:
  /// Programs have some levels.
  static constexpr unsigned kMaxDepth = 64;

  void fail(std::string what) {
    if (problem.empty())
      problem = std::move(what);
  }

  /// Elements take a byte or more.
  size_t length() {
    uint64_t size = 0;
    number(size);
    if (!problem.empty())
      return 0;
    if (!cursor || size > data.size() - cursor.tell()) {
      fail("a list that is longer than the program");
      return 0;
    }
    return size;
  }
  template <size_t kind, typename VariantT>
  static bool makeAlternative(VariantT &value, size_t wanted) {
    if constexpr (kind < std::variant_size_v<VariantT>) {
      if (wanted != kind)
        return makeAlternative<kind + 1>(value, wanted);
      value.template emplace<kind>();
      return true;
    } else {
      return false;
    }
  }
  template <typename T> void element(T &value) {
    if constexpr (std::is_integral_v<T>)
      number(value);
    else
      visit(*this, value);
  }
  void element(std::string &value) { text(value); }
  void element(double &value) {
    int64_t bits = 0;
    number(bits);
    value = llvm::bit_cast<double>(bits);
  }

  llvm::DataExtractor data;
  llvm::DataExtractor::Cursor cursor;
  FindKernel findKernel;
  const RoutineRegistry &routines;
  ProgramLayout layout;
  std::string problem;
  unsigned depth = 0;
};
} // namespace

std::string metaops::writeProgram(const ProgramData &program,
                                  const ProgramInfo &info) {
  DescribedProgram copy = {program, info};
  std::string bytes;
  Writer writer(bytes);
  visit(writer, copy.data);
  visit(writer, copy.info);
  return bytes;
}

llvm::Expected<DescribedProgram>
metaops::readProgram(llvm::StringRef bytes, Reader::FindKernel findKernel,
                     const RoutineRegistry &routines, ProgramLayout layout) {
  DescribedProgram program;
  Reader reader(bytes, findKernel, routines, layout);
  visit(reader, program.data);
  visit(reader, program.info);
  if (llvm::Error error = reader.finish())
    return std::move(error);
  makeScratch(program.data);
  if (llvm::Error error = verifyProgram(program.data))
    return std::move(error);
  if (program.info.calls.size() != countSteps(program.data.steps))
    return llvm::createStringError("a program of %u steps has a report on %zu",
                                   countSteps(program.data.steps),
                                   program.info.calls.size());
  program.info.isLoaded = true;
  return program;
}
