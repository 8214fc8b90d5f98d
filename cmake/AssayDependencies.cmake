# SPDX-License-Identifier: Apache-2.0
# Every library the project links, found once. dev/packages.txt installs them.

find_package(Boost 1.83 REQUIRED COMPONENTS json)
find_package(OpenSSL 3 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(Threads REQUIRED)
find_package(ZLIB 1.2.13 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(archive REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(git2 REQUIRED IMPORTED_TARGET libgit2)
if(ASSAY_TESTS)
    find_package(Qt6 6.8 REQUIRED COMPONENTS Core Test)
    # Qt defines each test's own folder for QFINDTESTDATA, which no test here uses; without it all share one precompiled header.
    set_target_properties(Qt6::Test PROPERTIES INTERFACE_COMPILE_DEFINITIONS QT_TESTLIB_LIB)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
