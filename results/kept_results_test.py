#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Every file of records in results/ can still be read, whichever version wrote it.

usage: kept_results_test.py <attnbench binary>
"""
import lzma
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
RESULTS = pathlib.Path(__file__).resolve().parent


def kept():
    """Of each file of records its name and its text. Reports of `ab` have none."""
    yield from ((name, text) for name, text in kept_json() if b'"records"' in text)


def kept_json():
    for path in sorted(RESULTS.rglob("*.json.xz")):
        yield str(path), lzma.open(path).read()
    for path in sorted(RESULTS.rglob("*.tar.xz")):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.name.endswith(".json"):
                    yield f"{path}: {member.name}", archive.extractfile(member).read()


class KeptResultsTest(unittest.TestCase):
    def test_every_file_of_records_is_read(self):
        names = []
        with tempfile.TemporaryDirectory() as folder:
            file, page = (os.path.join(folder, name) for name in ("records.json", "page.html"))
            for name, text in kept():
                with self.subTest(name):
                    pathlib.Path(file).write_bytes(text)
                    done = subprocess.run([BINARY, "report", file, "--output", page], capture_output=True, text=True,
                                          timeout=120)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                names.append(name)
        self.assertGreater(len(names), 20)


if __name__ == "__main__":
    unittest.main()
