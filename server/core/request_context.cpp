// SPDX-License-Identifier: Apache-2.0
#include "server/core/request_context.h"

namespace assay {

namespace {

thread_local std::string_view currentId;

} // namespace

RequestContext::RequestContext(std::string_view id) : m_outer(currentId) { currentId = id; }

RequestContext::~RequestContext() { currentId = m_outer; }

std::string_view RequestContext::current() { return currentId; }

} // namespace assay
