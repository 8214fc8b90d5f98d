// SPDX-License-Identifier: Apache-2.0
#include "server/registry/gzip_stream.h"

#include "server/registry/archive_fault.h"

#include <array>
#include <zlib.h>

namespace assay::registry {

namespace {

constexpr std::size_t kChunk = 64 << 10;
constexpr int kGzipOnly = 16 + MAX_WBITS; // of inflateInit2: a gzip wrapper, no zlib one

} // namespace

struct GzipStream::State
{
    int fd = -1;
    std::uint64_t offset = 0;
    std::string input;
    std::array<unsigned char, kChunk> output{};
    z_stream stream{};
    bool ended = false;

    ~State() { inflateEnd(&stream); }
    Result<void> refill();
    Result<void> checkNothingFollows();
};

Result<void> GzipStream::State::refill()
{
    if (stream.avail_in > 0)
        return {};
    auto more = readUpTo(fd, offset, kChunk);
    if (!more)
        return forward(more);
    if (more->empty())
        return corruptArchive("the gzip stream is truncated; send it again");
    input = std::move(*more);
    offset += input.size();
    stream.next_in = reinterpret_cast<unsigned char*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    return {};
}

Result<void> GzipStream::State::checkNothingFollows()
{
    const auto more = readUpTo(fd, offset, 1);
    if (!more)
        return std::unexpected(more.error());
    if (stream.avail_in > 0 || !more->empty())
        return corruptArchive("bytes follow the end of the gzip stream; send one gzip member and nothing else");
    return {};
}

GzipStream::GzipStream(std::unique_ptr<State> state) : m_state(std::move(state)) {}
GzipStream::~GzipStream() = default;
GzipStream::GzipStream(GzipStream&&) noexcept = default;
GzipStream& GzipStream::operator=(GzipStream&&) noexcept = default;

Result<GzipStream> GzipStream::open(int fd)
{
    auto state = std::make_unique<State>();
    state->fd = fd;
    if (inflateInit2(&state->stream, kGzipOnly) != Z_OK)
        return fail(ErrorCode::Unavailable, "the server is out of memory; try again later");
    return GzipStream(std::move(state));
}

Result<std::string_view> GzipStream::next()
{
    State& state = *m_state;
    state.stream.next_out = state.output.data();
    state.stream.avail_out = static_cast<uInt>(state.output.size());
    while (!state.ended && state.stream.avail_out == state.output.size()) {
        if (auto read = state.refill(); !read)
            return forward(read);
        const int status = inflate(&state.stream, Z_NO_FLUSH);
        if (status == Z_MEM_ERROR)
            return fail(ErrorCode::Unavailable, "the server is out of memory; try again later");
        if (status != Z_OK && status != Z_STREAM_END)
            return corruptArchive("the gzip stream cannot be unpacked: " +
                                  std::string(state.stream.msg ? state.stream.msg : "it is damaged"));
        state.ended = status == Z_STREAM_END;
        if (!state.ended)
            continue;
        if (auto alone = state.checkNothingFollows(); !alone)
            return forward(alone);
    }
    const std::size_t got = state.output.size() - state.stream.avail_out;
    return std::string_view(reinterpret_cast<const char*>(state.output.data()), got);
}

} // namespace assay::registry
