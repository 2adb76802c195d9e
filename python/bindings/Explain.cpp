//===- Explain.cpp - What kernels do, and how long they should take -------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python gets plain data; the reports are made there
// (metaops/tools/explaining.py).
//
//===----------------------------------------------------------------------===//

#include "Function.h"
#include "MetaOps/Runtime/GPU/GpuTarget.h"
#include "MetaOps/Runtime/Profiler/Profiler.h"
#include "MetaOps/Runtime/Report/Inspector.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"

#include <map>
#include <pybind11/stl.h>

using namespace metaops;
using namespace metaops::python;
using mlir::metaop::AccessDescription;
using mlir::metaop::CardPrediction;
using mlir::metaop::GridDescription;
using mlir::metaop::KernelDescription;
using mlir::metaop::LoopDescription;
using mlir::metaop::MachineFigures;
using mlir::metaop::StageDescription;

static py::dict toDict(const LoopDescription &loop) {
  py::dict result;
  result["loop"] = loop.loop;
  result["extent"] = loop.extent;
  result["is_reduced"] = loop.isReduced;
  result["is_parallel"] = loop.isParallel;
  result["owner"] = loop.owner;
  result["step"] = loop.step;
  result["is_shared"] = loop.isShared;
  result["vector_width"] = loop.vectorWidth;
  result["unroll"] = loop.unroll;
  return result;
}

static py::dict toDict(const AccessDescription &access) {
  py::dict result;
  result["tensor"] = access.tensor;
  result["map"] = access.map;
  result["indices"] = strings(access.indices);
  result["kind"] = mlir::metaop::getAccessKindName(access.kind).str();
  result["is_guarded"] = access.isGuarded;
  result["is_write"] = access.isWrite;
  result["is_streamed"] = access.isStreamed;
  result["reduction"] = access.reduction;
  return result;
}

static py::dict toDict(const StageDescription &stage) {
  py::dict result;
  py::list loops, accesses;
  for (const LoopDescription &loop : stage.loops)
    loops.append(toDict(loop));
  for (const AccessDescription &access : stage.accesses)
    accesses.append(toDict(access));
  result["identity"] = stage.identity;
  result["origins"] = strings(stage.origins);
  result["space"] = stage.space;
  result["to_space"] = stage.toSpace;
  result["operators"] = strings(stage.operators);
  result["loops"] = loops;
  result["accesses"] = accesses;
  result["schedule"] = stage.schedule;
  result["role"] = stage.role;
  result["contraction"] = stage.contraction;
  result["override_line"] = stage.overrideLine;
  return result;
}

/// None of a kernel that is for a CPU.
static py::object toObject(const std::optional<GridDescription> &grid) {
  if (!grid)
    return py::none();
  py::dict result, predictions, bounds;
  for (const CardPrediction &prediction : grid->predictions) {
    predictions[py::str(prediction.card)] = prediction.seconds;
    bounds[py::str(prediction.card)] = prediction.bound;
  }
  result["chip"] = grid->chip;
  result["blocks"] = grid->blocks;
  result["cluster"] = grid->cluster;
  result["threads"] = grid->threads;
  result["shared_bytes"] = grid->sharedBytes;
  result["registers"] = grid->registers;
  result["resident_blocks"] = grid->residentBlocks;
  result["bytes_again"] = grid->bytesAgain;
  result["occupancy"] = grid->occupancy;
  result["warp_instructions"] = grid->slots;
  result["shared_passes"] = grid->sharedPasses;
  result["predicted_seconds"] = predictions;
  result["bounds"] = bounds;
  return result;
}

/// Returns how many threads of a CPU, or of a GPU, work on a call at most.
static int64_t countThreads(const KernelInfo &call,
                            const KernelDescription &kernel) {
  if (kernel.grid)
    return kernel.grid->blocks * kernel.grid->threads;
  return std::min<int64_t>(getDevice().getThreads().getThreads(),
                           call.maxThreads);
}

/// Describes what the fusion reported, and for each call its stages and their
/// text.
py::tuple metaops::python::describeProgram(
    const std::shared_ptr<const RunRecord> &record) {
  ProgramDescription description = runWithoutGIL([&](Session &session) {
    return Inspector(session).describeProgram(*record);
  });
  py::list kernels;
  auto next = description.kernels.begin();
  for (const KernelInfo &call : record->cached->program->getInfo().calls) {
    // Copies have no stages.
    KernelDescription kernel;
    if (call.isKernel && next != description.kernels.end())
      kernel = std::move(*next++);
    py::list stages;
    for (const StageDescription &stage : kernel.stages)
      stages.append(toDict(stage));
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (call.isKernel)
      print(stream, kernel);
    py::dict instructions;
    for (auto [name, count] :
         llvm::zip(mlir::metaop::getWorkClassNames(), kernel.work.instructions))
      instructions[py::str(name.str())] = count;
    py::dict entry;
    entry["name"] = call.name;
    entry["stages"] = stages;
    entry["lines"] = strings(getLines(*record, call));
    entry["bytes_read"] = call.bytesRead;
    entry["bytes_written"] = call.bytesWritten;
    entry["flops"] = call.flops;
    entry["instructions"] = instructions;
    entry["threads"] = countThreads(call, kernel);
    entry["predicted_seconds"] = predictSeconds(call);
    entry["may_keep"] = call.mayKeep;
    entry["grid"] = toObject(kernel.grid);
    entry["text"] = text;
    kernels.append(std::move(entry));
  }
  return py::make_tuple(description.fusion, kernels);
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

Compiler &metaops::python::findTarget(const std::string &name) {
  // Guarded by the GIL; records of programs refer to them as long as the
  // process lives.
  static auto *targets = new std::map<std::string, std::unique_ptr<Compiler>>;
  std::unique_ptr<Compiler> &target = (*targets)[name];
  if (!target) {
    auto created = createTargetCompiler(name);
    if (!created) {
      targets->erase(name);
      fail(ErrorKind::Value, toString(created.takeError()));
    }
    target = std::move(*created);
  }
  return *target;
}

//===----------------------------------------------------------------------===//
// The machine that predictions are for
//===----------------------------------------------------------------------===//

static MachineFigures &getMachine() {
  // Guarded by the GIL.
  static MachineFigures machine;
  return machine;
}

double metaops::python::predictSeconds(const KernelInfo &call) {
  return metaops::predictSeconds(call, getMachine(),
                                 getDevice().getThreads().getThreads());
}

static py::dict getMachineFigures() {
  const MachineFigures &machine = getMachine();
  py::dict times, result;
  for (auto [name, time] :
       llvm::zip(mlir::metaop::getWorkClassNames(), machine.nanoseconds))
    times[py::str(name.str())] = time;
  result["cache_bytes"] = py::cast(machine.cacheBytes);
  result["bandwidth"] = py::cast(machine.bandwidth);
  result["nanoseconds"] = times;
  result["call_nanoseconds"] = machine.callNanoseconds;
  result["thread_nanoseconds"] = machine.threadNanoseconds;
  return result;
}

/// Takes what `getMachineFigures` gives; what is absent stays as it is.
static void setMachineFigures(const py::dict &figures) {
  MachineFigures machine = getMachine();
  if (figures.contains("cache_bytes"))
    machine.cacheBytes =
        figures["cache_bytes"].cast<decltype(machine.cacheBytes)>();
  if (figures.contains("bandwidth"))
    machine.bandwidth =
        figures["bandwidth"].cast<decltype(machine.bandwidth)>();
  if (figures.contains("nanoseconds")) {
    auto times = figures["nanoseconds"].cast<py::dict>();
    for (auto [name, time] :
         llvm::zip(mlir::metaop::getWorkClassNames(), machine.nanoseconds))
      if (py::str key(name.str()); times.contains(key))
        time = times[key].cast<double>();
  }
  if (figures.contains("call_nanoseconds"))
    machine.callNanoseconds = figures["call_nanoseconds"].cast<double>();
  if (figures.contains("thread_nanoseconds"))
    machine.threadNanoseconds = figures["thread_nanoseconds"].cast<double>();
  getMachine() = machine;
}

void metaops::python::bindExplain(py::module_ &module) {
  define(module, "schedule_file_version()",
         [] { return mlir::metaop::kScheduleFileVersion; });
  define(module, "machine_figures()", &getMachineFigures);
  define(module, "set_machine_figures(figures)", &setMachineFigures);
}
