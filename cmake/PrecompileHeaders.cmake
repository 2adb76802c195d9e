# One precompiled header of MLIR, LLVM and the standard library, for all C++ here.
#
#   metaops_precompile_headers(t)   has the target t compiled with it
#
# Most of what a compiler reads for a source are these headers; precompiled, they make
# a source two to four times as quick to compile. None of the project's own headers is
# among them: an edit of one should recompile what includes it, not everything.
#
# CMake's target_precompile_headers would have each checkout's paths in the result, and
# ccache tells precompiled headers apart by their bytes: no checkout would find what
# another has compiled. So it is made here, from standard input and in the folder /,
# without times and without the project's include folders; its bytes are the same
# wherever the checkout is. ccache then needs the sloppiness that its manual asks for
# with precompiled headers; CMakePresets.json sets it.
#
# ccache must not run the preprocessor, which would look for that input's file: with
# CCACHE_DEPEND it goes by the dependencies that the compiler lists.
#
# Clang alone does it so, and takes such a header only where the flags are those it was
# made with. A source must include what it uses nevertheless: other compilers have no such
# header, nor has the preset debug, which sets METAOPS_PRECOMPILE_HEADERS=OFF.

include_guard(DIRECTORY)

function(metaops_add_precompiled_header)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
  separate_arguments(flags NATIVE_COMMAND
    "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${config}}")
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  set(folders ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  list(REMOVE_DUPLICATES folders)
  list(TRANSFORM folders PREPEND -isystem)
  if(METAOPS_ENABLE_ASSERTIONS)
    list(APPEND flags -UNDEBUG)
  endif()

  set(header "${METAOPS_CMAKE_DIR}/Precompiled.h")
  set(result "${METAOPS_BINARY_DIR}/Precompiled.pch")
  # Not VERBATIM, which would quote the <.
  add_custom_command(OUTPUT "${result}"
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} -fPIC -std=c++17 ${definitions} ${folders}
      -Xclang -fno-pch-timestamp -fpch-instantiate-templates
      -MD -MT "${result}" -MF "${result}.d"
      -x c++-header - -o "${result}" < "${header}"
    WORKING_DIRECTORY /
    DEPENDS "${header}"
    DEPFILE "${result}.d"
    COMMENT "Precompiling the headers of MLIR")
  add_custom_target(MetaOpsPrecompiledHeader DEPENDS "${result}")
  set_target_properties(MetaOpsPrecompiledHeader PROPERTIES RESULT "${result}")
endfunction()

function(metaops_precompile_headers target)
  if(NOT METAOPS_PRECOMPILE_HEADERS OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  if(NOT TARGET MetaOpsPrecompiledHeader)
    metaops_add_precompiled_header()
  endif()
  get_target_property(result MetaOpsPrecompiledHeader RESULT)
  add_dependencies(${target} MetaOpsPrecompiledHeader)
  # Code of a program may be position-independent like that of a library: one header
  # then does for both.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  target_compile_options(${target} PRIVATE -fPIC
    "SHELL:-Xclang -include-pch -Xclang ${result}")
endfunction()
