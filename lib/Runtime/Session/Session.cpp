//===- Session.cpp - The session's scope, flags and statistics ------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Session/Session.h"

#include "MetaOps/Dialect/MetaOp/MetaOpOps.h"
#include "RecordingTables.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

#include <exception>

using namespace mlir;
using namespace metaops;

//===----------------------------------------------------------------------===//
// Var
//===----------------------------------------------------------------------===//

Var::Var(std::shared_ptr<Session> owner, Node *node)
    : session(std::move(owner)), node(node), type(node->type()),
      elementType(node->dtype) {
  session->graph.retainVar(node);
}

Var::~Var() {
  if (node)
    session->dropLater(node);
}

Var Session::share(const Var &var) { return wrap(var.node); }

void Session::rebind(Var &var, Node *node) { var = wrap(node); }

void Session::dropLater(Node *node) {
  std::lock_guard<std::mutex> lock(deadMutex);
  dead.push_back(node);
}

void Session::dropDead() {
  for (;;) {
    std::vector<Node *> taken;
    {
      std::lock_guard<std::mutex> lock(deadMutex);
      taken.swap(dead);
    }
    if (taken.empty())
      return;
    for (Node *node : taken)
      graph.releaseVar(node);
    graph.collect();
  }
}

//===----------------------------------------------------------------------===//
// Life and scope
//===----------------------------------------------------------------------===//

std::shared_ptr<Session> Session::create(std::unique_ptr<Compiler> compiler) {
  return std::shared_ptr<Session>(new Session(std::move(compiler)));
}

Session::Session(std::unique_ptr<Compiler> givenCompiler)
    : context(MLIRContext::Threading::DISABLED), graph(&context),
      compiler(std::move(givenCompiler)),
      interpreter(createInterpreterCompiler()), line(UnknownLoc::get(&context)),
      useInterpreter(!compiler) {
  context.loadDialect<metaop::MetaOpDialect, func::FuncDialect>();
  graph.onUpdateErased = [this](Node *node) { pendingUpdates.remove(node); };
}

Session::~Session() = default;

Location Session::makeLocation(llvm::StringRef file, unsigned number) {
  return FileLineColLoc::get(&context, file, number, 0);
}

void Session::checkProcess() const {
  if (forkMark.isChild())
    fail(ErrorKind::Runtime,
         "this process was forked from the one that made the session, which "
         "cannot be used here; start the process afresh (multiprocessing's "
         "'spawn'), or use NumPy only in it");
}

void Session::enter() {
  line = UnknownLoc::get(&context);
  dropDead();
}

void Session::leave(bool failed) {
  if (failed)
    graph.collectAll();
  else
    graph.collect();
}

SessionScope::SessionScope(Session &session)
    : SessionScope(session, (session.checkProcess(), session.getMutex().lock(),
                             std::adopt_lock)) {}

SessionScope::SessionScope(Session &session, std::adopt_lock_t)
    : lock(session.getMutex(), std::adopt_lock), session(session),
      exceptions(std::uncaught_exceptions()) {
  session.enter();
}

SessionScope::~SessionScope() {
  session.leave(std::uncaught_exceptions() > exceptions);
}

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

[[noreturn]] static void failUnknownFlag(llvm::StringRef name) {
  fail(ErrorKind::Value, "no flag '" + name +
                             "'; the flags are backend, rules and "
                             "saved_values_budget");
}

[[noreturn]] static void failBadValue(llvm::StringRef name,
                                      llvm::StringRef value,
                                      llvm::StringRef expected) {
  fail(ErrorKind::Value,
       "flag " + name + ": given '" + value + "', expected " + expected);
}

std::string Session::getFlag(llvm::StringRef name) const {
  if (name == "backend")
    return useInterpreter ? "interpreter" : "compiled";
  if (name == "rules")
    return options.rules;
  if (name == "saved_values_budget")
    return std::to_string(savedValuesBudget);
  failUnknownFlag(name);
}

void Session::setFlag(llvm::StringRef name, llvm::StringRef value) {
  if (name == "backend") {
    if (value != "interpreter" && (value != "compiled" || !compiler))
      failBadValue(name, value,
                   compiler ? "'compiled' or 'interpreter'" : "'interpreter'");
    useInterpreter = value == "interpreter";
  } else if (name == "rules") {
    if (value != "extended" && value != "paper")
      failBadValue(name, value, "'extended' or 'paper'");
    options.rules = value.str();
  } else if (name == "saved_values_budget") {
    int64_t bytes;
    if (value.getAsInteger(10, bytes) || bytes < 0)
      failBadValue(name, value, "a number of bytes");
    savedValuesBudget = bytes;
  } else {
    failUnknownFlag(name);
  }
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

SessionStatistics Session::getStatistics() const {
  SessionStatistics result;
  result.programsCompiled = programsCompiled;
  result.kernelsCompiled = kernelsCompiled;
  result.compileSeconds = compileSeconds;
  result.programHits = programHits;
  result.programsRun = programsRun;
  result.opsInBlock = graph.size();
  result.liveVars = graph.getNumVars();
  result.memory = memory.getStatistics();
  return result;
}

ProgramReport Session::getLastProgram() const {
  if (!lastProgram)
    fail(ErrorKind::Runtime, "no program has run yet");
  ProgramReport report;
  report.cached = lastProgram;
  report.wasCompiled = lastWasCompiled;
  report.backend = lastWasInterpreted ? "interpreter" : "compiled";
  report.options = lastOptions;
  for (Location location : lastLocations) {
    NodeLocation entry;
    if (auto found = location->findInstanceOf<FileLineColLoc>()) {
      entry.file = found.getFilename().str();
      entry.line = found.getLine();
    }
    report.locations.push_back(std::move(entry));
  }
  return report;
}

std::string Session::printProgram(const ProgramReport &report,
                                  llvm::StringRef phase) {
  Compiler &printer =
      report.backend == "interpreter" ? *interpreter : *compiler;
  return check(printer.print(report.cached->slice, phase, report.locations,
                             report.options),
               ErrorKind::Value);
}
