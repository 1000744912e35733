# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""validate_json.py RESULT SCHEMA: the result is valid, and a damaged one is not."""
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


for change in (lambda r: r["records"][0].pop("verdict"),
               lambda r: r["records"][0].update(verdict="fine"),
               lambda r: r["records"][0].update(surprise=1),
               lambda r: r["records"][0]["time_us"].update(median="fast"),
               lambda r: r.update(schema_version="0.9"),
               lambda r: r.pop("environment")):
    if check.is_valid(damaged(change)):
        faults.append("the schema lets a damaged result pass")
        print(faults[-1])
sys.exit(1 if faults else 0)
