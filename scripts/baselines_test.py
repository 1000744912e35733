#!/usr/bin/env python3
"""scripts/baselines on baselines that are made up: what is slower, missing, wrong or of another machine is said.

usage: baselines_test.py <attnbench binary>
"""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = os.path.join(SOURCE, "scripts/baselines")

SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 200}]}
  other: {batch: [{count: 3, mode: decode, kv_len: 100}]}
measure: {cache: [warm], rounds: [12, 12]}
verify: {rows: 8}
backends: [cpu_flash]
"""


class BaselinesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.root = cls.temporary.name
        scenario = os.path.join(cls.root, "kernels_cpu.yaml")
        with open(scenario, "w") as file:
            file.write(SCENARIO)
        path = os.path.join(cls.root, "measured.json")
        subprocess.run([BINARY, "run", scenario, "--threads", "1", "--quiet", "--json", path], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=100)
        with open(path) as file:
            cls.measured = json.load(file)
        for record in cls.measured["records"]:  # exact figures, that no other program on the machine disturbs
            time = record["time_us"]
            time.update(median=100.0, lo=99.5, hi=100.5, q1=99.5, q3=100.5, min=99.0, max=101.0)
            time["blocks"] = [[round, 100.0] for round, _ in time["blocks"]]
            record["status"] = "converged"

    def setUp(self):
        self.work = os.path.join(self.root, self._testMethodName)
        self.folder = os.path.join(self.work, "kept")
        os.makedirs(self.folder)
        shutil.copy(os.path.join(self.root, "kernels_cpu.yaml"), self.folder)
        shutil.copy(os.path.join(SOURCE, "results/baselines/policy.yaml"), self.folder)

    def call(self, verb, measured, *words, code_of_run=0):
        """scripts/baselines with a program that measures `measured`."""
        path = os.path.join(self.work, "now.json")
        with open(path, "w") as file:
            json.dump(measured, file)
        program = os.path.join(self.work, "program")
        with open(program, "w") as file:
            file.write(f'#!/bin/sh\nif [ "$1" != run ]; then exec {BINARY} "$@"; fi\n'
                       f'while [ "$1" != --json ]; do shift; done\ncp {path} "$2"\nexit {code_of_run}\n')
        os.chmod(program, 0o755)
        done = subprocess.run([SCRIPT, verb, "--program", program, "--folder", self.folder, "--out", "out",
                               *words, "cpu"],
                              cwd=self.work, capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout + done.stderr

    def keep(self, measured):
        code, output = self.call("update", measured, "--reason", "the first")
        self.assertEqual(code, 0, output)

    def times_as(self, factor, case="*"):
        run = copy.deepcopy(self.measured)
        for record in run["records"]:
            if case not in ("*", record["case"]):
                continue
            time = record["time_us"]
            for key in ("median", "lo", "hi", "q1", "q3", "min", "max"):
                time[key] *= factor
            time["blocks"] = [[round, us * factor] for round, us in time["blocks"]]
        return run

    def test_equal_figures_are_good(self):
        self.keep(self.measured)
        code, output = self.call("check", self.times_as(1.03))
        self.assertEqual(code, 0, output)
        self.assertIn("no cell is slower", output)

    def test_one_slower_cell_is_red(self):
        self.keep(self.measured)
        code, output = self.call("check", self.times_as(1.25, "tiny"))
        self.assertEqual(code, 1, output)
        self.assertIn("REGRESSED", output)
        self.assertIn("SLOWER", output)
        self.assertIn("attnbench ab --base", output)

    def test_a_cell_that_is_missing_is_red(self):
        self.keep(self.measured)
        fewer = copy.deepcopy(self.measured)
        fewer["records"] = [record for record in fewer["records"] if record["case"] != "tiny"]
        code, output = self.call("check", fewer)
        self.assertEqual(code, 3, output)
        self.assertIn("MISSING", output)

    def test_another_machine_is_said_and_compared_with_nothing(self):
        other = copy.deepcopy(self.measured)
        for device in [other["environment"]["device"], *other["devices"]]:
            device["name"] = "Another Processor"
        self.keep(other)
        code, output = self.call("check", self.measured)
        self.assertEqual(code, 5, output)
        self.assertIn("there is no baseline", output)
        self.assertIn("NOT COMPARED", output)
        self.assertIn("another-processor-1-thread/kernels_cpu.json", output)

    def test_other_options_are_not_compared(self):
        self.keep(self.measured)
        other = copy.deepcopy(self.measured)
        for scenario in other["scenarios"]:
            scenario["sha256"] = "0" * 64
        code, output = self.call("check", other)
        self.assertEqual(code, 5, output)
        self.assertIn("NOT_COMPARABLE", output)

    def test_a_run_that_is_wrong_is_neither_compared_nor_kept(self):
        self.keep(self.measured)
        for verb, words in (("check", []), ("update", ["--reason", "wrong"])):
            code, output = self.call(verb, self.measured, *words, code_of_run=2)
            self.assertEqual(code, 2, output)
            self.assertIn("NOT COMPARED", output)

    def test_a_wrong_command_line_says_what_is_missing(self):
        for words, message in ((["keep"], "check or update is missing"), (["update"], "--reason TEXT is missing"),
                               (["check", "tpu"], "kernels_tpu.yaml")):
            done = subprocess.run([SCRIPT, *words], cwd=self.work, capture_output=True, text=True, timeout=10)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn(message, done.stderr)

    def test_the_scenarios_of_the_project_are_legal(self):
        for name in ("gpu", "cpu"):
            path = os.path.join(SOURCE, f"results/baselines/kernels_{name}.yaml")
            done = subprocess.run([BINARY, "expand", path], capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
