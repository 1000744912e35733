#!/usr/bin/env python3
"""Fails when a lower room includes a higher one. The order is that of the house, lowest first."""
import pathlib
import re
import sys

ROOMS = ["lib/base", "lib/device", "lib/model", "lib/batch", "lib/index", "lib/scenario", "reference",
         "lib/fixture", "lib/cost", "lib/backend", "lib/verify", "backends", "lib/measure", "lib/bench",
         "lib/report", "lib/gate", "lib/profile", "apps"]
# The oracle must not know pages or index arrays: its errors stay independent of the code under test.
FORBIDDEN = {"reference": {"lib/device", "lib/index"}}


def room_of(path):
    return next((room for room in ROOMS if path.startswith(room + "/")), None)


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
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = re.match(r'#include "((?:lib|reference|backends|apps)/[^"]+)"', line)
                there = found and room_of(found[1])
                if not there:
                    continue
                if ROOMS.index(there) > ROOMS.index(here) or there in FORBIDDEN.get(here, ()):
                    faults.append(f"{name}:{number}: {here} may not include {found[1]}")
    print("\n".join(faults) or "layering holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
