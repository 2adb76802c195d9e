// RUN: metaop-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects `buffers` between 0 and 2147483647, given -1}}
func.func private @f() attributes {metaop.entry = #metaop.entry<buffers = -1>}

// -----

// expected-error @below {{expects `range` between 0 and 9223372036854775807, given -2}}
func.func private @f() attributes {metaop.entry = #metaop.entry<buffers = 0, range = -2>}

// -----

// expected-error @below {{expects `work_per_step` between 0 and 9223372036854775807, given -3}}
func.func private @f() attributes {metaop.entry = #metaop.entry<buffers = 0, work_per_step = -3>}

// -----

// expected-error @below {{expects `scratch` for some of 1 buffers, given 2}}
func.func private @f(memref<4xf32>) attributes {metaop.entry = #metaop.entry<buffers = 1, scratch = [4, 4]>}

// -----

// expected-error @below {{expects `scratch` between 0 and 1152921504606846975, given -1}}
func.func private @f(memref<4xf32>) attributes {metaop.entry = #metaop.entry<buffers = 1, scratch = [-1]>}

// -----

// expected-error @below {{struct is missing required parameter: buffers}}
func.func private @f() attributes {metaop.entry = #metaop.entry<range = 1>}

// -----

// expected-error @below {{'func.func' op has 2 buffers by `metaop.entry`, but arguments of types 'memref<4xf32>'}}
func.func private @f(memref<4xf32>) attributes {metaop.entry = #metaop.entry<buffers = 2>}

// -----

// expected-error @below {{'func.func' op has 1 buffers by `metaop.entry`, but arguments of types 'memref<4xf32>', 'memref<4xf32>'}}
func.func private @f(memref<4xf32>, memref<4xf32>) attributes {metaop.entry = #metaop.entry<buffers = 1>}

// -----

// expected-error @below {{'func.func' op expects `metaop.entry` to be a #metaop.entry, given 2 : i64}}
func.func private @f() attributes {metaop.entry = 2 : i64}

// -----

// expected-error @below {{'builtin.module' op expects `metaop.entry` to be on a function}}
module attributes {metaop.entry = #metaop.entry<buffers = 0>} {}

// -----

// expected-error @below {{'func.func' op expects `metaop.kernel` to be without a value, given 1 : i64}}
func.func private @f() attributes {metaop.kernel = 1 : i64}

// -----

// expected-error @below {{'func.func' op expects `metaop.numbers` to be an array of i64, given [1]}}
func.func private @f() attributes {metaop.numbers = [1]}

// -----

// expected-error @below {{'func.func' op expects `metaop.launch` to be a #metaop.launch, given 32 : i64}}
func.func private @f() attributes {metaop.launch = 32 : i64}

// -----

// expected-error @below {{'func.func' op expects `metaop.dynamic_shared_bytes` to be a number of bytes, of type i64, given 4 : i32}}
func.func private @f() attributes {metaop.dynamic_shared_bytes = 4 : i32}

// -----

// expected-error @below {{'builtin.module' op expects `metaop.kernels` to be an array of dictionaries with a `name`, given [{}]}}
module attributes {metaop.kernels = [{}]} {}

// -----

// expected-error @below {{'func.func' op expects `metaop.parameters` to be an array of types, given [1]}}
func.func private @f() attributes {metaop.parameters = [1]}

// -----

// expected-error @below {{'func.func' op expects `metaop.sites` to be an array of dictionaries, given 1 : i64}}
func.func private @f() attributes {metaop.sites = 1 : i64}

// -----

// expected-error @below {{'func.func' op expects `metaop.shared` to be an array of dictionaries, given [1]}}
func.func private @f() attributes {metaop.shared = [1]}

// -----

// expected-error @below {{'func.func' op expects `metaop.instruction_counts` to be an array of arrays of i64, given [1]}}
func.func private @f() attributes {metaop.instruction_counts = [1]}

// -----

// expected-error @below {{'func.func' op expects `metaop.cluster_dim` to be an array of i32, given 2 : i64}}
func.func private @f() attributes {metaop.cluster_dim = 2 : i64}
