"""Checks the last line that examples/worker printed: JSON that says every operation had its effect once and none is left."""

import json
import sys


def main():
    lines = [line for line in open(sys.argv[1], encoding="utf-8").read().splitlines() if line.strip()]
    if not lines:
        raise SystemExit("the worker printed nothing")
    try:
        story = json.loads(lines[-1])
    except ValueError:
        raise SystemExit("the last line is not JSON: %s" % lines[-1])
    print(lines[-1])
    wrong = []
    for name, want in (("double_effects", 0), ("in_flight", 0)):
        if story.get(name) != want:
            wrong.append("%s is %r, want %d" % (name, story.get(name), want))
    if not isinstance(story.get("operations"), int) or story["operations"] < 1:
        wrong.append("operations is %r, want at least 1" % story.get("operations"))
    if story.get("effects") != story.get("operations"):
        wrong.append("effects is %r, want operations, %r" % (story.get("effects"), story.get("operations")))
    if wrong:
        raise SystemExit("; ".join(wrong))


main()
