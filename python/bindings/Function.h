//===- Function.h - Functions that Python calls -----------------*- C++ -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pybind11's functions answer a wrong call with the text of all arguments, for
// which a Var would be computed, and Python can learn nothing of their
// parameters. So functions have a type of their own: it binds arguments by a
// list of parameters, which inspect.signature reads, and knows the spellings of
// other libraries. A call with arguments by position copies nothing.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_PYTHON_BINDINGS_FUNCTION_H
#define METAOPS_PYTHON_BINDINGS_FUNCTION_H

#include "Parameters.h"

#include <memory>
#include <type_traits>

namespace metaops::python {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// An argument of a call, with what is told of it if it is wrong.
struct CallArgument {
  const ParameterList &parameters;
  size_t index;
  py::handle object;

  [[noreturn]] void fail(const std::string &expected) const {
    parameters.failType(index, object, expected);
  }
};

/// A Var and the object that it is in Python, for methods that return it.
struct VarObject {
  py::handle object;
  Var &var;

  py::object get() const { return py::reinterpret_borrow<py::object>(object); }
};

Var &toVar(const CallArgument &argument);
bool toBool(const CallArgument &argument);
int64_t toInteger(const CallArgument &argument);
std::string toString(const CallArgument &argument);

/// The class whose instances are held by T.
template <typename T> struct HeldClass {
  using Type = T;
};
template <typename T> struct HeldClass<std::shared_ptr<T>> {
  using Type = T;
};

/// Converts an argument to what a C++ function takes: a handle as it is, a Var,
/// a number, a string, an object of Python's, or one of a bound class.
template <typename T> decltype(auto) convert(const CallArgument &argument) {
  using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (std::is_same_v<Plain, py::handle>) {
    return py::handle(argument.object);
  } else if constexpr (std::is_same_v<Plain, Var>) {
    return toVar(argument);
  } else if constexpr (std::is_same_v<Plain, VarObject>) {
    return VarObject{argument.object, toVar(argument)};
  } else if constexpr (std::is_same_v<Plain, bool>) {
    return toBool(argument);
  } else if constexpr (std::is_integral_v<Plain>) {
    static_assert(std::is_same_v<Plain, int64_t>, "other types have no use");
    return toInteger(argument);
  } else if constexpr (std::is_same_v<Plain, std::string>) {
    return toString(argument);
  } else if constexpr (std::is_base_of_v<py::object, Plain>) {
    if (!py::isinstance<Plain>(argument.object))
      argument.fail(std::string("a ") +
                    py::detail::handle_type_name<Plain>::name.text);
    return py::reinterpret_borrow<Plain>(argument.object);
  } else {
    py::type expected = py::type::of<typename HeldClass<Plain>::Type>();
    if (!py::isinstance(argument.object, expected))
      argument.fail("a " + expected.attr("__name__").cast<std::string>());
    return argument.object.template cast<std::conditional_t<
        std::is_same_v<typename HeldClass<Plain>::Type, Plain>, T, Plain>>();
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Work of a function of the extension, given its arguments in order.
class Body {
public:
  virtual ~Body() = default;
  /// Returns a new reference, or throws.
  virtual PyObject *call(const ParameterList &parameters,
                         PyObject *const *arguments) const = 0;
};

template <typename Work, typename Result, typename... Args>
class BodyOf final : public Body {
public:
  explicit BodyOf(Work work) : work(std::move(work)) {}

  PyObject *call(const ParameterList &parameters,
                 PyObject *const *arguments) const override {
    return apply(parameters, arguments, std::index_sequence_for<Args...>());
  }

private:
  template <size_t... I>
  PyObject *apply([[maybe_unused]] const ParameterList &parameters,
                  [[maybe_unused]] PyObject *const *arguments,
                  std::index_sequence<I...>) const {
    if constexpr (std::is_void_v<Result>) {
      work(convert<Args>(CallArgument{parameters, I, arguments[I]})...);
      return Py_NewRef(Py_None);
    } else {
      Result result =
          work(convert<Args>(CallArgument{parameters, I, arguments[I]})...);
      if constexpr (std::is_base_of_v<py::object, Result>)
        return result.release().ptr();
      else
        return py::cast(std::move(result)).release().ptr();
    }
  }

  Work work;
};

/// Finds the types of what a function or a lambda takes and returns.
template <typename Work, typename Result, typename... Args>
std::unique_ptr<Body> makeBody(Work work, Result (*)(Args...)) {
  return std::make_unique<BodyOf<Work, Result, Args...>>(std::move(work));
}
template <typename Work, typename Class, typename Result, typename... Args>
std::unique_ptr<Body> makeBody(Work work, Result (Class::*)(Args...) const) {
  return std::make_unique<BodyOf<Work, Result, Args...>>(std::move(work));
}
template <typename Work> std::unique_ptr<Body> makeBody(Work work) {
  if constexpr (std::is_pointer_v<Work>)
    return makeBody(work, work);
  else
    return makeBody(std::move(work), &Work::operator());
}

/// Calls `work`, and has Python raise what it throws.
template <typename Work> PyObject *guard(Work work) {
  try {
    CountedCall call;
    return work();
  } catch (py::error_already_set &error) {
    error.restore();
#ifdef __GLIBCXX__
  } catch (abi::__forced_unwind &) {
    throw; // the thread is being ended
#endif
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}

py::object makeFunction(llvm::StringRef declaration, const char *doc,
                        std::unique_ptr<Body> body);

/// Gives a module or a class a function, which is declared in Python's syntax
/// without types: "mean(self, dim=None, keepdims=False)". The C++ function
/// takes as many arguments; one for "*name" is a tuple.
template <typename Work>
void define(py::handle scope, const std::string &declaration, Work work,
            const char *doc = "") {
  py::object function =
      makeFunction(declaration, doc, makeBody(std::move(work)));
  py::setattr(scope, function.attr("__name__"), function);
}

/// Gives a class a property that is computed.
template <typename Work>
void defineProperty(py::handle cls, const char *name, Work work,
                    const char *doc = "") {
  py::object getter = makeFunction(std::string(name) + "(self)", doc,
                                   makeBody(std::move(work)));
  auto *property = reinterpret_cast<PyObject *>(&PyProperty_Type);
  py::setattr(cls, name,
              py::handle(property)(getter, py::none(), py::none(), doc));
}

/// Has no call of a thread be intercepted as long as it lives.
class WithinCall {
public:
  WithinCall();
  ~WithinCall();
  WithinCall(const WithinCall &) = delete;
  WithinCall &operator=(const WithinCall &) = delete;

private:
  int64_t before;
};

/// Has a class have the instances only that C++ makes: what `__new__` makes
/// holds no object.
void forbidConstruction(py::handle cls);

void bindFunctionType(py::module_ &module);

} // namespace metaops::python

#endif // METAOPS_PYTHON_BINDINGS_FUNCTION_H
