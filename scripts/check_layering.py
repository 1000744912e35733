#!/usr/bin/env python3
"""Fails when a lower room includes a higher one (cmake/rooms.txt says which is which), when a product
source includes what only tests may (a folder testing/), or when a source includes anything before its own
header: there, a header that misses an include does not compile. Fails, too, when a product file has more than 400
lines or a folder such as lib/batch more than 60 sources, which nobody reads as a whole."""
import collections
import pathlib
import re
import sys

HOUSE = pathlib.Path(__file__).parent.parent
LINES = (HOUSE / "cmake/rooms.txt").read_text().splitlines()
ROOMS = [line.split()[0] for line in LINES if line and line[0] != "#"]
# The oracle must not know pages or index arrays: its errors stay independent of the code under test.
FORBIDDEN = {"reference": {"lib/device", "lib/index"}}
TOPS = ("lib", "reference", "backends", "apps")
SOURCES = {".h", ".cpp", ".cu", ".cuh"}
MOST_LINES, MOST_SOURCES = 400, 60


def room_of(path):
    return next((room for room in ROOMS if path.startswith(room + "/")), None)


def only_for_tests(name):
    return "/testing/" in name or name.endswith(("_test.cpp", "_test.py", "_bench.cpp"))


def too_large(root):
    """What has too many lines, or too many sources with the tests in it."""
    sources = collections.Counter()
    for top in (*TOPS, "scripts"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES | {".c", ".py"}:
                name = path.relative_to(root)
                sources["/".join(name.parts[:-1][:2])] += 1
                lines = path.read_text().count("\n")
                if lines > MOST_LINES and not only_for_tests(name.as_posix()):
                    yield f"{name}: {lines} lines, of at most {MOST_LINES}"
    for folder, count in sources.items():
        if count > MOST_SOURCES:
            yield f"{folder}: {count} sources, of at most {MOST_SOURCES}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    faults = list(too_large(root))
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            name = path.relative_to(root).as_posix()
            here = room_of(name)
            if here is None:
                faults.append(f"{name}: stands in no room")
                continue
            own = path.with_suffix(".h").relative_to(root).as_posix()
            has_own = path.suffix == ".cpp" and (root / own).exists()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if has_own and line.startswith("#include"):
                    if line != f'#include "{own}"':
                        faults.append(f"{name}:{number}: its own header {own} comes first")
                    has_own = False
                found = re.match(r'#include "((?:lib|reference|backends|apps)/[^"]+)"', line)
                there = found and room_of(found[1])
                if not there:
                    continue
                if only_for_tests(found[1]) and not only_for_tests(name):
                    faults.append(f"{name}:{number}: {found[1]} is for tests only")
                if ROOMS.index(there) > ROOMS.index(here) or there in FORBIDDEN.get(here, ()):
                    faults.append(f"{name}:{number}: {here} may not include {found[1]}")
    print("\n".join(faults) or "layering holds, and no file or folder is too large")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
