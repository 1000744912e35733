# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""load_as_compare_py.py FILE: does to FILE what Google Benchmark's tools/compare.py does to its inputs.

The keys are those that its gbench/util.py and gbench/report.py (1.7) index without asking.
"""
import json
import sys

with open(sys.argv[1]) as file:
    run = json.load(file)
assert isinstance(run["context"], dict)
names = [b["name"] for b in run["benchmarks"]]
assert names and len(set(names)) == len(names), "a name met twice would be taken for a repetition"
changes = []
for old, new in zip(run["benchmarks"], run["benchmarks"]):  # a run against itself
    assert old["run_type"] in ("iteration", "aggregate") and old["run_name"]
    assert old["time_unit"] in ("s", "ms", "us", "ns")
    for key in ("real_time", "cpu_time"):
        assert old[key] >= 0
        change = 0.0 if old[key] == 0 and new[key] == 0 else (new[key] - old[key]) / abs(old[key])
        changes.append(change)
    if old.get("error_occurred"):
        assert old["error_message"] and old["real_time"] == 0
    else:
        assert old["iterations"] > 0 and old["real_time"] > 0
assert not any(changes)
assert any(b.get("error_occurred") for b in run["benchmarks"])
