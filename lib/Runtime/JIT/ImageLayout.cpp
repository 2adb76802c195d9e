//===- ImageLayout.cpp - Where link graphs lie in an image ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks are sorted into the three segments of an image: code, constants, and
// pointers, which are all that the loader writes to. A section of constants
// with an address in it is one of pointers as a whole.
//
// The linker works at addresses from 2^40 on. That is beyond 32 bits, so that
// it does not take an address for a constant that fits an instruction; what the
// image imports is at 2^62, out of reach of any branch or displacement from
// there, so that each reference to it goes through a word of pointers. These
// words, and those with addresses inside of the image, are the only thing in an
// image that depends on where it is loaded. Each kind of reference that remains
// is on a list of those that are known to be relative; others are errors.
//
// The order of blocks must not depend on where the linker's own objects lie in
// memory, as that of its sets does. Blocks of an object file are ordered by
// their places in it, words and stubs that the linker adds by the names of
// their symbols.
//
//===----------------------------------------------------------------------===//

#include "ImageLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ExecutionEngine/JITLink/aarch64.h"
#include "llvm/ExecutionEngine/JITLink/x86_64.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <optional>
#include <tuple>
#include <utility>

using namespace llvm;
using namespace llvm::jitlink;

namespace metaops {

static constexpr uint64_t kImageAddress = uint64_t(1) << 40;
static constexpr uint64_t kImportAddress = uint64_t(1) << 62;

static constexpr StringRef kTableName = "$__GOT";
static constexpr StringRef kStubsName = "$__STUBS";

/// The one kind of edge that the loader does something for.
static constexpr Edge::Kind kPointer = x86_64::Pointer64;
static_assert(Edge::Kind(aarch64::Pointer64) == kPointer,
              "both architectures number this kind alike");

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// The bytes of a block that the linker reads or writes for an edge.
struct FixupRange {
  unsigned before, after;
};
} // namespace

/// Returns the bytes that an edge of an image may touch; none for edges that
/// images may not have.
static std::optional<FixupRange> getFixupRangeX86(Edge::Kind kind) {
  switch (kind) {
  case x86_64::Pointer64:
  case x86_64::Delta64:
  case x86_64::NegDelta64:
  // From the start of the object's table of addresses, which code of the large
  // code model gets by a 64-bit delta. Either may be anywhere: they cancel out.
  case x86_64::Delta64FromGOT:
  case x86_64::RequestGOTAndTransformToDelta64:
  case x86_64::RequestGOTAndTransformToDelta64FromGOT:
    return FixupRange{0, 8};
  case x86_64::Delta32:
  case x86_64::NegDelta32:
  case x86_64::PCRel32:
  case x86_64::BranchPCRel32:
  case x86_64::BranchPCRel32ToPtrJumpStub:
  case x86_64::BranchPCRel32ToPtrJumpStubBypassable:
  case x86_64::RequestGOTAndTransformToDelta32:
    return FixupRange{0, 4};
  // The instruction may be replaced.
  case x86_64::PCRel32GOTLoadRelaxable:
  case x86_64::PCRel32GOTLoadREXRelaxable:
  case x86_64::RequestGOTAndTransformToPCRel32GOTLoadRelaxable:
  case x86_64::RequestGOTAndTransformToPCRel32GOTLoadREXRelaxable:
    return FixupRange{3, 4};
  default:
    return std::nullopt;
  }
}

static std::optional<FixupRange> getFixupRangeAArch64(Edge::Kind kind) {
  switch (kind) {
  case aarch64::Pointer64:
  case aarch64::Delta64:
  case aarch64::NegDelta64:
    return FixupRange{0, 8};
  case aarch64::Delta32:
  case aarch64::NegDelta32:
  case aarch64::Branch26PCRel:
  case aarch64::TestAndBranch14PCRel:
  case aarch64::CondBranch19PCRel:
  case aarch64::LDRLiteral19:
  case aarch64::ADRLiteral21:
  case aarch64::Page21:
  case aarch64::PageOffset12:
  case aarch64::RequestGOTAndTransformToPage21:
  case aarch64::RequestGOTAndTransformToPageOffset12:
  case aarch64::RequestGOTAndTransformToDelta32:
    return FixupRange{0, 4};
  default:
    return std::nullopt;
  }
}

static std::optional<FixupRange> getFixupRange(ImageArchitecture architecture,
                                               Edge::Kind kind) {
  return architecture == ImageArchitecture::X86_64 ? getFixupRangeX86(kind)
                                                   : getFixupRangeAArch64(kind);
}

static std::string nameOf(const Symbol &symbol) {
  if (symbol.hasName())
    return ("'" + *symbol.getName() + "'").str();
  if (symbol.isDefined())
    return ("a place in section '" + symbol.getSection().getName() + "'").str();
  return "a place without a name";
}

static Error verifyEdge(const LinkGraph &graph, const Block &block,
                        const Edge &edge, ImageArchitecture architecture) {
  StringRef section = block.getSection().getName();
  const Symbol &target = edge.getTarget();
  std::optional<FixupRange> range = getFixupRange(architecture, edge.getKind());
  if (!range)
    return createStringError("section '" + section + "' refers to " +
                             nameOf(target) + " in a way (" +
                             graph.getEdgeKindName(edge.getKind()) +
                             ") that depends on where the code is loaded, or "
                             "that images do not have");
  if (block.isZeroFill() || edge.getOffset() < range->before ||
      edge.getOffset() + uint64_t(range->after) > block.getSize())
    return createStringError(
        "section '" + section + "' of " + Twine(block.getSize()) +
        " bytes has a relocation at " + Twine(edge.getOffset()));
  // Tables of addresses go by names.
  if (!target.isDefined() && !target.hasName())
    return createStringError("section '" + section +
                             "' refers to a symbol without a name");
  if (target.isAbsolute())
    return createStringError("section '" + section + "' refers to " +
                             nameOf(target) + ", which is a fixed address");
  return Error::success();
}

static Error verifySection(const Section &section) {
  StringRef name = section.getName();
  if (name.starts_with(".tdata") || name.starts_with(".tbss"))
    return createStringError("section '" + name +
                             "' has thread-local symbols, which images do not "
                             "have");
  if (section.getMemLifetime() == orc::MemLifetime::NoAlloc)
    return createStringError("section '" + name +
                             "' is referred to, and is not loaded");
  // Constants with addresses; the loader alone writes to them.
  bool isConstant =
      name.starts_with(".data.rel.ro") || name.starts_with(".ldata.rel.ro");
  bool isWritten =
      (section.getMemProt() & orc::MemProt::Write) != orc::MemProt::None;
  if (isWritten && !isConstant)
    return createStringError("section '" + name +
                             "' has variables; an image cannot be written to");
  return Error::success();
}

static Error verifySymbol(const Symbol &symbol) {
  bool isWeak = symbol.isExternal() ? symbol.isWeaklyReferenced()
                                    : symbol.getLinkage() == Linkage::Weak;
  if (isWeak)
    return createStringError("symbol " + nameOf(symbol) +
                             " is weak or common; images have strong symbols "
                             "alone");
  return Error::success();
}

Error verifyGraph(LinkGraph &graph, ImageArchitecture architecture) {
  for (const Symbol *symbol : graph.defined_symbols())
    if (Error error = verifySymbol(*symbol))
      return error;
  for (const Symbol *symbol : graph.external_symbols())
    if (Error error = verifySymbol(*symbol))
      return error;
  for (const Section &section : graph.sections()) {
    if (section.blocks().empty())
      continue;
    if (Error error = verifySection(section))
      return error;
  }
  for (const Block *block : graph.blocks())
    for (const Edge &edge : block->edges())
      if (edge.isRelocation())
        if (Error error = verifyEdge(graph, *block, edge, architecture))
          return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

ImageLayout::Segment ImageLayout::getSegment(const Section &section) {
  if (section.getName() == kTableName)
    return Pointers;
  orc::MemProt protection = section.getMemProt();
  if ((protection & orc::MemProt::Exec) != orc::MemProt::None)
    return Code;
  if ((protection & orc::MemProt::Write) != orc::MemProt::None)
    return Pointers;
  auto isPointer = [](const Edge &edge) { return edge.getKind() == kPointer; };
  auto hasPointer = [&](const Block *block) {
    return any_of(block->edges(), isPointer);
  };
  return any_of(section.blocks(), hasPointer) ? Pointers : Constants;
}

/// The symbol that a word or a stub of the linker's is made for.
static StringRef getTableTarget(const Block &block) {
  const Symbol &target = block.edges().begin()->getTarget();
  if (target.hasName())
    return *target.getName();
  return getTableTarget(target.getBlock());
}

/// All blocks of a graph, in an order that depends on the object file alone.
static std::vector<Block *> getOrderedBlocks(LinkGraph &graph) {
  using Key = std::tuple<unsigned, uintptr_t, size_t, StringRef>;
  auto getKey = [](const Block *block) -> Key {
    StringRef section = block->getSection().getName();
    if (section == kStubsName)
      return {1, 0, 0, getTableTarget(*block)};
    if (section == kTableName)
      return {2, 0, 0, getTableTarget(*block)};
    // All contents are in the object file.
    auto place = block->isZeroFill()
                     ? 0
                     : reinterpret_cast<uintptr_t>(block->getContent().data());
    return {0, place, block->getSize(), StringRef()};
  };
  std::vector<std::pair<Key, Block *>> blocks;
  for (Block *block : graph.blocks())
    blocks.push_back({getKey(block), block});
  llvm::sort(blocks, llvm::less_first());
  auto ordered = make_second_range(blocks);
  return std::vector<Block *>(ordered.begin(), ordered.end());
}

/// Gives blocks offsets from the start of their segment, for the time being as
/// addresses, and the segment its size.
Error ImageLayout::assignOffsets(ArrayRef<Block *> blocks, Segment segment) {
  uint32_t pageBytes = getPageBytes();
  uint64_t size = 0;
  for (Block *block : blocks) {
    if (block->getAlignment() > pageBytes)
      return createStringError(
          "section '" + block->getSection().getName() + "' is aligned to " +
          Twine(block->getAlignment()) + " bytes; an image has pages of " +
          Twine(pageBytes));
    size = alignToBlock(size, *block);
    block->setAddress(orc::ExecutorAddr(size));
    size += block->getSize();
    if (size > kMaxSegmentBytes)
      return createStringError("the objects are too large for an image, whose "
                               "segments have " +
                               Twine(kMaxSegmentBytes) + " bytes at most");
  }
  // Words of pointers are whole ones.
  segments[segment].resize(alignTo(size, 8));
  return Error::success();
}

void ImageLayout::recordGlobals(ArrayRef<LinkGraph *> graphs) {
  for (LinkGraph *graph : graphs)
    for (const Symbol *symbol : graph->defined_symbols())
      if (symbol->hasName() && symbol->getScope() != Scope::Local)
        globals[*symbol->getName()] = symbol->getAddress().getValue();
}

Error ImageLayout::place(ArrayRef<LinkGraph *> graphs) {
  std::array<std::vector<Block *>, 3> blocks;
  for (LinkGraph *graph : graphs)
    for (Block *block : getOrderedBlocks(*graph))
      blocks[getSegment(block->getSection())].push_back(block);
  uint64_t start = 0;
  for (Segment segment : {Code, Constants, Pointers}) {
    if (Error error = assignOffsets(blocks[segment], segment))
      return error;
    starts[segment] = start;
    start += alignTo(segments[segment].size(), getPageBytes());
    for (Block *block : blocks[segment]) {
      uint64_t offset = block->getAddress().getValue();
      MutableArrayRef<char> memory(segments[segment].data() + offset,
                                   block->getSize());
      block->setAddress(
          orc::ExecutorAddr(kImageAddress + starts[segment] + offset));
      if (block->isZeroFill())
        continue;
      llvm::copy(block->getContent(), memory.begin());
      // An empty block needs no memory, and may have none.
      if (!memory.empty())
        block->setMutableContent(memory);
    }
  }
  recordGlobals(graphs);
  return Error::success();
}

uint64_t ImageLayout::getAddress(StringRef symbol) const {
  auto global = globals.find(symbol);
  return global == globals.end() ? kImportAddress : global->second;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Error ImageLayout::collectAddress(const LinkGraph &graph, const Block &block,
                                  const Edge &edge) {
  StringRef section = block.getSection().getName();
  const Symbol &target = edge.getTarget();
  bool isImport =
      target.isExternal() && target.getAddress().getValue() == kImportAddress;
  if (edge.getKind() != kPointer) {
    if (isImport || !getFixupRange(architecture, edge.getKind()))
      return createStringError(
          "section '" + section + "' refers to " + nameOf(target) +
          " in a way (" + graph.getEdgeKindName(edge.getKind()) +
          ") that only works for what is near, or never moves; it needs to be "
          "compiled as position-independent code");
    return Error::success();
  }
  if (getSegment(block.getSection()) != Pointers)
    return createStringError("section '" + section +
                             "' is executed, and holds the address of " +
                             nameOf(target));
  uint64_t place =
      block.getFixupAddress(edge).getValue() - kImageAddress - starts[Pointers];
  if (place % 8 != 0)
    return createStringError("section '" + section + "' holds the address of " +
                             nameOf(target) + " at no multiple of 8");
  if (!isImport) {
    bases.push_back(place);
    return Error::success();
  }
  if (edge.getAddend() != 0)
    return createStringError("section '" + section + "' holds an address " +
                             Twine(edge.getAddend()) + " bytes behind " +
                             nameOf(target) +
                             "; an image can import what a symbol names alone");
  imports[(*target.getName()).str()].push_back(place);
  return Error::success();
}

Error ImageLayout::collectAddresses(LinkGraph &graph) {
  for (const Block *block : graph.blocks())
    for (const Edge &edge : block->edges())
      if (edge.isRelocation())
        if (Error error = collectAddress(graph, *block, edge))
          return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

uint32_t ImageLayout::getPageBytes() const {
  // Systems on AArch64 have pages of 4, 16 or 64 KB.
  return architecture == ImageArchitecture::AArch64 ? kMaxImagePageBytes
                                                    : kMinImagePageBytes;
}

ImageContents ImageLayout::getContents() {
  ImageContents contents;
  contents.architecture = architecture;
  contents.pageBytes = getPageBytes();
  contents.code = segments[Code];
  contents.constants = segments[Constants];
  contents.pointers = segments[Pointers];
  char *pointers = segments[Pointers].data();
  for (auto &[name, slots] : imports) {
    llvm::sort(slots);
    contents.imports.push_back({name, slots});
    for (uint32_t slot : slots)
      support::endian::write64le(pointers + slot, 0);
  }
  llvm::sort(bases);
  contents.bases = bases;
  for (uint32_t place : bases)
    support::endian::write64le(pointers + place,
                               support::endian::read64le(pointers + place) -
                                   kImageAddress);
  return contents;
}

Error ImageLayout::addEntries(ArrayRef<std::string> names,
                              ImageContents &contents) const {
  for (StringRef name : names) {
    auto global = globals.find(name);
    if (global == globals.end())
      return createStringError("no object defines the entry '" + name + "'");
    uint64_t offset = global->second - kImageAddress;
    if (offset >= segments[Code].size())
      return createStringError("the entry '" + name + "' is no function");
    contents.entries.push_back({name, uint32_t(offset)});
  }
  llvm::sort(contents.entries,
             [](const auto &a, const auto &b) { return a.name < b.name; });
  for (size_t i = 1; i < contents.entries.size(); ++i)
    if (contents.entries[i].name == contents.entries[i - 1].name)
      return createStringError("the entry '" + contents.entries[i].name +
                               "' is asked for twice");
  return Error::success();
}

Expected<std::string> ImageLayout::write(ArrayRef<std::string> entries) {
  ImageContents contents = getContents();
  if (Error error = addEntries(entries, contents))
    return std::move(error);
  std::string bytes = writeImage(contents);
  // An image that no loader would take is an error here.
  if (auto parsed = parseImage(bytes); !parsed)
    return parsed.takeError();
  return bytes;
}

} // namespace metaops
