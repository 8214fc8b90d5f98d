// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clocale>
#include <locale.h>

namespace assay::registry {

/// Gives this thread a UTF-8 character type for as long as it lives: libarchive converts names by the locale, and the
/// program's own may be "C". Does nothing where the system has no such locale.
class Utf8LocaleScope
{
public:
    Utf8LocaleScope() : m_locale(::newlocale(LC_CTYPE_MASK, "C.UTF-8", static_cast<locale_t>(nullptr)))
    {
        if (m_locale)
            m_previous = ::uselocale(m_locale);
    }
    ~Utf8LocaleScope()
    {
        if (!m_locale)
            return;
        ::uselocale(m_previous);
        ::freelocale(m_locale);
    }
    Utf8LocaleScope(const Utf8LocaleScope&) = delete;
    Utf8LocaleScope& operator=(const Utf8LocaleScope&) = delete;

private:
    locale_t m_locale;
    locale_t m_previous = nullptr;
};

} // namespace assay::registry
