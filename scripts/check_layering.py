#!/usr/bin/env python3
"""Fails when a lower room includes a higher one (cmake/rooms.txt says which is which), when a product
source includes what only tests may (a folder testing/), or when a source includes anything before its own
header: there, a header that misses an include does not compile."""
import pathlib
import re
import sys

HOUSE = pathlib.Path(__file__).parent.parent
LINES = (HOUSE / "cmake/rooms.txt").read_text().splitlines()
ROOMS = [line.split()[0] for line in LINES if line and line[0] != "#"]
# The oracle must not know pages or index arrays: its errors stay independent of the code under test.
FORBIDDEN = {"reference": {"lib/device", "lib/index"}}


def room_of(path):
    return next((room for room in ROOMS if path.startswith(room + "/")), None)


def only_for_tests(name):
    return "/testing/" in name or name.endswith(("_test.cpp", "_bench.cpp"))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    faults = []
    for top in ("lib", "reference", "backends", "apps"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
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
    print("\n".join(faults) or "layering holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
