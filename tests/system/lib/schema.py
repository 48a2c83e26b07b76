#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema.py SCHEMA FILE...: checks JSON files against a JSON Schema.

A checker of our own needs no package, and it refuses a schema with a keyword
that it does not know: nothing is skipped.  With python3-jsonschema both must
agree.
"""
import json
import sys

ANNOTATIONS = {"$schema", "$id", "title", "description"}
KEYWORDS = {"type", "const", "enum", "properties", "required", "additionalProperties",
            "items", "minimum"}
TYPES = {"object": dict, "array": list, "string": str}


def is_type(value, name):
    if name == "null":
        return value is None
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer":
        return isinstance(value, int)
    if name == "number":
        return isinstance(value, (int, float))
    return isinstance(value, TYPES[name])


def members(schema, value, where):
    for name in schema.get("required", []):
        if name not in value:
            yield "%s: %s is missing" % (where, name)
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for name, member in value.items():
        inner = known.get(name, others)
        if inner is False:
            yield "%s: %s is not in the schema" % (where, name)
        else:
            yield from errors(inner, member, where + "." + name)


def errors(schema, value, where="$"):
    unknown = set(schema) - KEYWORDS - ANNOTATIONS
    if unknown:
        yield "%s: the schema has unknown keywords %s" % (where, unknown)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        yield "%s: %r is no %s" % (where, value, " or ".join(types))
        return
    if "const" in schema and value != schema["const"]:
        yield "%s: %r is not %r" % (where, value, schema["const"])
    if "enum" in schema and value not in schema["enum"]:
        yield "%s: %r is not one of %r" % (where, value, schema["enum"])
    if "minimum" in schema and value < schema["minimum"]:
        yield "%s: %r is less than %r" % (where, value, schema["minimum"])
    if isinstance(value, dict):
        yield from members(schema, value, where)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from errors(schema["items"], item, "%s[%d]" % (where, i))


def second_opinion(schema, value):
    try:
        import jsonschema
    except ImportError:
        return
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        yield "jsonschema: " + error.message


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    bad = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            value = json.load(f)
        for error in list(errors(schema, value)) + list(second_opinion(schema, value)):
            print("%s: %s" % (path, error))
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
