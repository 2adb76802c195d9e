//===- Tuner.cpp - A search for better schedules --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *unit* is tuned at a time: the kernels of fusion that passes make common
// final kernels of, with the views between them, as a module of their own.
// (Mostly it is one kernel. Those of a softmax are one unit, and so is a
// product with the copy that packs its factor.) Equal units of a program are
// tuned once, those first that take most time in it, and each may take the part
// of what is left of the budget that its time is of what is left of the
// program.
//
// A candidate is the contents of a file of schedules. A unit begins with none,
// and goes from one candidate to a better one near to it:
//
//   1. each rewrite of each of its kernels is forbidden, and splitting forced;
//   2. each kernel has each neighbour of its schedules (Neighbours.cpp), and
//      what is better is where the next neighbours are drawn.
//
// A candidate that a pass refuses is none; one that leaves the kernels as they
// are is not measured. The others run in turns with the best one so far, on the
// same arguments (Trial.cpp), and their results have to be those of the unit
// without a file. In the end what is left of all candidates is compared with
// the beginning once more: the best of many that were measured looks better
// than it is.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Kernels/Tuning/Tuner.h"
#include "MetaOps/Dialect/MetaOp/IR/Rewrites.h"
#include "MetaOps/Transforms/Schedule/File/ScheduleFile.h"
#include "Trial.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

using namespace mlir;

namespace metaops {
namespace {

constexpr llvm::StringLiteral kFileName = "candidate";
/// The file name of locations that number the kernels of fusion.
constexpr llvm::StringLiteral kUnitMark = "kernel of fusion";

template <typename T> std::string toText(const T &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Contents of a file of schedules.
struct Candidate {
  std::map<std::string, std::map<std::string, bool>> rewrites;
  std::map<std::string, std::string> schedules;

  std::vector<std::string> getLines() const {
    std::vector<std::string> lines;
    for (const auto &[kernel, decisions] : rewrites) {
      std::vector<std::string> parts;
      for (const auto &[rewrite, isForced] : decisions)
        parts.push_back((isForced ? "force " : "forbid ") + rewrite);
      lines.push_back(kernel + " = " + llvm::join(parts, ", "));
    }
    for (const auto &[stage, schedule] : schedules)
      lines.push_back(stage + " = " + schedule);
    return lines;
  }
};

/// The stages of a kernel that has schedules, in a module that lives on.
std::vector<metaop::FusedOp> getStages(metaop::KernelOp kernel) {
  auto ops = kernel.getBody().front().getOps<metaop::FusedOp>();
  return {ops.begin(), ops.end()};
}

std::vector<metaop::KernelOp> getKernels(ModuleOp module) {
  std::vector<metaop::KernelOp> kernels;
  module.walk([&](metaop::KernelOp kernel) { kernels.push_back(kernel); });
  return kernels;
}

std::string getLine(metaop::FusedOp op, metaop::ScheduleAttr schedule) {
  return metaop::getStageIdentity(op) + " = " + toText(schedule);
}

/// Runs passes of the pipeline and tells whether they succeed; what they say is
/// for nobody.
bool runPhases(ModuleOp module, StringRef from, StringRef to,
               metaop::PipelineOptions options, const Candidate &candidate) {
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [](Diagnostic &) { return success(); });
  options.from = from;
  options.schedules = llvm::join(candidate.getLines(), "\n");
  options.scheduleFile = options.schedules.empty() ? "" : kFileName.str();
  PassManager passes(module.getContext());
  if (auto error = metaop::buildPipeline(passes, to, options)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  return succeeded(passes.run(module));
}

/// Returns whether a backend lowers a kernel with the schedules that it has.
bool canLower(metaop::KernelOp kernel, const KernelBackend &backend) {
  ScopedDiagnosticHandler handler(kernel.getContext(),
                                  [](Diagnostic &) { return success(); });
  Location loc = kernel.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  auto type = builder.getFunctionType(kernel->getOperandTypes(),
                                      kernel->getResultTypes());
  auto function = func::FuncOp::create(builder, loc, "kernel", type);
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  IRMapping mapping;
  mapping.map(kernel->getOperands(), entry->getArguments());
  builder.setInsertionPointToEnd(entry);
  Operation *copy = builder.clone(*kernel, mapping);
  // Equal operands are one value of the mapping.
  copy->setOperands(entry->getArguments());
  func::ReturnOp::create(builder, loc, copy->getResults());
  PassManager passes(kernel.getContext());
  backend.getTarget().addLoops(passes);
  return succeeded(passes.run(*module));
}

void setSchedules(llvm::ArrayRef<metaop::FusedOp> stages,
                  llvm::ArrayRef<metaop::ScheduleAttr> schedules) {
  for (auto [op, schedule] : llvm::zip_equal(stages, schedules))
    metaop::FusedOp(op).setScheduleAttr(schedule);
}

/// The schedules near to those of a kernel.
llvm::SmallVector<metaop::KernelSchedules>
getLegalNeighbours(metaop::KernelOp kernel, const KernelBackend &backend) {
  std::vector<metaop::FusedOp> ops = getStages(kernel);
  llvm::SmallVector<metaop::Stage, 0> stages;
  metaop::KernelSchedules own;
  for (metaop::FusedOp op : ops) {
    auto stage = metaop::Stage::build(op);
    if (failed(stage))
      return {};
    stages.push_back(std::move(*stage));
    own.push_back(op.getScheduleAttr());
  }
  if (stages.empty())
    return {};
  // Malformed schedules are left out, and nobody is told.
  ScopedDiagnosticHandler handler(kernel.getContext(),
                                  [](Diagnostic &) { return success(); });
  auto neighbours = backend.getTarget().listNeighbours(stages);
  llvm::erase_if(neighbours, [&](const metaop::KernelSchedules &schedules) {
    setSchedules(ops, schedules);
    return !canLower(kernel, backend);
  });
  setSchedules(ops, own);
  return neighbours;
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

struct Unit {
  /// In the phase `fused`; @main returns all that others read.
  OwningOpRef<ModuleOp> module;
  /// Identities of its kernels, in program order.
  std::vector<std::string> kernels;
  std::vector<unsigned> calls;
  double seconds = 0;
};

/// Divides a program into units.
class Divider {
public:
  Divider(ModuleOp fused, const metaop::PipelineOptions &options)
      : fused(fused), options(options) {}

  llvm::Expected<std::vector<Unit>> divide(llvm::ArrayRef<double> seconds);

private:
  using Calls = std::vector<llvm::SmallVector<unsigned>>;

  void numberKernels();
  llvm::Expected<Calls> traceCalls();
  Unit extract(llvm::ArrayRef<unsigned> members);

  ModuleOp fused;
  const metaop::PipelineOptions &options;
  std::vector<metaop::KernelOp> kernels;
};

void Divider::numberKernels() {
  auto main = fused.lookupSymbol<func::FuncOp>("main");
  for (auto kernel : main.getBody().front().getOps<metaop::KernelOp>()) {
    Location number =
        FileLineColLoc::get(fused.getContext(), kUnitMark, kernels.size(), 0);
    kernel->walk([&](Operation *op) {
      if (isa<metaop::KernelOp, metaop::FusedOp>(op))
        op->setLoc(FusedLoc::get(op->getContext(), {op->getLoc(), number}));
    });
    kernels.push_back(kernel);
  }
}

/// For each call of the program that is no copy, the kernels that it is made
/// of; empty for copies, and for kernels of branches and loops, which are not
/// tuned.
llvm::Expected<Divider::Calls> Divider::traceCalls() {
  OwningOpRef<ModuleOp> copy = fused.clone();
  if (!runPhases(*copy, metaop::kFusedPhase, metaop::kKernelsPhase, options,
                 {}))
    return llvm::createStringError("the slice could not be compiled");
  Calls calls;
  auto main = copy->lookupSymbol<func::FuncOp>("main");
  main.walk<WalkOrder::PreOrder>([&](func::CallOp call) {
    auto &origins = calls.emplace_back();
    call.getLoc()->walk([&](Location inner) {
      auto number = dyn_cast<FileLineColLoc>(inner);
      if (number && number.getFilename() == kUnitMark &&
          !llvm::is_contained(origins, number.getLine()))
        origins.push_back(number.getLine());
      return WalkResult::advance();
    });
  });
  return calls;
}

/// The first value that a chain of views leads to and that is not one.
Value getRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<metaop::ViewOpInterface>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Copies kernels into a module of their own.
Unit Divider::extract(llvm::ArrayRef<unsigned> members) {
  llvm::SetVector<Operation *> inside;
  for (unsigned member : members)
    inside.insert(kernels[member]);
  auto isInside = [&](Value value) {
    return inside.contains(getRoot(value).getDefiningOp());
  };
  llvm::SetVector<Value> inputs, outputs;
  for (Operation *kernel : inside) {
    for (Value operand : kernel->getOperands())
      if (!isInside(operand))
        inputs.insert(operand);
    for (Value result : kernel->getResults()) {
      llvm::SmallVector<Value> open{result};
      while (!open.empty())
        for (Operation *user : open.pop_back_val().getUsers())
          if (isa<metaop::ViewOpInterface>(user))
            open.push_back(user->getResult(0));
          else if (!inside.contains(user))
            outputs.insert(result);
    }
  }

  Unit unit;
  Location loc = fused.getLoc();
  unit.module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(unit.module->getBody());
  auto type = builder.getFunctionType(ValueRange(inputs.getArrayRef()),
                                      ValueRange(outputs.getArrayRef()));
  auto main = func::FuncOp::create(builder, loc, "main", type);
  Block *entry = main.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), entry->getArguments());
  std::function<void(Value)> copyViews = [&](Value value) {
    if (mapping.contains(value))
      return;
    Operation *view = value.getDefiningOp();
    copyViews(view->getOperand(0));
    builder.clone(*view, mapping);
  };
  for (Operation *kernel : inside) {
    for (Value operand : kernel->getOperands())
      copyViews(operand);
    builder.clone(*kernel, mapping);
    auto origins = metaop::getOrigins(kernel->getLoc());
    unit.kernels.push_back(origins.empty() ? "" : origins.front().identity);
  }
  func::ReturnOp::create(builder, loc,
                         llvm::map_to_vector(outputs, [&](Value output) {
                           return mapping.lookup(output);
                         }));
  return unit;
}

llvm::Expected<std::vector<Unit>>
Divider::divide(llvm::ArrayRef<double> seconds) {
  numberKernels();
  auto calls = traceCalls();
  if (!calls)
    return calls.takeError();
  if (calls->size() != seconds.size())
    return llvm::createStringError(
        "the program has %zu kernel calls, but %zu without a file of schedules",
        seconds.size(), calls->size());
  llvm::EquivalenceClasses<unsigned> together;
  for (const auto &origins : *calls)
    for (unsigned origin : origins)
      together.unionSets(origins.front(), origin);
  std::map<unsigned, llvm::SmallVector<unsigned>> members;
  for (unsigned kernel = 0; kernel < kernels.size(); ++kernel)
    if (auto leader = together.findLeader(kernel);
        leader != together.member_end())
      members[*leader].push_back(kernel);
  std::map<unsigned, Unit> byLeader;
  for (auto [number, origins] : llvm::enumerate(*calls)) {
    if (origins.empty())
      continue;
    unsigned leader = *together.findLeader(origins.front());
    auto [unit, isNew] = byLeader.try_emplace(leader);
    if (isNew)
      unit->second = extract(members[leader]);
    unit->second.calls.push_back(number);
    unit->second.seconds += seconds[number];
  }
  // Equal ones are one.
  std::map<std::vector<std::string>, unsigned> known;
  std::vector<Unit> units;
  for (auto &[leader, unit] : byLeader) {
    auto [found, isNew] = known.try_emplace(unit.kernels, units.size());
    if (isNew) {
      units.push_back(std::move(unit));
      continue;
    }
    Unit &first = units[found->second];
    first.seconds += unit.seconds;
    llvm::append_range(first.calls, unit.calls);
  }
  llvm::sort(units, [](const Unit &a, const Unit &b) {
    return std::tie(b.seconds, a.calls) < std::tie(a.seconds, b.calls);
  });
  return units;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// A candidate that has been compiled.
struct Compiled {
  Candidate candidate;
  /// In the phase `scheduled`, and its text.
  OwningOpRef<ModuleOp> scheduled;
  std::string text;
  std::unique_ptr<Trial> trial;
};

class UnitTuner {
public:
  UnitTuner(Unit &unit, const TuningTarget &target, ThreadPool &threads,
            int64_t deadline, StopCheck shouldStop,
            std::vector<std::string> &errors)
      : unit(unit), target(target), threads(threads), deadline(deadline),
        shouldStop(shouldStop), errors(errors) {}

  llvm::Expected<TunedKernels> tune();

private:
  bool isOver() const { return readClock() >= deadline; }
  std::unique_ptr<Compiled> schedule(Candidate candidate);
  llvm::Error compile(Compiled &compiled);
  llvm::Error compileAndRun(Compiled &compiled);
  llvm::Expected<bool> runWell(Compiled &compiled);
  llvm::Expected<bool> tryCandidate(Candidate candidate);
  llvm::Error tryRewrites();
  llvm::Expected<bool> tryNeighbours();
  std::string check(const Compiled &compiled) const;

  Unit &unit;
  const TuningTarget &target;
  ThreadPool &threads;
  int64_t deadline;
  StopCheck shouldStop;
  std::vector<std::string> &errors;

  Allocator memory;
  llvm::SmallVector<BufferRef> arguments;
  TunedKernels result;
  std::unique_ptr<Compiled> first, best;
  /// Texts that were tried.
  std::set<std::string> seen;
};

/// Null where a pass refuses the candidate.
std::unique_ptr<Compiled> UnitTuner::schedule(Candidate candidate) {
  auto compiled = std::make_unique<Compiled>();
  compiled->scheduled = unit.module->clone();
  if (!runPhases(*compiled->scheduled, metaop::kFusedPhase,
                 metaop::kScheduledPhase, target.options, candidate))
    return nullptr;
  llvm::raw_string_ostream stream(compiled->text);
  compiled->scheduled->print(stream, OpPrintingFlags().useLocalScope());
  compiled->candidate = std::move(candidate);
  return compiled;
}

llvm::Error UnitTuner::compile(Compiled &compiled) {
  OwningOpRef<ModuleOp> module = compiled.scheduled->clone();
  if (!runPhases(*module, metaop::kScheduledPhase, metaop::kKernelsPhase,
                 target.options, {}))
    return llvm::createStringError("the kernels could not be called");
  std::string messages;
  ScopedDiagnosticHandler handler(module->getContext(), [&](Diagnostic &said) {
    messages += said.str();
    return success();
  });
  auto backend = target.createBackend();
  if (!backend)
    return backend.takeError();
  auto trial = Trial::create(*module, std::move(*backend), arguments, memory,
                             threads, shouldStop);
  if (!trial)
    return trial.takeError();
  compiled.trial = std::move(*trial);
  return llvm::Error::success();
}

llvm::Error UnitTuner::compileAndRun(Compiled &compiled) {
  if (auto error = compile(compiled))
    return error;
  return compiled.trial->warmUp();
}

/// Returns what is wrong with the results of a candidate.
std::string UnitTuner::check(const Compiled &compiled) const {
  auto main = unit.module->lookupSymbol<func::FuncOp>("main");
  for (auto [number, type] : llvm::enumerate(main.getResultTypes())) {
    std::string wrong =
        compareResults(cast<RankedTensorType>(type),
                       first->trial->getRun().results[number]->data(),
                       compiled.trial->getRun().results[number]->data());
    if (!wrong.empty())
      return "result " + std::to_string(number) + ": " + wrong;
  }
  return "";
}

/// Returns whether it runs, with the results that it should have. What is wrong
/// with it is told.
llvm::Expected<bool> UnitTuner::runWell(Compiled &compiled) {
  std::string wrong;
  if (auto error = compiled.trial->warmUp()) {
    if (error.isA<Interrupted>())
      return std::move(error);
    wrong = toString(std::move(error));
  } else {
    wrong = check(compiled);
  }
  if (!wrong.empty())
    errors.push_back(wrong + ", with the schedules\n" +
                     llvm::join(compiled.candidate.getLines(), "\n"));
  return wrong.empty();
}

/// Returns whether it is the best one now.
llvm::Expected<bool> UnitTuner::tryCandidate(Candidate candidate) {
  if (shouldStop && shouldStop())
    return llvm::make_error<Interrupted>();
  auto compiled = schedule(std::move(candidate));
  if (!compiled) {
    ++result.refused;
    return false;
  }
  if (!seen.insert(compiled->text).second)
    return false;
  if (auto error = compile(*compiled)) {
    if (error.isA<Interrupted>())
      return std::move(error);
    llvm::consumeError(std::move(error));
    ++result.refused;
    return false;
  }
  if (auto isWell = runWell(*compiled); !isWell || !*isWell)
    return isWell;
  auto comparison = compare(*best->trial, *compiled->trial);
  if (!comparison)
    return comparison.takeError();
  ++result.measured;
  if (!comparison->isSecondBetter)
    return false;
  best = std::move(compiled);
  return true;
}

llvm::Error UnitTuner::tryRewrites() {
  std::set<std::string> names(unit.kernels.begin(), unit.kernels.end());
  for (const std::string &kernel : names)
    for (StringRef rewrite : metaop::getRewriteNames())
      for (bool isForced : {false, true}) {
        // Recomputing is done when units begin. What is forced is an error
        // where it cannot be, so that it must not depend on other kernels than
        // the one of that name.
        if (kernel.empty() || rewrite == metaop::kRecomputeValues ||
            (isForced && rewrite != metaop::kSplitReductions) || isOver())
          continue;
        Candidate candidate = best->candidate;
        candidate.rewrites[kernel][rewrite.str()] = isForced;
        auto isBetter = tryCandidate(std::move(candidate));
        if (!isBetter)
          return isBetter.takeError();
      }
  return llvm::Error::success();
}

/// Returns whether a neighbour is better; further ones are drawn from there.
llvm::Expected<bool> UnitTuner::tryNeighbours() {
  for (metaop::KernelOp kernel : getKernels(*best->scheduled)) {
    std::vector<metaop::FusedOp> stages = getStages(kernel);
    for (const metaop::KernelSchedules &schedules :
         getLegalNeighbours(kernel, target.backend)) {
      if (isOver())
        return false;
      Candidate candidate = best->candidate;
      for (auto [op, schedule] : llvm::zip_equal(stages, schedules))
        if (metaop::FusedOp stage = op; schedule != stage.getScheduleAttr())
          candidate.schedules[metaop::getStageIdentity(stage)] =
              toText(schedule);
      auto isBetter = tryCandidate(std::move(candidate));
      if (!isBetter || *isBetter)
        return isBetter;
    }
  }
  return false;
}

llvm::Expected<TunedKernels> UnitTuner::tune() {
  result.calls = unit.calls;
  first = schedule({});
  if (!first)
    return llvm::createStringError("the kernels of a program could not be "
                                   "scheduled apart");
  for (metaop::KernelOp kernel : getKernels(*first->scheduled))
    for (metaop::FusedOp stage : getStages(kernel))
      result.before.push_back(getLine(stage, stage.getScheduleAttr()));
  if (isOver())
    return std::move(result);
  auto main = unit.module->lookupSymbol<func::FuncOp>("main");
  arguments = makeArguments(main.getArgumentTypes(), memory);
  seen.insert(first->text);
  if (auto error = compileAndRun(*first)) {
    if (error.isA<Interrupted>())
      return std::move(error);
    // It is no program by itself.
    llvm::consumeError(std::move(error));
    return std::move(result);
  }
  // Both begin as the same.
  best = schedule({});
  if (auto error = compileAndRun(*best))
    return std::move(error);
  if (auto error = tryRewrites())
    return std::move(error);
  bool isBetter = true;
  while (isBetter && !isOver()) {
    auto found = tryNeighbours();
    if (!found)
      return found.takeError();
    isBetter = *found;
  }
  auto comparison = compare(*first->trial, *best->trial);
  if (!comparison)
    return comparison.takeError();
  result.secondsBefore = comparison->first * 1e-9;
  result.secondsAfter = comparison->second * 1e-9;
  if (comparison->isSecondBetter)
    result.lines = best->candidate.getLines();
  else
    result.secondsAfter = result.secondsBefore;
  return std::move(result);
}

/// Leaves those lines that the whole program makes use of: a unit has other
/// kernels where what surrounds it matters.
llvm::Error keepUsed(ModuleOp fused, const metaop::PipelineOptions &options,
                     TunedKernels &tuned) {
  if (tuned.lines.empty())
    return llvm::Error::success();
  auto entries = metaop::parseScheduleFile(llvm::join(tuned.lines, "\n"),
                                           kFileName, fused.getContext());
  if (!entries)
    return entries.takeError();
  Candidate candidate;
  for (const metaop::ScheduleEntry &entry : *entries)
    if (entry.schedule)
      candidate.schedules[entry.identity] = toText(entry.schedule);
    else
      for (const auto &[rewrite, isForced] : entry.rewrites)
        candidate.rewrites[entry.identity][rewrite] = isForced;
  OwningOpRef<ModuleOp> copy = fused.clone();
  std::set<unsigned> used;
  if (runPhases(*copy, metaop::kFusedPhase, metaop::kScheduledPhase, options,
                candidate))
    copy->walk([&](metaop::FusedOp op) {
      used.insert(metaop::getOverrideLine(op.getLoc()));
      for (const metaop::KernelOrigin &origin : metaop::getOrigins(op.getLoc()))
        used.insert(origin.line);
    });
  std::vector<std::string> kept;
  for (auto [number, line] : llvm::enumerate(candidate.getLines()))
    if (used.count(number + 1))
      kept.push_back(line);
  tuned.lines = std::move(kept);
  return llvm::Error::success();
}

/// Fusion, with the identities of kernels.
llvm::Error fuse(ModuleOp slice, const metaop::PipelineOptions &options) {
  metaop::PipelineOptions named = options;
  named.report = true;
  if (!runPhases(slice, metaop::findPipelineStart(slice), metaop::kFusedPhase,
                 named, {}))
    return llvm::createStringError("the slice could not be compiled");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<TuningResult> tuneSlice(ModuleOp slice,
                                       const TuningTarget &target,
                                       llvm::ArrayRef<double> seconds,
                                       int64_t deadline, ThreadPool &threads,
                                       StopCheck shouldStop) {
  if (auto error = fuse(slice, target.options))
    return std::move(error);
  auto units = Divider(slice, target.options).divide(seconds);
  if (!units)
    return units.takeError();
  double left = 0;
  for (const Unit &unit : *units)
    left += unit.seconds;
  TuningResult result;
  for (Unit &unit : *units) {
    int64_t now = readClock();
    auto share = static_cast<int64_t>(
        left > 0 ? std::max<double>(deadline - now, 0) * unit.seconds / left
                 : 0);
    left -= unit.seconds;
    UnitTuner tuner(unit, target, threads, now + share, shouldStop,
                    result.errors);
    auto tuned = tuner.tune();
    if (!tuned)
      return tuned.takeError();
    if (auto error = keepUsed(slice, target.options, *tuned))
      return std::move(error);
    result.kernels.push_back(std::move(*tuned));
  }
  return result;
}

llvm::Expected<std::vector<std::string>>
listNeighbours(ModuleOp slice, const TuningTarget &target) {
  if (auto error = fuse(slice, target.options))
    return std::move(error);
  if (!runPhases(slice, metaop::kFusedPhase, metaop::kScheduledPhase,
                 target.options, {}))
    return llvm::createStringError("the slice could not be compiled");
  std::vector<std::string> neighbours;
  for (metaop::KernelOp kernel : getKernels(slice)) {
    std::vector<metaop::FusedOp> stages = getStages(kernel);
    for (const metaop::KernelSchedules &schedules :
         getLegalNeighbours(kernel, target.backend)) {
      std::string &lines = neighbours.emplace_back();
      for (auto [op, schedule] : llvm::zip_equal(stages, schedules))
        if (metaop::FusedOp stage = op; schedule != stage.getScheduleAttr())
          lines += getLine(stage, schedule) + "\n";
    }
  }
  return neighbours;
}

} // namespace metaops
