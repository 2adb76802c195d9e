//===- Plugin.cpp - Routines of shared libraries --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan holds the routine as plugins see it: its description is made once, and
// handed to each run.
//
// A plugin may be written in C++. An exception that leaves one of its
// functions, or of its parts of a parallel loop, is a failure of the routine.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Routines/Plugin.h"
#include "metaops-c/routine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <atomic>
#include <dlfcn.h>
#include <mutex>

using namespace metaops;

namespace {
/// A routine with its description in C.
class Description {
public:
  explicit Description(Routine given);
  Description(const Description &) = delete;
  Description &operator=(const Description &) = delete;

  const metaops_routine &get() const { return described; }

private:
  metaops_routine_attribute describe(const RoutineAttribute &attribute);

  const Routine routine;
  std::vector<metaops_routine_attribute> attributes;
  std::vector<metaops_routine_tensor> operands, results;
  /// Of the attributes that are texts.
  std::vector<std::vector<const char *>> texts;
  metaops_routine described;
};
} // namespace

static metaops_routine_tensor describe(const RoutineTensor &tensor) {
  return {tensor.role.c_str(),   static_cast<metaops_dtype>(tensor.dtype),
          tensor.shape.size(),   tensor.shape.data(),
          tensor.strides.data(), tensor.over};
}

metaops_routine_attribute
Description::describe(const RoutineAttribute &attribute) {
  metaops_routine_attribute made = {attribute.name.c_str(), 0, nullptr, nullptr,
                                    nullptr};
  std::visit([&](const auto &list) { made.count = list.size(); },
             attribute.values);
  if (const auto *integers =
          std::get_if<RoutineAttribute::Integers>(&attribute.values))
    made.integers = integers->data();
  if (const auto *floats =
          std::get_if<RoutineAttribute::Floats>(&attribute.values))
    made.floats = floats->data();
  if (const auto *list =
          std::get_if<RoutineAttribute::Texts>(&attribute.values)) {
    std::vector<const char *> &pointers = texts.emplace_back();
    for (const std::string &text : *list)
      pointers.push_back(text.c_str());
    made.texts = pointers.data();
  }
  return made;
}

Description::Description(Routine given) : routine(std::move(given)) {
  for (const RoutineAttribute &attribute : routine.attributes)
    attributes.push_back(describe(attribute));
  for (const RoutineTensor &tensor : routine.operands)
    operands.push_back(::describe(tensor));
  for (const RoutineTensor &tensor : routine.results)
    results.push_back(::describe(tensor));
  described = {routine.name.c_str(), attributes.size(), attributes.data(),
               operands.size(),      operands.data(),   results.size(),
               results.data()};
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

using Message = std::array<char, 512>;

/// No routine takes more scratch memory.
static constexpr int64_t kMaxScratch = int64_t(1) << 60;

/// Returns what a plugin has written, whether it has ended it or not.
static llvm::Error fail(Message &message) {
  message.back() = 0;
  if (!message.front())
    return llvm::createStringError("it has failed, and does not say why");
  return llvm::createStringError(llvm::json::fixUTF8(message.data()));
}

/// Writes what is said of an exception that is being handled.
static void describeException(Message &message) {
  std::string text = "it has thrown an exception";
  try {
    throw;
  } catch (const std::exception &exception) {
    text += std::string(": ") + exception.what();
  } catch (...) {
  }
  message = {};
  text.copy(message.data(), message.size() - 1);
}

/// Calls a function of a plugin; an exception is a failure.
static int callPlugin(Message &message, llvm::function_ref<int()> function) {
  try {
    return function();
  } catch (...) {
    describeException(message);
    return 1;
  }
}

namespace {
/// The state of a run that the functions given to it refer to.
struct PluginRun {
  const RoutineRun &run;
  /// Set once a plugin has been told to stop.
  std::atomic<bool> isStopped = false;
  std::atomic<bool> hasThrown = false;
  /// Written by the first part of a loop that throws.
  Message thrown = {};
};
} // namespace

static PluginRun &getRun(const metaops_routine_run *run) {
  return *static_cast<PluginRun *>(run->internal);
}

static void parallelFor(const metaops_routine_run *run, int64_t count,
                        int64_t grain,
                        void (*body)(void *data, int64_t begin, int64_t end),
                        void *data) {
  PluginRun &known = getRun(run);
  known.run.threads.parallelFor(count, std::max<int64_t>(grain, 1),
                                [&](int64_t begin, int64_t end) {
                                  try {
                                    body(data, begin, end);
                                  } catch (...) {
                                    if (!known.hasThrown.exchange(true))
                                      describeException(known.thrown);
                                  }
                                });
}

static int shouldStop(const metaops_routine_run *run) {
  PluginRun &known = getRun(run);
  if (known.run.shouldStop && known.run.shouldStop())
    known.isStopped = true;
  return known.isStopped;
}

namespace {
class PluginPlan : public RoutinePlan {
public:
  PluginPlan(const metaops_routine_implementation &functions,
             std::shared_ptr<const Description> description,
             RoutineEstimate estimate)
      : RoutinePlan(estimate), functions(functions),
        description(std::move(description)) {}

  llvm::Expected<std::optional<int64_t>>
  run(const RoutineRun &run) const override {
    PluginRun known{run};
    metaops_routine_run given = {run.operands.data(), run.results.data(),
                                 run.scratch,         parallelFor,
                                 shouldStop,          &known};
    Message message{};
    int status = callPlugin(message, [&] {
      return functions.run(&description->get(), &given, message.data(),
                           message.size());
    });
    if (known.hasThrown)
      message = known.thrown;
    if (status != 0 || known.hasThrown)
      return llvm::createStringError(
          llvm::Twine("the routine '") + functions.routine + "' of " +
          functions.library + ": " + toString(fail(message)));
    return known.isStopped ? std::optional<int64_t>(0) : std::nullopt;
  }

private:
  const metaops_routine_implementation &functions;
  std::shared_ptr<const Description> description;
};

class PluginRoutine : public RoutineImplementation {
public:
  explicit PluginRoutine(const metaops_routine_implementation &functions)
      : functions(functions) {}

  llvm::StringRef getRoutine() const override { return functions.routine; }
  llvm::StringRef getLibrary() const override { return functions.library; }
  llvm::StringRef getVersion() const override { return functions.version; }

  /// Takes all that it plans.
  llvm::Error accept(const Routine &routine) const override {
    return llvm::Error::success();
  }
  llvm::Expected<std::shared_ptr<const RoutinePlan>>
  plan(const Routine &routine) const override {
    auto description = std::make_shared<const Description>(routine);
    metaops_routine_plan planned = {};
    Message message{};
    if (callPlugin(message, [&] {
          return functions.plan(&description->get(), &planned, message.data(),
                                message.size());
        }) != 0)
      return fail(message);
    if (planned.scratch_bytes < 0 || planned.work < 0 || planned.flops < 0)
      return llvm::createStringError("it plans with negative numbers");
    if (planned.scratch_bytes > kMaxScratch)
      return llvm::createStringError("it plans with " +
                                     llvm::Twine(planned.scratch_bytes) +
                                     " bytes of scratch memory");
    RoutineEstimate estimate = {planned.scratch_bytes, planned.work,
                                planned.flops, functions.may_fail != 0};
    return std::make_shared<PluginPlan>(functions, std::move(description),
                                        estimate);
  }

private:
  const metaops_routine_implementation &functions;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

using Implementations = std::vector<const metaops_routine_implementation *>;

/// Returns what is wrong with what a plugin adds; nothing if all is there.
static const char *findProblem(const Implementations &added) {
  for (const metaops_routine_implementation *each : added) {
    if (!each)
      return "an implementation is null";
    if (!each->routine || !each->library || !each->version || !each->plan ||
        !each->run)
      return "an implementation lacks a name or a function";
    if (!llvm::all_of(
            llvm::ArrayRef({each->routine, each->library, each->version}),
            [](const char *name) { return llvm::json::isUTF8(name); }))
      return "a name is not UTF-8";
  }
  return nullptr;
}

llvm::Expected<std::vector<std::string>>
metaops::loadRoutines(llvm::StringRef path, RoutineRegistry &registry) {
  void *library = nullptr;
  auto refuse = [&](const llvm::Twine &why) {
    std::string text =
        ("no routines can be loaded from '" + path + "': " + why).str();
    if (library)
      dlclose(library);
    return llvm::createStringError(llvm::json::fixUTF8(text));
  };
  library = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return refuse(dlerror());
  auto *addRoutines = reinterpret_cast<decltype(&metaops_add_routines)>(
      dlsym(library, "metaops_add_routines"));
  if (!addRoutines)
    return refuse("it does not define metaops_add_routines");
  Implementations added;
  int version = 0;
  Message message{};
  if (callPlugin(message, [&] {
        version = addRoutines(
            METAOPS_ROUTINE_VERSION, &added,
            [](void *list, const metaops_routine_implementation *each) {
              static_cast<Implementations *>(list)->push_back(each);
            });
        return 0;
      }) != 0)
    return refuse(toString(fail(message)));
  if (version != METAOPS_ROUTINE_VERSION)
    return refuse("it is of version " + llvm::Twine(version) +
                  " of routines; expected " +
                  llvm::Twine(METAOPS_ROUTINE_VERSION));
  if (const char *problem = findProblem(added))
    return refuse(problem);
  std::vector<std::string> names;
  for (const metaops_routine_implementation *each : added) {
    registry.add(std::make_shared<PluginRoutine>(*each));
    names.push_back(each->routine);
  }
  return names;
}
