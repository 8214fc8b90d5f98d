// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/registry/skill_service.h"

#include <memory>
#include <string>
#include <vector>

namespace assay::test {

/// A package by hand, with its canonical stream, as the store and the catalog would give it.
struct PackageFixture
{
    struct File
    {
        std::string path;
        std::string content;
        bool executable = false;
    };
    std::string stream;
    registry::PinnedSkill pinned;

    /// `files` in the byte order of their paths.
    PackageFixture(std::string name, const std::vector<File>& files)
    {
        stream = "assay-package-v1\n";
        pinned.name = std::move(name);
        pinned.revision = "rev_00000000000000000000000001";
        pinned.number = 1;
        for (const auto& file : files) {
            appendCounted(file.path);
            stream += file.executable ? '1' : '0';
            appendCounted(file.content);
            pinned.sizeBytes += file.content.size();
            pinned.files.push_back({.path = file.path,
                                    .sha256 = Digest::ofBytes(file.content).text(),
                                    .sizeBytes = file.content.size(),
                                    .executable = file.executable,
                                    .kind = "text",
                                    .mediaType = "text/plain"});
        }
        pinned.digest = Digest::ofBytes(stream);
    }
    store::Bundle bundle() const { return {stream, std::make_shared<int>(0)}; }

private:
    void appendCounted(const std::string& bytes)
    {
        for (int shift = 56; shift >= 0; shift -= 8)
            stream += static_cast<char>(bytes.size() >> shift & 0xff);
        stream += bytes;
    }
};

} // namespace assay::test
