#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""`ab --package` over versions of a package that are made here: no network is needed.

usage: ab_package_test.py <attnbench binary>
"""
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

BINARY = os.path.abspath(sys.argv.pop(1))

# A step takes so long that only a planted slowdown counts, and so few processes decide.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  one: {batch: [{count: 1, mode: decode, kv_len: 9}]}
  two: {batch: [{count: 2, mode: decode, kv_len: 9}]}
measure: {cache: [warm], samples: [2, 3]}
verify: {rows: 8}
"""
POLICY = "limits: {latency: 90%}\n"

EXAMPLE = (pathlib.Path(__file__).resolve().parents[2] / "backends/python_example/python_example.py").read_text()
# The example as a pack of the package "engine", beside which the interpreter has the package "torchless".
PACK = EXAMPLE.replace('    name = "python_example"', """    name = "engine:decode"
    requires, kernel = {"engine": "1.0"}, "engine::decode"
    def load(self):
        import engine, torchless
        self.plan = engine.planned(self.plan)""")

MODULE = """
import time
def planned(plan):
    def replaced(batch):
        made = plan(batch)
        run, requests = made.run, len(batch.q_lens)
        def slower(stream):
            time.sleep({sleep} if requests == 1 else 0.02)
            answer = run(stream)
            if requests == 2 and {wrong}: made.out.fill(0)
            return answer
        made.run = slower
        return made
    return replaced
"""


def wheel(folder, version, sleep, wrong):
    """A version in which one request takes `sleep` seconds, and two are answered wrongly where `wrong`."""
    about = f"engine-{version}.dist-info"
    with zipfile.ZipFile(folder / f"engine-{version}-py3-none-any.whl", "w") as file:
        file.writestr("engine.py", MODULE.format(sleep=sleep, wrong=wrong))
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: engine\nVersion: {version}\n")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")


def source(folder, version, setup):
    """A version that is to be built."""
    with tarfile.open(folder / f"engine-{version}.tar.gz", "w:gz") as file:
        member = tarfile.TarInfo(f"engine-{version}/setup.py")
        member.size = len(setup)
        file.addfile(member, io.BytesIO(setup.encode()))


@unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
class AbPackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for name, text in (("s.yaml", SCENARIO), ("gate.yaml", POLICY), ("engine_pack.py", PACK)):
            (cls.folder / name).write_text(text)
        releases = cls.folder / "releases"
        releases.mkdir()
        wheel(releases, "1.0", sleep=0.02, wrong=False)
        source(releases, "1.1", "raise SystemExit('no compiler for this')")
        wheel(releases, "1.2", sleep=0.02, wrong=True)
        wheel(releases, "1.10rc1", sleep=0.02, wrong=True)
        wheel(releases, "1.10", sleep=0.2, wrong=True)
        # As an engine's environment is: a virtual one, which has a package of its own, and sees those of the system.
        cls.python = cls.folder / "venv/bin/python"
        pip_is_there = ["--without-pip"] if importlib.util.find_spec("pip") else []
        subprocess.run([sys.executable, "-m", "venv", *pip_is_there, "--system-site-packages", cls.folder / "venv"], check=True)
        packages = next((cls.folder / "venv").glob("lib/python*/site-packages"))
        (packages / "torchless.py").touch()

        # Ceilings that the machine's other tests keep; the environments that this one makes are its own.
        kept = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "/nowhere"), "attnbench")
        (cls.folder / "cache/attnbench").mkdir(parents=True)
        for ceilings in kept.glob("ceilings-*.json"):
            shutil.copy(ceilings, cls.folder / "cache/attnbench")

    def ab(self, versions, *words, package="engine", python=None, **variables):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("ATTNBENCH_", "PIP_"))}
        environment = {**kept, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder / "releases"),
                       "XDG_CACHE_HOME": str(self.folder / "cache"), **variables}
        return subprocess.run([BINARY, "ab", f"--package={package}", "--versions", versions, "--python", python or self.python,
                               "--plugin", "engine_pack.py", "--backend", "engine:decode", "--policy", "gate.yaml", "--pairs", "8",
                               "--threads", "1", "s.yaml", *words], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300)

    def test_each_cell_is_told_the_version_that_changed_it(self):
        done = self.ab("1.0..1.10", "--json", "r.json")
        self.assertEqual((done.returncode, done.stderr), (2, ""), done.stdout)
        self.assertRegex(done.stdout, r"\n1\.10 +1\.2 +engine:decode  one +warm .* → .* REGRESSED\n")
        self.assertRegex(done.stdout, r"\n1\.1 … 1\.2 +1\.0 +engine:decode  two +warm +INCORRECT\n")
        self.assertIn("note: 1.1 was skipped: it does not build: no compiler for this\n", done.stdout)
        self.assertRegex(done.stdout, r"\n2 cells changed · 0 without a change · 2 comparisons · exit 2\n$")
        report = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(report["versions"], ["1.0", "1.1", "1.2", "1.10"])
        changes = {cell["case"]: [(each["after"], each["changed_by"]) for each in cell["changes"]] for cell in report["cells"]}
        self.assertEqual(changes, {"one": [("1.2", "1.10")], "two": [("1.0", "1.2")]})
        self.assertEqual({path.name.rsplit("-", 1)[0] for path in (self.folder / "cache/attnbench/environments").glob("engine*")},
                         {"engine-1.0", "engine-1.2", "engine-1.10"})

    def test_bad_input_is_a_sentence(self):
        bare = self.folder / "bare/bin/python"
        if not bare.exists():
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "bare"], check=True)
        for code, says, given in (
                (4, "--package: pip finds no package motor with a final release for Python 3", {"package": "motor"}),
                (4, "--package: '--no-deps' is no name of a package", {"package": "--no-deps"}),
                (5, "engine 1.1 cannot be had, so name another end: it does not build: no compiler", {"versions": "1.1..1.2"}),
                (5, f"{bare} has no pip", {"python": bare}),
                (5, "/dev/null", {"XDG_CACHE_HOME": "/dev/null"})):
            with self.subTest(says=says):
                done = self.ab(**{"versions": "1.0..1.10", **given})
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertRegex(done.stderr, "^error: .*\n$")
                self.assertIn(says, done.stderr)

    def test_a_package_that_goes_before_every_version_is_told(self):
        done = self.ab("1.0..1.10", PYTHONPATH=str(next((self.folder / "releases").glob("engine-1.2-*"))))
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertIn("another engine stands before every version", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
