//===- EmulatedDriver.cpp - A driver without a GPU ------------------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/EmulatedDriver/EmulatedDriver.h"
#include "Machine.h"

using namespace metaops;
using namespace metaops::emulated;

/// The name of a result, and what it means.
static std::pair<const char *, const char *> describe(DriverResult result) {
  switch (result) {
#define METAOPS_CASE(number, name, text)                                       \
  case number:                                                                 \
    return {"CUDA_" #name, text};
    METAOPS_DRIVER_RESULTS(METAOPS_CASE)
#undef METAOPS_CASE
  default:
    return {nullptr, nullptr};
  }
}

namespace {
/// The functions of a machine.
class EmulatedTable : public Driver {
public:
  explicit EmulatedTable(std::shared_ptr<Machine> machine);

  DriverEmulation *getEmulation() const override { return machine.get(); }
  using Driver::start;

private:
  /// Has one function of the table be one of the machine's.
  template <typename... ParameterT>
  void fill(std::function<DriverResult(ParameterT...)> &member,
            DriverResult (Machine::*function)(ParameterT...)) {
    member = [machine = machine, function](ParameterT... values) {
      return machine->call([&] { return (*machine.*function)(values...); });
    };
  }

  std::shared_ptr<Machine> machine;
};
} // namespace

EmulatedTable::EmulatedTable(std::shared_ptr<Machine> given)
    : machine(std::move(given)) {
#define METAOPS_FILL(member, name, version, parameters)                        \
  fill(member, &Machine::member);
  METAOPS_DRIVER_WORK(METAOPS_FILL)
  METAOPS_OPTIONAL_DRIVER_FUNCTIONS(METAOPS_FILL)
#undef METAOPS_FILL
  getErrorName = [](DriverResult result, const char **name) {
    *name = describe(result).first;
    return int(SUCCESS);
  };
  getErrorString = [](DriverResult result, const char **text) {
    *text = describe(result).second;
    return int(SUCCESS);
  };
  // It runs no machine code, so it makes none.
  auto refuse = [](auto...) { return int(ERROR_NOT_SUPPORTED); };
  createLink = refuse;
  addLinkData = refuse;
  completeLink = refuse;
  destroyLink = refuse;
}

EmulatedDriver::EmulatedDriver(EmulatedDriverOptions options)
    : options(options), machine(std::make_shared<Machine>(options)) {}

llvm::Expected<std::shared_ptr<const Driver>> EmulatedDriver::open() const {
  auto table = std::make_shared<EmulatedTable>(machine);
  if (llvm::Error error = table->start())
    return llvm::createStringError(
        "there is no use of a GPU: " + toString(std::move(error)) +
        " (it is an emulated driver)");
  return table;
}

std::vector<std::string> EmulatedDriver::listLeaks() const {
  return machine->listLeaks();
}
