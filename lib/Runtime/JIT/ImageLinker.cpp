//===- ImageLinker.cpp - Object files as a code image ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JITLink links a graph per object file: it prunes the graph, asks for memory,
// looks symbols up, and writes the final bytes. Each step takes what comes next
// as a function. So all graphs are brought to the point where they ask for
// memory, and kept there; the image is laid out with all of them in view; and
// then one after the other is linked to its end.
//
// Of JITLink's passes, those before pruning are not used: they keep tables for
// unwinding alive, which kernels have no need of. Here all global symbols are
// live, and what these do not refer to, as debug information, is pruned. Its
// other passes have references to what is outside of a graph go through a word
// of pointers, and branches through a stub beside, and make those direct that
// turn out to be near.
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/JIT/ImageLinker.h"
#include "ImageLayout.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ExecutionEngine/JITLink/ELF.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/SymbolStringPool.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace llvm;
using namespace llvm::jitlink;

namespace metaops {
namespace {

/// Memory that somebody else keeps.
class NoAllocation : public JITLinkMemoryManager::InFlightAlloc {
public:
  void abandon(OnAbandonedFunction whenAbandoned) override {
    whenAbandoned(Error::success());
  }
  void finalize(OnFinalizedFunction whenFinal) override {
    whenFinal(JITLinkMemoryManager::FinalizedAlloc());
  }
};

/// Keeps graphs that have asked for memory until all have.
class GraphQueue : public JITLinkMemoryManager {
public:
  void allocate(const JITLinkDylib *, LinkGraph &graph,
                OnAllocatedFunction whenAllocated) override {
    graphs.push_back(&graph);
    resumptions.push_back(std::move(whenAllocated));
  }
  void deallocate(std::vector<FinalizedAlloc>,
                  OnDeallocatedFunction whenDeallocated) override {
    whenDeallocated(Error::success());
  }

  ArrayRef<LinkGraph *> getGraphs() const { return graphs; }
  /// Links all graphs to their ends, which destroys them.
  void resumeAll() {
    graphs.clear();
    for (OnAllocatedFunction &resume : std::exchange(resumptions, {}))
      resume(std::make_unique<NoAllocation>());
  }

private:
  std::vector<LinkGraph *> graphs;
  std::vector<OnAllocatedFunction> resumptions;
};

/// State that the graphs of one image share.
struct SharedState {
  explicit SharedState(ImageArchitecture architecture)
      : architecture(architecture), layout(architecture) {}

  ImageArchitecture architecture;
  ImageLayout layout;
  GraphQueue queue;
  /// The first error of any graph.
  Error error = Error::success();

  ~SharedState() { consumeError(std::move(error)); }

  void fail(StringRef object, Error reason) {
    // One object's error often makes others'.
    if (error)
      return consumeError(std::move(reason));
    error = createStringError("cannot link '" + object +
                              "': " + toString(std::move(reason)));
  }
  Error takeError() { return std::exchange(error, Error::success()); }
};

} // namespace

/// Has the object alone use what it hides, and what others may define as well,
/// such as instances of templates: each object has its own.
static void localize(LinkGraph &graph, const StringSet<> &entries) {
  for (Symbol *symbol : graph.defined_symbols()) {
    bool isOwn = symbol->getScope() == Scope::Hidden ||
                 symbol->getLinkage() == Linkage::Weak;
    if (!isOwn || !symbol->hasName() || entries.contains(*symbol->getName()))
      continue;
    symbol->setLinkage(Linkage::Strong);
    symbol->setScope(Scope::Local);
  }
}

/// Marks what an object defines for others as live; it stays with what it
/// refers to.
static Error markGlobalsLive(LinkGraph &graph) {
  for (Symbol *symbol : graph.defined_symbols())
    symbol->setLive(symbol->getScope() != Scope::Local);
  return Error::success();
}

/// Nobody would call them; nothing refers to them, so they would be pruned.
static Error verifyNoInitialisers(LinkGraph &graph) {
  for (const Section &section : graph.sections())
    for (StringRef prefix : {".init_array", ".fini_array", ".preinit_array",
                             ".ctors", ".dtors", ".init", ".fini"})
      if (section.getName().starts_with(prefix))
        return createStringError("section '" + section.getName() +
                                 "' has initialisers, which images do not "
                                 "have");
  return Error::success();
}

namespace {

/// Answers of what JITLink asks while it links one object.
class ObjectContext : public JITLinkContext {
public:
  ObjectContext(SharedState &state, std::string name)
      : JITLinkContext(nullptr), state(state), name(std::move(name)) {}

  JITLinkMemoryManager &getMemoryManager() override { return state.queue; }
  void notifyFailed(Error error) override {
    state.fail(name, std::move(error));
  }
  void lookup(const LookupMap &symbols,
              std::unique_ptr<JITLinkAsyncLookupContinuation> resume) override {
    AsyncLookupResult found;
    for (const auto &[symbol, flags] : symbols)
      found[symbol] = {orc::ExecutorAddr(state.layout.getAddress(*symbol)),
                       JITSymbolFlags::Exported};
    resume->run(std::move(found));
  }
  Error notifyResolved(LinkGraph &) override { return Error::success(); }
  void notifyFinalized(JITLinkMemoryManager::FinalizedAlloc memory) override {
    (void)memory.release();
  }

  Error modifyPassConfig(LinkGraph &, PassConfiguration &passes) override {
    passes.PrePrunePasses.clear();
    passes.PrePrunePasses.push_back(verifyNoInitialisers);
    passes.PrePrunePasses.push_back(markGlobalsLive);
    auto verify = [architecture = state.architecture](LinkGraph &graph) {
      return verifyGraph(graph, architecture);
    };
    passes.PostPrunePasses.insert(passes.PostPrunePasses.begin(), verify);
    passes.PreFixupPasses.push_back([&layout = state.layout](LinkGraph &graph) {
      return layout.collectAddresses(graph);
    });
    return Error::success();
  }

private:
  SharedState &state;
  std::string name;
};

/// Links the objects of one image.
class Linker {
public:
  Linker(ImageArchitecture architecture, ArrayRef<std::string> entries)
      : names(std::make_shared<orc::SymbolStringPool>()), state(architecture),
        entries(entries) {
    entryNames.insert_range(entries);
  }

  /// Links an object as far as it goes without knowing the others.
  Error add(MemoryBufferRef object);
  /// Links all to their ends.
  Expected<std::string> finish();

private:
  Error checkGlobals(const LinkGraph &graph);

  std::shared_ptr<orc::SymbolStringPool> names;
  SharedState state;
  ArrayRef<std::string> entries;
  StringSet<> entryNames;
  /// The objects that define global symbols.
  StringMap<std::string> definitions;
};

} // namespace

static std::optional<ImageArchitecture> getArchitecture(const Triple &triple) {
  if (triple.getArch() == Triple::x86_64)
    return ImageArchitecture::X86_64;
  if (triple.getArch() == Triple::aarch64)
    return ImageArchitecture::AArch64;
  return std::nullopt;
}

Error Linker::checkGlobals(const LinkGraph &graph) {
  for (const Symbol *symbol : graph.defined_symbols()) {
    if (!symbol->hasName() || symbol->getScope() == Scope::Local)
      continue;
    auto [definition, isNew] =
        definitions.try_emplace(*symbol->getName(), graph.getName());
    if (!isNew)
      return createStringError("cannot link '" + graph.getName() +
                               "': it defines '" + *symbol->getName() +
                               "', which '" + definition->second +
                               "' defines, too");
  }
  return Error::success();
}

Error Linker::add(MemoryBufferRef object) {
  std::string name = object.getBufferIdentifier().str();
  auto graph = createLinkGraphFromELFObject(object, names);
  if (!graph) {
    state.fail(name, graph.takeError());
    return state.takeError();
  }
  const Triple &triple = (*graph)->getTargetTriple();
  if (getArchitecture(triple) != state.architecture)
    return createStringError("cannot link '" + name + "': it is for " +
                             triple.getArchName() + ", and the image for " +
                             getName(state.architecture));
  localize(**graph, entryNames);
  if (Error error = checkGlobals(**graph))
    return error;
  link_ELF(std::move(*graph), std::make_unique<ObjectContext>(state, name));
  return state.takeError();
}

Expected<std::string> Linker::finish() {
  if (Error error = state.layout.place(state.queue.getGraphs()))
    return std::move(error);
  state.queue.resumeAll();
  if (Error error = state.takeError())
    return std::move(error);
  return state.layout.write(entries);
}

Expected<std::string> linkImage(ArrayRef<MemoryBufferRef> objects,
                                ArrayRef<std::string> entries,
                                const Triple &triple) {
  auto architecture = getArchitecture(triple);
  if (!architecture)
    return createStringError("there are no code images for " + triple.str() +
                             ", but for x86_64 and aarch64");
  Linker linker(*architecture, entries);
  for (MemoryBufferRef object : objects)
    if (Error error = linker.add(object))
      return std::move(error);
  return linker.finish();
}

} // namespace metaops
