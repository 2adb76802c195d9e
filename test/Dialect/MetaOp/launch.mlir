// RUN: metaop-opt %s --allow-unregistered-dialect \
// RUN: | metaop-opt --allow-unregistered-dialect | FileCheck %s

// The number of threads has no default; fields that say nothing are not printed.
// CHECK: "test.op"() {launch = #metaop.launch<threads = 256>}
"test.op"() {launch = #metaop.launch<threads = 256, cluster = 1>} : () -> ()
// CHECK: "test.op"() {launch = #metaop.launch<threads = 1024, cluster = 16, min_blocks = 2, index_bits = 32>}
"test.op"() {launch = #metaop.launch<index_bits = 32, min_blocks = 2, cluster = 16, threads = 1024>} : () -> ()
// CHECK: "test.op"() {launch = #metaop.launch<threads = 1, min_blocks = 32>}
"test.op"() {launch = #metaop.launch<threads = 1, min_blocks = 32, index_bits = 64>} : () -> ()
