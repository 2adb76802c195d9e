// A schedule from a file takes the place of the heuristics' own. The identity
// is that which metaop-explain prints, and does not depend on schedules.
// RUN: metaop-opt %s -metaop-schedule -metaop-explain -o /dev/null \
// RUN:   | sed -n 's/^  stage \([^:]*\):.*/\1/p' > %t.identity
// RUN: sed 's/$/ = #metaop.schedule<[step(0), step(1)]>/' %t.identity > %t.good
// RUN: metaop-opt %s -metaop-schedule=file=%t.good -metaop-explain -o /dev/null | FileCheck %s
// RUN: metaop-opt %s -metaop-schedule=processor=sse -metaop-schedule=file=%t.good -metaop-explain -o /dev/null | FileCheck %s
// RUN: metaop-opt %s --metaop-pipeline="from=fused to=scheduled schedule-file=%t.good" | FileCheck %s --check-prefix=IR
// CHECK: for d0 < 64{{$}}
// CHECK-NEXT: for d1 < 128, reduced{{$}}
// CHECK-NEXT: schedule: {{.*}} (from line 1 of the schedule file)
// IR: schedule(#metaop.schedule<[step(0), step(1)]>)

// The text before `=` has to be of a stage that there is.
// RUN: sed 's/^[0-9a-f]*/0123/' %t.good > %t.other
// RUN: metaop-opt %s -metaop-schedule=file=%t.other -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: warning: {{.*}}.other:1: there is no stage 0123.0

// RUN: echo '# nothing' > %t.malformed
// RUN: echo 'hello' >> %t.malformed
// RUN: not metaop-opt %s -metaop-schedule=file=%t.malformed 2>&1 | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: .malformed:2: expected IDENTITY = #metaop.schedule<...>, given 'hello'

// RUN: echo 'ab.0 = 7 : i32' > %t.kind
// RUN: not metaop-opt %s -metaop-schedule=file=%t.kind 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: .kind:1: expected #metaop.schedule<...>

// What the attribute's verifier says.
// RUN: sed 's/step(0), step(1)/step(0), step(1), step(0, 2)/' %t.good > %t.order
// RUN: not metaop-opt %s -metaop-schedule=file=%t.order 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: .order:1: expects a further loop of dimension 0 to divide the step before it, 1, given 2

// RUN: cat %t.good %t.good > %t.twice
// RUN: not metaop-opt %s -metaop-schedule=file=%t.twice 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: .twice:2: {{.*}}.0 has a schedule already, in line 1

// RUN: sed 's/step/parallel/g' %t.good > %t.parallel
// RUN: not metaop-opt %s -metaop-schedule=file=%t.parallel 2>&1 | FileCheck %s --check-prefix=PARALLEL
// PARALLEL: .parallel:1: (P3) loop 1 is not parallel: its iterations write the same elements of result 0

// RUN: sed 's/, step(1)//' %t.good > %t.loops
// RUN: not metaop-opt %s -metaop-schedule=file=%t.loops 2>&1 | FileCheck %s --check-prefix=LOOPS
// LOOPS: .loops:1: (S2) schedule orders 1 loops, but the stage has 2

// RUN: sed 's/step(1)\]/step(1, 16)], tile = [1: 16], lanes = 1: 16, stream = [0]/' %t.good > %t.stream
// RUN: not metaop-opt %s -metaop-schedule=file=%t.stream 2>&1 | FileCheck %s --check-prefix=STREAM
// STREAM: .stream:1: (P14) the schedule streams result 0, which it does not store by aligned vectors that fill cache lines

// What the stage alone does not tell is at the line, too.
// RUN: sed 's/step(1)\]/step(1)], prefetch = 2/' %t.good > %t.prefetch
// RUN: not metaop-opt %s -metaop-schedule=file=%t.prefetch 2>&1 | FileCheck %s --check-prefix=PREFETCH
// PREFETCH: .prefetch:1: (P10) schedule has `prefetch`

// RUN: sed 's/step(1)\]/step(1)], shared = 1/' %t.good > %t.shared
// RUN: not metaop-opt %s -metaop-schedule=file=%t.shared 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: .shared:1: (S3) schedule shares 1 loops, but the first stage of a kernel has none before it

// The version of the form stands first. A file without is of the first version.
// RUN: echo '# ours' > %t.version
// RUN: echo 'version = 1 # the first' >> %t.version
// RUN: cat %t.good >> %t.version
// RUN: metaop-opt %s -metaop-schedule=file=%t.version -metaop-explain -o /dev/null | FileCheck %s --check-prefix=VERSION
// VERSION: (from line 3 of the schedule file)
// RUN: sed 's/version = 1/version = 2/' %t.version > %t.later
// RUN: not metaop-opt %s -metaop-schedule=file=%t.later 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: .later:2: the file is of version 2, which a later MetaOps has written; versions up to 1 are read
// RUN: cat %t.good %t.version > %t.behind
// RUN: not metaop-opt %s -metaop-schedule=file=%t.behind 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: .behind:3: the version of a file stands before all entries, once
// RUN: echo 'version = new' > %t.word
// RUN: not metaop-opt %s -metaop-schedule=file=%t.word 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: .word:1: expected the number of a version, given 'new'

// RUN: not metaop-opt %s -metaop-schedule=file=%t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: metaop-schedule: cannot read '{{.*}}.absent'

func.func @rows(%x: tensor<64x128xf32>) -> tensor<64xf32> {
  %0 = metaop.kernel(%k = %x : tensor<64x128xf32>) -> tensor<64xf32> {
    %1 = metaop.fused(%a = %k : tensor<64x128xf32>) -> tensor<64xf32> {
      %2 = metaop.exp %a : tensor<64x128xf32>
      %3 = metaop.reduce add %2 dims = [1] : tensor<64x128xf32> -> tensor<64xf32>
      metaop.yield %3 : tensor<64xf32>
    }
    metaop.yield %1 : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
