// SPDX-License-Identifier: Apache-2.0
#include "server/registry/canonical_form.h"

#include "server/registry/media_type.h"

#include <optional>

namespace assay::registry {

namespace {

constexpr char kPlain = '0';
constexpr char kExecutable = '1';
constexpr std::size_t kLengthBytes = 8;

void appendLength(std::string& out, std::uint64_t value)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        out += static_cast<char>((value >> shift) & 0xFF);
}

std::size_t prefixSize(const PackageFile& file) { return kLengthBytes + file.path.size() + 1 + kLengthBytes; }

/// Takes parts off the front of a stream; an empty optional when the stream is too short.
class Cursor
{
public:
    explicit Cursor(std::string_view rest) : m_rest(rest) {}
    bool atEnd() const { return m_rest.empty(); }

    std::optional<std::string_view> take(std::uint64_t count)
    {
        if (count > m_rest.size())
            return std::nullopt;
        const std::string_view out = m_rest.substr(0, count);
        m_rest.remove_prefix(count);
        return out;
    }

    std::optional<std::string_view> takeCounted()
    {
        const auto length = take(kLengthBytes);
        if (!length)
            return std::nullopt;
        std::uint64_t value = 0;
        for (const char c : *length)
            value = value << 8 | static_cast<unsigned char>(c);
        return take(value);
    }

private:
    std::string_view m_rest;
};

std::unexpected<Error> malformed(std::string detail)
{
    return fail(ErrorCode::Internal, "a stored package is not readable", "canonical stream: " + std::move(detail));
}

} // namespace

std::string canonicalPrefixes(const std::vector<PackageFile>& files)
{
    std::size_t size = kCanonicalMagic.size();
    for (const PackageFile& file : files)
        size += prefixSize(file);
    std::string out;
    out.reserve(size);
    out += kCanonicalMagic;
    for (const PackageFile& file : files) {
        appendLength(out, file.path.size());
        out += file.path;
        out += file.executable ? kExecutable : kPlain;
        appendLength(out, file.content.size());
    }
    return out;
}

std::vector<std::string_view> ValidPackage::canonicalPieces() const
{
    std::vector<std::string_view> pieces;
    if (!prefixes)
        return pieces;
    pieces.reserve(1 + 2 * files.size());
    std::string_view rest = *prefixes;
    pieces.push_back(rest.substr(0, kCanonicalMagic.size()));
    rest.remove_prefix(kCanonicalMagic.size());
    for (const PackageFile& file : files) {
        pieces.push_back(rest.substr(0, prefixSize(file)));
        rest.remove_prefix(prefixSize(file));
        if (!file.content.empty())
            pieces.push_back(file.content);
    }
    return pieces;
}

Result<std::vector<PackageFile>> parseCanonicalStream(std::string_view stream, FileFacts facts)
{
    if (!stream.starts_with(kCanonicalMagic))
        return malformed("it does not start with the form's name");
    Cursor cursor(stream.substr(kCanonicalMagic.size()));
    std::vector<PackageFile> files;
    while (!cursor.atEnd()) {
        const auto path = cursor.takeCounted();
        const auto mode = path ? cursor.take(1) : std::nullopt;
        const auto content = mode ? cursor.takeCounted() : std::nullopt;
        if (!content)
            return malformed("it ends inside file " + std::to_string(files.size()));
        if (mode->front() != kPlain && mode->front() != kExecutable)
            return malformed("file " + std::to_string(files.size()) + " has an unknown mode");
        if (path->empty() || (!files.empty() && files.back().path >= *path))
            return malformed("file " + std::to_string(files.size()) + " is out of order");
        PackageFile file{.path = std::string(*path), .content = *content};
        file.executable = mode->front() == kExecutable;
        if (facts == FileFacts::Compute) {
            file.sha256 = Digest::ofBytes(*content);
            file.kind = fileKindOf(*content);
            file.mediaType = mediaTypeOf(file.path, file.kind);
        }
        files.push_back(std::move(file));
    }
    return files;
}

} // namespace assay::registry
