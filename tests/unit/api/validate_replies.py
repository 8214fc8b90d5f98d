#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Validates recorded replies against openapi.json: validate_replies.py OPENAPI RECORD

A line of RECORD is {"schema": NAME, "body": JSON} or {"method", "path", "status", "headers": {lower-case: value}, "body": JSON or null}.
Prints every violation; exits 1 when there was one or nothing was validated.
"""

import json
import sys

from jsonschema import Draft202012Validator


def load(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def resolve(document, node):
    while "$ref" in node:
        target = document
        for token in node["$ref"].removeprefix("#/").split("/"):
            target = target[token]
        node = target
    return node


def violations(document, schema, body):
    rooted = dict(schema, components=document["components"])
    for error in Draft202012Validator(rooted).iter_errors(body):
        yield f"{error.json_path}: {error.message[:300]}"


def check_reply(document, line):
    operation = document["paths"][line["path"]][line["method"].lower()]
    responses = operation["responses"]
    described = responses.get(str(line["status"]), responses.get("default"))
    if described is None:
        yield f"status {line['status']} is not described"
        return
    described = resolve(document, described)
    for name, header in described.get("headers", {}).items():
        if resolve(document, header).get("required") and name.lower() not in line["headers"]:
            yield f"the header {name} is missing"
    content = described.get("content")
    if content is None:
        return
    media_type = line["headers"].get("content-type", "").split(";")[0]
    entry = content.get(media_type, content.get("*/*"))
    if entry is None:
        yield f"the content type {media_type!r} is not described"
    elif line["body"] is not None:
        yield from violations(document, entry["schema"], line["body"])


def main(openapi, record):
    document = load(openapi)
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    count = bad = 0
    with open(record, encoding="utf-8") as stream:
        for text in stream:
            line = json.loads(text)
            count += 1
            if "schema" in line:
                found = violations(document, {"$ref": "#/components/schemas/" + line["schema"]}, line["body"])
                what = line["schema"]
            else:
                found = check_reply(document, line)
                what = f"{line['method']} {line['path']} {line['status']}"
            for violation in found:
                bad += 1
                print(f"{what}: {violation}")
    print(f"{count} replies, {bad} violations")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
