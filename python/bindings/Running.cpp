//===- Running.cpp - Gradients, and asking for values --------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchange.h"
#include "Function.h"
#include "MetaOps/Runtime/Program/TruePlaces.h"

using namespace metaops;
using namespace metaops::python;

static std::vector<Var> recordGradients(py::handle loss,
                                        llvm::ArrayRef<const Var *> targets,
                                        UnusedTargets unused) {
  const Var &differentiated = expectVar(loss, "grad: the loss");
  return recordWithoutGIL([&](RecordingSession &session) {
    return session.grad(differentiated, targets, unused);
  });
}

static py::object gradientsOf(py::handle loss, py::handle targets,
                              py::object allowUnused) {
  py::list owner;
  std::vector<const Var *> vars = toVars(targets, owner);
  UnusedTargets unused = allowUnused.is_none()      ? UnusedTargets::NotAll
                         : allowUnused.cast<bool>() ? UnusedTargets::Zero
                                                    : UnusedTargets::Error;
  std::vector<Var> gradients = recordGradients(loss, vars, unused);
  if (asVar(targets))
    return py::cast(std::move(gradients.front()));
  return toList(std::move(gradients));
}

static py::list usedGradientsOf(py::handle loss, py::handle targets) {
  py::list owner, result;
  std::vector<const Var *> vars = toVars(targets, owner);
  for (Var &gradient : recordGradients(loss, vars, UnusedTargets::Empty))
    result.append(gradient ? py::cast(std::move(gradient)) : py::none());
  return result;
}

static py::list tangentsOf(py::handle outputs, py::handle inputs,
                           py::handle tangents) {
  py::list outputOwner, inputOwner, tangentOwner;
  std::vector<const Var *> moved = toVars(outputs, outputOwner);
  std::vector<const Var *> moving = toVars(inputs, inputOwner);
  std::vector<const Var *> directions = toVars(tangents, tangentOwner);
  return toList(recordWithoutGIL([&](RecordingSession &session) {
    return session.jvp(moved, moving, directions);
  }));
}

static void syncVars(py::handle object) {
  py::list owner;
  std::vector<const Var *> vars = toVars(object, owner);
  runWithoutGIL([&](Session &session) {
    session.sync(vars);
    return 0;
  });
  raiseCallbackFailure();
}

static void computeInitial(py::handle object) {
  py::list owner;
  std::vector<const Var *> vars = toVars(object, owner);
  runWithoutGIL([&](Session &session) {
    session.computeInitial(vars);
    return 0;
  });
  raiseCallbackFailure();
}

static py::list fetchSync(py::handle object) {
  py::list owner;
  std::vector<const Var *> vars = toVars(object, owner);
  std::vector<TensorData> values;
  do {
    values = runWithoutGIL([&](Session &session) {
      session.sync(vars);
      std::vector<TensorData> result;
      for (const Var *var : vars)
        result.push_back(session.getData(*var));
      return result;
    });
    // Another thread may have stopped a run.
  } while (llvm::any_of(values, [](const TensorData &value) {
    return getSession().wasStopped(value);
  }));
  py::list arrays;
  for (const TensorData &value : values) {
    getSession().wait(value);
    arrays.append(toNumPy(value, /*copy=*/true));
  }
  return arrays;
}

/// Computes a vector of booleans, and returns where they are true.
static Var findTruePlaces(py::handle object) {
  const Var &mask = expectVar(object, "true_places: x");
  if (!isBool(mask.dtype()) || mask.shape().size() != 1)
    fail(ErrorKind::Type, "true_places: given " + nameOf(mask.dtype()) +
                              " of shape " + formatShape(mask.shape()) +
                              ", expected a vector of booleans");
  TensorData data = dataOf(mask);
  std::optional<TruePlaces> places;
  ThreadPool &threads = getDevice().getThreads();
  {
    ReleasedGIL released;
    places.emplace(
        llvm::ArrayRef(static_cast<const uint8_t *>(data.buffer->data()),
                       mask.numElements()),
        threads);
  }
  int64_t count = places->count();
  BufferRef buffer = allocate(count * sizeof(int64_t));
  {
    ReleasedGIL released;
    places->write(static_cast<int64_t *>(buffer->data()));
  }
  return Entered()->give(DType::I64, {count}, std::move(buffer));
}

void metaops::python::bindRunning(py::module_ &module) {
  define(module, "true_places(x)", &findTruePlaces,
         "Where a vector of booleans is true, int64. Computes it.");
  define(module, "grad(loss, targets, allow_unused=None)", &gradientsOf,
         "Gradients of the sum of the loss by the targets: a Var for a\n"
         "Var, a list for a sequence.\n\n"
         "Where a target has been rebound since the loss was recorded, by a\n"
         "step or by `w += 1`, the gradient is by the value that the loss was\n"
         "made of. It is zero by a target that the loss does not depend on,\n"
         "but there is a ValueError if it depends on none of them; with\n"
         "allow_unused=True there is none, with False also for a single one.");
  define(
      module, "recorded_at(x)",
      [](py::handle x) {
        const Var &var = expectVar(x, "x");
        Entered session;
        return session->getNode(var)->order;
      },
      "The place of x's value in the order of recording, which no other has.");
  define(module, "used_gradients(loss, targets)", &usedGradientsOf,
         "Gradients as those of grad, but None where the loss does not depend\n"
         "on the target.");
  define(module, "jvp(outputs, inputs, tangents)", &tangentsOf,
         "How the outputs move where the inputs move by the tangents.");
  define(module, "sync(vars)", &syncVars,
         "Computes a Var, or a sequence of Vars as one program.");
  define(module, "compute_initial(vars)", &computeInitial,
         "Computes those of the Vars that hold what they began with, which is\n"
         "made of constants and generators alone, and all such constants.");
  define(
      module, "sync_all()",
      [] {
        runWithoutGIL([](Session &session) {
          session.syncAll();
          return 0;
        });
        waitForCallbacks();
      },
      "Computes all that is recorded, and waits for callbacks of fetches.");
  define(module, "fetch_sync(vars)", &fetchSync,
         "NumPy arrays of the Vars, computed as one program.");
}
