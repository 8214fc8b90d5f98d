// SPDX-License-Identifier: Apache-2.0
// What nearly every test includes, precompiled.
#pragma once

#include "cmake/precompiled.h"
#include "tests/support/test_support.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
