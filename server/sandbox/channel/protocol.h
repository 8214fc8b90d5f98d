// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// The protocol between a server and the `assay-init` of a box, version 1, as docs/channel-protocol.md specifies it.
/// Both ends include this file; it needs no heap and no library.
namespace assay::sandbox::channel {

inline constexpr std::uint16_t kProtocolVersion = 1;

/// First bytes of a Hello: "ASSAYBOX", little-endian.
inline constexpr std::uint64_t kMagic = 0x584f'4259'4153'5341ULL;

/// A frame is a u32 length of the payload, a u8 type and a u32 stream, all little-endian, then the payload.
inline constexpr std::size_t kHeaderBytes = 9;
inline constexpr std::size_t kMaxPayload = 64 * 1024;

/// Stdout and Stderr carry u64 sequence, u64 microseconds since the start, then the bytes.
inline constexpr std::size_t kOutputPrefix = 16;
inline constexpr std::size_t kMaxOutputBytes = kMaxPayload - kOutputPrefix;

inline constexpr std::uint32_t kMaxCommandBytes = 1024 * 1024; ///< CommandPart frames and Run together
inline constexpr std::uint32_t kMaxArguments = 4096;
inline constexpr std::uint32_t kMaxVariables = 1024;
inline constexpr std::uint32_t kMaxPathBytes = 4096; ///< with the final zero of the box's side
inline constexpr std::uint32_t kMaxWalkDepth = 64;
inline constexpr std::uint32_t kMaxWalkEntries = 200'000;
inline constexpr std::uint32_t kStdinWindow = 256 * 1024;   ///< bytes of standard input the box accepts unasked
inline constexpr std::uint32_t kOutputWindow = 1024 * 1024; ///< bytes of a stream the server accepts unasked
inline constexpr std::uint32_t kMaxCredit = 0x7fff'ffff;    ///< no flow's credit may exceed it

enum class FrameType : std::uint8_t {
    // box to server
    Hello = 1,
    Ready = 2,
    Stdout = 3,
    Stderr = 4,
    StdinClosed = 5,
    Exit = 6,
    ExecFailed = 7,
    Done = 8,
    Failed = 9,
    Entry = 10,
    WalkEnd = 11,
    FileBytes = 12,
    Usage = 13,
    // both ways
    Credit = 32,
    // server to box
    Setup = 64,
    CommandPart = 65,
    Run = 66,
    Stdin = 67,
    StdinEnd = 68,
    Kill = 69,
    PutFile = 70,
    PutBytes = 71,
    PutEnd = 72,
    Walk = 73,
    ReadFile = 74,
    Measure = 75,
};

/// What a Credit frame speaks of.
enum class Flow : std::uint8_t { Stdin = 0, Stdout = 1, Stderr = 2 };

/// Bits of a Hello: what the init found or made true of itself.
inline constexpr std::uint16_t kIsProcessOne = 1;
inline constexpr std::uint16_t kIsUndumpable = 2;
inline constexpr std::uint16_t kHasNoNewPrivileges = 4;

/// Bits of an Exit.
inline constexpr std::uint8_t kKilledByServer = 1; ///< a Kill came before the command's own end
inline constexpr std::uint8_t kOverQuota = 2;      ///< the workspace was over its limit, or without an inode

/// Where starting a command failed.
enum class ExecStage : std::uint8_t {
    Pipes = 1,
    Fork = 2,
    Session = 3,
    Limits = 4,
    Directory = 5,
    Program = 6,
    Interpreter = 7
};

/// Which tree a Walk visits, and whether it hashes.
enum class WalkRoot : std::uint8_t { Results = 0, Skills = 1 };
enum class Hashing : std::uint8_t { Off = 0, On = 1 };

enum class EntryKind : std::uint8_t {
    File = 1,
    Directory = 2,
    Symlink = 3,
    Special = 4,    ///< FIFO, socket, device
    Unreadable = 5, ///< could not be opened or read
    TooDeep = 6,    ///< a folder below kMaxWalkDepth or a path over kMaxPathBytes; not entered
};

/// Bits of a WalkEnd.
inline constexpr std::uint8_t kWalkTruncated = 1;
inline constexpr std::uint8_t kWalkAllReadOnly = 2; ///< every folder lies on a read-only mount

} // namespace assay::sandbox::channel
