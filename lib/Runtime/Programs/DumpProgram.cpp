//===- DumpProgram.cpp - A program's IR in files --------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs are numbered by the folders that are there already, so that nothing
// is overwritten: not by a later process, and not by one that runs at the same
// time, since making a folder fails where another process was faster.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Programs/DumpProgram.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace metaops;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral folderPrefix = "program_";

std::vector<NodeLocation>
metaops::toNodeLocations(llvm::ArrayRef<mlir::Location> locations) {
  std::vector<NodeLocation> lines;
  for (mlir::Location location : locations) {
    NodeLocation &line = lines.emplace_back();
    if (auto found = location->findInstanceOf<mlir::FileLineColLoc>()) {
      line.file = found.getFilename().str();
      line.line = found.getLine();
    }
  }
  return lines;
}

ProgramDump::ProgramDump(llvm::StringRef parent, Compiler &compiler,
                         const CachedProgram &cached,
                         llvm::ArrayRef<mlir::Location> locations)
    : compiler(compiler), cached(cached) {
  if (parent.empty())
    return;
  lines = toNodeLocations(locations);
  makeFolder(parent);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool ProgramDump::fail(llvm::StringRef what, llvm::StringRef name,
                       std::error_code code) {
  failure = (what + " '" + name + "': " + code.message()).str();
  folder.clear();
  return false;
}

/// "train_12" for line 12 of /home/me/train.py.
static std::string formatPlace(const NodeLocation &line) {
  std::string name = path::stem(line.file).str();
  for (char &letter : name)
    if (!llvm::isAlnum(letter))
      letter = '_';
  return name + "_" + std::to_string(line.line);
}

/// One more than the largest number of a program's folder in `parent`.
static unsigned findNextNumber(llvm::StringRef parent) {
  unsigned next = 0;
  std::error_code code;
  for (fs::directory_iterator it(parent, code), end; it != end && !code;
       it.increment(code)) {
    llvm::StringRef name = path::filename(it->path());
    unsigned number;
    if (name.consume_front(folderPrefix) && !name.consumeInteger(10, number))
      next = std::max(next, number + 1);
  }
  return next;
}

bool ProgramDump::makeFolder(llvm::StringRef parent) {
  if (std::error_code code = fs::create_directories(parent))
    return fail("cannot make the folder", parent, code);
  std::string suffix;
  auto first = llvm::find_if(
      lines, [](const NodeLocation &line) { return !line.file.empty(); });
  if (first != lines.end())
    suffix = "_" + formatPlace(*first);
  for (unsigned number = findNextNumber(parent);; ++number) {
    llvm::SmallString<128> candidate(parent);
    std::string numbered;
    llvm::raw_string_ostream(numbered) << llvm::format("%03u", number);
    path::append(candidate, folderPrefix + numbered + suffix);
    std::error_code code =
        fs::create_directory(candidate, /*IgnoreExisting=*/false);
    if (code == std::errc::file_exists)
      continue;
    if (code)
      return fail("cannot make the folder", candidate, code);
    folder = candidate.str().str();
    return true;
  }
}

bool ProgramDump::writeFile(llvm::StringRef name, llvm::StringRef text) {
  llvm::SmallString<128> file(folder);
  path::append(file, name);
  std::error_code code;
  llvm::raw_fd_ostream os(file, code);
  if (!code) {
    os << text;
    os.close();
    code = os.error();
    os.clear_error();
  }
  return !code || fail("cannot write the file", file, code);
}

//===----------------------------------------------------------------------===//
// What is written
//===----------------------------------------------------------------------===//

void ProgramDump::writePhases() {
  if (folder.empty())
    return;
  auto phases = cached.compiler->getPhases();
  if (!phases) {
    writeFile("error.txt", llvm::toString(phases.takeError()) + "\n");
    return;
  }
  for (const std::string &phase : *phases) {
    auto text = compiler.print(cached.slice, phase, lines, cached.options);
    if (!text) {
      // Compiling will fail for the same reason, and tell the user.
      std::string message = llvm::toString(text.takeError());
      writeFile("error.txt", phase + ": " + message + "\n");
      return;
    }
    if (!writeFile(phase + ".mlir", *text))
      return;
  }
}

void ProgramDump::writeSummary() {
  if (!folder.empty())
    writeFile("summary.txt", summarize());
}

std::string ProgramDump::summarize() const {
  const ProgramInfo &info = cached.program->getInfo();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << info.metaOps << " meta-operators in " << info.calls.size()
     << " kernel calls (" << info.distinctKernels << " distinct kernels, "
     << info.compiledKernels << " compiled, " << info.loadedKernels
     << " found on disk)\n"
     << info.arenaBytes << " bytes of scratch memory\n"
     << "compiled in " << llvm::format("%.3f", info.compileSeconds) << " s\n";
  for (const KernelInfo &call : info.calls) {
    os << "\n"
       << call.name << "\n  operators: " << llvm::join(call.operators, " ")
       << "\n  bytes read: " << call.bytesRead
       << "\n  bytes written: " << call.bytesWritten
       << "\n  floating-point operations: " << call.flops << "\n  lines:\n";
    std::vector<std::string> seen;
    for (unsigned node : call.nodes) {
      if (node >= lines.size() || lines[node].file.empty())
        continue;
      std::string line =
          lines[node].file + ":" + std::to_string(lines[node].line);
      if (llvm::is_contained(seen, line))
        continue;
      os << "    " << line << "\n";
      seen.push_back(std::move(line));
    }
  }
  return text;
}
