// SPDX-License-Identifier: Apache-2.0
#include "server/registry/media_type.h"

#include "server/core/text.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::registry {

namespace {

using Row = std::pair<std::string_view, std::string_view>;

// Sorted by extension: found by binary search.
constexpr std::array kTypes = std::to_array<Row>({
    {"avif", "image/avif"},
    {"bash", "text/x-shellscript"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"cfg", "text/plain"},
    {"cjs", "text/javascript"},
    {"css", "text/css"},
    {"csv", "text/csv"},
    {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html"},
    {"html", "text/html"},
    {"ico", "image/vnd.microsoft.icon"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript"},
    {"json", "application/json"},
    {"jsonl", "application/jsonl"},
    {"md", "text/markdown"},
    {"mjs", "text/javascript"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"odt", "application/vnd.oasis.opendocument.text"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {"py", "text/x-python"},
    {"rst", "text/x-rst"},
    {"sh", "text/x-shellscript"},
    {"sql", "application/sql"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"toml", "application/toml"},
    {"ts", "text/x-typescript"},
    {"tsv", "text/tab-separated-values"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"zip", "application/zip"},
});
static_assert(std::ranges::is_sorted(kTypes));

constexpr std::array<std::string_view, 12> kMustBeText{"md", "py",   "js",   "mjs",  "cjs", "ts",
                                                       "sh", "bash", "json", "yaml", "yml", "toml"};
constexpr std::array<std::string_view, 7> kScripts{"py", "js", "mjs", "cjs", "ts", "sh", "bash"};

} // namespace

bool needsExecution(std::string_view path, bool executable) { return executable || path.starts_with("scripts/"); }

std::string extensionOf(std::string_view path)
{
    const std::string_view name = path.substr(path.rfind('/') + 1);
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return {};
    std::string out(name.substr(dot + 1));
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
}

FileKind fileKindOf(std::string_view content)
{
    return content.find('\0') == std::string_view::npos && isUtf8(content) ? FileKind::Text : FileKind::Asset;
}

std::string mediaTypeOf(std::string_view path, FileKind kind)
{
    const std::string extension = extensionOf(path);
    const auto* row = std::ranges::lower_bound(kTypes, std::string_view(extension), {}, &Row::first);
    const bool known = row != kTypes.end() && row->first == extension;
    if (kind == FileKind::Text)
        return std::string(known ? row->second : "text/plain");
    return std::string(known && !row->second.starts_with("text/") ? row->second : "application/octet-stream");
}

bool mustBeText(std::string_view path)
{
    return path == "SKILL.md" || std::ranges::contains(kMustBeText, extensionOf(path));
}

bool isScript(std::string_view path) { return std::ranges::contains(kScripts, extensionOf(path)); }

} // namespace assay::registry
