// SPDX-License-Identifier: Apache-2.0
// Each row: a file's name, its source, and everything that the rules find in it.
#include "tests/unit/registry_capabilities/capability_fixture.h"

using namespace assay;

class TestCapabilityRules : public QObject
{
    Q_OBJECT

private slots:
    void pythonModules_data();
    void pythonModules() { compare("tool.py"); }
    void addresses_data();
    void addresses() { compare("tool.py"); }
    void python_data();
    void python() { compare("tool.py"); }
    void javaScript_data();
    void javaScript() { compare("tool.js"); }
    void shell_data();
    void shell() { compare("tool.sh"); }
    void markdown_data();
    void markdown() { compare("SKILL.md"); }
    void requirements_data();
    void requirements() { compare("requirements.txt"); }
    void packageJson_data();
    void packageJson() { compare("package.json"); }
    void pyproject_data();
    void pyproject() { compare("pyproject.toml"); }
    void linesAreTold();

private:
    void columns()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("expected");
    }
    void compare(const char* name)
    {
        QFETCH(QString, source);
        QFETCH(QString, expected);
        const test::Files files({{name, source.toStdString()}, {"helpers/own.py", ""}});
        QCOMPARE(test::itemsOf(test::reportOf(files), {"exec.shebang", "exec.script"}), expected.toStdString());
    }
};

void TestCapabilityRules::pythonModules_data()
{
    columns();
    QTest::newRow("nothing") << "import json, os.path\nprint('hi')\n" << "";
    QTest::newRow("imports") << "import yaml\nfrom pandas.core import frame\nimport numpy as np, json\n"
                             << "pkg.import python:numpy; pkg.import python:pandas; pkg.import python:yaml";
    QTest::newRow("own modules") << "import tool\nfrom helpers.own import x\nfrom . import y\nfrom .z import w\n" << "";
    QTest::newRow("in a function") << "def f():\n    import lxml\n" << "pkg.import python:lxml";
    QTest::newRow("after a semicolon") << "x = 1; import lxml" << "pkg.import python:lxml";
    QTest::newRow("a comment") << "# import lxml and https://evil.example.com\nx = 1  # os.system('x')\n" << "";
    QTest::newRow("a documentation string") << "\"\"\"import lxml\nhttps://docs.example.com /etc/passwd\n\"\"\"\ndef "
                                               "f():\n    'see https://a.example.com'\n"
                                            << "";
    QTest::newRow("a literal is no code") << "x = 'import lxml; os.system(1)'\n" << "";
}

void TestCapabilityRules::addresses_data()
{
    columns();
    QTest::newRow("an IPv6 literal") << "u = 'http://[2001:DB8::1]:8080/x'\n" << "net.url [2001:db8::1]:8080";
    QTest::newRow("one label") << "u = 'http://metadata/x'\nv = 'http://user@intra:80'\n"
                               << "net.url intra:80; net.url metadata";
    QTest::newRow("a decimal address") << "u = 'http://2852039166/latest'\n" << "net.url 2852039166";
    QTest::newRow("letters beyond ASCII") << "u = 'https://bÃ¼"
                                             "cher.example/x'\n"
                                          << "net.url bÃ¼"
                                             "cher.example";
    QTest::newRow("a host that is computed in part") << "u = f'https://api.{region}.example.org/'\n"
                                                     << "net.url-computed (computed)";
    QTest::newRow("in brackets") << "u = '[https://a.example.org]'\n" << "net.url a.example.org";
}

void TestCapabilityRules::python_data()
{
    columns();
    QTest::newRow("a host") << "URL = \"https://API.Example.org:8443/v1\"\n" << "net.url api.example.org:8443";
    QTest::newRow("a host behind a user") << "u = 'https://user:pw@files.example.org/x'\n"
                                          << "net.url files.example.org";
    QTest::newRow("a computed host") << "u = f\"https://{host}/v1\"\n" << "net.url-computed (computed)";
    QTest::newRow("a prefix is no host") << "if u.startswith('https://'): pass\n" << "";
    QTest::newRow("a vocabulary") << "NS = 'http://www.w3.org/2000/svg'\n" << "";
    QTest::newRow("a bare host") << "HOST = 'api.example.com'\nNAME = 'a.b.c'\n" << "net.host api.example.com";
    QTest::newRow("over a line's end") << "u = ('https://a.example.org/'\n     'x')\n" << "net.url a.example.org";
    QTest::newRow("network modules")
        << "import requests\nfrom urllib.request import urlopen\nimport urllib.parse\n"
        << "net.client python:requests; net.client python:urllib.request; pkg.import python:requests";
    QTest::newRow("processes") << "import subprocess\nos.execvp('x', [])\n"
                               << "proc.python os.execvp; proc.python subprocess";
    QTest::newRow("a command line")
        << "import os\nos.system('curl -s https://a.example.org | sh')\n"
        << "net.url a.example.org; net.client shell:curl; proc.python os.system; code.dynamic | sh";
    QTest::newRow("a command's words") << "subprocess.run(['pip', 'install', 'six==1.0'])\n"
                                       << "pkg.install python:six";
    QTest::newRow("by another name") << "from os import system as s, environ\ns('id')\nenviron['API_KEY']\n"
                                     << "env.credential API_KEY; proc.python os.system";
    QTest::newRow("by another name over lines") << "from os import (\n  getenv,\n  popen)\npopen(cmd)\ngetenv('MODE')\n"
                                                << "proc.python os.popen; env.read MODE";
    QTest::newRow("dynamic code") << "eval(x)\nmodel.eval()\nre.compile('x')\npickle.loads(b)\n"
                                  << "code.dynamic eval; code.dynamic pickle.loads";
    QTest::newRow("an import by name") << "__import__('lxml')\nimportlib.import_module('six')\n"
                                       << "code.dynamic __import__; code.dynamic importlib.import_module; pkg.import "
                                          "python:lxml; pkg.import python:six";
    QTest::newRow("variables")
        << "import os\nos.environ['OPENAI_API_KEY']\nos.environ.get('MODE')\nos.getenv(\"HOME\")\nos.getenv(name)\n"
        << "env.credential OPENAI_API_KEY; env.read (computed); env.read MODE";
    QTest::newRow("a key is a credential, a keyboard not") << "os.getenv('KEYBOARD')\nos.getenv('my_token')\n"
                                                           << "env.credential my_token; env.read KEYBOARD";
    QTest::newRow("all variables") << "subprocess.run(x, env=os.environ.copy())\nif 'MODE' in os.environ: pass\n"
                                   << "env.all (all variables); env.read MODE";
    QTest::newRow("files") << "open('/etc/passwd')\nopen('/workspace/x')\nopen('/tmp/x')\nopen('~/.ssh/"
                              "id_rsa')\nopen('../../up')\nopen('../x')\n"
                           << "cred.file .ssh/id_rsa; file.outside ../../up; file.outside ../x; file.outside "
                              "/etc/passwd; file.outside ~/.ssh/id_rsa";
    QTest::newRow("paths that are none") << "a = '/api/v1/home'\nb = '/media'\nc = 'and/or'\nd = '/dev/null'\ne = "
                                            "'/usr/bin/python3'\nf = 'text... more'\n"
                                         << "";
    QTest::newRow("inline metadata")
        << "# /// script\n# dependencies = [\n#   \"rich>=13\", 'httpx[http2]',\n# ]\n# ///\nprint(1)\n"
        << "pkg.manifest python:httpx; pkg.manifest python:rich";
    QTest::newRow("unfinished") << "x = 'never closed\nimport lxml\ny = \"\"\"never closed either"
                                << "pkg.import python:lxml";
    QTest::newRow("a raw literal") << "x = r'C:\\' + 'import lxml'\nimport six\n" << "pkg.import python:six";
}

void TestCapabilityRules::javaScript_data()
{
    columns();
    QTest::newRow("nothing") << "const fs = require('fs');\nimport path from 'node:path';\nimport './own.js';\n" << "";
    QTest::newRow("packages")
        << "import x from '@scope/name/part';\nconst y = require(\"left-pad/lib\");\nconst z = await "
           "import('zod');\nexport * from 'rxjs';\n"
        << "pkg.import npm:@scope/name; pkg.import npm:left-pad; pkg.import npm:rxjs; pkg.import npm:zod";
    QTest::newRow("comments") << "// require('x') https://a.example.org\n/* import 'y'\n https://b.example.org */\n"
                              << "";
    QTest::newRow("a regular expression is no comment")
        << "const r = /['\"`]\\/\\//; require('six');\nconst d = a / b / require('seven');\n"
        << "pkg.import npm:seven; pkg.import npm:six";
    QTest::newRow("templates")
        << "const u = `https://${host}/x`;\nconst v = `a ${require('inner')} https://b.example.org`;\n"
        << "net.url-computed (computed); net.url b.example.org; pkg.import npm:inner";
    QTest::newRow("nested templates") << "f(`a ${x ? `b ${require('deep')}` : {a: 1}} c`); require('after');\n"
                                      << "pkg.import npm:after; pkg.import npm:deep";
    QTest::newRow("network")
        << "await fetch('https://a.example.org/x');\nimport https from 'https';\nthing.fetch('x');\n"
        << "net.url a.example.org; net.client javascript:fetch; net.client javascript:https";
    QTest::newRow("processes")
        << "const { execSync } = require('child_process');\nexecSync('sudo apt-get install -y jq');\n"
        << "proc.javascript child_process; proc.command sudo; pkg.install apt:jq";
    QTest::newRow("spawn with words")
        << "import cp from 'node:child_process';\ncp.spawn('npm', ['install', 'left-pad']);\n"
        << "proc.javascript child_process; pkg.install npm:left-pad";
    QTest::newRow("exec of a pattern") << "const m = /x/.exec('curl x'); pattern.exec('wget y');\n" << "";
    QTest::newRow("dynamic code") << "eval(x); new Function('return 1')(); import vm from 'vm';\n"
                                  << "code.dynamic eval; code.dynamic new Function; code.dynamic vm";
    QTest::newRow("variables") << "process.env.GITHUB_TOKEN; process.env['MODE'];\nconst { API_KEY, level: x } = "
                                  "process.env;\nspawn(x, {env: {...process.env}});\n"
                               << "env.all (all variables); env.credential API_KEY; env.credential GITHUB_TOKEN; "
                                  "env.read MODE; env.read level";
    QTest::newRow("other runtimes") << "Deno.env.get('SECRET_X'); new Deno.Command('ls');\n"
                                    << "env.credential SECRET_X; proc.javascript Deno.Command";
    QTest::newRow("an address as a module") << "import x from 'https://esm.example.org/x';\n"
                                            << "net.url esm.example.org";
}

void TestCapabilityRules::shell_data()
{
    columns();
    QTest::newRow("nothing") << "#!/bin/sh\nset -eu\ncd \"$(dirname \"$0\")\"\necho 'curl is not run'\n" << "";
    QTest::newRow("a comment") << "# curl https://a.example.org\necho x # pip install y\necho a#b\n" << "";
    QTest::newRow("network")
        << "curl -fsSL https://a.example.org/x -o y\n/usr/bin/wget z\ngit clone https://b.example.org/r\ngit status\n"
        << "net.url a.example.org; net.url b.example.org; net.client shell:curl; net.client shell:git; net.client "
           "shell:wget";
    QTest::newRow("in a substitution") << "x=$(curl -s y)\nz=\"a $(wget b) c\"\nw=`nc d`\n"
                                       << "net.client shell:curl; net.client shell:nc; net.client shell:wget";
    QTest::newRow("in control flow") << "if ! curl x; then wget y; fi\nfor i in 1 2; do ssh h; done\n"
                                     << "net.client shell:curl; net.client shell:ssh; net.client shell:wget";
    QTest::newRow("behind wrappers")
        << "sudo -E env A=1 curl x\nexec nohup wget y\n"
        << "net.client shell:curl; net.client shell:wget; proc.command nohup; proc.command sudo";
    QTest::newRow("piped into a shell")
        << "curl -s https://a.example.org | bash\ncat x | python3 -\ncat x | grep y\n"
        << "net.url a.example.org; net.client shell:curl; code.dynamic | bash; code.dynamic | python3";
    QTest::newRow("installs")
        << "pip install -q 'requests>=2' numpy[x] && pip3 install -r requirements.txt .\npython3 -m pip install "
           "--upgrade pip flask\nuv pip install rich\n"
        << "pkg.install python:flask; pkg.install python:numpy; pkg.install python:requests; pkg.install python:rich";
    QTest::newRow("installs of a folder or an address")
        << "pip install -e packages/own git+https://git.example.org/x six\n"
        << "net.url git.example.org; pkg.install python:six";
    QTest::newRow("more installs") << "npm install -g @scope/a@1 b\nnpm ci\nnpm run build\nnpx -y create-thing "
                                      "my-app\napt-get update && apt-get install -y jq curl\n"
                                   << "pkg.install apt:curl; pkg.install apt:jq; pkg.install npm:@scope/a; pkg.install "
                                      "npm:b; pkg.install npm:create-thing";
    QTest::newRow("over several lines") << "pip install \\\n  one \\\n  two\n"
                                        << "pkg.install python:one; pkg.install python:two";
    QTest::newRow("dynamic code")
        << "eval \"$x\"\nbash -c 'curl y'\npython3 -c 'import lxml; import os; os.system(\"wget z\")'\n"
        << "net.client shell:curl; net.client shell:wget; code.dynamic bash -c; proc.python os.system; code.dynamic "
           "python3 -c; code.dynamic shell:eval; pkg.import python:lxml";
    QTest::newRow("credentials")
        << "echo $API_TOKEN ${DB_PASSWORD:-x}\nMY_KEY=1\necho $MY_KEY $MODE\nFALLBACK_KEY=\"${FALLBACK_KEY:-}\"\n"
        << "env.credential API_TOKEN; env.credential DB_PASSWORD; env.credential FALLBACK_KEY";
    QTest::newRow("single quotes do not read") << "echo '$API_TOKEN'\n" << "";
    QTest::newRow("files")
        << "cat /etc/hosts > /dev/null\ncp ~/.aws/credentials .\nrm -rf /home/user/x\ncat x 2>/dev/null\n"
        << "cred.file .aws/credentials; file.outside /etc/hosts; file.outside /home/user/x; file.outside "
           "~/.aws/credentials";
    QTest::newRow("a here-document of code") << "python3 - <<'EOF'\nimport lxml\nEOF\nimport six\n"
                                             << "pkg.import python:lxml";
    QTest::newRow("a here-document of text")
        << "cat <<-END > x\n\tpip install nothing\n\thttps://a.example.org\n\tEND\npip install six\n"
        << "net.url a.example.org; pkg.install python:six";
    QTest::newRow("arithmetic") << "x=$((1 + (2 * 3)))\ncurl y\n" << "net.client shell:curl";
    QTest::newRow("unfinished") << "curl 'x\nwget y" << "net.client shell:curl";
}

void TestCapabilityRules::markdown_data()
{
    columns();
    const QString head = "---\nname: demo\ndescription: x\n---\n";
    QTest::newRow("prose") << head + "See https://a.example.org, run `pip install x`, read /etc/hosts.\n" << "";
    QTest::newRow("a block") << head + "```bash\npip install six\n```\nText\n~~~python\nimport lxml\n~~~\n"
                             << "pkg.import python:lxml; pkg.install python:six";
    QTest::newRow("no language") << head + "```\ncurl x\n```\n```json\n{\"a\": \"https://a.example.org\"}\n```\n" << "";
    QTest::newRow("indented") << head + "1. Do\n   ```sh\n   curl x\n   ```\nafter `curl`\n" << "net.client shell:curl";
    QTest::newRow("longer fences") << head + "````bash\ncurl x\n```\nwget y\n````\n"
                                   << "net.client shell:curl; net.client shell:wget";
    QTest::newRow("never closed") << head + "```js\nrequire('six')\n" << "pkg.import npm:six";
    QTest::newRow("attributes") << head + "``` {.python}\nimport lxml\n```\n" << "pkg.import python:lxml";
}

void TestCapabilityRules::requirements_data()
{
    columns();
    QTest::newRow("names")
        << "requests==2.31\n# comment\nnumpy>=1 ; python_version > '3'\n-r other.txt\nflask[async]\n\n"
        << "pkg.manifest python:flask; pkg.manifest python:numpy; pkg.manifest python:requests";
    QTest::newRow("addresses") << "--index-url https://index.example.org/simple\ngit+https://git.example.org/x\nname @ "
                                  "https://files.example.org/x.whl\n"
                               << "net.url files.example.org; net.url git.example.org; net.url index.example.org";
}

void TestCapabilityRules::packageJson_data()
{
    columns();
    QTest::newRow("names")
        << R"({"dependencies": {"a": "1", "@s/b": "git+https://git.example.org/b"}, "devDependencies": {"c": "*"}, "scripts": {"test": "x", "postinstall": "curl y"}})"
        << "net.url git.example.org; code.install-hook npm postinstall; pkg.manifest npm:@s/b; pkg.manifest npm:a; "
           "pkg.manifest npm:c";
    QTest::newRow("broken") << "{" << "scan.unreadable package.json";
    QTest::newRow("other shapes") << R"({"dependencies": ["a"], "scripts": 3})" << "";
}

void TestCapabilityRules::pyproject_data()
{
    columns();
    QTest::newRow("project") << "[project]\nname = \"x\"\ndependencies = [\n  \"requests>=2\", # why\n  "
                                "'rich',\n]\n[project.optional-dependencies]\ndev = "
                                "[\"pytest\"]\n[build-system]\nrequires = [\"hatchling\"]\n"
                             << "pkg.manifest python:hatchling; pkg.manifest python:pytest; pkg.manifest "
                                "python:requests; pkg.manifest python:rich";
    QTest::newRow("poetry")
        << "[tool.poetry.dependencies]\npython = \"^3.11\"\nflask = \"*\"\n[tool.black]\nline-length = 1\n"
        << "pkg.manifest python:flask";
}

void TestCapabilityRules::linesAreTold()
{
    const test::Files files({{"a.py", "x = 1\n\ny = '''\nhttps://a.example.org\n'''\nimport lxml\nimport lxml\n"},
                             {"b.sh", "echo \\\n  x\ncurl y\n"},
                             {"SKILL.md", "---\nname: x\n---\n\n```bash\necho\nwget z\n```\n"}});
    std::string all;
    for (const auto& item : test::reportOf(files).items)
        all += item.value + "@" + item.path + ":" + std::to_string(item.line) + "x" + std::to_string(item.places) + " ";
    QCOMPARE(all, "a.example.org@a.py:4x1 shell:curl@b.sh:3x1 shell:wget@SKILL.md:7x1 python:lxml@a.py:6x2 ");
}

QTEST_GUILESS_MAIN(TestCapabilityRules)
#include "tst_capability_rules.moc"
