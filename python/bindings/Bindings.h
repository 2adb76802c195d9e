//===- Bindings.h - Shared by the Python extension --------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_BINDINGS_H
#define METAOPS_PYTHON_BINDINGS_BINDINGS_H

#include "MetaOps/Runtime/Session/Session.h"
#include "MetaOps/Runtime/Trace/Trace.h"
#include "Signals.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace metaops::python {

namespace py = pybind11;

//===----------------------------------------------------------------------===//
// The session (Scope.cpp)
//===----------------------------------------------------------------------===//

/// Returns whether there is a session. Asking for it makes one, which a child
/// that is forked later cannot use.
bool hasSession();
/// Returns whether the session is that of a process that this one was forked
/// from. The threads that served it there are not here.
bool isSessionInherited();
/// The process's session.
Session &getSession();
const std::shared_ptr<Session> &getSharedSession();

/// Sets a flag that names a folder, for a session that is made later.
void setDefaultFlag(llvm::StringRef flag, FlagValue value);

/// The most threads that a session which is made later starts with.
void setMostThreads(unsigned threads);

/// For GPUs in a session that is made later: folders of Python packages, in
/// which those of NVIDIA may be, and assemblers whose cubins are taken.
void setGpuTools(std::vector<std::string> packages,
                 std::vector<std::string> assemblers);

/// For emulated devices in a session that is made later, with the tools above:
/// chips for which kernels are assembled, a folder for the cubins, and a file
/// for the kernels of programs (see EmulatedDeviceOptions).
llvm::Error setEmulator(llvm::ArrayRef<std::string> chips,
                        std::string cubinFolder, std::string kernelLog);

/// "file.py:12" of the user's innermost frame; empty outside of Python code.
std::string currentLine();

/// Returns where the Python code stands, callers included.
CallPlace currentPlace();

class UserFrame;

/// Enters the session with the GIL held, at the user's line. A thread that
/// holds the session may need the GIL, so this never waits for it with the GIL
/// held. No Python object may be made inside: the garbage collector could run
/// and call what enters the session again.
class Entered {
public:
  /// Enters what this thread records in: the process's session, or a trace.
  Entered();
  explicit Entered(RecordingSession &session);
  RecordingSession &operator*() const { return session; }
  RecordingSession *operator->() const { return &session; }

private:
  Entered(RecordingSession &session, const UserFrame &frame);

  RecordingSession &session;
  SessionScope scope;
};

/// The same for what does more than record. Throws on a thread that records a
/// function.
class EnteredSession {
public:
  EnteredSession();
  Session &operator*() const { return session; }
  Session *operator->() const { return &session; }

private:
  Session &session;
  Entered entered;
};

/// The trace of the function that this thread records, or null (Trace.cpp).
Trace *getTrace();

/// Returns whether the caller is in a no_grad scope (GradMode.cpp).
bool areGradientsStopped();
/// The device that is current for the caller (Devices.cpp).
Device &getDevice();

/// While a function is called: makes the device of the first Var that it is
/// given current. With the GIL held.
class DeviceOfCall {
public:
  DeviceOfCall(PyObject *const *arguments, size_t count);
  ~DeviceOfCall();
  DeviceOfCall(const DeviceOfCall &) = delete;
  DeviceOfCall &operator=(const DeviceOfCall &) = delete;

private:
  bool isEntered = false;
};

/// Lets go of functions with derivatives of their own that nobody needs any
/// more (FunctionCalls.cpp). With the GIL held and the session not entered.
void releaseDropped();

/// Hands completed fetches to the thread that calls their callbacks. Needs no
/// GIL.
void deliver(std::vector<CompletedFetch> fetches);
/// Waits, without the GIL, until all callbacks handed over so far have
/// returned, and throws what the first of them has thrown. Callbacks themselves
/// do not wait for each other.
void waitForCallbacks();
/// Throws what a callback has thrown, if nobody was told of it.
void raiseCallbackFailure();

/// Throws on a thread that is in Python which the session waits for, such as a
/// function that a program calls (ExternCode.cpp).
void checkNotInHostFunction();

/// Other Python threads run in its scope.
class ReleasedGIL {
public:
  ReleasedGIL();
  ~ReleasedGIL();
  ReleasedGIL(const ReleasedGIL &) = delete;
  ReleasedGIL &operator=(const ReleasedGIL &) = delete;

private:
  PyThreadState *state;
};

/// Python runs in its scope, on a thread that may have released the GIL.
class HeldGIL {
public:
  HeldGIL();
  ~HeldGIL();
  HeldGIL(const HeldGIL &) = delete;
  HeldGIL &operator=(const HeldGIL &) = delete;

private:
  bool wasReleased;
  PyGILState_STATE state;
};

/// Of a thread that is in a call of the extension, which may call Python.
class CountedCall {
public:
  CountedCall();
  ~CountedCall();
  CountedCall(const CountedCall &) = delete;
  CountedCall &operator=(const CountedCall &) = delete;
};

/// Returns when no other thread is in a scope without the GIL or, but for what
/// takes longer than a second, in a call of the extension; any that calls it
/// later stays there for good. To be called before the interpreter ends: a
/// thread that asks for the GIL afterwards is ended in the midst of C++ code,
/// which aborts the process.
void stopOtherThreads();

/// As Python's RuntimeWarning. Throws where the user has made these errors.
inline void warn(const std::vector<std::string> &warnings) {
  for (const std::string &warning : warnings)
    if (PyErr_WarnEx(PyExc_RuntimeWarning, warning.c_str(), 1) < 0)
      throw py::error_already_set();
}

/// For runWithoutGIL.
template <typename Work>
auto runAndWait(Work &work, std::vector<std::string> &warnings,
                SignalWatch &watch) {
  std::optional<EnteredSession> entered(std::in_place);
  ReleasedGIL release;
  // Left before the GIL is taken back, also where the work throws.
  struct Leave {
    std::optional<EnteredSession> &entered;
    ~Leave() { entered.reset(); }
  } leave{entered};
  Session &session = **entered;
  auto result = work(session);
  deliver(session.takeCompletedFetches());
  warnings = session.takeWarnings();
  Tickets asked = session.getAsked();
  entered.reset();
  if (!asked.empty())
    session.wait(asked, watch);
  session.waitForRoom(watch);
  return result;
}

/// Calls `work(session)`, which may compile and run programs, with the session
/// entered and the GIL released. Then waits, outside of the session, for what
/// the work has asked for. Ctrl-C stops all that; where its handler raises
/// nothing, the work is called again.
template <typename Work> auto runWithoutGIL(Work work) {
  for (;;) {
    std::vector<std::string> warnings;
    SignalWatch watch;
    try {
      auto result = runAndWait(work, warnings, watch);
      warn(warnings);
      return result;
    } catch (const SessionError &error) {
      if (error.getKind() != ErrorKind::Interrupted)
        throw;
    }
    watch.raise();
    callSignalHandlers();
  }
}

/// Calls `work(session)` with what this thread records in, where only a session
/// may have to run something for it.
template <typename Work> auto recordWithoutGIL(Work work) {
  if (!getTrace())
    return runWithoutGIL(
        [&](RecordingSession &session) { return work(session); });
  Entered trace;
  return work(*trace);
}

//===----------------------------------------------------------------------===//
// Conversions (Convert.cpp)
//===----------------------------------------------------------------------===//

/// An operand as Python gives it: a Var, a number, nested sequences with Vars
/// in them, or what NumPy makes an array of. Made with the GIL held, before the
/// session is entered.
class Argument {
public:
  Argument(py::handle object);
  bool isNumber() const { return number.has_value(); }

  /// With the session entered.
  Operand operand(RecordingSession &session);
  /// The same, with a number made a tensor.
  Node *tensor(RecordingSession &session);

private:
  const Var *var = nullptr;
  std::optional<Number> number;
  std::optional<TensorData> data;
  py::object stacked;
  Var owned;
};

/// Returns what an argument or a Var is where something is recorded.
inline Operand operandOf(RecordingSession &session, Argument &argument) {
  return argument.operand(session);
}
inline Node *operandOf(RecordingSession &session, const Var &var) {
  return session.getNode(var);
}
inline llvm::SmallVector<Node *>
operandOf(RecordingSession &session, const std::vector<const Var *> &vars) {
  return session.getNodes(vars);
}

/// A Var of what `work(recorder, operands...)` records of arguments and Vars,
/// with the session entered.
template <typename Work, typename... Sources>
Var record(Work work, Sources &&...sources) {
  Entered session;
  return session->wrap(
      work(session->getRecorder(), operandOf(*session, sources)...));
}

/// The same with numbers made tensors.
template <typename Work, typename... Arguments>
Var recordTensors(Work work, Arguments... arguments) {
  Entered session;
  return session->wrap(
      work(session->getRecorder(), arguments.tensor(*session)...));
}

/// The Var in an object, or null. Faster than pybind11's general conversion,
/// which looks the class up each time.
Var *asVar(py::handle object);
/// The same; null for a Var, too, whose `__init__` was not called.
Var *asHolder(py::handle object);
void setVarClass(py::handle cls);

/// A Python number; nothing for other objects.
std::optional<Number> toNumber(py::handle object);
/// Returns whether there is a Var in a list or tuple, or in one in it.
bool hasNestedTensors(py::handle object);
/// A Var of nested sequences with Vars in them (metaops/_nested.py). Nothing is
/// computed for it, and gradients flow to the parts.
py::object stackNested(py::handle sequence, py::handle dtype);
/// Returns whether an operator may be tried on the object beside a Var; Python
/// asks the other side otherwise.
bool isOperand(py::handle object);
Number expectNumber(py::handle object, const char *what);
std::vector<Number> toNumbers(py::handle list, const char *what);

/// These tell what was given where a Var or an integer was expected.
const Var &expectVar(py::handle object, const char *what);
int64_t expectInteger(py::handle object, const char *what);
/// The value of an object with `__index__`, if it fits.
std::optional<int64_t> toInt64(py::handle object);
[[noreturn]] void failTooLarge(py::handle object, const llvm::Twine &what,
                               ErrorKind kind = ErrorKind::Overflow);

/// Describes an argument: its type, for tensors with shape and dtype.
std::string describe(py::handle object);

/// A name, one of Python's or NumPy's types, or a dtype of ours.
DType toDType(py::handle object);
/// The Python object for a dtype, of which there is one (DTypeClass.cpp).
py::object toPython(DType dtype);
/// The dtype that an object of ours stands for.
std::optional<DType> asDType(py::handle object);
std::vector<int64_t> toIntegers(py::handle object, const char *what);
std::vector<std::string> toStrings(py::handle object, const char *what);
/// A dimension, several, or None.
std::optional<std::vector<int64_t>> toDims(py::handle object);
/// Vars of a sequence; the objects are kept in `owner`.
std::vector<const Var *> toVars(py::handle object, py::list &owner);
/// From a sequence of booleans.
llvm::SmallBitVector toFlags(py::handle object);
py::list toList(std::vector<Var> vars);

//===----------------------------------------------------------------------===//
// Data (Exchange.cpp)
//===----------------------------------------------------------------------===//

/// The value, computed if need be, without the GIL meanwhile.
TensorData dataOf(const Var &var);
/// A copy, or, without one, a read-only view of the buffer.
py::array toNumPy(const TensorData &data, bool copy);
/// The one element of a tensor as a Python number.
py::object toScalar(const TensorData &data);

/// Memory of the session's allocator. Where there is no more, what is dead goes
/// first. With the GIL held and the session not entered (Memory.cpp).
BufferRef allocate(size_t bytes);

//===----------------------------------------------------------------------===//
// Parts of the module
//===----------------------------------------------------------------------===//

/// Seconds that a call should take on this machine, as far as it was calibrated
/// (Reports.cpp). With the GIL held.
double predictSeconds(const KernelInfo &call);
/// Describes what fusion reported, and what each kernel does (Explain.cpp).
py::tuple describeProgram(const std::shared_ptr<const RunRecord> &record);
py::list strings(const std::vector<std::string> &texts);
py::tuple toTuple(llvm::ArrayRef<int64_t> numbers);
/// Returns the compiler for a GPU that is not here, "cuda:sm_90a"
/// (Explain.cpp). With the GIL held.
Compiler &findTarget(const std::string &name);

void bindDTypes(py::module_ &module);
void bindVar(py::module_ &module);
void bindIndexing(py::class_<Var> &cls);
void bindCreation(py::module_ &module);
void bindMetaOperators(py::module_ &module);
void bindRunning(py::module_ &module);
void bindFunctionCalls(py::module_ &module);
void bindExternCode(py::module_ &module);
void bindRoutines(py::module_ &module);
void bindReports(py::module_ &module);
void bindMemory(py::module_ &module);
void bindExport(py::module_ &module);
void bindGradMode(py::module_ &module);
void bindDevices(py::module_ &module);
void bindStepOutcome(py::module_ &module);
void bindControlFlow(py::module_ &module);
void bindTrace(py::module_ &module);
void bindCallable(py::module_ &module);
void bindGuards(py::module_ &module);
void bindWatch(py::module_ &module);
void bindCache(py::module_ &module);
void bindFetch(py::module_ &module);
void bindProfile(py::module_ &module);
void bindExplain(py::module_ &module);

/// `copy` is True, False or None, as NumPy means them.
Var arrayOf(py::handle object, py::handle dtype, py::handle copy);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_BINDINGS_H
