"""Runs a command that prints `go test -json`, shows failures as go test would, and writes "passed failed skipped".

Every test and subtest counts once. A package that does not build or that fails outside its tests counts as one failure,
so that a failing command can never end with none.
With --require FILE, each test named there ("package Test" a line) must have passed: a skip of one is a failure.
"""

import argparse
import collections
import json
import subprocess
import sys


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", required=True)
    parser.add_argument("--require")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


class Run:
    def __init__(self):
        self.results = {}  # (package, test) -> pass, fail or skip
        self.output = collections.defaultdict(list)
        self.broken = []  # what failed without a test of its own

    def feed(self, line):
        try:
            event = json.loads(line)
        except ValueError:
            print(line, end="")
            return
        action = event.get("Action")
        package = event.get("Package") or event.get("ImportPath", "")
        key = (package, event.get("Test", ""))
        if action in ("output", "build-output"):
            self.output[key].append(event["Output"])
        elif action == "build-fail":
            print("".join(self.output[key]), end="")
        elif action in ("pass", "fail", "skip"):
            self.end(key, action, event.get("Elapsed", 0))

    def end(self, key, action, elapsed):
        package, test = key
        if test:
            self.results[key] = action
            if action == "fail":
                print("".join(self.output[key]), end="")
            elif action == "skip":
                print("skip  %s %s: %s" % (package, test, self.reason(key)))
            return
        if action == "fail":
            named = any(p == package and t and r == "fail" for (p, t), r in self.results.items())
            if not named:
                self.broken.append(package)
                print("".join(self.output[key]), end="")
            print("FAIL  %s (%.1f s)" % (package, elapsed))
        elif action == "pass":
            print("ok    %s (%.1f s)" % (package, elapsed))

    def reason(self, key):
        lines = [line.strip() for line in self.output[key] if not line.lstrip().startswith(("===", "---"))]
        return " ".join(lines) or "no reason given"

    def missing(self, path):
        with open(path, encoding="utf-8") as file:
            wanted = [tuple(line.split()) for line in file if line.strip()]
        return [key for key in wanted if self.results.get(key) != "pass"]


def main():
    args = parse()
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    run = Run()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace") as process:
        for line in process.stdout:
            run.feed(line)
    counts = collections.Counter(run.results.values())
    failed = counts["fail"] + len(run.broken)
    if args.require:
        for package, test in run.missing(args.require):
            got = run.results.get((package, test), "not run")
            if got != "fail":  # counted already
                failed += 1
                print("FAIL  %s %s must pass here, got: %s" % (package, test, got))
    if process.returncode != 0 and failed == 0:
        failed = 1
        print("FAIL  %s: exit %d without a failed test" % (" ".join(command), process.returncode))
    if not run.results and failed == 0:
        failed = 1
        print("FAIL  %s: no test was run" % " ".join(command))
    with open(args.counts, "w", encoding="utf-8") as file:
        file.write("%d %d %d\n" % (counts["pass"], failed, counts["skip"]))
    sys.exit(1 if failed else 0)


main()
