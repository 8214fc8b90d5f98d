// SPDX-License-Identifier: Apache-2.0
#include "server/registry/yaml_reader.h"

#include "server/registry/problem_list.h"
#include "server/registry/surrogate_pairs.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <yaml.h>

namespace assay::registry {

namespace {

using Event = std::unique_ptr<yaml_event_t, decltype(&yaml_event_delete)>;
using Status = std::expected<void, YamlFault>;

std::string_view viewOf(const yaml_char_t* text, std::size_t size)
{
    return {reinterpret_cast<const char*>(text), size};
}

std::string_view viewOf(const yaml_char_t* text)
{
    return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

/// Turns libyaml's ascending character indexes into byte offsets without walking the text again for each.
class OffsetCursor
{
public:
    explicit OffsetCursor(std::string_view text) : m_text(text) {}

    std::size_t byteOf(std::size_t index)
    {
        if (index < m_index)
            m_index = m_byte = 0;
        for (; m_index < index && m_byte < m_text.size(); ++m_index) {
            ++m_byte;
            while (m_byte < m_text.size() && (static_cast<unsigned char>(m_text[m_byte]) & 0xC0) == 0x80)
                ++m_byte;
        }
        return m_byte;
    }

private:
    std::string_view m_text;
    std::size_t m_index = 0;
    std::size_t m_byte = 0;
};

/// One pass over one text.
class Pass
{
public:
    explicit Pass(std::string_view text) : m_text(text), m_offsets(text), m_event(&m_storage, &yaml_event_delete)
    {
        m_ready = yaml_parser_initialize(&m_parser) == 1;
        if (!m_ready)
            return;
        yaml_parser_set_encoding(&m_parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&m_parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    ~Pass()
    {
        m_event.reset();
        if (m_ready)
            yaml_parser_delete(&m_parser);
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    std::expected<YamlDocument, YamlFault> run();
    /// After a fault: the offset of a `\u` escape that is no character by itself.
    std::optional<std::size_t> badEscape() const { return m_badEscape; }

private:
    Status next();
    Status readNode(YamlNode& out, std::size_t depth);
    Status readScalar(YamlNode& out);
    Status readAlias(YamlNode& out);
    Status readSequence(YamlNode& out, std::size_t depth);
    Status readMapping(YamlNode& out, std::size_t depth);
    Status readKey(YamlNode& key, std::unordered_set<std::string>& seen, std::size_t depth);
    void noteStyle(const yaml_char_t* anchor, const yaml_char_t* tag, bool isFlow, std::size_t offset);
    void noteAnchor(const yaml_char_t* anchor, const std::optional<std::string>& scalar);
    YamlFault parserFault();
    std::size_t here() { return m_offsets.byteOf(m_storage.start_mark.index); }
    static std::unexpected<YamlFault> faultAt(std::size_t offset, std::string message)
    {
        return std::unexpected(YamlFault{std::move(message), offset});
    }

    std::string_view m_text;
    OffsetCursor m_offsets;
    yaml_parser_t m_parser{};
    yaml_event_t m_storage{};
    Event m_event;
    bool m_ready = false;
    std::size_t m_nodes = 0;
    std::size_t m_aliases = 0;
    YamlStyle m_style;
    /// An anchored collection has no value.
    std::map<std::string, std::optional<std::string>, std::less<>> m_anchors;
    std::optional<std::size_t> m_badEscape;
};

std::string advice(std::string_view problem)
{
    if (problem.starts_with("mapping values are not allowed"))
        return ": a value with \": \" in it needs quotes around it";
    if (problem.starts_with("found character that cannot start any token"))
        return ": indent with spaces, not tabs, and quote values that start with a special character";
    if (problem.starts_with("found invalid Unicode character escape"))
        return ": half of a surrogate pair is no character";
    return {};
}

YamlFault Pass::parserFault()
{
    std::string message = m_parser.problem ? m_parser.problem : "the YAML cannot be read";
    if (m_parser.error == YAML_MEMORY_ERROR)
        return {"there is not enough memory to read it", 0};
    if (m_parser.error == YAML_READER_ERROR)
        return {"the YAML cannot be read: " + message, m_parser.problem_offset};
    std::size_t offset = m_offsets.byteOf(m_parser.problem_mark.index);
    // libyaml's mark stands behind the two characters of the escape.
    if (message.starts_with("found invalid Unicode character escape") && offset >= 2) {
        offset -= 2;
        m_badEscape = offset;
    }
    const std::string context = m_parser.context ? std::string(m_parser.context) + ", " : std::string();
    return {"the YAML cannot be read: " + context + message + advice(message), offset};
}

Status Pass::next()
{
    m_event.reset();
    if (yaml_parser_parse(&m_parser, &m_storage) != 1) {
        m_storage = {};
        return std::unexpected(parserFault());
    }
    m_event.reset(&m_storage);
    return {};
}

void Pass::noteStyle(const yaml_char_t* anchor, const yaml_char_t* tag, bool isFlow, std::size_t offset)
{
    if (anchor)
        m_style.anchor = std::min(m_style.anchor, offset);
    if (tag)
        m_style.tag = std::min(m_style.tag, offset);
    if (isFlow)
        m_style.flow = std::min(m_style.flow, offset);
}

void Pass::noteAnchor(const yaml_char_t* anchor, const std::optional<std::string>& scalar)
{
    if (anchor)
        m_anchors.insert_or_assign(std::string(viewOf(anchor)), scalar);
}

Status Pass::readScalar(YamlNode& out)
{
    const auto& scalar = m_storage.data.scalar;
    out.kind = YamlNode::Kind::Scalar;
    out.isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE && !scalar.tag;
    out.value = viewOf(scalar.value, scalar.length);
    noteStyle(scalar.anchor, scalar.tag, false, out.offset);
    noteAnchor(scalar.anchor, out.value);
    return {};
}

Status Pass::readAlias(YamlNode& out)
{
    if (++m_aliases > kMaxYamlAliases)
        return faultAt(out.offset,
                       "it has more than " + std::to_string(kMaxYamlAliases) + " aliases; write the values");
    const auto anchored = m_anchors.find(viewOf(m_storage.data.alias.anchor));
    if (anchored == m_anchors.end())
        return faultAt(out.offset,
                       "the alias " + inQuotes(viewOf(m_storage.data.alias.anchor)) + " names no anchor above it");
    m_style.anchor = std::min(m_style.anchor, out.offset);
    out.kind = anchored->second ? YamlNode::Kind::Scalar : YamlNode::Kind::Alias;
    out.value = anchored->second.value_or(std::string());
    return {};
}

Status Pass::readSequence(YamlNode& out, std::size_t depth)
{
    const auto& start = m_storage.data.sequence_start;
    out.kind = YamlNode::Kind::Sequence;
    noteStyle(start.anchor, start.tag, start.style == YAML_FLOW_SEQUENCE_STYLE, out.offset);
    noteAnchor(start.anchor, std::nullopt);
    for (;;) {
        if (Status read = next(); !read)
            return read;
        if (m_storage.type == YAML_SEQUENCE_END_EVENT)
            return {};
        if (Status read = readNode(out.items.emplace_back(), depth + 1); !read)
            return read;
    }
}

Status Pass::readKey(YamlNode& key, std::unordered_set<std::string>& seen, std::size_t depth)
{
    if (Status read = readNode(key, depth + 1); !read)
        return read;
    if (key.kind != YamlNode::Kind::Scalar)
        return faultAt(key.offset, "a key must be text, not a list, a mapping or an alias of one");
    if (!seen.insert(key.value).second)
        return faultAt(key.offset, "the key " + inQuotes(key.value) + " is there twice; keep one");
    return {};
}

Status Pass::readMapping(YamlNode& out, std::size_t depth)
{
    const auto& start = m_storage.data.mapping_start;
    out.kind = YamlNode::Kind::Mapping;
    noteStyle(start.anchor, start.tag, start.style == YAML_FLOW_MAPPING_STYLE, out.offset);
    noteAnchor(start.anchor, std::nullopt);
    std::unordered_set<std::string> seen;
    for (;;) {
        if (Status read = next(); !read)
            return read;
        if (m_storage.type == YAML_MAPPING_END_EVENT)
            return {};
        if (Status read = readKey(out.items.emplace_back(), seen, depth); !read)
            return read;
        if (Status read = next(); !read)
            return read;
        if (Status read = readNode(out.items.emplace_back(), depth + 1); !read)
            return read;
    }
}

Status Pass::readNode(YamlNode& out, std::size_t depth)
{
    out.offset = here();
    if (depth > kMaxYamlDepth)
        return faultAt(out.offset, "it is nested deeper than " + std::to_string(kMaxYamlDepth) + " levels; flatten it");
    if (++m_nodes > kMaxYamlNodes)
        return faultAt(out.offset,
                       "it has more than " + std::to_string(kMaxYamlNodes) + " values; move data to a file");
    switch (m_storage.type) {
    case YAML_SCALAR_EVENT:
        return readScalar(out);
    case YAML_ALIAS_EVENT:
        return readAlias(out);
    case YAML_SEQUENCE_START_EVENT:
        return readSequence(out, depth);
    case YAML_MAPPING_START_EVENT:
        return readMapping(out, depth);
    default:
        return faultAt(out.offset, "the YAML cannot be read: a value was expected");
    }
}

std::expected<YamlDocument, YamlFault> Pass::run()
{
    if (!m_ready)
        return faultAt(0, "there is not enough memory to read it");
    YamlDocument out;
    if (Status read = next(); !read) // the start of the stream
        return std::unexpected(read.error());
    if (Status read = next(); !read)
        return std::unexpected(read.error());
    out.isEmpty = m_storage.type == YAML_STREAM_END_EVENT;
    if (out.isEmpty)
        return out;
    if (Status read = next(); !read)
        return std::unexpected(read.error());
    if (Status read = readNode(out.root, 1); !read)
        return std::unexpected(read.error());
    for (int events = 0; events < 2; ++events) { // the ends of the document and of the stream
        if (Status read = next(); !read)
            return std::unexpected(read.error());
    }
    if (m_storage.type != YAML_STREAM_END_EVENT)
        return faultAt(here(), "it holds a second document; keep one");
    out.style = m_style;
    return out;
}

void toOriginal(YamlNode& node, const SurrogatePairs& pairs)
{
    node.offset = pairs.toOriginal(node.offset);
    for (YamlNode& item : node.items)
        toOriginal(item, pairs);
}

void toOriginal(YamlDocument& document, const SurrogatePairs& pairs)
{
    toOriginal(document.root, pairs);
    for (std::size_t* offset : {&document.style.flow, &document.style.anchor, &document.style.tag}) {
        if (*offset != YamlStyle::kNone)
            *offset = pairs.toOriginal(*offset);
    }
}

} // namespace

const YamlNode* YamlNode::find(std::string_view key) const
{
    for (std::size_t i = 0; kind == Kind::Mapping && i + 1 < items.size(); i += 2) {
        if (items[i].value == key)
            return &items[i + 1];
    }
    return nullptr;
}

bool YamlNode::isNull() const
{
    constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
    return kind == Kind::Scalar && isPlain && std::ranges::contains(nulls, value);
}

std::expected<YamlDocument, YamlFault> readYaml(std::string_view text)
{
    if (text.size() > kMaxYamlBytes)
        return std::unexpected(YamlFault{"it has " + std::to_string(text.size()) + " bytes; the limit is " +
                                             shownSize(kMaxYamlBytes) + ": move text below the closing line",
                                         kMaxYamlBytes});
    SurrogatePairs pairs(text);
    for (std::size_t attempt = 0;; ++attempt) {
        Pass pass(pairs.text());
        auto document = pass.run();
        if (document) {
            toOriginal(*document, pairs);
            return document;
        }
        const bool retry = pass.badEscape() && attempt < kMaxJoinedScalars;
        if (!retry || !pairs.joinFrom(*pass.badEscape())) {
            document.error().offset = pairs.toOriginal(document.error().offset);
            return document;
        }
    }
}

} // namespace assay::registry
