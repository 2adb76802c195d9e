// RUN: metaop-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects `index` between 0 and 9223372036854775807, given -1}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = [#metaop.slot<result, -1>]}

// -----

// expected-error @below {{expects `offset` between 0 and 9223372036854775807, given -8}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = [#metaop.slot<result, 0, offset = -8>]}

// -----

// expected-error @below {{expects rows of one byte or more that begin farther apart, given 16 bytes and a pitch of 8}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = [#metaop.slot<result, 0, row = 16, pitch = 8>]}

// -----

// expected-error @below {{'func.func' op expects `metaop.results` to be an array of slots, given [3]}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = [3]}

// -----

// expected-error @below {{'func.func' op expects `metaop.results` to be an array of 1 slots, given 0}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = []}

// -----

// expected-error @below {{'func.func' op expects `metaop.results` to be slots of arguments and results, given #metaop.slot<arena, 0>}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = [#metaop.slot<arena, 0>]}

// -----

// expected-error @below {{'func.func' op has #metaop.slot<argument, 1> in `metaop.results`, but the function has 1 arguments}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32> attributes {metaop.results = [#metaop.slot<argument, 1>]}

// -----

// expected-error @below {{'builtin.module' op expects `metaop.results` to be on a function}}
module attributes {metaop.results = []} {}

// -----

// expected-error @below {{'func.func' op expects `metaop.arena_bytes` to be a number of bytes, of type i64, given -1 : i64}}
func.func private @f() attributes {metaop.arena_bytes = -1 : i64}

// -----

// expected-error @below {{'builtin.module' op expects `metaop.arena_bytes` to be on a function}}
module attributes {metaop.arena_bytes = 7 : i64} {}

// -----

// expected-error @below {{'func.func' op expects `metaop.donatable` to be without a value, given 1 : i64}}
func.func private @f(tensor<4xf32> {metaop.donatable = 1 : i64})

// -----

// expected-error @below {{'func.func' op expects `metaop.donatable` to be on a function's argument that is a tensor}}
func.func private @f(index {metaop.donatable})

// -----

// expected-error @below {{'func.func' op has an attribute `metaop.donated`, which the dialect does not have on arguments}}
func.func private @f(tensor<4xf32> {metaop.donated})

// -----

// expected-error @below {{'func.func' op has an attribute `metaop.donatable`, which the dialect does not have on results}}
func.func private @f() -> (tensor<4xf32> {metaop.donatable})

// -----

// expected-error @below {{'func.func' op has an attribute `metaop.slot`, which the dialect does not have on operations}}
func.func private @f() attributes {metaop.slot}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'metaop.exp' op expects `metaop.slots` to be on a step of a program or a branch}}
  %0 = metaop.exp %x {metaop.slots = [#metaop.slot<arena, 0>]} : tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op expects `metaop.slots` to be an array of 1 slots, given 2}}
  %0 = call @kernel(%x) {metaop.slots = [#metaop.slot<arena, 0>, #metaop.slot<arena, 64>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op has #metaop.slot<result, 0> in `metaop.slots`, but the function has 0 results}}
  %0 = call @kernel(%x) {metaop.slots = [#metaop.slot<result, 0>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32>)
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op expects `metaop.may_keep` to be on a call with one result}}
  call @kernel(%x) {metaop.may_keep} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op expects `metaop.may_keep` to be without a value, given true}}
  %0 = call @kernel(%x) {metaop.may_keep = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'func.call' op expects `metaop.carries` to be on a loop}}
  %0 = call @kernel(%x) {metaop.carries = []} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<i1>) -> tensor<i1> {
  // expected-error @below {{'scf.while' op expects `metaop.carries` to be an array for the 1 values that the loop carries, given []}}
  %0 = scf.while (%a = %x) : (tensor<i1>) -> tensor<i1> {
    %b = tensor.extract %a[] : tensor<i1>
    scf.condition(%b) %a : tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>):
    scf.yield %a : tensor<i1>
  } attributes {metaop.carries = []}
  return %0 : tensor<i1>
}

// -----

func.func @f(%x: tensor<i1>) -> tensor<i1> {
  // expected-error @below {{'scf.while' op expects `metaop.carries` to be an array of 4 slots, given 2}}
  %0 = scf.while (%a = %x) : (tensor<i1>) -> tensor<i1> {
    %b = tensor.extract %a[] : tensor<i1>
    scf.condition(%b) %a : tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>):
    scf.yield %a : tensor<i1>
  } attributes {metaop.carries = [[#metaop.slot<pointer, 0>, #metaop.slot<pointer, 1>]]}
  return %0 : tensor<i1>
}

// -----

func.func @f(%x: tensor<i1>) -> tensor<i1> {
  // expected-error @below {{'scf.while' op expects `metaop.carries` to be two pointers and then two places for each value, given [#metaop.slot<pointer, 0>, #metaop.slot<arena, 0>, #metaop.slot<arena, 64>, #metaop.slot<pointer, 1>]}}
  %0 = scf.while (%a = %x) : (tensor<i1>) -> tensor<i1> {
    %b = tensor.extract %a[] : tensor<i1>
    scf.condition(%b) %a : tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>):
    scf.yield %a : tensor<i1>
  } attributes {metaop.carries = [[#metaop.slot<pointer, 0>, #metaop.slot<arena, 0>, #metaop.slot<arena, 64>, #metaop.slot<pointer, 1>]]}
  return %0 : tensor<i1>
}
