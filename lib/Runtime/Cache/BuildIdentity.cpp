//===- BuildIdentity.cpp - Which compiler this is -------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker puts a hash of what it linked into each program and library, as an
// ELF note. Version numbers would not do: they stay while a compiler is worked
// on or patched. The notes are read from memory: files may have been replaced
// since they were loaded.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Alignment.h"
#include "llvm/TargetParser/Host.h"

#include <elf.h>
#include <link.h>

using namespace metaops;

namespace {
/// A search for the loaded file that an address lies in.
struct Search {
  uintptr_t address;
  std::string buildId;
};
} // namespace

/// The build ID in a segment of notes; empty without one.
static std::string readNotes(const char *at, const char *end) {
  while (end - at >= ptrdiff_t(sizeof(ElfW(Nhdr)))) {
    const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
    const char *name = at + sizeof(*note);
    const char *value = name + llvm::alignTo(note->n_namesz, 4);
    at = value + llvm::alignTo(note->n_descsz, 4);
    if (at > end)
      break;
    if (note->n_type == NT_GNU_BUILD_ID &&
        llvm::StringRef(name, note->n_namesz) == llvm::StringRef("GNU\0", 4))
      return llvm::toHex(llvm::StringRef(value, note->n_descsz));
  }
  return std::string();
}

static int visit(dl_phdr_info *file, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  llvm::ArrayRef<ElfW(Phdr)> segments(file->dlpi_phdr, file->dlpi_phnum);
  bool isInside = llvm::any_of(segments, [&](const ElfW(Phdr) & segment) {
    uintptr_t start = file->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.address >= start &&
           search.address < start + segment.p_memsz;
  });
  if (!isInside)
    return 0;
  for (const ElfW(Phdr) &segment : segments) {
    if (segment.p_type != PT_NOTE)
      continue;
    const auto *notes =
        reinterpret_cast<const char *>(file->dlpi_addr + segment.p_vaddr);
    search.buildId = readNotes(notes, notes + segment.p_memsz);
    if (!search.buildId.empty())
      break;
  }
  return 1;
}

std::string metaops::getBuildId(const void *address) {
  Search search{reinterpret_cast<uintptr_t>(address), std::string()};
  dl_iterate_phdr(&visit, &search);
  return search.buildId;
}

std::optional<std::string> metaops::getBuildIdentity() {
  auto addressOf = [](auto *function) {
    return reinterpret_cast<const void *>(function);
  };
  const void *const addresses[] = {addressOf(&metaops::getBuildIdentity),
                                   addressOf(&llvm::sys::getHostCPUName),
                                   addressOf(&mlir::verify)};
  std::string identity = LLVM_VERSION_STRING;
  for (const void *address : addresses) {
    std::string buildId = getBuildId(address);
    if (buildId.empty())
      return std::nullopt;
    identity += " " + buildId;
  }
  return identity;
}
