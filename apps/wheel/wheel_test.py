#!/usr/bin/env python3
"""The lines by which README installs attnbench, in a fresh virtual environment, and what they install. Exits with 77 where
pip cannot get scikit-build-core. Nothing is compiled again: the wheel takes what the build folder installs.

usage: wheel_test.py <build folder>
"""
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Stands in for CMakeLists.txt, by an option of scikit-build-core.
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(attnbench LANGUAGES NONE)
install(CODE "execute_process(COMMAND \\"${CMAKE_COMMAND}\\" --install \\"${BUILD}\\" --strip
                                      --prefix \\"\\${CMAKE_INSTALL_PREFIX}\\" COMMAND_ERROR_IS_FATAL ANY)")
"""

# Stands in for the installed quickstart, which takes longer.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 9}, {mode: extend, q_len: 5, prefix_len: 20}]}
measure: {rounds: [3, 3], samples: [1, 1]}
verify: {rows: 8}
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def lines_to_type():
    """The lines of README's part on installing, without what they say about themselves, and without the Debian packages."""
    with open(os.path.join(SOURCE, "README.md")) as file:
        part = re.search("^## Install\n(.*?)(?=^## )", file.read(), re.M | re.S).group(1)
    lines = [line.partition("#")[0].strip() for line in part.split("\n") if line.startswith("    ")]
    return lines[1:] if lines[0] == "scripts/setup" else lines


class Environment:
    """A virtual environment that sees the NumPy of this interpreter, with attnbench installed."""

    def __init__(self, folder):
        self.bin = os.path.join(folder, "venv/bin")
        self.python = os.path.join(self.bin, "python")
        self.program = os.path.join(self.bin, "attnbench")
        made = self.type(f"{sys.executable} -m venv --system-site-packages {folder}/venv")
        if made.returncode != 0:
            skip(f"no virtual environment can be made (apt-get install python3-venv):\n{made.stdout}")
        self.packages = glob.glob(f"{folder}/venv/lib/python3*/site-packages")[0]
        os.mkdir(os.path.join(folder, "project"))
        with open(os.path.join(folder, "project/CMakeLists.txt"), "w") as file:
            file.write(PROJECT)
        install = lines_to_type()[0]
        assert install == "pip install .", install
        done = self.type(install, cwd=SOURCE, PIP_NO_COMPILE="1", PIP_RETRIES="1", PIP_DEFAULT_TIMEOUT="20",
                         SKBUILD_BUILD_DIR=f"{folder}/build", SKBUILD_CMAKE_SOURCE_DIR=f"{folder}/project",
                         SKBUILD_CMAKE_ARGS=f"-DBUILD={BUILD}")
        if re.search("install(ing)? build dependencies.* did not run successfully", done.stdout):
            skip(f"pip cannot get scikit-build-core:\n{done.stdout}")
        assert done.returncode == 0, done.stdout
        self.about = glob.glob(f"{self.packages}/attnbench-*.dist-info")[0]
        with open(f"{self.packages}/attnbench/share/attnbench/scenarios/quickstart.yaml", "w") as file:
            file.write(SCENARIO)

    def type(self, line, cwd=None, **variables):
        """Runs a line in a shell as in the active environment."""
        variables = dict(os.environ, PATH=self.bin + os.pathsep + os.environ["PATH"], **variables)
        return subprocess.run(line, shell=True, cwd=cwd, env=variables, text=True, timeout=300, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.environment = Environment(folder.name)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def attnbench(self, *arguments, **variables):
        """Runs the installed program in an empty folder, outside of its environment."""
        return subprocess.run([self.environment.program, *arguments], cwd=self.folder, env=dict(os.environ, **variables),
                              text=True, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_one_wheel_serves_every_python_3_of_this_kind_of_machine(self):
        with open(os.path.join(self.environment.about, "WHEEL")) as file:
            self.assertRegex(file.read(), r"(?m)^Tag: py3-none-linux_\w+$")
        for licence in ("LICENSE", "lib/page/chart_js_licence.txt"):
            self.assertTrue(os.path.exists(os.path.join(self.environment.about, "licenses", licence)), licence)

    def test_the_wheel_and_the_program_have_one_version(self):
        with open(os.path.join(self.environment.about, "METADATA")) as file:
            version = re.search("^Version: (.*)$", file.read(), re.M).group(1)
        self.assertEqual(self.attnbench("--version").stdout, f"attnbench {version}\n")

    def test_the_lines_of_the_readme_work_in_another_folder(self):
        scenario, packs = lines_to_type()[1:]
        done = self.environment.type(scenario, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "cpu_flash .*passed")
        done = self.environment.type(packs, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        # An engine that is missing: where it was looked for. Torch also serves programs that were built without CUDA.
        self.assertRegex(done.stdout, f"torch:sdpa_math_cpu .*absent: .*no package torch .*in {self.environment.bin}/python")

    def test_plug_ins_find_the_packages_that_stand_beside_attnbench(self):
        package = os.path.join(self.environment.packages, "my_engine-1.0.dist-info")
        os.mkdir(package)
        with open(os.path.join(package, "METADATA"), "w") as file:
            file.write("Metadata-Version: 2.1\nName: my-engine\nVersion: 1.0\n")
        self.assertEqual(self.attnbench("new-plugin", "mine", "--python").returncode, 0)
        with open(os.path.join(self.folder, "mine.py"), "a") as file:
            file.write('PythonExample.requires = {"my-engine": "1.0"}\n')
        run = ("run", "quickstart", "--quick", "--plugin", "mine.py", "--backend", "mine")
        self.assertRegex(self.attnbench(*run).stdout, "mine .*passed")
        # Unless another interpreter is named.
        done = self.attnbench(*run, ATTNBENCH_PYTHON=sys.executable)
        self.assertIn(f"no package my-engine in {sys.executable}", done.stdout)

    def test_python_m_attnbench_becomes_the_program(self):
        process = subprocess.Popen([self.environment.python, "-m", "attnbench", "expand", "-"], cwd=self.folder,
                                   stdin=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        program = f"{self.environment.packages}/attnbench/bin/attnbench"
        deadline = time.monotonic() + 60
        while not os.path.samefile(f"/proc/{process.pid}/exe", program):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        with open(f"/proc/{process.pid}/status") as file:
            ignored = int(re.search(r"SigIgn:\s*(\w+)", file.read()).group(1), 16)
        self.assertEqual(ignored, 0)
        process.terminate()
        self.assertEqual(process.wait(60), -signal.SIGTERM)

    def test_exit_codes_and_messages_are_those_of_the_program(self):
        for call in ([self.environment.program], [self.environment.python, "-m", "attnbench"]):
            done = subprocess.run([*call, "run", "quickstrat"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
            self.assertIn("did you mean 'quickstart'?", done.stderr)

    def test_an_interpreter_that_is_gone_is_named(self):
        done = self.attnbench("list", "backends", "--plugin", "packs/torch", ATTNBENCH_PYTHON="/gone/python")
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertRegex(done.stdout, r"^error: \S+/torch_pack.py: /gone/python cannot be run; --python names the interpreter\n$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
