// SPDX-License-Identifier: Apache-2.0
#include "server/audit/heads.h"

#include "server/core/file_io.h"

#include <algorithm>
#include <sstream>

namespace assay::audit {

namespace {

constexpr std::string_view kFormat = "assay-ledger-heads-v1";
constexpr std::uint64_t kMaxBytes = 256U << 20; // about two million chains
constexpr std::string_view kServersOwn = "-";   // the chain without a fingerprint

std::optional<Digest> digestOf(const std::string& hex)
{
    auto digest = Digest::parse("sha256:" + hex);
    return digest ? std::optional(*digest) : std::nullopt;
}

std::optional<Heads::Known> parsed(const std::string& text)
{
    std::istringstream in(text);
    std::string format;
    std::string link;
    Heads::Known out;
    if (!(in >> format >> out.number >> link) || format != kFormat || out.number < 1 || !digestOf(link))
        return std::nullopt;
    out.link = *digestOf(link);
    for (std::string name, hash; in >> name;) {
        Heads::Head head;
        if (!(in >> head.seq >> hash) || head.seq < 1 || !digestOf(hash))
            return std::nullopt;
        head.hash = *digestOf(hash);
        out.chains.insert_or_assign(name == kServersOwn ? std::string() : name, head);
    }
    return out;
}

std::string textOf(const Heads::Known& known)
{
    std::ostringstream out;
    out << kFormat << '\n' << known.number << ' ' << known.link.hex() << '\n';
    for (const auto& [fingerprint, head] : known.chains)
        out << (fingerprint.empty() ? kServersOwn : std::string_view(fingerprint)) << ' ' << head.seq << ' '
            << head.hash.hex() << '\n';
    return out.str();
}

} // namespace

Result<std::unique_ptr<Heads>> Heads::open(const std::filesystem::path& file)
{
    auto text = readFile(file, kMaxBytes);
    std::optional<Known> known;
    if (text)
        known = parsed(*text);
    else if (text.error().code == ErrorCode::NotFound)
        known = Known();
    if (!known)
        return fail(ErrorCode::Unavailable,
                    "the file with the newest anchors of the audit ledger cannot be read; look why, verify the ledger "
                    "against an export, and only then remove the file",
                    file.string() + (text ? "" : ": " + text.error().detail));
    return std::unique_ptr<Heads>(new Heads(file, std::move(*known)));
}

Heads::Known Heads::known() const
{
    const std::lock_guard lock(m_mutex);
    return m_known;
}

Result<void> Heads::learn(std::span<const Anchor> anchors)
{
    const std::lock_guard lock(m_mutex);
    for (const Anchor& anchor : anchors) {
        if (anchor.number > m_known.number) {
            m_known.number = anchor.number;
            m_known.link = anchor.link;
        }
        Head& head = m_known.chains[anchor.fingerprint];
        if (anchor.seq > head.seq)
            head = {anchor.seq, anchor.rowHash};
        m_isWritten = false;
    }
    if (m_isWritten)
        return {};
    auto written = replaceFileDurably(m_file, textOf(m_known), 0600);
    m_isWritten = written.has_value();
    return written;
}

void Heads::doubt(std::string why)
{
    const std::lock_guard lock(m_mutex);
    m_doubts = std::move(why);
}

std::string Heads::doubts() const
{
    const std::lock_guard lock(m_mutex);
    return m_doubts;
}

} // namespace assay::audit
