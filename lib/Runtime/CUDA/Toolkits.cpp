//===- Toolkits.cpp - Where NVIDIA's tools are ----------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/CUDA/Toolkits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace metaops;
using llvm::StringRef;

namespace path = llvm::sys::path;

/// The folders in `parent` whose names begin with `prefix`, in order.
static std::vector<std::string> listFolders(StringRef parent,
                                            StringRef prefix) {
  std::vector<std::string> folders;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(parent, error), end;
       !error && file != end; file.increment(error))
    if (path::filename(file->path()).starts_with(prefix) &&
        llvm::sys::fs::is_directory(file->path()))
      folders.push_back(file->path());
  llvm::sort(folders);
  return folders;
}

/// The number behind the last `-`, such as 13.0 as {13, 0}; versions without
/// one are the oldest.
static std::vector<unsigned> getVersion(StringRef folder) {
  llvm::SmallVector<StringRef> parts;
  folder.rsplit('-').second.split(parts, '.');
  std::vector<unsigned> version;
  for (StringRef part : parts) {
    unsigned number = 0;
    if (part.getAsInteger(10, number))
      break;
    version.push_back(number);
  }
  return version;
}

Toolkits Toolkits::detect(std::vector<std::string> first) {
  std::vector<std::string> roots = std::move(first);
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto root = llvm::sys::Process::GetEnv(variable);
        root && !root->empty())
      roots.push_back(*root);
  roots.emplace_back("/usr/local/cuda");
  std::vector<std::string> versions = listFolders("/usr/local", "cuda-");
  llvm::sort(versions, [](StringRef a, StringRef b) {
    return std::pair(getVersion(a), a) > std::pair(getVersion(b), b);
  });
  llvm::append_range(roots, versions);
  return Toolkits(std::move(roots));
}

std::vector<std::string> Toolkits::listPackages(StringRef sitePackages) {
  llvm::SmallString<256> folder(sitePackages);
  path::append(folder, "nvidia");
  return listFolders(folder, "");
}

std::string Toolkits::str() const {
  return roots.empty() ? "no folder" : llvm::join(roots, ", ");
}

static std::optional<std::string>
findFile(StringRef root, llvm::ArrayRef<StringRef> components) {
  llvm::SmallString<256> file(root);
  for (StringRef component : components)
    path::append(file, component);
  if (!llvm::sys::fs::is_regular_file(file))
    return std::nullopt;
  return file.str().str();
}

std::vector<std::string> Toolkits::findLibraries(StringRef name) const {
  std::vector<std::string> files;
  for (StringRef root : roots)
    for (StringRef folder : {"lib64", "lib"})
      if (auto file = findFile(root, {folder, name}))
        files.push_back(*file);
  return files;
}

std::optional<std::string> Toolkits::findProgram(StringRef name) const {
  for (StringRef root : roots)
    if (auto file = findFile(root, {"bin", name});
        file && llvm::sys::fs::can_execute(*file))
      return file;
  auto found = llvm::sys::findProgramByName(name);
  return found ? std::optional(*found) : std::nullopt;
}

llvm::Expected<std::string> Toolkits::findLibdevice() const {
  for (StringRef root : roots)
    if (auto file = findFile(root, {"nvvm", "libdevice", "libdevice.10.bc"}))
      return *file;
  return llvm::createStringError(
      "nvvm/libdevice/libdevice.10.bc was looked for in " + str() +
      "; the CUDA toolkit brings it, and so does the Python package "
      "nvidia-nvvm (for CUDA 12, nvidia-cuda-nvcc-cu12)");
}
