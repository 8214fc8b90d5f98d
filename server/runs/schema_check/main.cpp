// SPDX-License-Identifier: Apache-2.0
// assay-schema-check: reads "<length of the schema in decimal>\n<schema><instance>" from standard input and tells
// whether the instance is valid under the schema (JSON Schema 2020-12 unless it names an older draft).
//
// Exit status: 0 valid; 1 not valid, with lines "<JSON pointer>\t<message>"; 2 the schema cannot be used, with one
// message; 3 the request is not of the form. References outside the schema are never fetched. The process limits its
// own time and memory before it looks at a byte: schema and instance come from strangers, and a pattern or a recursive
// reference can cost any amount of either.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <jsoncons/json.hpp>
#include <jsoncons_ext/jsonschema/jsonschema.hpp>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using jsoncons::json;

constexpr std::size_t kMaxRequest = 10U << 20;
constexpr int kMaxFindings = 20;
constexpr std::size_t kMaxMessage = 400;

void limitOwnUse()
{
    const auto limit = [](auto which, rlim_t value) {
        const rlimit both{value, value};
        (void)::setrlimit(which, &both);
    };
    limit(RLIMIT_CPU, 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) // whose shadow memory alone is larger
    limit(RLIMIT_AS, rlim_t(512) << 20);
#endif
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

std::string readRequest()
{
    std::string out;
    char buffer[65536];
    ssize_t count = 0;
    while (out.size() <= kMaxRequest && (count = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        out.append(buffer, static_cast<std::size_t>(count));
    return out;
}

std::string oneLine(std::string text)
{
    std::ranges::replace_if(text, [](unsigned char c) { return c < 0x20; }, ' ');
    if (text.size() > kMaxMessage)
        text = text.substr(0, kMaxMessage) + "...";
    return text;
}

int unusable(const std::string& why)
{
    std::printf("%s\n", oneLine(why).c_str());
    return 2;
}

int validate(std::string_view schemaText, std::string_view instanceText)
{
    namespace schema = jsoncons::jsonschema;
    try {
        const auto compiled = schema::make_json_schema(json::parse(schemaText), [](const jsoncons::uri&) -> json {
            throw std::runtime_error("it refers to another document, and none is fetched");
        });
        const json instance = json::parse(instanceText);
        int findings = 0;
        compiled.validate(instance, [&](const schema::validation_message& finding) {
            std::printf("%s\t%s\n", finding.instance_location().string().c_str(), oneLine(finding.message()).c_str());
            return ++findings < kMaxFindings ? schema::walk_result::advance : schema::walk_result::abort;
        });
        return findings == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        return unusable(error.what());
    }
}

} // namespace

int main()
{
    limitOwnUse();
    const std::string request = readRequest();
    std::size_t length = 0;
    const auto line = request.find('\n');
    if (line == std::string::npos || request.size() > kMaxRequest)
        return 3;
    const auto [end, code] = std::from_chars(request.data(), request.data() + line, length);
    const std::string_view rest = std::string_view(request).substr(line + 1);
    if (code != std::errc{} || end != request.data() + line || length > rest.size())
        return 3;
    return validate(rest.substr(0, length), rest.substr(length));
}
