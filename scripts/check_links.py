#!/usr/bin/env python3
"""Fails when a page links to a file or a heading that is not there, or names a script that is not there.

usage: check_links.py [FOLDER]

Every *.md below the folder is read, which is the repository unless it is named. Links to other sites are not followed."""
import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+(?:\([^()]*\))?[^()\s]*)\)")
SCRIPT = re.compile(r"(?<![\w./-])(?:\.\./\w+/)?(scripts/[\w.-]*\w)")


def pages(folder):
    return sorted(path for path in folder.rglob("*.md")
                  if not any(part.startswith("build") or part in (".git", "engines") for part in
                             path.relative_to(folder).parts[:-1]) or "lib/engines" in path.as_posix())


def lines_outside_code(text):
    """Each line with its number; a fenced block is empty, since what it shows is no link."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchor(heading):
    """The anchor that GitHub makes of a heading: lower case, without punctuation, blanks as hyphens."""
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")


def anchors(path, known={}):
    if path not in known:
        found = set()
        for _, line in lines_outside_code(path.read_text(encoding="utf-8")):
            heading = re.match(r"#+ +(.*)", line)
            if heading:
                name, again = anchor(heading.group(1)), 0
                while (name if again == 0 else f"{name}-{again}") in found:
                    again += 1
                found.add(name if again == 0 else f"{name}-{again}")
        known[path] = found
    return known[path]


def mistakes_of(page, folder):
    text = page.read_text(encoding="utf-8")
    for number, line in lines_outside_code(text):
        # Code spans show what somebody types: a bracket in them begins no link.
        for target in LINK.findall(re.sub(r"`[^`]*`", lambda code: "`" * len(code.group()), line)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, name = target.partition("#")
            path = (page.parent / file).resolve() if file else page
            if not path.exists():
                yield number, f"{target}: there is no such file"
            elif name and path.suffix == ".md" and name not in anchors(path):
                yield number, f"{target}: the page has no such heading"
    for number, line in enumerate(text.split("\n"), 1):
        for script in SCRIPT.findall(line):
            if not (folder / script).exists():
                yield number, f"{script}: there is no such script"


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    found = pages(folder)
    mistakes = [f"{page.relative_to(folder)}:{number}: {mistake}"
                for page in found for number, mistake in mistakes_of(page, folder)]
    for mistake in mistakes:
        print(mistake)
    print(f"{len(found)} pages, {len(mistakes)} dead links")
    return 1 if mistakes or not found else 0


if __name__ == "__main__":
    sys.exit(main())
