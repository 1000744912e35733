#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""How far six results of pooled processes lie apart: the table and the draws of README.md.

    attnbench merge $(seq -f %g.json 96) --pool -o pool.json; xz pool.json
    pool.py pool.json.xz

The blocks of a pooled cell are the medians of its processes, in the order of the files.
"""
import json
import lzma
import random
import statistics
import sys

SIX, DRAWS = 6, 2000


def pooled(medians, size):
    return [statistics.median(medians[i * size:(i + 1) * size]) for i in range(SIX)]


def spread(values):
    return max(values) / min(values) - 1


def main(path):
    with lzma.open(path) as file:
        records = json.load(file)["records"]
    for record in records:
        medians = [us for _, us in record["time_us"]["blocks"]]
        six = pooled(medians, 16)
        print(f"{record['case']} {record['launch']}: {len(medians)} processes, {statistics.median(medians):.2f} us, "
              f"sd {statistics.pstdev(medians):.2f}, six of 16: {' '.join(f'{us:.2f}' for us in six)}, {spread(six):.2%}")
        draw = random.Random(1)
        for size in (8, 16):
            drawn = [spread(pooled(draw.sample(medians, SIX * size), size)) for _ in range(DRAWS)]
            print(f"  draws of six times {size}: {statistics.median(drawn):.2%}")


main(sys.argv[1])
