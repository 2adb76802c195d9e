//===- Parameters.cpp - What a function may be called with ----------------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace metaops;
using namespace metaops::python;

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

/// For each spelling the names that it may stand for, one of which a function
/// has.
using Spellings = llvm::StringMap<std::vector<std::string>>;

/// Lives as long as the process.
static Spellings &getTable() {
  static auto *table = new Spellings;
  return *table;
}

void metaops::python::setSpellings(const py::dict &table) {
  getTable().clear();
  for (auto [name, spellings] : table)
    for (py::handle spelling : spellings.cast<py::tuple>())
      getTable()[spelling.cast<std::string>()].push_back(
          name.cast<std::string>());
}

std::optional<size_t>
ParameterList::findSpelling(llvm::StringRef spelling) const {
  auto found = getTable().find(spelling);
  if (found == getTable().end())
    return std::nullopt;
  for (const std::string &name : found->second)
    if (std::optional<size_t> index = findName(name))
      return index;
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>>
ParameterList::getSpellings() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto &entry : getTable())
    if (std::optional<size_t> index = findSpelling(entry.first()))
      if (!findName(entry.first()))
        result.emplace_back(entry.first().str(), parameters[*index].name);
  llvm::sort(result);
  return result;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

static py::object intern(llvm::StringRef text) {
  PyObject *string = PyUnicode_FromStringAndSize(text.data(), text.size());
  if (!string)
    throw py::error_already_set();
  PyUnicode_InternInPlace(&string);
  return py::reinterpret_steal<py::object>(string);
}

/// The value of a literal that a declaration may contain.
static py::object evaluate(llvm::StringRef text) {
  if (text == "None")
    return py::none();
  if (text == "True" || text == "False")
    return py::bool_(text == "True");
  if (text == "()")
    return py::tuple();
  if (text.consume_front("'") && text.consume_back("'"))
    return py::str(text.str());
  int64_t number = 0;
  [[maybe_unused]] bool isWrong = text.getAsInteger(10, number);
  assert(!isWrong && "a default that declarations have no syntax for");
  return py::int_(number);
}

void ParameterList::add(Parameter parameter) {
  parameter.key = intern(parameter.name);
  if (parameter.kind == Parameter::Kind::Variadic)
    variadic = parameters.size();
  else if (parameter.kind != Parameter::Kind::KeywordOnly)
    ++positional;
  parameters.push_back(std::move(parameter));
  complete = positional == parameters.size() ? positional : size_t(-1);
}

ParameterList::ParameterList(llvm::StringRef declaration) {
  auto [front, rest] = declaration.split('(');
  name = front.str();
  [[maybe_unused]] bool isClosed = rest.consume_back(")");
  assert(isClosed && "a declaration ends with a parenthesis");
  llvm::SmallVector<llvm::StringRef> texts;
  rest.split(texts, ", ", /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  Parameter::Kind kind = Parameter::Kind::Ordinary;
  for (llvm::StringRef text : texts) {
    if (text == "*") {
      kind = Parameter::Kind::KeywordOnly;
      continue;
    }
    Parameter parameter;
    parameter.kind = kind;
    if (text == "self")
      parameter.kind = Parameter::Kind::PositionalOnly;
    if (text.consume_front("*")) {
      parameter.kind = Parameter::Kind::Variadic;
      kind = Parameter::Kind::KeywordOnly;
    }
    auto [key, fallback] = text.split('=');
    parameter.name = key.str();
    parameter.fallbackText = fallback.str();
    if (!fallback.empty())
      parameter.fallback = evaluate(fallback);
    add(std::move(parameter));
  }
}

ParameterList ParameterList::ofPythonFunction(py::handle function,
                                              std::string name) {
  py::object code = function.attr("__code__");
  py::tuple names = code.attr("co_varnames");
  auto count = [&](const char *what) { return code.attr(what).cast<size_t>(); };
  size_t onlyPositional = count("co_posonlyargcount");
  size_t ordinary = count("co_argcount"), keyword = count("co_kwonlyargcount");
  size_t flags = count("co_flags");
  ParameterList result;
  result.name = std::move(name);
  result.isOpen = flags & CO_VARKEYWORDS;
  auto add = [&](size_t place, Parameter::Kind kind) {
    Parameter parameter;
    parameter.name = names[place].cast<std::string>();
    parameter.kind = parameter.name == "self" && place == 0
                         ? Parameter::Kind::PositionalOnly
                         : kind;
    result.add(std::move(parameter));
  };
  for (size_t place = 0; place < ordinary; ++place)
    add(place, place < onlyPositional ? Parameter::Kind::PositionalOnly
                                      : Parameter::Kind::Ordinary);
  // Python puts the variable part's name after all others.
  if (flags & CO_VARARGS)
    add(ordinary + keyword, Parameter::Kind::Variadic);
  for (size_t place = ordinary; place < ordinary + keyword; ++place)
    add(place, Parameter::Kind::KeywordOnly);
  return result;
}

std::string ParameterList::getText() const {
  std::string text = "(";
  bool areKeywordsOnly = false;
  for (const auto &[index, parameter] : llvm::enumerate(parameters)) {
    if (index > 0)
      text += ", ";
    bool isSelf = index == 0 && parameter.name == "self";
    if (parameter.kind == Parameter::Kind::KeywordOnly && !areKeywordsOnly &&
        !variadic)
      text += "*, ";
    areKeywordsOnly |= parameter.kind == Parameter::Kind::KeywordOnly;
    if (parameter.kind == Parameter::Kind::Variadic)
      text += "*";
    text += (isSelf ? "$" : "") + parameter.name;
    if (parameter.fallback)
      text += "=" + parameter.fallbackText;
  }
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Looking names up
//===----------------------------------------------------------------------===//

static bool hasName(const Parameter &parameter) {
  return parameter.kind != Parameter::Kind::PositionalOnly;
}

std::optional<size_t> ParameterList::findName(py::handle keyword) const {
  for (const auto &[index, parameter] : llvm::enumerate(parameters))
    if (parameter.key.ptr() == keyword.ptr() && hasName(parameter) &&
        parameter.kind != Parameter::Kind::Variadic)
      return index;
  return std::nullopt;
}

std::optional<size_t> ParameterList::findName(llvm::StringRef keyword) const {
  for (const auto &[index, parameter] : llvm::enumerate(parameters))
    if (parameter.name == keyword && hasName(parameter))
      return index;
  return std::nullopt;
}

bool ParameterList::knows(PyObject *keywords) const {
  if (isOpen)
    return true;
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(keywords); i < e; ++i)
    if (!findName(PyTuple_GET_ITEM(keywords, i)))
      return false;
  return true;
}

size_t ParameterList::find(py::handle keyword, PyObject *self) const {
  if (std::optional<size_t> found = findName(keyword))
    return *found;
  std::string text = keyword.cast<std::string>();
  if (std::optional<size_t> found = findName(text))
    return *found; // not interned, or the name of the variable part
  if (std::optional<size_t> found = findSpelling(text))
    return *found;
  failUnknown(text, self);
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

BoundArguments ParameterList::bind(PyObject *const *args, size_t count,
                                   PyObject *keywords) const {
  PyObject *self = count > 0 ? args[0] : nullptr;
  BoundArguments bound;
  bound.slots.assign(parameters.size(), nullptr);
  size_t taken = std::min(count, positional);
  if (count > positional && !variadic)
    failCount(count, self);
  std::copy(args, args + taken, bound.slots.begin());
  if (variadic) {
    py::tuple others(count - taken);
    for (size_t i = taken; i < count; ++i)
      others[i - taken] = py::handle(args[i]);
    bound.slots[*variadic] = others.ptr();
    bound.variadic = std::move(others);
  }
  for (Py_ssize_t i = 0, e = keywords ? PyTuple_GET_SIZE(keywords) : 0; i < e;
       ++i) {
    py::handle keyword = PyTuple_GET_ITEM(keywords, i);
    size_t index = find(keyword, self);
    if (index == variadic) {
      if (PyTuple_GET_SIZE(bound.variadic.ptr()) > 0)
        failTwice(index, keyword, self);
      bound.variadic = py::make_tuple(py::handle(args[count + i]));
      bound.slots[index] = bound.variadic.ptr();
      continue;
    }
    if (bound.slots[index])
      failTwice(index, keyword, self);
    bound.slots[index] = args[count + i];
  }
  for (const auto &[index, parameter] : llvm::enumerate(parameters)) {
    if (bound.slots[index])
      continue;
    if (!parameter.fallback)
      fail(ErrorKind::Type, nameFor(self) + ": " + parameter.name +
                                " is not given; " + listNames());
    bound.slots[index] = parameter.fallback.ptr();
  }
  return bound;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::string ParameterList::nameFor(PyObject *self) const {
  if (!llvm::StringRef(name).ends_with("__init__") || !self)
    return name;
  llvm::StringRef type = Py_TYPE(self)->tp_name;
  return type.rsplit('.').second.empty() ? type.str()
                                         : type.rsplit('.').second.str();
}

std::string ParameterList::listNames() const {
  std::vector<std::string> names;
  for (const Parameter &parameter : parameters)
    if (hasName(parameter))
      names.push_back((parameter.kind == Parameter::Kind::Variadic ? "*" : "") +
                      parameter.name);
  return names.empty() ? "there are no parameters"
                       : "the parameters are " + llvm::join(names, ", ");
}

void ParameterList::failUnknown(llvm::StringRef keyword, PyObject *self) const {
  std::vector<std::string> candidates;
  for (const Parameter &parameter : parameters)
    if (hasName(parameter))
      candidates.push_back(parameter.name);
  for (auto &[spelling, name] : getSpellings())
    candidates.push_back(std::move(spelling));
  // A word of which more than half is another is no slip.
  unsigned best = std::max<size_t>(keyword.size() / 2, 1) + 1;
  llvm::StringRef nearest;
  for (const std::string &candidate : candidates) {
    unsigned distance = keyword.edit_distance(candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  std::string message = nameFor(self) + ": there is no parameter '" +
                        keyword.take_front(40).str() + "'";
  if (!nearest.empty())
    message += " (did you mean '" + nearest.str() + "'?)";
  fail(ErrorKind::Type, message + "; " + listNames());
}

void ParameterList::failTwice(size_t index, py::handle keyword,
                              PyObject *self) const {
  const std::string &parameter = parameters[index].name;
  std::string given = keyword.cast<std::string>();
  fail(ErrorKind::Type,
       nameFor(self) + ": " + parameter + " is given twice" +
           (given == parameter ? ", by position and by name"
                               : "; " + given + " is another name of it"));
}

void ParameterList::failCount(size_t count, PyObject *self) const {
  bool isMethod = !parameters.empty() && parameters[0].name == "self";
  count -= isMethod;
  fail(ErrorKind::Type, nameFor(self) + ": given " + llvm::Twine(count) +
                            (count == 1 ? " argument" : " arguments") +
                            " by position, expected at most " +
                            llvm::Twine(positional - isMethod) + "; " +
                            listNames());
}

std::string ParameterList::getPlace(size_t index) const {
  return nameFor(nullptr) + ": " + parameters[index].name;
}

void ParameterList::failType(size_t index, py::handle given,
                             const std::string &expected) const {
  fail(ErrorKind::Type,
       getPlace(index) + " is " + describe(given) + ", expected " + expected);
}
