"""Fails where a Markdown page of the repository links to a file that is not there. Links to other sites are not followed."""

import pathlib
import re
import subprocess

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], check=True, capture_output=True).stdout
    return [pathlib.Path(name) for name in listed.decode("utf-8").split("\0") if name]


def text_outside_fences(page):
    fenced, kept = False, []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            kept.append(line)
    return "\n".join(kept)


def main():
    broken = []
    for page in pages():
        if not page.exists():
            continue
        for target in LINK.findall(text_outside_fences(page)):
            path = target.split("#")[0]
            if not path or "://" in path or path.startswith("mailto:"):
                continue
            if not (page.parent / path).exists():
                broken.append("%s: %s" % (page, target))
    if broken:
        raise SystemExit("\n".join(broken))


main()
