//===- Scope.cpp - Entering the session from Python -----------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "GpuDriver.h"
#include "MetaOps/Runtime/CPU/CpuCompiler.h"

#include "MetaOps/Runtime/GPU/CudaDevice.h"
#include "MetaOps/Runtime/GPU/EmulatedDevice.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// State of the extension
//===----------------------------------------------------------------------===//

/// Flags that a new session starts with. The session is made by
/// whatever needs it first, so that a process may fork before.
static llvm::StringMap<FlagValue> &defaultFlags() {
  static auto *flags = new llvm::StringMap<FlagValue>;
  return *flags;
}

void metaops::python::setDefaultFlag(llvm::StringRef flag, FlagValue value) {
  defaultFlags()[flag] = std::move(value);
}

/// The most threads that a new session starts with; guarded by the GIL.
static unsigned mostThreads = ~0u;

void metaops::python::setMostThreads(unsigned threads) {
  mostThreads = threads;
}

/// Returns the options of GPUs; guarded by the GIL until the session is made.
static CudaOptions &cudaOptions() {
  static auto *options = new CudaOptions;
  return *options;
}

/// The options of emulated devices; guarded as above.
static EmulatedDeviceOptions &emulatorOptions() {
  static auto *options = new EmulatedDeviceOptions;
  return *options;
}

void metaops::python::setGpuTools(std::vector<std::string> packages,
                                  std::vector<std::string> assemblers) {
  cudaOptions().search = [packages = std::move(packages)] {
    std::vector<std::string> toolkits;
    for (const std::string &folder : packages)
      llvm::append_range(toolkits, Toolkits::listPackages(folder));
    AssemblerSearch search;
    search.toolkits = Toolkits::detect(std::move(toolkits));
    return search;
  };
  cudaOptions().otherAssemblers = std::move(assemblers);
}

llvm::Error metaops::python::setGpuDriver(llvm::StringRef text) {
  auto options = EmulatedDriverOptions::parse(text);
  if (!options)
    return options.takeError();
  cudaOptions().emulated = std::make_shared<EmulatedDriver>(*options);
  return llvm::Error::success();
}

std::string metaops::python::whyNoGpu(int64_t ordinal) {
  return toString(checkGpu(cudaOptions(), static_cast<unsigned>(ordinal)));
}

llvm::Error metaops::python::setEmulator(llvm::ArrayRef<std::string> chips,
                                         std::string cubinFolder,
                                         std::string kernelLog) {
  EmulatedDeviceOptions &options = emulatorOptions();
  options.assembledFor.clear();
  options.kernelLog = std::move(kernelLog);
  for (const std::string &name : chips) {
    auto chip = mlir::metaop::Chip::find(name);
    if (!chip)
      return chip.takeError();
    CudaOptions &assembled = options.assembledFor.emplace_back(cudaOptions());
    assembled.chip = *chip;
    assembled.cubinFolder = cubinFolder;
  }
  return llvm::Error::success();
}

/// The kinds of devices beside the CPU and the interpreter.
static std::vector<DeviceKind> listGpus() {
  std::vector<DeviceKind> kinds = listCudaDevices(cudaOptions());
  llvm::append_range(kinds, listEmulatedDevices(emulatorOptions()));
  return kinds;
}

namespace {
/// Place in a user's code: a code object and the instruction in it.
using CodePosition = std::pair<PyCodeObject *, int>;

/// State of the extension in the process; guarded by the GIL. It is never
/// destroyed, since Vars may die after the interpreter has begun to shut down.
struct State {
  State() {
    session->setStopCheck(&isInterruptPending);
    for (const auto &[flag, value] : defaultFlags())
      session->setFlag(flag, value);
    ThreadPool &threads = session->getDevice().getThreads();
    threads.setThreads(std::min(threads.getThreads(), mostThreads));
    exists = true;
  }

  static inline std::atomic<bool> exists{false};
  std::shared_ptr<Session> session =
      Session::create(createCpuCompiler(), listGpus());
  std::string packageFolder;
  /// Functions of the package, by their code objects: these are kept alive, so
  /// that no other takes an address.
  llvm::DenseMap<PyCodeObject *, bool> isOwn;
  llvm::DenseMap<CodePosition, mlir::LocationAttr> locations;
};
} // namespace

static State &getState() {
  static auto *state = new State;
  return *state;
}

bool metaops::python::hasSession() { return State::exists; }

bool metaops::python::isSessionInherited() {
  if (!hasSession())
    return false;
  try {
    getSession().checkProcess();
    return false;
  } catch (const SessionError &) {
    return true;
  }
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

/// The innermost frame that is not the package's own.
class metaops::python::UserFrame {
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

std::string metaops::python::currentLine() {
  UserFrame frame;
  if (!frame)
    return "";
  return frame.getFile() + ":" + std::to_string(frame.getLine());
}

CallPlace metaops::python::currentPlace() {
  llvm::hash_code hash = 0;
  PyFrameObject *frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame) {
    PyCodeObject *code = PyFrame_GetCode(frame);
    hash = llvm::hash_combine(hash, code, positionOf(frame));
    Py_DECREF(code);
    PyFrameObject *outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  return {hash};
}

//===----------------------------------------------------------------------===//
// Entering
//===----------------------------------------------------------------------===//

/// Time that the end of the interpreter waits for calls of other threads.
static constexpr auto kPatience = std::chrono::seconds(1);

namespace {
/// Of the process's end. Changed with the GIL held.
struct Ending {
  std::atomic<bool> isNear{false};
  /// Scopes without the GIL.
  std::atomic<int> scopes{0};
  /// Calls of the extension that have not returned, of threads that go on.
  std::atomic<int> calls{0};
  /// The thread that ends the interpreter.
  std::thread::id thread;
};
} // namespace

static Ending &getEnding() {
  static auto *ending = new Ending;
  return *ending;
}

/// Calls of this thread that have not returned: one may call Python, and that
/// the extension again.
static thread_local int depthOfCalls = 0;

/// Nobody else changes the number while the GIL is held.
static void addCalls(int count) {
  std::atomic<int> &calls = getEnding().calls;
  calls.store(calls.load(std::memory_order_relaxed) + count,
              std::memory_order_relaxed);
}

/// Keeps other threads where they are when the interpreter ends.
static void stayIfEnding() {
  Ending &ending = getEnding();
  if (!ending.isNear || ending.thread == std::this_thread::get_id())
    return;
  addCalls(-depthOfCalls);
  PyEval_SaveThread();
  for (;;)
    std::this_thread::sleep_for(std::chrono::hours(1));
}

CountedCall::CountedCall() {
  stayIfEnding();
  ++depthOfCalls;
  addCalls(1);
}

CountedCall::~CountedCall() {
  --depthOfCalls;
  addCalls(-1);
}

ReleasedGIL::ReleasedGIL() {
  ++getEnding().scopes;
  state = PyEval_SaveThread();
}

ReleasedGIL::~ReleasedGIL() {
  PyEval_RestoreThread(state);
  --getEnding().scopes;
}

HeldGIL::HeldGIL()
    : wasReleased(!PyGILState_Check()), state(PyGILState_Ensure()) {
  if (wasReleased)
    --getEnding().scopes;
}

HeldGIL::~HeldGIL() {
  if (wasReleased)
    ++getEnding().scopes;
  PyGILState_Release(state);
}

void metaops::python::stopOtherThreads() {
  Ending &ending = getEnding();
  ending.thread = std::this_thread::get_id();
  ending.isNear = true;
  // A callback of a user may take as long as it likes.
  auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto areInside = [&] {
    return ending.calls > depthOfCalls &&
           std::chrono::steady_clock::now() < deadline;
  };
  while (ending.scopes > 0 || areInside()) {
    PyThreadState *state = PyEval_SaveThread();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
  }
}

static std::adopt_lock_t lockWithoutGIL(RecordingSession &session) {
  checkNotInHostFunction();
  session.checkProcess();
  while (!session.getMutex().try_lock()) {
    {
      ReleasedGIL release;
      if (session.getMutex().try_lock_for(Queue::kAskingPeriod))
        session.getMutex().unlock();
    }
    callSignalHandlers();
  }
  return std::adopt_lock;
}

static RecordingSession &getRecordingSession() {
  if (Trace *trace = getTrace())
    return *trace;
  return getSession();
}

static Session &expectSession() {
  if (getTrace())
    fail(ErrorKind::Runtime,
         "this needs numbers, which there are none of while a function is "
         "recorded; do it outside of the function");
  return getSession();
}

Entered::Entered() : Entered(getRecordingSession()) {}

// Looking at a frame makes an object of it, so that comes before the lock.
Entered::Entered(RecordingSession &session) : Entered(session, UserFrame()) {}

EnteredSession::EnteredSession() : session(expectSession()), entered(session) {}

Entered::Entered(RecordingSession &session, const UserFrame &frame)
    : session(session), scope(session, lockWithoutGIL(session)) {
  Recorder &recorder = session.getRecorder();
  session.setDevice(getDevice());
  recorder.setStopsGradients(areGradientsStopped());
  if (!frame)
    return;
  // The context makes locations, and it is only safe inside of the session.
  mlir::LocationAttr &location = getState().locations[frame.getPosition()];
  if (!location)
    location = recorder.makeLocation(frame.getFile(), frame.getLine());
  recorder.setLine(location);
}
