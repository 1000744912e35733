#!/usr/bin/env python3
"""The lines that README's "Add a backend" tells a reader to type work as they stand there.

usage: readme_test.py <attnbench binary>
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# In the place of the quickstart, which takes half a minute.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 9}, {mode: extend, q_len: 5, prefix_len: 20}]}
measure: {rounds: [3, 3], samples: [1, 1]}
verify: {rows: 8}
"""


def lines_to_type(title):
    """The indented lines of a part of README's page."""
    with open(os.path.join(SOURCE, "README.md")) as file:
        part = re.search(rf"^### {title}\n(.*?)(?=^##)", file.read(), re.M | re.S).group(1)
    return [line.strip() for line in part.split("\n") if line.startswith("    ")]


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("lib/backend", "scenarios", "venv/bin", "bin"):
            os.makedirs(os.path.join(self.folder, name))
        os.symlink(os.path.join(SOURCE, "lib/backend/include"), os.path.join(self.folder, "lib/backend/include"))
        os.symlink(BINARY, os.path.join(self.folder, "bin/attnbench"))
        with open(os.path.join(self.folder, "venv/bin/python"), "w") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        os.chmod(os.path.join(self.folder, "venv/bin/python"), 0o755)
        with open(os.path.join(self.folder, "scenarios/quickstart.yaml"), "w") as file:
            file.write(SCENARIO)

    def type(self, lines):
        """What the last of the lines prints; every one succeeds."""
        self.assertGreaterEqual(len(lines), 2, lines)
        path = os.path.join(self.folder, "bin") + os.pathsep + os.environ["PATH"]
        for line in lines:
            done = subprocess.run(line, shell=True, cwd=self.folder, env=dict(os.environ, PATH=path),
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
            self.assertEqual(done.stderr, "", line)
        return done.stdout

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_a_backend_in_a_shared_object_passes(self):
        self.assertRegex(self.type(lines_to_type("In a shared object")), "mine .*passed")

    def test_a_backend_in_python_passes(self):
        self.assertRegex(self.type(lines_to_type("In Python")), "mine .*passed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
