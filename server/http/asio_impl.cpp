// SPDX-License-Identifier: Apache-2.0
// The compiled half of Asio and Beast, once for the whole program (see CMakeLists.txt).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
