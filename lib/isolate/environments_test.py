#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Packages of several Python environments in one run; the environments are scripts that lead to folders of fake packages.

usage: environments_test.py <attnbench binary>
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))

SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  dtype: f32
  kv_cache: {page_size: 4, dtype: f32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 9}]}
measure: {cache: [warm]}
verify: {rows: 8}
"""

EXAMPLE = (pathlib.Path(__file__).resolve().parents[2] / "backends/python_example/python_example.py").read_text()
# The example as a pack: of the package "engine", whose import decides what happens.
PACK = EXAMPLE.replace('    name = "python_example"', """    name = "engine:decode"
    requires, kernel = {"engine": "1.0"}, "engine::decode"
    def load(self):
        import engine
        self.supports = engine.of(self.supports)
        self.plan = getattr(engine, "planned", lambda plan: plan)(self.plan)""")


@unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
class EnvironmentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = self.write("s.yaml", SCENARIO)
        self.pack = self.write("engine_pack.py", PACK)
        self.assertIn("engine:decode", PACK)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def environment(self, name, engine=None, version="1.0", interpreter=None):
        """`--python NAME=…` for an environment with a package whose module has this text, and its interpreter."""
        if engine is not None:
            self.write(f"{name}/engine.py", engine)
            self.write(f"{name}/engine-{version}.dist-info/METADATA", f"Name: engine\nVersion: {version}\n")
        python = self.write(f"{name}/bin/python", interpreter or
                            f'#!/bin/sh\nPYTHONPATH={self.folder / name} exec {sys.executable} "$@"\n')
        os.chmod(python, 0o755)
        return [f"--python={name}={python}"]

    def attnbench(self, *words):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ATTNBENCH_")}
        return subprocess.run([BINARY, *map(str, words)], env=environment, capture_output=True, text=True)

    def run_all(self, *words):
        """What `run` said, and its records by backend."""
        results = self.folder / "r.json"
        results.unlink(missing_ok=True)
        done = self.attnbench("run", self.scenario, "--quick", "--plugin", self.pack, "--json", results, *words)
        found = json.loads(results.read_text())["records"] if results.exists() else []
        return done, {record["backend"]: record for record in found}

    def scenario_text(self, backends):
        return f"{SCENARIO}backends: {backends}\npython: {{v22: v22/bin/python, v33: ./v33/bin/python}}\n"

    WORKS = "def of(supports): return supports\n"

    def test_a_package_of_two_environments_takes_part_from_both(self):
        old, new = self.environment("v22", self.WORKS, "0.22"), self.environment("v33", self.WORKS, "0.33")
        done, records = self.run_all(*old, *new, "--backend", "engine:decode,cpu_flash")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual({name: record["verdict"] for name, record in records.items()},
                         {"v22/engine:decode": "passed", "v33/engine:decode": "passed", "cpu_flash": "passed"})
        self.assertEqual(len({record["fixture_hash"] for record in records.values()}), 1)
        for name, version in (("v22", "0.22"), ("v33", "0.33")):
            record = records[f"{name}/engine:decode"]
            python = str(self.folder / name / "bin/python")
            self.assertEqual(record["packages"], f"engine=={version}")
            self.assertEqual(record["environment"], {"name": name, "python": python})
            self.assertRegex(done.stdout, rf"\n  {name}: engine=={version} in {python}\n")
            self.assertRegex(done.stdout, rf"\n +{name}/engine:decode +warm ")
            again = self.attnbench(*record["repro"].split()[1:])
            self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
            self.assertIn("1 cell", again.stdout)
        compared = self.attnbench("compare", self.folder / "r.json", "--base", "v22/*", "--new", "v33/*")
        self.assertIn("v33/engine:decode", compared.stdout)
        self.assertIn("packages: v22: engine==0.22 in the base, v33: engine==0.33 now", compared.stdout)
        _, one = self.run_all(*old, *new, "--backend", "v33/*")
        self.assertEqual(list(one), ["v33/engine:decode"])
        listed = self.attnbench("list", "backends", "--plugin", self.pack, *old, *new)
        self.assertRegex(listed.stdout, r"\nv33/engine:decode +cpu .*\(engine==0.33 in v33\)\n")

    def test_a_package_of_one_environment_keeps_its_name(self):
        old, new = self.environment("v22"), self.environment("v33", self.WORKS)
        done, records = self.run_all(*old, *new, "--backend", "v33/*")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(records), ["engine:decode"])
        self.assertEqual(records["engine:decode"]["environment"]["name"], "v33")
        done, records = self.run_all(*old, "--backend", "engine:decode")
        self.assertEqual(done.returncode, 4)
        self.assertIn(f"no package engine in {sys.executable}", done.stderr)

    def test_a_pair_stays_in_one_environment(self):
        self.scenario = self.write("s.yaml", SCENARIO.replace("{batch: [", "{batch: [{q_len: 5, mode: extend, prefix_len: 3}, "))
        both = [*self.environment("v22", self.WORKS), *self.environment("v33", self.WORKS)]
        done, records = self.run_all(*both, "--backend", "v33/engine:decode+cpu_flash,v22/engine:decode+v22/engine:decode")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual({record["verdict"] for record in records.values()}, {"passed"})
        done, _ = self.run_all(*both, "--backend", "v33/engine:decode+v22/engine:decode")
        self.assertEqual(done.returncode, 4)
        self.assertIn("its parts are of two environments", done.stderr)

    def test_a_scenario_names_environments(self):
        for name in ("v22", "v33"):
            self.environment(name, self.WORKS)
        self.scenario = self.write("s.yaml", self.scenario_text("[engine_pack.py, 'v33/*']"))
        done, records = self.run_all()
        self.assertEqual((done.returncode, list(records)), (0, ["v22/engine:decode", "v33/engine:decode"]), done.stderr)
        self.scenario = self.write("s.yaml", self.scenario_text("[engine_pack.py]"))
        _, records = self.run_all(*self.environment("mine", self.WORKS))
        self.assertEqual(records["engine:decode"]["environment"]["name"], "mine")

    def test_what_is_wrong_with_one_environment_does_not_end_the_others(self):
        sound = self.environment("sound", self.WORKS)
        nowhere = ["--python=gone=/nowhere/python"]
        shut = self.environment("shut", self.WORKS)
        os.chmod(self.folder / "shut/bin/python", 0o644)
        other = self.environment("other", self.WORKS, interpreter="#!/bin/sh\necho hello\n")
        old = self.environment("old", self.WORKS, interpreter="#!/bin/sh\necho attnbench Python 3.8\n")
        for broken, says in ((nowhere, "/nowhere/python cannot be run; --python names the interpreter"),
                             (shut, "shut/bin/python cannot be run; --python names the interpreter"),
                             (other, "other/bin/python is no Python that runs: it exited with code 0; --python names"),
                             (old, "old/bin/python is of Python before 3.9: Python 3.8; --python names")):
            with self.subTest(broken=broken):
                done, records = self.run_all(*broken, *sound, "--backend", "engine:decode")
                self.assertEqual((done.returncode, list(records)), (5, ["engine:decode"]), done.stderr)
                self.assertEqual(records["engine:decode"]["verdict"], "passed")
                note, error = done.stderr.splitlines()
                self.assertRegex(note, f"^note: environment .*{says}.*; the other environments run on$")
                self.assertRegex(error, f"^error: environment .*{says}.*: 1 of 1 cells were measured and are kept$")
                done = self.attnbench("list", "backends", "--plugin", self.pack, *broken, *sound)
                self.assertEqual(done.returncode, 5)
                self.assertRegex(done.stdout, r"\nengine:decode ")
                self.assertRegex(done.stderr, f"^error: environment .*{says}.*\n$")
                done, records = self.run_all(*broken, "--backend", "engine:decode")
                self.assertEqual((done.returncode, records), (5, {}))
                self.assertRegex(done.stderr, f"^error: .*{says}.*\n$")

    def test_a_package_that_cannot_be_imported_or_hangs_costs_its_own_cells(self):
        sound = self.environment("sound", self.WORKS)
        broken = self.environment("broken", "raise OSError('libtorch.so: no such file')\n")
        hangs = self.environment("hangs", "import time\ntime.sleep(1000)\n")
        done, records = self.run_all(*sound, *broken, *hangs, "--backend", "engine:decode", "--timeout", "3s")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual({name: record["verdict"] for name, record in records.items()},
                         {"sound/engine:decode": "passed", "broken/engine:decode": "unsupported",
                          "hangs/engine:decode": "CRASHED"})
        self.assertRegex(records["broken/engine:decode"]["reason"], r"^absent: engine_pack.py:\d+: OSError: libtorch.so: no such file$")
        self.assertRegex(records["hangs/engine:decode"]["reason"], r"^its process gave no answer within 3 s while ")

    def test_a_timeout_is_taken_where_every_backend_of_a_plugin_is_absent(self):
        done, records = self.run_all(*self.environment("bare"), "--backend", "engine:decode", "--timeout", "3s")
        self.assertNotIn("--timeout", done.stderr)
        self.assertRegex(records["engine:decode"]["reason"], "^no package engine in ")

    def test_a_file_that_only_one_environment_can_read_takes_part_from_there(self):
        self.pack = self.write("mine.py", "import engine\n" + EXAMPLE)
        done, records = self.run_all(*self.environment("bare"), *self.environment("sound", self.WORKS),
                                     "--backend", "python_example")
        self.assertEqual((done.returncode, list(records)), (5, ["python_example"]))
        self.assertRegex(done.stderr, "note: environment bare: plug-in .*/mine.py: mine.py:1: ModuleNotFoundError: ")

    NEW = """
import time
def of(supports): return supports
def planned(plan):
    def replaced(batch):
        made = plan(batch)
        run = made.run
        made.run = lambda stream: (RUN, run(stream))
        made.resolved = "kernel 2"
        return made
    return replaced
"""

    def ab(self, *new):
        old = self.environment("old", self.NEW.replace("RUN", "0").replace("kernel 2", "kernel 1"), "1.0")
        words = [word.removeprefix("--python=") for word in (*old, *new)]
        return self.attnbench("ab", "--base-python", words[0], "--new-python", words[1], "--plugin", self.pack, self.scenario,
                              "--backend", "engine:decode", "--pairs", "8")

    def test_a_version_is_judged_by_pairs_of_processes_whose_interpreter_differs(self):
        done = self.ab(*self.environment("slow", self.NEW.replace("RUN", "time.sleep(0.01)"), "2.0"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"engine:decode .*REGRESSED")
        self.assertIn("packages: old: engine==1.0 in the base, slow: engine==2.0 now", " ".join(done.stdout.split()))
        self.assertRegex(" ".join(done.stdout.split()), "engine:decode, another kernel: .* kernel 1 in the base, .* kernel 2 now")

    def test_a_version_that_is_wrong_is_told(self):
        done = self.ab(*self.environment("wrong", self.NEW.replace("(RUN, run(stream))", "made.out.fill(0)"), "2.0"))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"engine:decode .*INCORRECT")
        done = self.ab("--python=gone=/nowhere/python")
        self.assertEqual((done.returncode, done.stderr), (5, "error: --new-python: /nowhere/python cannot be run\n"))

    def test_names_tell_environments_apart(self):
        one, other = self.environment("v22", self.WORKS)[0], self.environment("v33", self.WORKS)[0]
        for words, says in (([one, other.replace("=v33=", "=v22=")], "two environments are called 'v22'"),
                            ([one, other.replace("=v33=", "=")], "several interpreters need names: --python NAME=/"),
                            ([one.replace("v22", "v 22", 1)], "takes an interpreter, or NAME=INTERPRETER")):
            with self.subTest(words=words):
                done, records = self.run_all(*words)
                self.assertEqual((done.returncode, records), (4, {}))
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
