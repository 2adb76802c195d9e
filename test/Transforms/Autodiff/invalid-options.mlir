// RUN: not metaop-opt %s --metaop-autodiff="order=0" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not metaop-opt %s --metaop-autodiff="wrt=-1" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not metaop-opt %s --metaop-autodiff="wrt=0,0" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not metaop-opt %s --metaop-autodiff="wrt=x" 2>&1 | FileCheck %s --check-prefix=TEXT

// ORDER: error: expected an `order` of 1 or more, but got 0
// RANGE: error: `wrt` names argument -1, but the function has 1 argument
// TWICE: error: `wrt` names argument 0 twice
// TEXT: 'x' value invalid for
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
