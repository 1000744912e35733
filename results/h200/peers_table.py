#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of peers.md: a row per backend, a column per case, the median in microseconds of the faster launch mode.

    peers_table.py peers.json [more.json …]

The fastest of a column is bold, with those whose intervals overlap its own. "g": a replayed graph.
"""
import json
import sys

TABLES = [  # heading, and its cases with their columns' names
    ("Decode", {"decode/count1,kv_len8k": "1 × 8k", "decode/count64,kv_len1k": "64 × 1k",
                "decode/count256,kv_len1k": "256 × 1k", "decode/count64,kv_len8k": "64 × 8k",
                "decode/count1,kv_len128k": "1 × 128k", "azure": "azure", "giant": "63 × 700 + 64k",
                "shared_prefix": "64 behind 8k"}),
    ("Prompts", {"prompts": "8 × 2k", "chunk": "4 × 2k after 8k", "prompt_16k": "16k"}),
    ("MLA and draft trees", {"mla_h16": "MLA, 16 heads, 64 × 4k", "mla_h128": "MLA, 128 heads, 64 × 4k",
                             "tree": "16 trees after 2k"}),
    ("The card's mixes", {"prefix_hits": "prefix_hits", "chunked_prefill": "chunked_prefill", "spec_tree": "spec_tree",
                          "sliding_window": "sliding_window", "mla": "mla"}),
]


def shown(us):
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def table(heading, columns, cells):
    """cells: {(case, backend): the record of the faster launch mode, or a word}."""
    times = {key: value["time_us"] for key, value in cells.items() if isinstance(value, dict)}
    present = {case: name for case, name in columns.items() if any(key[0] == case for key in times)}
    if not present:
        return
    print(f"\n### {heading}\n\n| backend | {' | '.join(present.values())} |\n|---|{'--:|' * len(present)}")
    best = {case: min((time for key, time in times.items() if key[0] == case), key=lambda time: time["median"])
            for case in present}
    backends = sorted({backend for case, backend in cells if case in present},
                      key=lambda name: (min(times[case, name]["median"] / best[case]["median"]
                                            for case in present if (case, name) in times)
                                        if any((case, name) in times for case in present) else 1e9, name))
    for backend in backends:
        row = []
        for case in present:
            value = cells.get((case, backend), "")
            if isinstance(value, dict):
                time = value["time_us"]
                ties = time["lo"] is not None and best[case]["hi"] is not None and time["lo"] <= best[case]["hi"]
                text = shown(time["median"]) + (" g" if value["launch"] == "graph" else "")
                value = f"**{text}**" if ties or time is best[case] else text
            row.append(value)
        print(f"| {backend} | {' | '.join(row)} |")


def main(paths):
    cells = {}
    for path in paths:
        with open(path) as file:
            records = json.load(file)["records"]
        for record in records:
            key = record["case"], record["backend"]
            time, known = record["time_us"], cells.get(key)
            if record["verdict"] in ("CRASHED", "INCORRECT"):
                cells.setdefault(key, record["verdict"].lower())
            elif time and not (isinstance(known, dict) and known["time_us"]["median"] <= time["median"]):
                cells[key] = record
    for heading, columns in TABLES:
        table(heading, columns, cells)


main(sys.argv[1:])
