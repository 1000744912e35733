# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""check_junit.py FILE: the XML parses, and its totals are those of its testcases."""
import re
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
cases = suite.findall("testcase")
assert int(suite.get("tests")) == len(cases)
for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
    found = [c for c in cases if c.find(tag) is not None]
    assert int(suite.get(total)) == len(found) > 0, total
decimal = re.compile(r"[0-9]+(\.[0-9]+)?$")  # the type of time in JUnit's schema
assert all(decimal.match(c.get("time")) for c in [suite, *cases])
assert all(c.get("name") and c.get("classname") and float(c.get("time")) >= 0 for c in cases)
