# How the libraries, tools and extensions of MetaOps are built. The top-level
# CMakeLists.txt includes it after LinkLLVM.cmake, and has declared the options
# METAOPS_ENABLE_ASSERTIONS and METAOPS_WERROR by then.
#
#   metaops_find_pybind11()        finds Python and pybind11
#   metaops_target_options(t)      language level, warnings, include folders
#   add_metaops_library(...)       a library of lib/
#   metaops_add_target(...)        a target that programs are compiled for
#   metaops_install_package()      headers and the CMake package, for others

include_guard(DIRECTORY)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(METAOPS_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(METAOPS_BINARY_DIR "${PROJECT_BINARY_DIR}")
set(METAOPS_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# For mlir_tablegen, which reads no target's include folders.
include_directories("${METAOPS_SOURCE_DIR}/include"
  "${METAOPS_BINARY_DIR}/include")
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})

# pybind11 from pip lies inside the Python that has it; ask that Python.
macro(metaops_find_pybind11)
  find_package(Python3 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -m pybind11 --cmakedir
    OUTPUT_VARIABLE metaops_pybind11_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(pybind11 2.13 REQUIRED CONFIG HINTS "${metaops_pybind11_dir}")
endmacro()

# metaops_target_options(<target>)
#
# For every target with C++ of this project: libraries, tools, tests, bindings.
# RTTI and exceptions stay as the compiler has them, as in the LLVM linked here.
function(metaops_target_options target)
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  # Debian's libMLIR is in no folder that the loader looks into by itself, so
  # what is installed keeps the link path.
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    INSTALL_RPATH_USE_LINK_PATH ON)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wno-unused-parameter
    $<$<BOOL:${METAOPS_WERROR}>:-Werror>
    $<$<BOOL:${METAOPS_ENABLE_ASSERTIONS}>:-UNDEBUG>)
  # The cache on disk tells builds apart by it; not every compiler asks for one.
  target_link_options(${target} PRIVATE -Wl,--build-id=sha1)
  target_compile_definitions(${target} PRIVATE ${definitions})
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${METAOPS_SOURCE_DIR}/include>"
    "$<BUILD_INTERFACE:${METAOPS_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  # SYSTEM keeps LLVM's own warnings out of ours. The installed package adds
  # the folders of the LLVM that it finds.
  target_include_directories(${target} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS};${LLVM_INCLUDE_DIRS}>")
endfunction()

# add_metaops_library(<name> [STANDALONE]
#   SOURCES <file>...
#   [DEPENDS <target>...]   TableGen targets that make its headers
#   [LINK <library>...])    libraries of MetaOps that stand before it
#
# A static library that can go into shared ones (the plugin, the Python
# extension), also known as MetaOps::<name>, installed with the package, and
# listed in the global property METAOPS_LIBS. A STANDALONE one uses no MLIR, and
# of LLVM what LLVMSupport has; who links it decides in which form.
#
# With METAOPS_COMPILER_BUILD, the folder of another build, the archives of what stands
# before lib/Runtime are taken from there.
function(add_metaops_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STANDALONE" "" "SOURCES;DEPENDS;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "add_metaops_library(${name}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()

  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR
    BASE_DIRECTORY "${METAOPS_SOURCE_DIR}/lib" OUTPUT_VARIABLE folder)
  # What stands behind them depends on the build: the runtime, and the list of targets.
  if(METAOPS_COMPILER_BUILD AND NOT folder MATCHES "^(Runtime|Target/All|\\.\\.)")
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION
      "${METAOPS_COMPILER_BUILD}/lib/${CMAKE_STATIC_LIBRARY_PREFIX}${name}${CMAKE_STATIC_LIBRARY_SUFFIX}")
    target_link_libraries(${name} INTERFACE ${arg_LINK} ${METAOPS_LLVM_LIBRARIES})
    add_library(MetaOps::${name} ALIAS ${name})
    if(arg_DEPENDS)
      add_dependencies(${name} ${arg_DEPENDS})
    endif()
    return()
  endif()

  add_library(${name} STATIC ${arg_SOURCES})
  add_library(MetaOps::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  metaops_target_options(${name})
  target_compile_options(${name} PRIVATE -fno-semantic-interposition)
  if(arg_STANDALONE)
    target_link_libraries(${name} PUBLIC ${arg_LINK})
  else()
    metaops_precompile_headers(${name})
    target_link_libraries(${name} PUBLIC ${arg_LINK} ${METAOPS_LLVM_LIBRARIES})
  endif()
  if(arg_DEPENDS)
    add_dependencies(${name} ${arg_DEPENDS})
  endif()

  install(TARGETS ${name} EXPORT MetaOpsTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
  set_property(GLOBAL APPEND PROPERTY METAOPS_LIBS ${name})
endfunction()

# metaops_add_target(<name> <library>)
#
# Has the library's function `register<name>Target` called wherever all targets
# are registered. The folders of METAOPS_TARGETS call it, too.
function(metaops_add_target name library)
  set_property(GLOBAL APPEND PROPERTY METAOPS_TARGET_NAMES ${name})
  set_property(GLOBAL APPEND PROPERTY METAOPS_TARGET_LIBRARIES ${library})
endfunction()

# metaops_install_package()
#
# Call it once, at the end. Another project then finds MetaOps by
# find_package(MetaOps) and links MetaOps::<name>.
function(metaops_install_package)
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/MetaOps")
  foreach(base "${METAOPS_SOURCE_DIR}" "${METAOPS_BINARY_DIR}")
    install(DIRECTORY "${base}/include/MetaOps"
      DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
      FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.inc" PATTERN "*.td"
      PATTERN "CMakeFiles" EXCLUDE)
  endforeach()
  install(EXPORT MetaOpsTargets NAMESPACE MetaOps::
    DESTINATION "${destination}" COMPONENT dev)

  get_property(METAOPS_LIBS GLOBAL PROPERTY METAOPS_LIBS)
  configure_package_config_file(
    "${METAOPS_CMAKE_DIR}/MetaOpsConfig.cmake.in"
    "${METAOPS_BINARY_DIR}/cmake/MetaOpsConfig.cmake"
    INSTALL_DESTINATION "${destination}"
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file(
    "${METAOPS_BINARY_DIR}/cmake/MetaOpsConfigVersion.cmake"
    VERSION "${PROJECT_VERSION}" COMPATIBILITY SameMinorVersion)
  install(FILES
    "${METAOPS_BINARY_DIR}/cmake/MetaOpsConfig.cmake"
    "${METAOPS_BINARY_DIR}/cmake/MetaOpsConfigVersion.cmake"
    DESTINATION "${destination}" COMPONENT dev)
endfunction()
