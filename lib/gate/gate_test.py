#!/usr/bin/env python3
"""The gate as a CI server runs it: a backend that is the same passes, one that is wrong or slow is refused.

usage: gate_test.py <attnbench binary>
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GATE = os.path.join(SOURCE, "scripts/ci_gate")

# About 0.1 ms on one core.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 200}]}
measure: {cache: [warm], rounds: [12, 12]}
verify: {rows: 8}
"""
# The machine may run other tests meanwhile: only a change of half the time counts.
POLICY = "limits: {latency: 50%}\n"
ONCE = "attend(plan, pages, visible, token, head);"


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
class GateTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = cls.temporary.name
        for name, text in (("s.yaml", SCENARIO), ("gate.yaml", POLICY)):
            with open(os.path.join(cls.folder, name), "w") as file:
                file.write(text)
        cls.base = cls.program("base", ONCE)
        cls.slow = cls.program("slow", ONCE + ONCE)
        cls.wrong = cls.program("wrong", ONCE.replace("visible", "visible - 1"))

    @classmethod
    def program(cls, name, work):
        """attnbench with a plug-in that does `work` for each row: a build of an engine, so to say."""
        with open(os.path.join(SOURCE, "backends/example_plugin/example_plugin.c")) as file:
            text = file.read()
        assert ONCE in text
        source, library = (os.path.join(cls.folder, name + ending) for ending in (".c", ".so"))
        with open(source, "w") as file:
            file.write(text.replace(ONCE, "{" + work + "}"))
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-I", os.path.join(SOURCE, "lib/backend/include"), source,
                        "-o", library, "-lm"], check=True)
        path = os.path.join(cls.folder, name)
        with open(path, "w") as file:
            # A plug-in is told after the words of `run` alone.
            file.write(f'#!/bin/sh\nif [ "$1" = run ]; then set -- "$@" --plugin {library} --backend example_plugin '
                       f'--threads 1; fi\nexec {BINARY} "$@"\n')
        os.chmod(path, 0o755)
        return path

    @classmethod
    def script(cls, name):
        """The program `name` by the environment, which is read by every command."""
        path = os.path.join(cls.folder, name + "_by_environment")
        with open(path, "w") as file:
            file.write(f'#!/bin/sh\nATTNBENCH_PLUGINS={cls.folder}/{name}.so exec {BINARY} "$@"\n')
        os.chmod(path, 0o755)
        return path

    def gate(self, new, *options, run_options=(), **environment):
        words = [GATE, "--new", new, *options, "--policy", "gate.yaml", "--pairs", "8", "s.yaml"]
        if run_options:
            words += ["--", *run_options]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, **environment})
        return done.returncode, done.stdout + done.stderr

    def test_programs_whose_plug_in_the_environment_names_are_confirmed_to_be_slower(self):
        code, said = self.gate(self.script("slow"), "--base", self.script("base"),
                               run_options=["--backend", "example_plugin", "--threads", "1"])
        self.assertEqual(1, code, said)
        self.assertNotIn("there is a backend", said)

    def equal_programs(self):
        """The exit code of `ab` for one program on both sides, its cells' verdicts, and what it said."""
        done = subprocess.run([BINARY, "ab", "--base", self.base, "--new", self.base, "--pairs", "8", "--policy",
                               "gate.yaml", "--gate", "s.yaml", "--json", "aa.json"],
                              cwd=self.folder, capture_output=True, text=True, timeout=300)
        with open(os.path.join(self.folder, "aa.json")) as file:
            cells = json.load(file)["cells"]
        return done.returncode, [cell["verdict"] for cell in cells], done.stdout + done.stderr

    def test_equal_programs_are_the_same(self):
        code, verdicts, said = self.equal_programs()
        # Other work on the machine may leave a look open (exit code 3). It never makes equal programs differ.
        for _ in range(3):
            if verdicts != ["INCONCLUSIVE"]:
                break
            self.assertEqual(code, 3, said)
            code, verdicts, said = self.equal_programs()
        self.assertEqual((code, verdicts), (0, ["SAME"]), said)

    def test_a_wrong_backend_is_refused(self):
        code, output = self.gate(self.wrong, "--base", self.base)
        self.assertEqual(code, 2, output)
        self.assertIn("INCORRECT", output)

    def test_a_slow_backend_is_refused_once_pairs_confirm_it(self):
        # As the documented workflow does it: a summary, annotations, and options behind --, which reach the pairs too.
        summary = os.path.join(self.folder, "summary.md")
        code, output = self.gate(self.slow, "--base", self.base,
                                 run_options=("--case", "tiny", "--cache", "warm", "--precision", "5%",
                                              "--cell-timeout", "2s", "--rounds", "12,12"),
                                 GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=summary)
        self.assertEqual(code, 1, output)
        self.assertIn("::error", output)
        with open(summary) as file:
            self.assertIn("REGRESSED", file.read())
        self.assertIn("SUSPECT", output)
        self.assertIn("REGRESSED", output)
        for name in ("screen.md", "confirmed.md", "confirmed.xml", "confirmed.json"):
            self.assertTrue(os.path.exists(os.path.join(self.folder, "gate", name)), name)

    def test_a_program_that_ends_without_a_result_is_refused(self):
        path = os.path.join(self.folder, "silent")
        with open(path, "w") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(path, 0o755)
        done = subprocess.run([BINARY, "ab", "--base", self.base, "--new", path, "--pairs", "8", "s.yaml"],
                              cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("exited with code 0", done.stdout)

    def test_a_backend_that_the_new_program_lacks_is_missed(self):
        # The slow program's plug-in has another backend: the one of the base is gone.
        lacking = os.path.join(self.folder, "lacking")
        with open(lacking, "w") as file:
            file.write(f'#!/bin/sh\nif [ "$1" = run ]; then set -- "$@" --backend cpu_flash --threads 1; fi\n'
                       f'exec {BINARY} "$@"\n')
        os.chmod(lacking, 0o755)
        code, output = self.gate(lacking, "--base", self.base, "--out", "lacking_out")
        self.assertEqual(code, 4, output)  # and none that both have
        self.assertIn("MISSING", output)

    def test_without_a_base_program_a_baseline_screens_and_leaves_open_what_is_slower(self):
        run = subprocess.run([self.base, "run", "s.yaml", "--quiet", "--json", "r.json"], cwd=self.folder,
                             capture_output=True, text=True, timeout=100)
        self.assertEqual(run.returncode, 0, run.stderr)
        update = [BINARY, "baseline", "update", "r.json", "--folder", "kept", "--reason", "the first"]
        self.assertEqual(subprocess.run(update, cwd=self.folder, stdout=subprocess.DEVNULL).returncode, 0)
        code, output = self.gate(self.slow, "--baselines", "kept")
        self.assertEqual(code, 3, output)
        self.assertIn("SUSPECT", output)

    def test_a_wrong_command_line_says_what_is_missing(self):
        code, output = self.gate("", "--base", self.base)
        self.assertEqual((code, output.split("\n")[0]), (4, "error: ci_gate: --new PROGRAM is missing"))


if __name__ == "__main__":
    unittest.main()
