// SPDX-License-Identifier: Apache-2.0
#include "server/registry/media_type.h"
#include "tests/unit/registry/package_fixture.h"

using namespace assay;
using namespace assay::registry;
using test::codesOf;
using test::joined;
using test::kDemoSkill;
using test::problemNamed;
using test::sourceOf;
using test::validate;

class TestPackage : public QObject
{
    Q_OBJECT

private slots:
    void keepsThePublishedDigests();
    void keepsTheSharedDigests();
    void hashesTheCanonicalForm();
    void readsBackTheCanonicalForm();
    void refusesAMalformedStream();
    void listsEveryProblemByPath();
    void stopsAtAHundredProblems();
    void refusesEachKindOfName();
    void namesFileSizeAndLimit();
    void refusesTextThatIsNotUtf8();
    void tellsTextFromAssets();
    void lintsWhatClientsStumbleOver();
    void lintsTheBody();
    void lintsTheTopFolder();
    void hintsAtAMisspelledSkillMd();
    void staysLinear();
};

namespace {

std::string streamOf(const ValidPackage& package)
{
    std::string out;
    for (const std::string_view piece : package.canonicalPieces())
        out += piece;
    return out;
}

void checkDigests(const json::value& vectors)
{
    for (const json::value& item : vectors.at("cases").as_array()) {
        std::map<std::string, std::string> files;
        for (const auto& [path, content] : item.at("files_base64").as_object())
            files.emplace(path, fromBase64(content.as_string()).value());
        const auto executable = json::value_to<std::set<std::string>>(item.at("executable"));
        const auto package = validatePackage(sourceOf(files, executable), "", {});
        ASSAY_OK(package);
        QCOMPARE(package->digest.text(), std::string(item.at("digest").as_string()));
        QCOMPARE(package->files.size(), files.size());
        QCOMPARE(streamOf(*package).size(), item.at("canonical_bytes").to_number<std::size_t>());
        if (const auto* bytes = item.as_object().if_contains("size_bytes"))
            QCOMPARE(package->sizeBytes, bytes->to_number<std::uint64_t>());
    }
}

std::string counted(std::string_view text)
{
    std::string out(7, '\0');
    return out + static_cast<char>(text.size()) + std::string(text);
}

} // namespace

void TestPackage::keepsThePublishedDigests()
{
    const auto text = readFile(ASSAY_SOURCE_DIR "/docs/package-vectors.json", 1 << 20);
    ASSAY_OK(text);
    const json::value all = json::parse(*text);
    QCOMPARE(all.at("cases").as_array().size(), 7U);
    checkDigests(all);
}

void TestPackage::keepsTheSharedDigests()
{
    const json::value all = test::vectors("canonical.json");
    if (all.is_null())
        QSKIP("this machine has no shared vectors; set ASSAY_VECTORS");
    checkDigests(all);
}

void TestPackage::hashesTheCanonicalForm()
{
    const auto package =
        validatePackage(sourceOf({{"SKILL.md", kDemoSkill}, {"b.sh", "#!/bin/sh\n"}, {"B", ""}}, {"b.sh"}), "demo", {});
    ASSAY_OK(package);
    const std::string wanted = "assay-package-v1\n" + counted("B") + '0' + counted("") + counted("SKILL.md") + '0' +
                               counted(kDemoSkill) + counted("b.sh") + '1' + counted("#!/bin/sh\n");
    QCOMPARE(streamOf(*package), wanted);
    QCOMPARE(package->digest, Digest::ofBytes(wanted));
    QCOMPARE(package->files[1].sha256, Digest::ofBytes(kDemoSkill));
    QVERIFY(package->files[2].executable && !package->files[1].executable);
}

void TestPackage::readsBackTheCanonicalForm()
{
    const auto package = validatePackage(
        sourceOf({{"SKILL.md", kDemoSkill}, {"x.bin", std::string("\0\xff", 2)}, {"empty", ""}}, {"x.bin"}), "demo",
        {});
    ASSAY_OK(package);
    const std::string stream = streamOf(*package);
    const auto files = parseCanonicalStream(stream);
    ASSAY_OK(files);
    QCOMPARE(files->size(), package->files.size());
    for (std::size_t i = 0; i < files->size(); ++i) {
        QCOMPARE(files->at(i).path, package->files[i].path);
        QCOMPARE(files->at(i).content, package->files[i].content);
        QCOMPARE(files->at(i).executable, package->files[i].executable);
        QCOMPARE(files->at(i).sha256, package->files[i].sha256);
        QCOMPARE(files->at(i).mediaType, package->files[i].mediaType);
        QVERIFY(files->at(i).kind == package->files[i].kind);
    }
    QCOMPARE(parseCanonicalStream(stream, FileFacts::Skip)->size(), files->size());
}

void TestPackage::refusesAMalformedStream()
{
    const std::string magic = "assay-package-v1\n";
    const std::string a = counted("a") + '0' + counted("x");
    ASSAY_OK(parseCanonicalStream(magic + a));
    ASSAY_OK(parseCanonicalStream(magic));
    const std::string huge = magic + std::string(8, '\xff') + "a";
    for (const std::string& bad :
         {std::string(), magic.substr(1), magic + a.substr(1), magic + a + a,
          magic + counted("b") + '0' + counted("x") + a, magic + counted("a") + '2' + counted("x"),
          magic + counted("") + '0' + counted("x"), huge, magic + a + "x"})
        ASSAY_FAILS(parseCanonicalStream(bad), ErrorCode::Internal);
}

void TestPackage::listsEveryProblemByPath()
{
    const auto result = validate(
        {{"SKILL.md", "---\nname: demo\n---\n"}, {"../x", ""}, {".assay/y", ""}, {"a.py", "\xff"}, {"A.py", ""}});
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
    QCOMPARE(joined(codesOf(result)), "duplicate_path, invalid_utf8, missing_description, reserved_path, unsafe_path");
    QVERIFY(std::ranges::is_sorted(result.error().problems, {}, &Problem::path));
    QVERIFY(result.error().message.contains("4 more"));
}

void TestPackage::stopsAtAHundredProblems()
{
    std::map<std::string, std::string> files{{"SKILL.md", kDemoSkill}};
    for (int i = 0; i < 300; ++i)
        files.emplace("bad/../" + std::to_string(i), "");
    const auto result = validate(files);
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
    QCOMPARE(result.error().problems.size(), 100U);
}

void TestPackage::refusesEachKindOfName()
{
    QCOMPARE(joined(codesOf(validate({{"SKILL.md", kDemoSkill}}, "demo"))), "ok");
    QCOMPARE(joined(codesOf(validate({{"SKILL.md", kDemoSkill}}, "other"))), "name_mismatch");
    QVERIFY(joined(codesOf(validate({{"SKILL.md", kDemoSkill}}, "De_mo"))).contains("invalid_name"));
    const auto mismatch = validate({{"SKILL.md", kDemoSkill}}, "other");
    QCOMPARE(mismatch.error().problems.front().line, 2U);
    QCOMPARE(mismatch.error().problems.front().column, 7U);
}

void TestPackage::namesFileSizeAndLimit()
{
    PackageLimits limits;
    limits.fileBytes = 1024;
    limits.packageBytes = 2048;
    limits.files = 3;
    const std::map<std::string, std::string> files{
        {"SKILL.md", kDemoSkill}, {"a", std::string(1025, 'a')}, {"b", std::string(1024, 'a')}, {"c", ""}};
    const auto result = validate(files, "demo", limits);
    ASSAY_FAILS(result, ErrorCode::InvalidPackage);
    QCOMPARE(joined(codesOf(result)), "file_too_large, package_too_large, too_many_files");
    const Problem file = problemNamed(result.error().problems, "file_too_large");
    QCOMPARE(file.path, "a");
    QVERIFY(file.message.contains("1025") && file.message.contains("1 KiB"));
    QVERIFY(problemNamed(result.error().problems, "package_too_large").message.contains("2106"));
    QVERIFY(problemNamed(result.error().problems, "too_many_files").message.contains("limit is 3"));
}

void TestPackage::refusesTextThatIsNotUtf8()
{
    for (const char* path :
         {"a.md", "a.PY", "a.js", "a.mjs", "a.cjs", "a.ts", "a.sh", "a.bash", "a.json", "a.yaml", "a.yml", "x/a.toml"})
        QCOMPARE(joined(codesOf(validate({{"SKILL.md", kDemoSkill}, {path, "ok\n\u00e9\xff"}}))), "invalid_utf8");
    const auto result = validate({{"SKILL.md", kDemoSkill}, {"a.md", "ok\n\u00e9\xff"}});
    QCOMPARE(result.error().problems.front().line, 2U);
    QCOMPARE(result.error().problems.front().column, 2U);
    QCOMPARE(joined(codesOf(validate({{"SKILL.md", kDemoSkill + "\xff"}}))), "invalid_utf8");
    ASSAY_OK(validate({{"SKILL.md", kDemoSkill}, {"a.txt", "\xff"}, {"md", "\xff"}, {".md.bin", "\xff"}}));
}

void TestPackage::tellsTextFromAssets()
{
    QVERIFY(fileKindOf("plain \u00e9") == FileKind::Text && fileKindOf("") == FileKind::Text);
    QVERIFY(fileKindOf(std::string_view("a\0b", 3)) == FileKind::Asset && fileKindOf("\xff") == FileKind::Asset);
    QCOMPARE(mediaTypeOf("a/B.PNG", FileKind::Asset), "image/png");
    QCOMPARE(mediaTypeOf("a.md", FileKind::Text), "text/markdown");
    QCOMPARE(mediaTypeOf("a.csv", FileKind::Asset), "application/octet-stream");
    QCOMPARE(mediaTypeOf("Makefile", FileKind::Text), "text/plain");
    QCOMPARE(mediaTypeOf("x.md/none", FileKind::Asset), "application/octet-stream");
}

void TestPackage::lintsWhatClientsStumbleOver()
{
    const auto package = validatePackage(sourceOf({{"SKILL.md", kDemoSkill},
                                                   {"a.sh", "#!/bin/sh\n"},
                                                   {"b.py", "x\r\n"},
                                                   {"bom.txt", "\ufeffx"},
                                                   {"latin.txt", "caf\xe9"},
                                                   {"q?", ""},
                                                   {"run", "#!/bin/sh\r\n"},
                                                   {"u.png", std::string("\x89PNG\r\n\x1a\n\0", 9)}},
                                                  {"run"}),
                                         "demo", {});
    ASSAY_OK(package);
    QCOMPARE(joined(codesOf(package->lints)),
             "bom, crlf_script, crlf_script, not_utf8, shebang_not_executable, windows_path");
    for (const Problem& lint : package->lints)
        QVERIFY(!lint.client.empty() && !lint.path.empty());
}

void TestPackage::lintsTheBody()
{
    std::string text = kDemoSkill + "a <!-- hidden -->\nb \u200b\n";
    text += std::string(500, '\n');
    const auto package = validate({{"SKILL.md", text}});
    ASSAY_OK(package);
    QCOMPARE(joined(codesOf(package->lints)), "html_comment, invisible_characters, skill_md_too_long");
    const Problem comment = problemNamed(package->lints, "html_comment");
    QCOMPARE(comment.line, 7U);
    QCOMPARE(comment.column, 3U);
    QCOMPARE(problemNamed(package->lints, "invisible_characters").line, 8U);
}

void TestPackage::lintsTheTopFolder()
{
    PackageSource source = sourceOf({{"SKILL.md", kDemoSkill}});
    source.topFolder = "demo-main";
    source.ignored = {".DS_Store"};
    const auto package = validatePackage(std::move(source), "demo", {});
    ASSAY_OK(package);
    QCOMPARE(joined(codesOf(package->lints)), "top_folder_name");
    QCOMPARE(joined(package->ignored), ".DS_Store");
}

void TestPackage::hintsAtAMisspelledSkillMd()
{
    const auto result = validate({{"skill.md", kDemoSkill}});
    QCOMPARE(joined(codesOf(result)), "missing_skill_md");
    QVERIFY(result.error().message.contains("rename"));
    QCOMPARE(joined(codesOf(validate({}))), "missing_skill_md");
}

void TestPackage::staysLinear()
{
    std::map<std::string, std::string> many{{"SKILL.md", kDemoSkill}};
    PackageLimits limits;
    limits.files = 20000;
    for (int i = 0; i < 12000; ++i)
        many.emplace("a/folder/of/some/depth/" + std::to_string(i) + "/file.txt", "x");
    const test::CpuTimer timer;
    ASSAY_OK(validate(many, "demo", limits));
    QVERIFY2(timer.elapsedMs() < 3000, QByteArray::number(timer.elapsedMs()));
}

QTEST_APPLESS_MAIN(TestPackage)
#include "tst_package.moc"
