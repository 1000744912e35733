#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""How far the results of equal processes lie apart, and how often intervals cover: the table of README.md.

    for n in $(seq 70); do attnbench run coverage.yaml --json $n.json; done
    coverage.py $(seq -f %g.json 70)
"""
import collections
import json
import math
import random
import statistics
import sys

PAIRS, DRAWS = 20, 4000


def order(confidence):
    """k, so that the k-th smallest and k-th largest of PAIRS values enclose the median with this confidence."""
    outside = lambda k: 2 * sum(math.comb(PAIRS, i) for i in range(k)) / 2**PAIRS
    return max(k for k in range(1, PAIRS // 2 + 1) if 1 - outside(k) >= confidence)


def main(paths):
    cells = collections.defaultdict(list)
    for path in paths:
        with open(path) as file:
            for record in json.load(file)["records"]:
                time = record["time_us"]
                cells[record["case"], record["launch"]].append((time["median"], time["lo"], time["hi"]))
    draw, k95, k99 = random.Random(1), order(0.95), order(0.99)
    for cell, times in cells.items():
        medians = [median for median, _, _ in times]
        middle = statistics.median(medians)
        own = sum(lo <= middle <= hi for _, lo, hi in times) / len(times)
        held95 = held99 = 0
        half_widths = []
        for _ in range(DRAWS):
            some = draw.sample(medians, 2 * PAIRS)
            ratios = sorted(math.log(a / b) for a, b in zip(some[:PAIRS], some[PAIRS:]))
            held95 += ratios[k95 - 1] <= 0 <= ratios[-k95]
            held99 += ratios[k99 - 1] <= 0 <= ratios[-k99]
            half_widths.append((ratios[-k99] - ratios[k99 - 1]) / 2)
        sixes = [max(six) / min(six) - 1 for six in zip(*[iter(medians)] * 6)]
        print(f"{' '.join(cell)}: {middle:.1f} us, sd {statistics.pstdev(medians):.2f}, own interval {own:.0%}, "
              f"20 pairs {held95 / DRAWS:.1%} {held99 / DRAWS:.1%}, half-width {statistics.median(half_widths):.1%}, "
              f"six {statistics.median(sixes):.1%}")


main(sys.argv[1:])
