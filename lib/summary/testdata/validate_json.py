# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""validate_json.py RESULT SCHEMA: the result is valid, and a damaged one is not.

A result without records is only validated itself: there is little to damage.
"""
import copy
import json
import sys

import jsonschema

result = json.load(open(sys.argv[1]))
schema = json.load(open(sys.argv[2]))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
check = validator(schema)
faults = [f"{list(e.absolute_path)}: {e.message}" for e in check.iter_errors(result)]
print("\n".join(faults), end="")


def damaged(change):
    copied = copy.deepcopy(result)
    change(copied)
    return copied


def changes():
    yield lambda r: r.update(schema_version="0.9")
    yield lambda r: r.pop("environment")
    if not result["records"]:
        return
    yield lambda r: r["records"][0].pop("verdict")
    yield lambda r: r["records"][0].update(verdict="fine")
    yield lambda r: r["records"][0].update(surprise=1)
    yield lambda r: r["records"][0].update(time_us={"median": "fast"})


for change in changes():
    if check.is_valid(damaged(change)):
        faults.append("the schema lets a damaged result pass")
        print(faults[-1])
sys.exit(1 if faults else 0)
