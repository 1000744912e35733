#!/usr/bin/env python3
"""A wheel that carries its libraries, in a fresh virtual environment, by the lines of README, with no compiler in PATH. Of a
build folder the wheel is made first: nothing is compiled again, it takes what the folder installs. Exits with 77 where pip
cannot get what makes the wheel.

usage: wheel_test.py <build folder or wheel>
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

GIVEN = os.path.abspath(sys.argv.pop(1))
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

BINARIES = ("bin/attnbench", "lib/libattnbench_worker.so")

# What the tag of a wheel promises that a system has. Neither a GPU's driver nor a library of CUDA is among them.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux[\w-]*|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(*command, **given):
    return subprocess.run(command, text=True, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **given)


def is_within(folder, path):
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)


def make_wheel(build, folder):
    """A wheel of what the build folder installs."""
    with open(os.path.join(build, "CMakeCache.txt")) as file:
        if re.search("^CMAKE_CXX_FLAGS:.*-fsanitize", file.read(), re.M):
            skip("no wheel carries the runtime of a sanitizer")
    os.mkdir(os.path.join(folder, "project"))
    with open(os.path.join(folder, "project/CMakeLists.txt"), "w") as file:
        file.write(PROJECT)
    done = run(os.path.join(SOURCE, "apps/wheel/make"), folder,
               env=dict(os.environ, PYTHON=sys.executable, PIP_RETRIES="1", PIP_DEFAULT_TIMEOUT="20",
                        SKBUILD_BUILD_DIR=f"{folder}/build", SKBUILD_CMAKE_SOURCE_DIR=f"{folder}/project",
                        SKBUILD_CMAKE_ARGS=f"-DBUILD={build}"))
    if re.search("No matching distribution found for|ensurepip is not available", done.stdout):
        skip(f"what makes a wheel is not to be had:\n{done.stdout}")
    assert done.returncode == 0, done.stdout
    return glob.glob(f"{folder}/attnbench-*.whl")[0]


def lines_to_type():
    """The lines of README's part on installing, without what they say about themselves; scripts/wheel is not among them."""
    with open(os.path.join(SOURCE, "README.md")) as file:
        part = re.search("^## Install\n(.*?)(?=^## )", file.read(), re.M | re.S).group(1)
    lines = [line.partition("#")[0].strip() for line in part.split("\n") if line.startswith("    ")]
    assert lines[0] == "scripts/wheel", lines
    return lines[1:]


class Environment:
    """A virtual environment that sees the NumPy of this interpreter, with attnbench installed."""

    def __init__(self, wheel, folder):
        self.bin = os.path.join(folder, "venv/bin")
        self.python = os.path.join(self.bin, "python")
        self.program = os.path.join(self.bin, "attnbench")
        made = run(sys.executable, "-m", "venv", "--system-site-packages", f"{folder}/venv")
        if made.returncode != 0:
            skip(f"no virtual environment can be made (apt-get install python3-venv):\n{made.stdout}")
        if run(self.python, "-c", "import numpy").returncode != 0:
            done = self.type("pip install --ignore-installed numpy")  # that of another version may be in sight
            assert done.returncode == 0, done.stdout
        self.packages = glob.glob(f"{folder}/venv/lib/python3*/site-packages")[0]
        os.symlink(os.path.dirname(wheel), os.path.join(folder, "dist"))
        done = self.type(lines_to_type()[0], cwd=folder, PIP_NO_COMPILE="1", PIP_NO_INDEX="1")
        assert done.returncode == 0, done.stdout
        self.about = glob.glob(f"{self.packages}/attnbench-*.dist-info")[0]
        self.installed = os.path.join(self.packages, "attnbench")
        with open(f"{self.installed}/share/attnbench/scenarios/quickstart.yaml", "w") as file:
            file.write(SCENARIO)

    def type(self, line, cwd=None, **variables):
        """Runs a line in a shell as in the active environment, where there is nothing else."""
        return run("/bin/sh", "-c", line, cwd=cwd, env=dict(os.environ, PATH=self.bin, **variables))

    def loader_says(self, name):
        """Where the dynamic loader looks for libraries of an installed file, and a line for each that it finds."""
        loader = [*glob.glob("/lib64/ld-linux-*.so.?"), *glob.glob("/lib/ld-linux-*.so.?")][0]
        return run(loader, "--list", f"{self.installed}/{name}", env=dict(os.environ, LD_DEBUG="libs")).stdout


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.wheel = make_wheel(GIVEN, folder.name) if os.path.isdir(GIVEN) else GIVEN
        cls.environment = Environment(cls.wheel, folder.name)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def attnbench(self, *arguments, **variables):
        """Runs the installed program in an empty folder, outside of its environment."""
        return run(self.environment.program, *arguments, cwd=self.folder,
                   env=dict(os.environ, PATH=self.environment.bin, **variables))

    def test_one_wheel_serves_every_python_3_of_this_kind_of_machine(self):
        with open(os.path.join(self.environment.about, "WHEEL")) as file:
            self.assertRegex(file.read(), r"(?m)^Tag: py3-none-manylinux_2_\d+_\w+$")
        # What pip would do under other interpreters than the one that is here.
        for version in ("3.10", "3.11", "3.12", "3.13", "3.14"):
            done = run(self.environment.python, "-m", "pip", "download", "--no-index", "--no-deps", "--only-binary=:all:",
                       "--python-version", version, "--dest", version, self.wheel, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_each_library_is_carried_or_one_of_every_linux(self):
        carried = f"{self.environment.packages}/attnbench.libs"
        for name in BINARIES:
            said = self.environment.loader_says(name)
            found = re.findall(r"^\t(\S+)(?: => (\S+))?", said, re.M)
            others = [library for library, path in found if not is_within(carried, path)]
            self.assertLess(len(others), len(found), said)
            for library in others:
                self.assertRegex(os.path.basename(library), SYSTEM, name)

    def test_libraries_are_sought_in_the_environment_only(self):
        for name in BINARIES:
            sought = re.findall(r"search path=(\S+)\s+\((?:RPATH|RUNPATH) from", self.environment.loader_says(name))
            self.assertTrue(sought)
            for folder in ":".join(sought).split(":"):
                self.assertTrue(is_within(self.environment.packages, folder), f"{name} looks into {folder}")

    def test_the_licence_of_each_library_is_in_the_wheel(self):
        for licence in ("LICENSE", "lib/page/chart_js_licence.txt"):
            self.assertTrue(os.path.exists(os.path.join(self.environment.about, "licenses", licence)), licence)
        licences = os.listdir(f"{self.environment.installed}/share/doc/attnbench/licences")
        carried = [re.split("-[0-9a-f]{8}", name)[0] for name in os.listdir(f"{self.environment.packages}/attnbench.libs")]
        for library in [*carried, "libcli11", "libeigen3", "libfccp", "nlohmann-json3", "GPL-3"]:
            self.assertTrue([name for name in licences if name.startswith(library)], f"{library}: {licences}")

    def test_scenarios_packs_header_and_completion_are_in_the_wheel(self):
        for folder, installed in (("scenarios", "share/attnbench/scenarios"), ("backends/packs", "share/attnbench/packs"),
                                  ("lib/backend/include", "include")):
            there = [os.path.relpath(path, f"{SOURCE}/{folder}") for end in ("yaml", "csv", "py", "h")
                     for path in glob.glob(f"{SOURCE}/{folder}/**/*.{end}", recursive=True)]
            there = [path for path in there if not re.search("_test.py$|^testing/", path)]
            self.assertTrue(there)
            missing = [path for path in there if not os.path.exists(f"{self.environment.installed}/{installed}/{path}")]
            self.assertEqual(missing, [])
        self.assertTrue(os.path.exists(f"{self.environment.installed}/share/bash-completion/completions/attnbench"))

    def test_a_plug_in_in_c_is_compiled_with_the_header_of_the_wheel(self):
        lines = self.attnbench("new-plugin", "mine", "--c").stdout
        self.assertIn(f" -I {self.environment.installed}/include ", lines)

    def test_pages_have_their_charts(self):
        result = f"{SOURCE}/lib/summary/testdata/sample.json"
        self.assertEqual(self.attnbench("report", result, "-o", "page.html").returncode, 0)
        with open(os.path.join(self.folder, "page.html")) as file:
            self.assertIn("Chart.js Contributors", file.read())

    def test_cuda_backends_are_listed_with_and_without_cuda(self):
        self.assertRegex(self.attnbench("list", "backends").stdout, r"(?m)^splitkv +cuda ")

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
        # Unless another interpreter is named, which may also lack NumPy.
        done = self.attnbench(*run, ATTNBENCH_PYTHON=sys.executable)
        self.assertRegex(done.stdout, f"(no package my-engine in|No module named 'numpy' for) {sys.executable}")

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
