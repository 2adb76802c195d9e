// RUN: metaop-opt %s -split-input-file -verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{expects `threads` between 1 and 1024, given 0}}
"test.op"() {launch = #metaop.launch<threads = 0>} : () -> ()

// -----

// expected-error @below {{expects `threads` between 1 and 1024, given 1025}}
"test.op"() {launch = #metaop.launch<threads = 1025>} : () -> ()

// -----

// expected-error @below {{expects `cluster` between 1 and 16, given 17}}
"test.op"() {launch = #metaop.launch<threads = 32, cluster = 17>} : () -> ()

// -----

// expected-error @below {{expects `cluster` between 1 and 16, given 0}}
"test.op"() {launch = #metaop.launch<threads = 32, cluster = 0>} : () -> ()

// -----

// expected-error @below {{expects `min_blocks` between 1 and 32, given 33}}
"test.op"() {launch = #metaop.launch<threads = 32, min_blocks = 33>} : () -> ()

// -----

// expected-error @below {{expects `index_bits` to be 32 or 64, given 16}}
"test.op"() {launch = #metaop.launch<threads = 32, index_bits = 16>} : () -> ()

// -----

// expected-error @below {{struct is missing required parameter: threads}}
"test.op"() {launch = #metaop.launch<cluster = 2>} : () -> ()
