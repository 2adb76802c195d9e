//===- Scope.cpp - Entering the session from Python -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

#include "llvm/ADT/DenseMap.h"

#include <unordered_map>

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// State of the extension
//===----------------------------------------------------------------------===//

namespace {
/// Where a user's code stands: a code object and the instruction in it.
using CodePosition = std::pair<PyCodeObject *, int>;

/// What the extension keeps for the process; guarded by the GIL. It is never
/// destroyed, since Vars may die after the interpreter has begun to shut down.
struct State {
  std::shared_ptr<Session> session = Session::create(createCpuCompiler());
  std::string packageFolder;
  /// Whether a function is the package's own. The code objects are kept alive,
  /// so that no other takes an address.
  llvm::DenseMap<PyCodeObject *, bool> isOwn;
  llvm::DenseMap<CodePosition, mlir::LocationAttr> locations;
  std::unordered_map<uint64_t, py::function> callbacks;
};
} // namespace

static State &getState() {
  static auto *state = new State;
  return *state;
}

Session &metaops::python::getSession() { return *getState().session; }

const std::shared_ptr<Session> &metaops::python::getSharedSession() {
  return getState().session;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The folder whose functions are the package's own, not the user's: that of
/// the extension itself.
static const std::string &getPackageFolder() {
  std::string &folder = getState().packageFolder;
  if (folder.empty()) {
    std::string file = py::module_::import("metaops._core")
                           .attr("__file__")
                           .cast<std::string>();
    folder = file.substr(0, file.rfind('/') + 1);
  }
  return folder;
}

/// Code that is made again and again, as by exec, must not fill the memory.
static void forgetCode(State &state) {
  for (auto [code, isOwn] : state.isOwn)
    Py_DECREF(code);
  state.isOwn.clear();
  state.locations.clear();
}

static bool isOwnCode(PyCodeObject *code) {
  State &state = getState();
  if (state.isOwn.size() > 50000)
    forgetCode(state);
  auto [it, isNew] = state.isOwn.try_emplace(code, false);
  if (isNew) {
    Py_INCREF(code);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    if (!file)
      PyErr_Clear();
    it->second = file && llvm::StringRef(file).starts_with(getPackageFolder());
  }
  return it->second;
}

static int positionOf(PyFrameObject *frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return PyFrame_GetLineNumber(frame);
#endif
}

namespace {
/// The innermost frame that is not the package's own.
class UserFrame {
public:
  UserFrame() {
    frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame) {
      PyCodeObject *code = PyFrame_GetCode(frame);
      Py_DECREF(code); // the frame holds it
      position = {code, 0};
      if (!isOwnCode(code))
        break;
      PyFrameObject *outer = PyFrame_GetBack(frame);
      Py_DECREF(frame);
      frame = outer;
    }
    if (frame)
      position.second = positionOf(frame);
  }
  ~UserFrame() { Py_XDECREF(frame); }
  UserFrame(const UserFrame &) = delete;
  UserFrame &operator=(const UserFrame &) = delete;

  explicit operator bool() const { return frame; }
  CodePosition getPosition() const { return position; }
  unsigned getLine() const { return PyFrame_GetLineNumber(frame); }
  std::string getFile() const {
    const char *file = PyUnicode_AsUTF8(position.first->co_filename);
    if (!file)
      PyErr_Clear();
    return file ? file : "?";
  }

private:
  PyFrameObject *frame;
  CodePosition position{nullptr, 0};
};
} // namespace

std::string metaops::python::currentLine() {
  UserFrame frame;
  if (!frame)
    return "";
  return frame.getFile() + ":" + std::to_string(frame.getLine());
}

//===----------------------------------------------------------------------===//
// Entering
//===----------------------------------------------------------------------===//

static std::adopt_lock_t lockWithoutGIL(Session &session) {
  session.checkProcess();
  while (!session.getMutex().try_lock()) {
    py::gil_scoped_release release;
    session.getMutex().lock();
    session.getMutex().unlock();
  }
  return std::adopt_lock;
}

Entered::Entered()
    : session(getSession()), scope(session, lockWithoutGIL(session)) {
  UserFrame frame;
  if (!frame)
    return;
  // The context makes locations, and it is only safe inside of the session.
  mlir::LocationAttr &location = getState().locations[frame.getPosition()];
  if (!location)
    location = session.makeLocation(frame.getFile(), frame.getLine());
  session.setLine(location);
}

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

void metaops::python::addCallback(uint64_t id, py::function callback) {
  getState().callbacks.emplace(id, std::move(callback));
}

void metaops::python::callBack(std::vector<CompletedFetch> &completed) {
  // All are called; the first failure is told in the end.
  std::exception_ptr failure;
  for (CompletedFetch &fetch : completed) {
    auto it = getState().callbacks.find(fetch.id);
    if (it == getState().callbacks.end())
      continue;
    py::function callback = std::move(it->second);
    getState().callbacks.erase(it);
    try {
      py::tuple arguments(fetch.values.size());
      for (auto [index, value] : llvm::enumerate(fetch.values))
        arguments[index] = toNumPy(value, /*copy=*/true);
      callback(*arguments);
    } catch (...) {
      if (!failure)
        failure = std::current_exception();
    }
  }
  if (failure)
    std::rethrow_exception(failure);
}
