//===- Metaops.cpp - Interface for C --------------------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function checks what it is given, calls LoadedProgram, and turns its
// errors, and whatever is thrown, into a status and a text.
//
//===----------------------------------------------------------------------===//

#include "metaops-c/metaops.h"
#include "MetaOps/Runtime/Export/LoadedProgram.h"
#include "llvm/ADT/Twine.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

using namespace metaops;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;
using Kind = ProgramError::Kind;

// The enumerations are the same, number by number.
static_assert(METAOPS_BOOL == int(DType::Bool) &&
              METAOPS_INT64 == int(DType::I64) &&
              METAOPS_UINT8 == int(DType::U8) &&
              METAOPS_FLOAT16 == int(DType::F16) &&
              METAOPS_BFLOAT16 == int(DType::BF16) &&
              METAOPS_FLOAT64 == int(DType::F64) &&
              METAOPS_FLOAT64 + 1 == numDTypes);
static_assert(sizeof(metaops_input_memory) == sizeof(ConstMemory) &&
              sizeof(metaops_output_memory) == sizeof(MutableMemory));

struct metaops_program {
  std::unique_ptr<LoadedProgram> loaded;
};

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static metaops_status fail(metaops_status status, const char *message,
                           char **error) {
  if (error)
    *error = strdup(message);
  return status;
}

static metaops_status getStatus(Kind kind) {
  switch (kind) {
  case Kind::File:
    return METAOPS_INVALID_FILE;
  case Kind::Argument:
  case Kind::Closed:
    return METAOPS_INVALID_ARGUMENT;
  case Kind::Run:
  case Kind::Matrix:
    return METAOPS_RUN_FAILED;
  case Kind::OutOfMemory:
    return METAOPS_OUT_OF_MEMORY;
  }
  return METAOPS_INTERNAL_ERROR;
}

static metaops_status fail(Error failure, char **error) {
  metaops_status status = METAOPS_INTERNAL_ERROR;
  std::string message;
  llvm::handleAllErrors(
      std::move(failure),
      [&](const ProgramError &known) {
        status = getStatus(known.getKind());
        message = known.getMessage();
      },
      [&](const llvm::ErrorInfoBase &other) { message = other.message(); });
  return fail(status, message.c_str(), error);
}

static Error wrong(const Twine &message) {
  return llvm::make_error<ProgramError>(Kind::Argument, message.str());
}

/// Calls what returns an Error; nothing is thrown past it.
template <typename Body> static metaops_status guard(char **error, Body body) {
  if (error)
    *error = nullptr;
  try {
    if (Error failure = body())
      return fail(std::move(failure), error);
    return METAOPS_OK;
  } catch (const std::bad_alloc &) {
    return fail(METAOPS_OUT_OF_MEMORY, "there is no memory", error);
  } catch (const std::exception &exception) {
    return fail(METAOPS_INTERNAL_ERROR, exception.what(), error);
  } catch (...) {
    return fail(METAOPS_INTERNAL_ERROR, "unknown", error);
  }
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

static Expected<LoadOptions> readOptions(const metaops_options *given) {
  LoadOptions options;
  if (!given)
    return options;
  // Of later versions that are larger, the rest is to be zeros, as here.
  if (given->size < sizeof(metaops_options))
    return wrong("the options have the size " + Twine(given->size) +
                 ", expected sizeof(metaops_options), " +
                 Twine(sizeof(metaops_options)));
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof(metaops_options); i < given->size; ++i)
    if (bytes[i] != 0)
      return wrong("the options ask for what this version does not have");
  options.threads = given->threads;
  options.verify = given->verify != 0;
  options.code = given->no_code == 0;
  return options;
}

template <typename Open>
static metaops_status openProgram(const metaops_options *given,
                                  metaops_program **program, char **error,
                                  Open open) {
  return guard(error, [&]() -> Error {
    if (!program)
      return wrong("there is no place for the program: null");
    *program = nullptr;
    auto options = readOptions(given);
    if (!options)
      return options.takeError();
    Expected<std::unique_ptr<LoadedProgram>> loaded = open(*options);
    if (!loaded)
      return loaded.takeError();
    *program = new metaops_program{std::move(*loaded)};
    return Error::success();
  });
}

const char *metaops_version(void) { return METAOPS_VERSION; }

void metaops_free_error(char *error) { std::free(error); }

metaops_status metaops_open(const char *path, const metaops_options *options,
                            metaops_program **program, char **error) {
  return openProgram(options, program, error,
                     [&](const LoadOptions &options)
                         -> Expected<std::unique_ptr<LoadedProgram>> {
                       if (!path)
                         return wrong("there is no path: null");
                       return LoadedProgram::open(path, options);
                     });
}

metaops_status metaops_open_bytes(const void *data, size_t bytes,
                                  const metaops_options *options,
                                  metaops_program **program, char **error) {
  return openProgram(options, program, error,
                     [&](const LoadOptions &options)
                         -> Expected<std::unique_ptr<LoadedProgram>> {
                       if (!data)
                         return wrong("there are no bytes: null");
                       return LoadedProgram::read(
                           StringRef(static_cast<const char *>(data), bytes),
                           options);
                     });
}

void metaops_close(metaops_program *program) {
  if (!program)
    return;
  program->loaded->close();
  delete program;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Error checkProgram(const metaops_program *program) {
  return program ? Error::success() : wrong("there is no program: null");
}

size_t metaops_num_functions(const metaops_program *program) {
  return program ? program->loaded->getSignature().functions.size() : 0;
}

const char *metaops_get_function(const metaops_program *program,
                                 size_t number) {
  if (number >= metaops_num_functions(program))
    return nullptr;
  return program->loaded->getSignature().functions[number].name.c_str();
}

metaops_status metaops_open_function(const metaops_program *program,
                                     const char *name,
                                     const metaops_options *options,
                                     metaops_program **function, char **error) {
  return openProgram(
      options, function, error,
      [&](LoadOptions options) -> Expected<std::unique_ptr<LoadedProgram>> {
        if (Error failure = checkProgram(program))
          return std::move(failure);
        // An empty one would be the first.
        if (!name || !*name)
          return wrong("there is no name: null or empty");
        options.function = name;
        return program->loaded->openFunction(options);
      });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

size_t metaops_num_extents(const metaops_program *program) {
  return program ? program->loaded->getFunction().extents.size() : 0;
}

const char *metaops_get_extent(const metaops_program *program, size_t number) {
  if (number >= metaops_num_extents(program))
    return nullptr;
  return program->loaded->getFunction().extents[number].name.c_str();
}

metaops_status metaops_find_extent(const metaops_program *program, size_t input,
                                   size_t dimension, size_t *number,
                                   char **error) {
  return guard(error, [&]() -> Error {
    if (Error failure = checkProgram(program))
      return failure;
    if (!number)
      return wrong("there is no place for the number: null");
    const FunctionSignature &function = program->loaded->getFunction();
    if (input >= function.inputs.size())
      return wrong("there is no input " + Twine(input) + " of " +
                   Twine(function.inputs.size()));
    if (size_t rank = function.inputs[input].shape.size(); dimension >= rank)
      return wrong("there is no dimension " + Twine(dimension) + " of " +
                   Twine(rank) + " of the input '" +
                   function.inputs[input].name + "'");
    *number = METAOPS_NO_EXTENT;
    for (auto [place, extent] : llvm::enumerate(function.extents))
      if (llvm::is_contained(extent.dims,
                             std::pair<unsigned, unsigned>(input, dimension)))
        *number = place;
    return Error::success();
  });
}

metaops_status metaops_open_sizes(const metaops_program *program,
                                  const int64_t *sizes, size_t numSizes,
                                  metaops_program **sized, char **error) {
  return openProgram(
      /*given=*/nullptr, sized, error,
      [&](const LoadOptions &) -> Expected<std::unique_ptr<LoadedProgram>> {
        if (Error failure = checkProgram(program))
          return std::move(failure);
        if (!sizes)
          return wrong("there are no sizes: null");
        return program->loaded->openSizes(llvm::ArrayRef(sizes, numSizes));
      });
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

static metaops_status describe(const metaops_program *program,
                               const std::vector<TensorSpec> *tensors,
                               size_t number, metaops_tensor_info *info,
                               char **error) {
  return guard(error, [&]() -> Error {
    if (Error failure = checkProgram(program))
      return failure;
    if (!info)
      return wrong("there is no place for the description: null");
    if (number >= tensors->size())
      return wrong("there is no number " + Twine(number) + " of " +
                   Twine(tensors->size()));
    const TensorSpec &tensor = (*tensors)[number];
    *info = {tensor.name.c_str(), metaops_dtype(tensor.dtype),
             tensor.shape.size(), tensor.shape.data(),
             llvm::is_contained(tensor.shape, kAnyExtent)
                 ? 0
                 : size_t(tensor.getBytes())};
    return Error::success();
  });
}

static metaops_status find(const metaops_program *program,
                           const std::vector<TensorSpec> *tensors,
                           const char *name, size_t *number, char **error) {
  return guard(error, [&]() -> Error {
    if (Error failure = checkProgram(program))
      return failure;
    if (!name || !number)
      return wrong("there is no name, or no place for its number: null");
    auto found = findTensor(*tensors, name);
    if (!found)
      return wrong("there is no '" + Twine(name) + "' among " +
                   listNames(*tensors));
    *number = *found;
    return Error::success();
  });
}

static const std::vector<TensorSpec> *
getInputs(const metaops_program *program) {
  return program ? &program->loaded->getFunction().inputs : nullptr;
}

static const std::vector<TensorSpec> *
getOutputs(const metaops_program *program) {
  return program ? &program->loaded->getFunction().outputs : nullptr;
}

static const std::vector<TensorSpec> *
getWeights(const metaops_program *program) {
  return program ? &program->loaded->getSignature().weights : nullptr;
}

size_t metaops_num_inputs(const metaops_program *program) {
  return program ? getInputs(program)->size() : 0;
}

size_t metaops_num_outputs(const metaops_program *program) {
  return program ? getOutputs(program)->size() : 0;
}

metaops_status metaops_get_input(const metaops_program *program, size_t number,
                                 metaops_tensor_info *info, char **error) {
  return describe(program, getInputs(program), number, info, error);
}

metaops_status metaops_get_output(const metaops_program *program, size_t number,
                                  metaops_tensor_info *info, char **error) {
  return describe(program, getOutputs(program), number, info, error);
}

metaops_status metaops_find_input(const metaops_program *program,
                                  const char *name, size_t *number,
                                  char **error) {
  return find(program, getInputs(program), name, number, error);
}

metaops_status metaops_find_output(const metaops_program *program,
                                   const char *name, size_t *number,
                                   char **error) {
  return find(program, getOutputs(program), name, number, error);
}

size_t metaops_num_weights(const metaops_program *program) {
  return program ? getWeights(program)->size() : 0;
}

metaops_status metaops_get_weight(const metaops_program *program, size_t number,
                                  metaops_tensor_info *info, const void **data,
                                  char **error) {
  metaops_status status =
      describe(program, getWeights(program), number, info, error);
  if (status == METAOPS_OK && data)
    *data = program->loaded->getWeight(number)->data();
  return status;
}

metaops_status metaops_find_weight(const metaops_program *program,
                                   const char *name, size_t *number,
                                   char **error) {
  return find(program, getWeights(program), name, number, error);
}

size_t metaops_scratch_bytes(const metaops_program *program) {
  return program ? size_t(program->loaded->getScratchBytes()) : 0;
}

const char *metaops_target(const metaops_program *program) {
  return program ? program->loaded->getTarget().data() : nullptr;
}

const char *metaops_producer(const metaops_program *program) {
  return program ? program->loaded->getSignature().producer.c_str() : nullptr;
}

const char *metaops_get_key(const metaops_program *program, const char *key) {
  if (!program || !key)
    return nullptr;
  for (const auto &[name, text] : program->loaded->getSignature().keys)
    if (name == key)
      return text.c_str();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

metaops_status metaops_run(metaops_program *program,
                           const metaops_input_memory *inputs, size_t numInputs,
                           const metaops_output_memory *outputs,
                           size_t numOutputs, char **error) {
  return guard(error, [&]() -> Error {
    if (Error failure = checkProgram(program))
      return failure;
    if ((!inputs && numInputs > 0) || (!outputs && numOutputs > 0))
      return wrong("there are no inputs or no outputs: null");
    llvm::SmallVector<ConstMemory> from;
    for (size_t i = 0; i < numInputs; ++i)
      from.push_back({inputs[i].data, inputs[i].bytes});
    llvm::SmallVector<MutableMemory> to;
    for (size_t i = 0; i < numOutputs; ++i)
      to.push_back({outputs[i].data, outputs[i].bytes});
    return program->loaded->run(from, to);
  });
}

metaops_status metaops_set_threads(metaops_program *program, uint32_t threads,
                                   char **error) {
  return guard(error, [&]() -> Error {
    if (Error failure = checkProgram(program))
      return failure;
    return program->loaded->setThreads(threads);
  });
}

uint32_t metaops_get_threads(const metaops_program *program) {
  return program ? program->loaded->getThreads() : 0;
}
