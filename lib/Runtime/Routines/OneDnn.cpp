//===- OneDnn.cpp - A library of products of matrices ---------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library is loaded where it is found, and called by its C functions, whose
// declarations are here: nothing of it is needed to build. Its numbers of
// constants are part of its stable interface.
//
// Threads are the caller's. A primitive is made, and runs, under a limit of one
// thread of OpenMP, which belongs to the calling thread: that may be the
// user's, so the limit is put back behind each call. Copies that share work in
// other ways are not used.
//
//===----------------------------------------------------------------------===//

#include "OneDnn.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <dlfcn.h>
#include <vector>

using namespace metaops;

//===----------------------------------------------------------------------===//
// The interface of oneDNN 3 (oneapi/dnnl/dnnl.h)
//===----------------------------------------------------------------------===//

namespace {
using Status = int;
using Handle = void *;
/// Length of a list of dimensions.
constexpr size_t kMaxDims = 12;
using Dims = std::array<int64_t, kMaxDims>;

constexpr int kCpu = 1, kBF16 = 2, kF32 = 3;
constexpr unsigned kInOrder = 1;
constexpr int kUserScratchpad = 1;
constexpr int kQueryImplementation = 8, kQueryScratchpad = 136;
constexpr int kSource = 1, kDestination = 17, kWeights = 33, kScratchpad = 80;
constexpr unsigned kSequential = 1, kOpenMP = 2;
/// The bits of instruction sets up to AVX-512 with AMX.
constexpr int kTiles = 0xfef;

struct Version {
  int major, minor, patch;
  const char *hash;
  unsigned cpuRuntime, gpuRuntime;
};
struct Argument {
  int number;
  Handle memory;
};
} // namespace

struct metaops::OneDnnFunctions {
  const Version *(*version)();
  int (*getInstructions)();
  Status (*createEngine)(Handle *, int kind, size_t index);
  Status (*destroyEngine)(Handle);
  Status (*createStream)(Handle *, Handle engine, unsigned flags);
  Status (*destroyStream)(Handle);
  Status (*wait)(Handle stream);
  Status (*createTensor)(Handle *, int rank, const int64_t *dims, int type,
                         const int64_t *strides);
  Status (*destroyTensor)(Handle);
  size_t (*getSize)(Handle tensor);
  Status (*createAttributes)(Handle *);
  Status (*destroyAttributes)(Handle);
  Status (*setScratchpad)(Handle attributes, int mode);
  Status (*describeProduct)(Handle *, Handle engine, Handle source,
                            Handle weights, Handle bias, Handle destination,
                            Handle attributes);
  Status (*destroyDescription)(Handle);
  Status (*query)(Handle description, int what, int index, void *result);
  Handle (*queryTensor)(Handle description, int what, int index);
  Status (*createPrimitive)(Handle *, Handle description);
  Status (*destroyPrimitive)(Handle);
  Status (*createMemory)(Handle *, Handle tensor, Handle engine, void *);
  Status (*destroyMemory)(Handle);
  Status (*execute)(Handle primitive, Handle stream, int count,
                    const Argument *arguments);
  /// Of OpenMP; null where the library uses none.
  int (*getThreads)() = nullptr;
  void (*setThreads)(int) = nullptr;
};

/// Looks up a function; returns false where there is none of its name.
template <typename FunctionT>
static bool lookUp(void *library, const char *name, FunctionT *&function) {
  function = reinterpret_cast<FunctionT *>(dlsym(library, name));
  return function != nullptr;
}

/// Returns the name of a function that the library lacks, or null.
static const char *findMissing(void *library, OneDnnFunctions &f) {
  const char *missing = nullptr;
  auto load = [&](const char *name, auto &function) {
    if (!lookUp(library, name, function) && !missing)
      missing = name;
  };
  load("dnnl_version", f.version);
  load("dnnl_get_effective_cpu_isa", f.getInstructions);
  load("dnnl_engine_create", f.createEngine);
  load("dnnl_engine_destroy", f.destroyEngine);
  load("dnnl_stream_create", f.createStream);
  load("dnnl_stream_destroy", f.destroyStream);
  load("dnnl_stream_wait", f.wait);
  load("dnnl_memory_desc_create_with_strides", f.createTensor);
  load("dnnl_memory_desc_destroy", f.destroyTensor);
  load("dnnl_memory_desc_get_size", f.getSize);
  load("dnnl_primitive_attr_create", f.createAttributes);
  load("dnnl_primitive_attr_destroy", f.destroyAttributes);
  load("dnnl_primitive_attr_set_scratchpad_mode", f.setScratchpad);
  load("dnnl_matmul_primitive_desc_create", f.describeProduct);
  load("dnnl_primitive_desc_destroy", f.destroyDescription);
  load("dnnl_primitive_desc_query", f.query);
  load("dnnl_primitive_desc_query_md", f.queryTensor);
  load("dnnl_primitive_create", f.createPrimitive);
  load("dnnl_primitive_destroy", f.destroyPrimitive);
  load("dnnl_memory_create", f.createMemory);
  load("dnnl_memory_destroy", f.destroyMemory);
  load("dnnl_primitive_execute", f.execute);
  return missing;
}

namespace {
/// A limit of one thread of OpenMP for the calling thread.
class OneThread {
public:
  explicit OneThread(const OneDnnFunctions &functions) : functions(functions) {
    if (!functions.setThreads)
      return;
    before = functions.getThreads();
    functions.setThreads(1);
  }
  ~OneThread() {
    if (functions.setThreads)
      functions.setThreads(before);
  }
  OneThread(const OneThread &) = delete;
  OneThread &operator=(const OneThread &) = delete;

private:
  const OneDnnFunctions &functions;
  int before = 1;
};

/// An object of the library's, which is destroyed with it.
class Owned {
public:
  Owned() = default;
  ~Owned() { reset(); }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;

  /// Returns where a function is to put the object.
  Handle *fill(Status (*function)(Handle)) {
    reset();
    destroy = function;
    return &handle;
  }
  Handle get() const { return handle; }

private:
  void reset() {
    if (handle)
      destroy(handle);
    handle = nullptr;
  }

  Handle handle = nullptr;
  Status (*destroy)(Handle) = nullptr;
};
} // namespace

/// Fails, saying what could not be done, unless the status is that of success.
static llvm::Error check(Status status, const char *what) {
  if (status == 0)
    return llvm::Error::success();
  return llvm::createStringError("oneDNN could not %s, and gave the status %d",
                                 what, status);
}

//===----------------------------------------------------------------------===//
// Finding the library
//===----------------------------------------------------------------------===//

/// Returns what is wrong with a library that has been loaded; empty where it is
/// one that can be used. Fills in its functions.
static std::string findProblem(void *library, OneDnnFunctions &functions) {
  if (const char *missing = findMissing(library, functions))
    return std::string("it has no function ") + missing;
  const Version &version = *functions.version();
  if (version.major != 3)
    return "it is version " + std::to_string(version.major) +
           ", and not version 3";
  if (version.cpuRuntime == kSequential)
    return "";
  if (version.cpuRuntime != kOpenMP)
    return "its threads are not those of OpenMP";
  if (!lookUp(library, "omp_get_max_threads", functions.getThreads) ||
      !lookUp(library, "omp_set_num_threads", functions.setThreads))
    return "its OpenMP has no limit of threads";
  return "";
}

bool OneDnn::hasTiles() const {
  return (functions->getInstructions() & kTiles) == kTiles;
}

llvm::Expected<std::shared_ptr<const OneDnn>>
OneDnn::find(llvm::StringRef path, llvm::ArrayRef<std::string> folders) {
  constexpr const char *name = "libdnnl.so.3";
  std::vector<std::string> paths;
  if (!path.empty()) {
    paths.push_back(path.str());
  } else {
    for (const std::string &folder : folders)
      paths.push_back(folder + "/" + name);
    paths.emplace_back(name);
  }
  std::string problems;
  for (const std::string &each : paths) {
    void *library = dlopen(each.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      continue;
    auto functions = std::make_shared<OneDnnFunctions>();
    std::string problem = findProblem(library, *functions);
    if (problem.empty()) {
      const Version &version = *functions->version();
      std::string text = llvm::join_items(".", std::to_string(version.major),
                                          std::to_string(version.minor),
                                          std::to_string(version.patch));
      return std::shared_ptr<const OneDnn>(
          new OneDnn(each, std::move(text), std::move(functions)));
    }
    problems += "; " + each + " is not used: " + problem;
    dlclose(library);
  }
  return llvm::createStringError("there is no oneDNN; looked for " +
                                 llvm::join(paths, ", ") + problems);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Describes a tensor of (batch, rows, columns); without a batch of rows and
/// columns.
static llvm::Error describe(const OneDnnFunctions &f, Owned &tensor,
                            DType dtype, std::array<int64_t, 3> extents,
                            std::array<int64_t, 3> strides) {
  Dims dims = {}, steps = {};
  int begin = extents[0] == 1 ? 1 : 0;
  std::copy(extents.begin() + begin, extents.end(), dims.begin());
  std::copy(strides.begin() + begin, strides.end(), steps.begin());
  return check(f.createTensor(tensor.fill(f.destroyTensor), 3 - begin,
                              dims.data(), dtype == DType::BF16 ? kBF16 : kF32,
                              steps.data()),
               "describe a matrix");
}

struct OneDnnProduct::Parts {
  /// Describes the matrices.
  llvm::Error describeMatrices(const OneDnnFunctions &f,
                               const ProductForm &form);
  /// Plans the product of what was described.
  llvm::Error plan(const OneDnnFunctions &f);

  Owned engine, a, b, c, attributes, description, primitive;
  /// The description's own.
  Handle scratchTensor = nullptr;
};

llvm::Error OneDnnProduct::Parts::describeMatrices(const OneDnnFunctions &f,
                                                   const ProductForm &form) {
  if (llvm::Error error =
          describe(f, a, form.dtype, {form.batch, form.m, form.k}, form.a))
    return error;
  if (llvm::Error error =
          describe(f, b, form.dtype, {form.batch, form.k, form.n}, form.b))
    return error;
  return describe(f, c, form.result, {form.batch, form.m, form.n}, form.c);
}

llvm::Error OneDnnProduct::Parts::plan(const OneDnnFunctions &f) {
  if (llvm::Error error =
          check(f.createAttributes(attributes.fill(f.destroyAttributes)),
                "make attributes"))
    return error;
  if (llvm::Error error =
          check(f.setScratchpad(attributes.get(), kUserScratchpad),
                "take scratch memory"))
    return error;
  if (llvm::Error error =
          check(f.createEngine(engine.fill(f.destroyEngine), kCpu, /*index=*/0),
                "use the processor"))
    return error;
  return check(f.describeProduct(description.fill(f.destroyDescription),
                                 engine.get(), a.get(), b.get(),
                                 /*bias=*/nullptr, c.get(), attributes.get()),
               "plan the product");
}

llvm::Expected<std::shared_ptr<const OneDnnProduct>>
OneDnnProduct::create(std::shared_ptr<const OneDnn> library,
                      const ProductForm &form) {
  const OneDnnFunctions &f = library->getFunctions();
  OneThread limit(f);
  auto parts = std::make_unique<Parts>();
  if (llvm::Error error = parts->describeMatrices(f, form))
    return std::move(error);
  if (llvm::Error error = parts->plan(f))
    return std::move(error);
  Handle description = parts->description.get();
  const char *name = "";
  if (llvm::Error error =
          check(f.query(description, kQueryImplementation, 0, &name),
                "name its code"))
    return std::move(error);
  // A product that it writes out for no processor is slower than a kernel.
  if (llvm::StringRef(name).starts_with("ref"))
    return llvm::createStringError("oneDNN has no fast code for this product");
  if (llvm::Error error =
          check(f.createPrimitive(parts->primitive.fill(f.destroyPrimitive),
                                  description),
                "make code of the product"))
    return std::move(error);
  parts->scratchTensor = f.queryTensor(description, kQueryScratchpad, 0);
  int64_t bytes =
      parts->scratchTensor ? f.getSize(parts->scratchTensor) : size_t(0);
  return std::shared_ptr<const OneDnnProduct>(
      new OneDnnProduct(std::move(library), std::move(parts), bytes));
}

OneDnnProduct::OneDnnProduct(std::shared_ptr<const OneDnn> library,
                             std::unique_ptr<Parts> parts, int64_t scratchBytes)
    : library(std::move(library)), parts(std::move(parts)),
      scratchBytes(scratchBytes) {}

OneDnnProduct::~OneDnnProduct() = default;

llvm::Error OneDnnProduct::run(const void *a, const void *b, void *c,
                               void *scratch) const {
  const OneDnnFunctions &f = library->getFunctions();
  OneThread limit(f);
  Handle engine = parts->engine.get();
  Owned stream;
  if (auto error =
          check(f.createStream(stream.fill(f.destroyStream), engine, kInOrder),
                "make a stream"))
    return error;
  struct Operand {
    int number;
    Handle tensor;
    const void *data;
  };
  const Operand operands[] = {{kSource, parts->a.get(), a},
                              {kWeights, parts->b.get(), b},
                              {kDestination, parts->c.get(), c},
                              {kScratchpad, parts->scratchTensor, scratch}};
  std::array<Owned, std::size(operands)> memories;
  std::array<Argument, std::size(operands)> arguments;
  int count = 0;
  for (const Operand &operand : operands) {
    if (operand.number == kScratchpad && scratchBytes == 0)
      continue;
    Owned &memory = memories[count];
    if (auto error =
            check(f.createMemory(memory.fill(f.destroyMemory), operand.tensor,
                                 engine, const_cast<void *>(operand.data)),
                  "take a matrix"))
      return error;
    arguments[count++] = {operand.number, memory.get()};
  }
  if (auto error = check(f.execute(parts->primitive.get(), stream.get(), count,
                                   arguments.data()),
                         "compute the product"))
    return error;
  return check(f.wait(stream.get()), "compute the product");
}
