"""Writes the shell blocks of a Markdown page that CI is to run, one file each, in order.

A block counts when the line `<!-- ci: run -->` stands before its ```sh fence with at most empty lines between.
Prints how many there are; none, a marker without a block, or an open fence is an error.
"""

import pathlib
import sys

MARK = "<!-- ci: run -->"


def blocks(lines):
    found, current, marked, other = [], None, 0, False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if current is not None:
            if text == "```":
                found.append(current)
                current = None
            else:
                current.append(line)
        elif other:
            other = text != "```"
        elif text == MARK:
            if marked:
                raise SystemExit("line %d: marker without a block" % marked)
            marked = number
        elif text.startswith("```"):
            if marked and text != "```sh":
                raise SystemExit("line %d: the block after %s must open with ```sh" % (number, MARK))
            current = [] if marked else None
            other = not marked
            marked = 0
        elif text and marked:
            raise SystemExit("line %d: marker without a block" % marked)
    if current is not None or other:
        raise SystemExit("a code fence is left open")
    return found


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = blocks(page.read_text(encoding="utf-8").splitlines())
    if not found:
        raise SystemExit("%s: no block is marked with %s" % (page, MARK))
    for number, block in enumerate(found, 1):
        (folder / ("block-%02d.sh" % number)).write_text("\n".join(block) + "\n", encoding="utf-8")
    print(len(found))


main()
