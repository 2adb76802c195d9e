// RUN: metaop-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// fused
//===----------------------------------------------------------------------===//

func.func @fused_c1(%x: tensor<4xf32>) {
  // expected-error @below {{expects meta-operators only, given metaop.reshape}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<2x2xf32> {
    %0 = metaop.reshape %a : tensor<4xf32> -> tensor<2x2xf32>
    metaop.yield %0 : tensor<2x2xf32>
  }
  return
}

// -----

func.func @fused_c2(%x: tensor<4xf32>, %z: tensor<8xf32>) {
  %y:2 = metaop.fused(%a = %x : tensor<4xf32>, %b = %z : tensor<8xf32>)
      -> (tensor<4xf32>, tensor<8xf32>) {
    %0 = metaop.exp %a : tensor<4xf32>
    // expected-error @below {{expects the iteration space of the stage's first op, [4], given [8]}}
    %1 = metaop.exp %b : tensor<8xf32>
    metaop.yield %0, %1 : tensor<4xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @fused_c2_empty(%x: tensor<4xf32>) {
  // expected-error @below {{expects at least one meta-operator}}
  metaop.fused(%a = %x : tensor<4xf32>) {
  }
  return
}

// -----

func.func @fused_c3_reindex(%x: tensor<4xf32>) {
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = metaop.exp %a : tensor<4xf32>
    // expected-error @below {{in a stage expects its operands to be arguments of the stage}}
    %1 = metaop.reindex %0 map affine_map<(d0) -> (d0 - 1)> fill 0.0 : f32
        : tensor<4xf32> -> tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_c3_symbol(%x: tensor<i64>) {
  %y = metaop.fused(%a = %x : tensor<i64>) -> tensor<i64> {
    %0 = metaop.neg %a : tensor<i64>
    // expected-error @below {{in a stage expects its symbols and extents to be arguments of the stage}}
    %1 = metaop.reindex_reduce add %0 symbols(%0) map affine_map<()[s0] -> ()>
        : tensor<i64> -> tensor<i64>
    metaop.yield %1 : tensor<i64>
  }
  return
}

// -----

func.func @fused_c3_generator(%x: tensor<i64>) {
  %y = metaop.fused(%a = %x : tensor<i64>) -> tensor<f32> {
    %0 = metaop.neg %a : tensor<i64>
    // expected-error @below {{in a stage expects its operands to be arguments of the stage}}
    %1 = metaop.random %0, %a : tensor<f32>
    metaop.yield %1 : tensor<f32>
  }
  return
}

// -----

func.func @fused_c4(%x: tensor<4xf32>) {
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{in a stage expects to be used by the terminator only, but metaop.exp uses it}}
    %0 = metaop.reindex_reduce add %a map affine_map<(d0) -> (d0 floordiv 2)>
        : tensor<4xf32> -> tensor<4xf32>
    %1 = metaop.exp %0 : tensor<4xf32>
    metaop.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// An element-wise op's operands have the shape of its result, so that an
// argument of another shape is found with the op's iteration space (C2).
func.func @fused_c5(%x: tensor<4xf32>, %z: tensor<8xf32>) {
  %y:2 = metaop.fused(%a = %x : tensor<4xf32>, %b = %z : tensor<8xf32>)
      -> (tensor<4xf32>, tensor<f32>) {
    %0 = metaop.exp %a : tensor<4xf32>
    // expected-error @below {{expects the iteration space of the stage's first op, [4], given [8]}}
    %1 = metaop.reduce add %b dims = [0] : tensor<8xf32> -> tensor<f32>
    metaop.yield %0, %1 : tensor<4xf32>, tensor<f32>
  }
  return
}

// -----

func.func @fused_c5_through_dynamic(%x: tensor<4xf32>, %z: tensor<8xi1>,
                                    %w: tensor<?xf32>) {
  %y:2 = metaop.fused(%a = %x : tensor<4xf32>, %b = %z : tensor<8xi1>,
                      %c = %w : tensor<?xf32>)
      -> (tensor<4xf32>, tensor<?xf32>) {
    %0 = metaop.exp %a : tensor<4xf32>
    // expected-error @below {{reads 'tensor<8xi1>' at each point of an iteration space of another shape, [4]}}
    %1 = metaop.select %b, %c, %c : tensor<8xi1>, tensor<?xf32>
    metaop.yield %0, %1 : tensor<4xf32>, tensor<?xf32>
  }
  return
}

// -----

func.func @fused_c6(%x: tensor<4xf32>) {
  // expected-error @below {{expects `schedule` to order at most 2 loops, given 3}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32>
      schedule(#metaop.schedule<[step(0), step(1), step(2)]>) {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_c7_yield_type(%x: tensor<4xf32>) {
  // expected-error @below {{expects number 0 of its yielded values to have type 'tensor<4xf64>' as among its results, given 'tensor<4xf32>'}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf64> {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_c7_yield_count(%x: tensor<4xf32>) {
  // expected-error @below {{expects as many yielded values as results, 1, given 0}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = metaop.exp %a : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_c7_argument_type(%x: tensor<4xf32>) {
  // expected-error @below {{expects number 0 of its arguments to have type 'tensor<4xf32>' as among its operands, given 'tensor<5xf32>'}}
  %y = "metaop.fused"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    %0 = metaop.exp %a : tensor<5xf32>
    metaop.yield %0 : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @fused_c7_argument_count(%x: tensor<4xf32>) {
  // expected-error @below {{expects as many arguments as operands, 1, given 0}}
  %y = "metaop.fused"(%x) ({
    %0 = metaop.constant dense<0.0> : tensor<5xf32>
    metaop.yield %0 : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @fused_c8(%x: tensor<4xf32>) {
  // expected-error @below {{expects to yield values that the body computes, given an argument}}
  %y:2 = metaop.fused(%a = %x : tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

// The body's ops are verified before the stage looks at them.
func.func @fused_invalid_op(%x: tensor<4xf32>) {
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{expected 1 or more operands, but found 0}}
    %0 = "metaop.reindex"() <{map = affine_map<(d0) -> (d0)>, fill = 0.0 : f32,
        operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_two_blocks(%x: tensor<4xf32>) {
  // expected-error @below {{expects region #0 to have 0 or 1 blocks}}
  %y = "metaop.fused"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    metaop.yield %a : tensor<4xf32>
  ^bb1:
    metaop.yield
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_no_block(%x: tensor<4xf32>) {
  // expected-error @below {{failed to verify constraint: region with 1 blocks}}
  %y = "metaop.fused"(%x) ({
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_terminator(%x: tensor<4xf32>) {
  // expected-error @below {{expects regions to end with 'metaop.yield', found 'llvm.unreachable'}}
  // expected-note @below {{in custom textual format, the absence of terminator implies 'metaop.yield'}}
  %y = "metaop.fused"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "llvm.unreachable"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_schedule_kind(%x: tensor<4xf32>) {
  // expected-error @below {{invalid kind of attribute specified}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> schedule(7) {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_schedule_place(%x: tensor<4xf32>) {
  // expected-error @below {{expects the schedule before the attributes, as `schedule(...)`}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {schedule = 7} {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @fused_capture(%x: tensor<4xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  metaop.fused() {
    // expected-error @below {{using value defined outside the region}}
    %0 = metaop.exp %x : tensor<4xf32>
  }
  return
}

// -----

func.func @yield_parent(%x: tensor<4xf32>) {
  // expected-error @below {{expects parent op to be one of 'metaop.fused, metaop.kernel'}}
  metaop.yield %x : tensor<4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

func.func @kernel_c1(%x: tensor<4xf32>) {
  // expected-error @below {{expects fused stages only, given metaop.exp}}
  %y = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = metaop.exp %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c2_first(%x: tensor<4xf32>) {
  %y = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{is the first stage and expects to share no loops, given 1}}
    %0 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %1 = metaop.exp %b : tensor<4xf32>
      metaop.yield %1 : tensor<4xf32>
    }
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c2_extent(%x: tensor<4x8xf32>) {
  %y = metaop.kernel(%a = %x : tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = metaop.fused(%b = %a : tensor<4x8xf32>) -> tensor<4x8xf32>
        schedule(#metaop.schedule<[step(0), step(1)]>) {
      %1 = metaop.exp %b : tensor<4x8xf32>
      metaop.yield %1 : tensor<4x8xf32>
    }
    // expected-error @below {{shares loop 0 of extent 4, but its own has extent 8}}
    %2 = metaop.fused(%b = %0 : tensor<4x8xf32>) -> tensor<4x8xf32>
        schedule(#metaop.schedule<[step(1), step(0)], shared = 1>) {
      %1 = metaop.exp %b : tensor<4x8xf32>
      metaop.yield %1 : tensor<4x8xf32>
    }
    metaop.yield %2 : tensor<4x8xf32>
  }
  return
}

// -----

func.func @kernel_c2_unscheduled(%x: tensor<4xf32>) {
  %y = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    %0 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %1 = metaop.exp %b : tensor<4xf32>
      metaop.yield %1 : tensor<4xf32>
    }
    // expected-error @below {{shares 1 loops with a stage whose schedule has 0}}
    %2 = metaop.fused(%b = %0 : tensor<4xf32>) -> tensor<4xf32>
        schedule(#metaop.schedule<[step(0)], shared = 1>) {
      %1 = metaop.exp %b : tensor<4xf32>
      metaop.yield %1 : tensor<4xf32>
    }
    metaop.yield %2 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c3_yield(%x: tensor<4xf32>) {
  // expected-error @below {{expects number 0 of its yielded values to have type 'tensor<5xf32>' as among its results, given 'tensor<4xf32>'}}
  %y = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<5xf32> {
    %0 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %1 = metaop.exp %b : tensor<4xf32>
      metaop.yield %1 : tensor<4xf32>
    }
    metaop.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c3_argument(%x: tensor<4xf32>) {
  // expected-error @below {{expects as many arguments as operands, 1, given 0}}
  "metaop.kernel"(%x) ({
    metaop.yield
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @kernel_c4(%x: tensor<4xf32>) {
  // expected-error @below {{expects to yield results of its stages, given an argument}}
  %y = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> {
    metaop.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @rows_of_no_element(%x: tensor<4x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{expects rows of one element or more that begin farther apart, given 0 elements and a pitch of 8}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<0, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @rows_that_overlap(%x: tensor<4x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{expects rows of one element or more that begin farther apart, given 4 elements and a pitch of 4}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 4>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @rows_of_too_many(%x: tensor<4x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{'metaop.fused' op expects `result_rows` to have 1 entries, given 2}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [unit, unit]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @rows_inside_of_an_index(%x: tensor<4x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{'metaop.fused' op expects `result_rows` to be rows of 'tensor<4x4xf32>', given #metaop.rows<6, pitch = 8>}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<6, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @rows_of_nothing(%x: tensor<0x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<0x4xf32>) -> tensor<0x4xf32> {
    // expected-error @below {{'metaop.fused' op expects `input_rows` to be rows of 'tensor<0x4xf32>', given #metaop.rows<4, pitch = 8>}}
    %1 = metaop.fused(%b = %a : tensor<0x4xf32>) -> tensor<0x4xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<0x4xf32>
      metaop.yield %2 : tensor<0x4xf32>
    }
    metaop.yield %1 : tensor<0x4xf32>
  }
  return
}

// -----

func.func @rows_of_any_number(%x: tensor<?x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
    // expected-error @below {{'metaop.fused' op expects `input_rows` to be rows of 'tensor<?x4xf32>', given #metaop.rows<4, pitch = 8>}}
    %1 = metaop.fused(%b = %a : tensor<?x4xf32>) -> tensor<?x4xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>]} {
      %2 = metaop.neg %b : tensor<?x4xf32>
      metaop.yield %2 : tensor<?x4xf32>
    }
    metaop.yield %1 : tensor<?x4xf32>
  }
  return
}

// -----

func.func @rows_too_far_apart(%x: tensor<4x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{'metaop.fused' op expects `result_rows` to be rows of 'tensor<4x4xf32>', given #metaop.rows<4, pitch = 4611686018427387904>}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 4611686018427387904>]} {
      %2 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %2 : tensor<4x4xf32>
    }
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @no_rows(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'result_rows' failed to satisfy constraint: array of rows}}
  %0 = metaop.fused(%b = %x : tensor<4xf32>) -> tensor<4xf32> attributes {result_rows = [1]} {
    %2 = metaop.neg %b : tensor<4xf32>
    metaop.yield %2 : tensor<4xf32>
  }
  return
}

// -----

func.func @local_rows(%x: tensor<4x4xf32>) {
  %0 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> {
    // expected-error @below {{'metaop.fused' op has rows for result 0, which stays inside of the kernel}}
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 8>]} {
      %3 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %3 : tensor<4x4xf32>
    }
    %2 = metaop.fused(%b = %1 : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {input_rows = [#metaop.rows<4, pitch = 8>]} {
      %3 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %3 : tensor<4x4xf32>
    }
    metaop.yield %2 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @other_rows(%x: tensor<4x4xf32>) {
  %0:2 = metaop.kernel(%a = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %1 = metaop.fused(%b = %a : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {result_rows = [#metaop.rows<4, pitch = 8>]} {
      %3 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %3 : tensor<4x4xf32>
    }
    // expected-error @below {{'metaop.fused' op reads operand 0 in other rows than those in which it lies}}
    %2 = metaop.fused(%b = %1 : tensor<4x4xf32>) -> tensor<4x4xf32> {
      %3 = metaop.neg %b : tensor<4x4xf32>
      metaop.yield %3 : tensor<4x4xf32>
    }
    metaop.yield %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  return
}

// -----

func.func @first_dims_of_space(%x: tensor<4x4xf32>) {
  // expected-error @below {{'metaop.fused' op expects `first_dims` to be dimensions of a space of rank 2, in order, given [0, 2]}}
  %0 = metaop.fused(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {first_dims = array<i64: 0, 2>} {
    %1 = metaop.neg %a : tensor<4x4xf32>
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @first_dims_in_order(%x: tensor<4x4xf32>) {
  // expected-error @below {{'metaop.fused' op expects `first_dims` to be dimensions of a space of rank 2, in order, given [1, 0]}}
  %0 = metaop.fused(%a = %x : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {first_dims = array<i64: 1, 0>} {
    %1 = metaop.neg %a : tensor<4x4xf32>
    metaop.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @unknown_rewrite(%x: tensor<4xf32>) {
  // expected-error @below {{'metaop.kernel' op expects `rewrites` to name recompute-values, separate-reductions, split-reductions, gather-scatters, pack-operands, attach-panels, copy-rows, attach-epilogues, join-stages or place, given join-stage}}
  %0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {rewrites = {"join-stage" = true}} {
    %1 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %2 = metaop.neg %b : tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    metaop.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @undecided_rewrite(%x: tensor<4xf32>) {
  // expected-error @below {{'metaop.kernel' op expects `rewrites` to have true or false for join-stages, given 1 : i64}}
  %0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {rewrites = {"join-stages" = 1 : i64}} {
    %1 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %2 = metaop.neg %b : tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    metaop.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @place_of_rewrites(%x: tensor<4xf32>) {
  // expected-error @below {{'metaop.kernel' op expects `rewrites` to have a string for place, given true}}
  %0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {rewrites = {place = true}} {
    %1 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %2 = metaop.neg %b : tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    metaop.yield %1 : tensor<4xf32>
  }
  return
}

// -----

func.func @old_rewrites(%x: tensor<4xf32>) {
  // expected-error @below {{'metaop.kernel' op has an attribute `metaop.rewrites`, which the dialect does not have on operations}}
  %0 = metaop.kernel(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {metaop.rewrites = {"join-stages" = true}} {
    %1 = metaop.fused(%b = %a : tensor<4xf32>) -> tensor<4xf32> {
      %2 = metaop.neg %b : tensor<4xf32>
      metaop.yield %2 : tensor<4xf32>
    }
    metaop.yield %1 : tensor<4xf32>
  }
  return
}

// -----

// Roles are of stages with schedules.
func.func @role_without_schedule(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{'metaop.fused' op (S4) has the role `contraction`, but no schedule, whose loops the role is about}}
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %s : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// A contraction sums products.
func.func @role_of_no_product(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x8xf32> {
    // expected-error @below {{'metaop.fused' op (S4) has the role `contraction`, but expects one result that is a sum of products}}
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>) -> tensor<28x8xf32> schedule(#metaop.schedule<[step(0), step(1)]>) role(contraction) {
      %0 = metaop.neg %a : tensor<28x8xf32>
      metaop.yield %0 : tensor<28x8xf32>
    }
    metaop.yield %s : tensor<28x8xf32>
  }
  return %k : tensor<28x8xf32>
}

// -----

// Neighbours are those of a contraction.
func.func @role_without_contraction(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x8xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x8xf32> {
    // expected-error @below {{'metaop.fused' op (S5) has the role `packing`, but its kernel has no contraction}}
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>) -> tensor<28x8xf32> schedule(#metaop.schedule<[step(0), step(1)]>) role(packing) {
      %0 = metaop.neg %a : tensor<28x8xf32>
      metaop.yield %0 : tensor<28x8xf32>
    }
    metaop.yield %s : tensor<28x8xf32>
  }
  return %k : tensor<28x8xf32>
}

// -----

// What is before a contraction packs.
func.func @epilogue_before(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    // expected-error @below {{'metaop.fused' op (S5) stands before the contraction of its kernel and expects the role `packing`, given `epilogue`}}
    %p = metaop.fused(%a = %kx : tensor<28x8xf32>) -> tensor<28x8xf32> schedule(#metaop.schedule<[step(0), step(1)]>) role(epilogue) {
      %0 = metaop.neg %a : tensor<28x8xf32>
      metaop.yield %0 : tensor<28x8xf32>
    }
    %s = metaop.fused(%a = %p : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %s : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// Each stage beside a contraction has a role.
func.func @no_role_behind(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{'metaop.fused' op (S5) stands behind the contraction of its kernel and expects the role `epilogue`, given none}}
    %y = metaop.fused(%a = %s : tensor<28x48xf32>) -> tensor<28x48xf32> schedule(#metaop.schedule<[step(0), step(1)]>) {
      %0 = metaop.neg %a : tensor<28x48xf32>
      metaop.yield %0 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// A kernel has one contraction.
func.func @two_contractions(%x: tensor<28x8xf32>, %w: tensor<8x48xf32>) -> tensor<28x48xf32> {
  %k = metaop.kernel(%kx = %x : tensor<28x8xf32>, %kw = %w : tensor<8x48xf32>) -> tensor<28x48xf32> {
    %s = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    // expected-error @below {{'metaop.fused' op (S5) stands behind the contraction of its kernel and expects the role `epilogue`, given `contraction`}}
    %y = metaop.fused(%a = %kx : tensor<28x8xf32>, %b = %kw : tensor<8x48xf32>) -> tensor<28x48xf32>
        schedule(#metaop.schedule<[step(0, 7), step(2, 32), step(1)], tile = [0: 7, 2: 32], lanes = 2: 16>) role(contraction) {
      %0 = metaop.broadcast %a dims = [0, 1] : tensor<28x8xf32> -> tensor<28x8x48xf32>
      %1 = metaop.broadcast %b dims = [1, 2] : tensor<8x48xf32> -> tensor<28x8x48xf32>
      %2 = metaop.mul %0, %1 : tensor<28x8x48xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<28x8x48xf32> -> tensor<28x48xf32>
      metaop.yield %3 : tensor<28x48xf32>
    }
    metaop.yield %y : tensor<28x48xf32>
  }
  return %k : tensor<28x48xf32>
}

// -----

// There are three roles.
func.func @unknown_role(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected one of [packing, contraction, epilogue] for role of a stage, got: prologue}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> schedule(#metaop.schedule<[step(0)]>) role(prologue) {
    %0 = metaop.neg %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// The role has its own place in the text.
func.func @role_as_attribute(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects the role before the attributes, as `role(...)`}}
  %y = metaop.fused(%a = %x : tensor<4xf32>) -> tensor<4xf32> attributes {role = #metaop<role epilogue>} {
    %0 = metaop.neg %a : tensor<4xf32>
    metaop.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
