# SPDX-License-Identifier: Apache-2.0
# Compiler settings of every target, and the functions that declare one folder = one static library.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
# Asserts stay in developers' builds; a sanitizer build wants frames it can name.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -fno-omit-frame-pointer")

add_library(assay_settings INTERFACE)
target_include_directories(assay_settings INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(assay_settings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Wconversion -Wno-sign-conversion
    -Wno-missing-field-initializers -fpch-preprocess -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
    -fstack-protector-strong $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=3>)
if(ASSAY_WARNINGS_AS_ERRORS)
    target_compile_options(assay_settings INTERFACE -Werror)
endif()
if(ASSAY_SANITIZE)
    target_compile_options(assay_settings INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(assay_settings INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
    target_link_options(assay_settings INTERFACE -fuse-ld=mold)
endif()

# assay_library(NAME store SOURCES a.cpp ... LINKS assay::core ...)
# One folder, one static library `assay::NAME`. LINKS are public: what a folder may include, its users may too.
function(assay_library)
    cmake_parse_arguments(A "" "NAME" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
    add_library(assay_${A_NAME} STATIC ${A_SOURCES})
    add_library(assay::${A_NAME} ALIAS assay_${A_NAME})
    target_link_libraries(assay_${A_NAME} PUBLIC assay_settings ${A_LINKS} PRIVATE ${A_PRIVATE_LINKS})
    if(ASSAY_PCH)
        target_precompile_headers(assay_${A_NAME} PRIVATE "${CMAKE_SOURCE_DIR}/cmake/precompiled.h")
    endif()
endfunction()

# assay_test(NAME tst_digest LABELS unit SOURCES tst_digest.cpp LINKS assay::core [TIMEOUT 60] [RUN_SERIAL])
# A Qt Test program under CTest. TIMEOUT is in seconds (default 60).
function(assay_test)
    cmake_parse_arguments(A "RUN_SERIAL" "NAME;TIMEOUT" "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 60)
    endif()
    add_executable(${A_NAME} ${A_SOURCES})
    set_target_properties(${A_NAME} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    target_compile_definitions(${A_NAME} PRIVATE ASSAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" ASSAY_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
    target_link_libraries(${A_NAME} PRIVATE assay_test_support Qt6::Test ${A_LINKS})
    if(ASSAY_PCH)
        target_precompile_headers(${A_NAME} REUSE_FROM assay_test_headers)
    endif()
    add_test(NAME ${A_NAME} COMMAND ${A_NAME})
    set_tests_properties(${A_NAME} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT} ENVIRONMENT "${A_ENVIRONMENT}")
    if(A_RUN_SERIAL)
        set_tests_properties(${A_NAME} PROPERTIES RUN_SERIAL ON)
    endif()
endfunction()
