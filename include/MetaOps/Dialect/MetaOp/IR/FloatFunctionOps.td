//===- FloatFunctionOps.td - Functions of real numbers -----*- tablegen -*-===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element-wise ops on floats, an entry each: how an element is emitted, and what
// the interpreter computes of doubles. Where there are partial derivatives,
// Derivatives.cpp has them. None is folded: how a function rounds is the
// target's choice, so constants are left to it.
//
//===----------------------------------------------------------------------===//

#ifndef METAOPS_DIALECT_METAOP_FLOATFUNCTIONOPS_TD
#define METAOPS_DIALECT_METAOP_FLOATFUNCTIONOPS_TD

include "MetaOps/Dialect/MetaOp/IR/ElementwiseBase.td"

/// A function of x. `emission` is a C++ expression of the value that a
/// ScalarEmitter `emit` makes of the value x, an f32 or f64 or a vector of them;
/// `evaluation` one of the double x. f16 and bf16 are computed in f32.
class MetaOp_UnaryFloatOp<string mnemonic, string formula, string emission,
                          string evaluation, string work = "Call",
                          list<Trait> traits = [MetaOp_HasPartials]>
    : MetaOp_UnaryOp<mnemonic, MetaOp_FloatTensor, formula, traits, work, [{
        ::mlir::Value $cppClass::emitScalar(::mlir::OpBuilder &builder,
                                            ::mlir::ValueRange operands) {
          ::mlir::metaop::ScalarEmitter emit(builder, getLoc());
          ::mlir::Value x = emit.widen(operands[0]);
          return emit.narrow(}] # emission # [{, operands[0].getType());
        }
      }]> {
  let extraClassDeclaration = [{
    static double evaluate(double x) { return }] # evaluation # [{; }
  }];
}

/// The function of this name of the math dialect and of the C library.
class MetaOp_MathOp<string mnemonic, string formula, string op,
                    string work = "Call">
    : MetaOp_UnaryFloatOp<mnemonic, formula,
        "emit.create<::mlir::math::" # op # ">(x)",
        "std::" # mnemonic # "(x)", work>;

/// A function of x and y, likewise.
class MetaOp_BinaryFloatOp<string mnemonic, string formula, string emission,
                           string evaluation, string work = "Call",
                           list<Trait> traits = [MetaOp_HasPartials]>
    : MetaOp_BinaryOp<mnemonic, MetaOp_FloatTensor, formula, traits, work, [{
        ::mlir::Value $cppClass::emitScalar(::mlir::OpBuilder &builder,
                                            ::mlir::ValueRange operands) {
          ::mlir::metaop::ScalarEmitter emit(builder, getLoc());
          ::mlir::Value x = emit.widen(operands[0]);
          ::mlir::Value y = emit.widen(operands[1]);
          return emit.narrow(}] # emission # [{, operands[0].getType());
        }
      }]> {
  let extraClassDeclaration = [{
    static double evaluate(double x, double y) { return }] # evaluation # [{; }
  }];
}

//===----------------------------------------------------------------------===//
// Powers and roots
//===----------------------------------------------------------------------===//

def MetaOp_SqrtOp : MetaOp_MathOp<"sqrt", "x^(1/2)", "SqrtOp", "Division">;
def MetaOp_RsqrtOp : MetaOp_UnaryFloatOp<"rsqrt", "x^(-1/2)",
  "emit.create<::mlir::math::RsqrtOp>(x)", "1 / std::sqrt(x)", "Division">;
def MetaOp_CbrtOp : MetaOp_MathOp<"cbrt", "x^(1/3)", "CbrtOp">;
def MetaOp_HypotOp : MetaOp_BinaryFloatOp<"hypot",
  "(x^2 + y^2)^(1/2), without overflow in between",
  "emitHypot(emit, x, y)", "std::hypot(x, y)", "Division">;

//===----------------------------------------------------------------------===//
// Exponentials and logarithms
//===----------------------------------------------------------------------===//

def MetaOp_ExpOp : MetaOp_MathOp<"exp", "e^x", "ExpOp", "Exponential">;
def MetaOp_Exp2Op : MetaOp_MathOp<"exp2", "2^x", "Exp2Op", "Exponential">;
def MetaOp_Expm1Op : MetaOp_MathOp<"expm1", "e^x - 1", "ExpM1Op",
  "Exponential">;
def MetaOp_LogOp : MetaOp_MathOp<"log", "ln x", "LogOp", "Logarithm">;
def MetaOp_Log2Op : MetaOp_MathOp<"log2", "log x by the base 2", "Log2Op",
  "Logarithm">;
def MetaOp_Log10Op : MetaOp_MathOp<"log10", "log x by the base 10", "Log10Op">;
def MetaOp_Log1pOp : MetaOp_MathOp<"log1p", "ln(1 + x)", "Log1pOp",
  "Logarithm">;

//===----------------------------------------------------------------------===//
// Trigonometric functions
//===----------------------------------------------------------------------===//

def MetaOp_SinOp : MetaOp_MathOp<"sin", "sin x", "SinOp">;
def MetaOp_CosOp : MetaOp_MathOp<"cos", "cos x", "CosOp">;
def MetaOp_TanOp : MetaOp_MathOp<"tan", "tan x", "TanOp">;
def MetaOp_AsinOp : MetaOp_MathOp<"asin", "arcsin x", "AsinOp">;
def MetaOp_AcosOp : MetaOp_MathOp<"acos", "arccos x", "AcosOp">;
def MetaOp_AtanOp : MetaOp_MathOp<"atan", "arctan x", "AtanOp">;
def MetaOp_Atan2Op : MetaOp_BinaryFloatOp<"atan2",
  "the angle of the point (y, x), in [-pi, pi]",
  "emit.create<::mlir::math::Atan2Op>(x, y)", "std::atan2(x, y)">;

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

def MetaOp_SinhOp : MetaOp_MathOp<"sinh", "sinh x", "SinhOp">;
def MetaOp_CoshOp : MetaOp_MathOp<"cosh", "cosh x", "CoshOp">;
def MetaOp_TanhOp : MetaOp_MathOp<"tanh", "tanh x", "TanhOp", "Tanh">;
def MetaOp_AsinhOp : MetaOp_MathOp<"asinh", "arsinh x", "AsinhOp">;
def MetaOp_AcoshOp : MetaOp_MathOp<"acosh", "arcosh x", "AcoshOp">;
def MetaOp_AtanhOp : MetaOp_MathOp<"atanh", "artanh x", "AtanhOp">;

//===----------------------------------------------------------------------===//
// Special functions
//===----------------------------------------------------------------------===//

def MetaOp_ErfOp : MetaOp_MathOp<"erf", "erf x", "ErfOp", "Erf">;
def MetaOp_ErfcOp : MetaOp_MathOp<"erfc", "1 - erf x", "ErfcOp">;
def MetaOp_ErfinvOp : MetaOp_UnaryFloatOp<"erfinv", "y with erf y = x",
  "emitErfinv(emit, x)", "evaluateErfinv(x)">;

def MetaOp_LgammaOp : MetaOp_UnaryFloatOp<"lgamma",
  "ln |gamma(x)|; inf at 0, -1, -2, ...",
  "emitLgamma(emit, x)", "evaluateLgamma(x)">;
def MetaOp_DigammaOp : MetaOp_UnaryFloatOp<"digamma",
  "the derivative of lgamma; -inf at 0, inf at -0, NaN at -1, -2, ...",
  "emitDigamma(emit, x)", "evaluateDigamma(x)">;
def MetaOp_PolygammaOp : MetaOp_BinaryFloatOp<"polygamma",
  "the derivative number x of digamma at y, x = 1, 2, ...; NaN of another x",
  "emitPolygamma(emit, x, y)", "evaluatePolygamma(x, y)">;

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

def MetaOp_CopysignOp : MetaOp_BinaryFloatOp<"copysign",
  "|x| with the sign of y", "emit.create<::mlir::math::CopySignOp>(x, y)",
  "std::copysign(x, y)", "Arithmetic">;

#endif // METAOPS_DIALECT_METAOP_FLOATFUNCTIONOPS_TD
