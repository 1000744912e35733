#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/engines, with an interpreter that only writes down what it is asked for."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/engines"
sys.dont_write_bytecode = True

INTERPRETER = r"""#!/bin/sh
echo "$@" >> "$LOG"
case "$*" in
  *--report*missing*|*--report*==9*) echo "ERROR: no such version" >&2; exit 1;;
  *--report*) echo '{"install": [{"metadata": {"version": "0.33.0"}}]}';;
  *venv*) shift 2; mkdir -p "$1/bin"; cp "$0" "$1/bin/python";;
  *importlib.metadata*) echo '["torch==2.14.0", "fastapi>=1", "quack_kernels>=0.6; extra == \"x\"", "einops", "flashinfer_python[cu13]==0.7"]';;
  *"$FAILS"*) exit 1;;
esac
"""


@unittest.skipUnless(SCRIPT.exists(), "scripts are not installed")
class EnvironmentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.python = self.folder / "python"
        self.python.write_text(INTERPRETER)
        self.python.chmod(0o755)

    def engines(self, *arguments, python=None, fails="nothing"):
        environment = dict(os.environ, PYTHON=str(python or self.python), LOG=str(self.folder / "log"), FAILS=fails)
        done = subprocess.run([sys.executable, str(SCRIPT), *arguments, "--folder", str(self.folder / "engines")],
                              env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_an_engine_gets_the_versions_that_it_pins_itself(self):
        code, out = self.engines("vllm")
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"attnbench list backends --plugin packs --python \S+engines/vllm-0\.33\.0/bin/python")
        log = (self.folder / "log").read_text()
        self.assertIn("pip install --quiet --no-deps vllm==0.33.0\n", log)
        self.assertIn("pip install --quiet --no-warn-conflicts einops flashinfer_python[cu13]==0.7 torch==2.14.0 apache-tvm-ffi numpy nvidia-cutlass-dsl packaging "
                      "quack-kernels\n", log)
        self.assertRegex(self.engines("vllm")[1], "vllm-0.33.0 is there already")

    def test_packages_that_are_no_engines_come_with_all_their_needs(self):
        self.assertEqual(self.engines("kernels", "flashinfer-python==0.33.0")[0], 0)
        log = (self.folder / "log").read_text()
        self.assertIn("pip install --quiet flashinfer-python flash-attn-4 ", log)
        self.assertIn("pip install --quiet flashinfer-python==0.33.0\n", log)
        self.assertEqual(sorted(os.listdir(self.folder / "engines")), ["flashinfer-python-0.33.0", "kernels"])

    def test_bad_input_is_said_in_a_sentence(self):
        for arguments, told in ((["tensorrt"], "engines: tensorrt: there is vllm, sglang, kernels, and of packages "),
                                (["vllm=="], "engines: vllm==: a version is written vllm==1.2.3"),
                                (["vllm==new"], "engines: vllm==new: a version is written vllm==1.2.3"),
                                (["kernels==1.0"], "kernels has no version; name a package, flashinfer-python==1.0"),
                                (["vllm==9.9"], "engines: pip finds no vllm==9.9 for ")):
            code, out = self.engines(*arguments)
            self.assertEqual(code, 2, out)
            self.assertIn(told, out)
        code, out = self.engines("vllm", python="/nowhere/python")
        self.assertEqual((code, out), (2, "engines: there is no interpreter /nowhere/python: PYTHON names one\n"))
        (self.folder / "engines/vllm-0.33.0").mkdir(parents=True)
        self.assertRegex(self.engines("vllm")[1], "vllm-0.33.0 is there, and no environment")

    def test_what_was_made_of_an_environment_is_taken_away_where_pip_fails(self):
        code, out = self.engines("vllm", fails="--no-deps")
        self.assertEqual(code, 1, out)
        self.assertRegex(out, r"bin/python -m pip install --quiet --no-deps ended with code 1")
        self.assertEqual(os.listdir(self.folder / "engines"), [])


if __name__ == "__main__":
    unittest.main()
