#!/usr/bin/env python3
"""The lines that the pages tell a reader to type, to add a backend or to spread a sweep, work as they stand there, and
the guide of scenarios shows what `attnbench expand` says.

usage: readme_test.py <attnbench binary>
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# In the place of the quickstart, which takes longer.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
mixes:
  tiny: {batch: [{count: 2, mode: decode, kv_len: 9}, {mode: extend, q_len: 5, prefix_len: 20}]}
measure: {cache: [warm], rounds: [3, 3], samples: [1, 1]}
verify: {rows: 8}
"""


def lines_to_type(page, title):
    """The indented lines of a part of a page."""
    with open(os.path.join(SOURCE, page)) as file:
        part = re.search(rf"^##+ {title}\n(.*?)(?=^##|\Z)", file.read(), re.M | re.S).group(1)
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

    def test_the_guide_of_scenarios_shows_what_expand_says(self):
        with open(os.path.join(SOURCE, "scenarios/README.md")) as file:
            page = file.read()
        examples = re.findall(r"^```yaml\n(.*?)^```\n```text\n(.*?)^```$", page, re.M | re.S)
        self.assertEqual(len(examples), page.count("```yaml"), "each example is followed by what expand says of it")
        self.assertGreater(len(examples), 15)
        for scenario, said in examples:
            done = subprocess.run([BINARY, "expand", "-"], input=scenario, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, f"{scenario}\n{done.stderr}")
            lines = {" ".join(line.split()) for line in done.stdout.split("\n")}
            for line in said.strip().split("\n"):
                self.assertIn(" ".join(line.split()), lines, scenario)

    def test_the_guide_of_traces_shows_what_trace_says(self):
        os.symlink(os.path.join(SOURCE, "lib/trace"), os.path.join(self.folder, "lib/trace"))
        path = os.path.join(self.folder, "bin") + os.pathsep + os.environ["PATH"]
        with open(os.path.join(SOURCE, "scenarios/traces.md")) as file:
            examples = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```$", file.read(), re.M | re.S)
        self.assertEqual(len(examples), 3)
        for line, said in examples:
            done = subprocess.run(line, shell=True, cwd=self.folder, env=dict(os.environ, PATH=path),
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.stderr, "", line)
            self.assertEqual([text.rstrip() for text in done.stdout.splitlines()], said.splitlines(), line)
        self.type(["attnbench expand served.yaml", "attnbench support served.yaml"])

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_a_backend_in_a_shared_object_passes(self):
        self.assertRegex(self.type(lines_to_type("backends/README.md", "In a shared object")), "mine .*passed")

    def test_a_backend_in_python_passes(self):
        self.assertRegex(self.type(lines_to_type("backends/README.md", "In Python")), "mine .*passed")

    def write_program(self, name, text):
        path = os.path.join(self.folder, "bin", name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)

    def test_a_sweep_is_spread_and_joined(self):
        # What the two programs of a site do with these words, one part after the other.
        self.write_program("sbatch", 'for SLURM_ARRAY_TASK_ID in 1 2 3 4; do export SLURM_ARRAY_TASK_ID; '
                           'sh -c "$3" || exit; done\n')
        self.write_program("mpirun", 'shift 2; for OMPI_COMM_WORLD_RANK in 0 1 2 3; do export OMPI_COMM_WORLD_RANK '
                           'OMPI_COMM_WORLD_LOCAL_RANK=0; "$@" || exit; done\n')
        mixes = "".join(f"  m{i}: {{batch: [{{mode: decode, kv_len: {i + 5}}}]}}\n" for i in range(5))
        with open(os.path.join(self.folder, "sweep.yaml"), "w") as file:
            file.write(re.sub(r"  tiny: .*\n", mixes, SCENARIO) + "backends: [cpu_flash]\n")
        os.remove(os.path.join(self.folder, "bin/attnbench"))
        self.write_program("attnbench", f'[ "$1" = run ] && exec {BINARY} "$@" --quick\nexec {BINARY} "$@"\n')
        lines = lines_to_type("results/README.md", "A long sweep")
        self.assertEqual(len(lines), 4)
        slurm, openmpi, actions, merge = lines
        # As a matrix of Actions has it, the line is the one that Slurm runs.
        words = slurm.split("'")[1].replace("$SLURM_ARRAY_TASK_ID", "${{ matrix.part }}")
        self.assertEqual(actions.split("  ")[0], words)
        for spread in ([slurm], [openmpi]):
            for part in glob.glob(os.path.join(self.folder, "part*.json")):
                os.remove(part)
            self.assertIn("4 files · 1 scenario · 5 cells", self.type([*spread, merge]))

    def test_processes_are_pooled(self):
        with open(os.path.join(self.folder, "s.yaml"), "w") as file:
            file.write(SCENARIO + "backends: [cpu_flash]\n")
        os.remove(os.path.join(self.folder, "bin/attnbench"))
        self.write_program("attnbench", f'[ "$1" = run ] && exec {BINARY} "$@" --quick\nexec {BINARY} "$@"\n')
        run, pool = lines_to_type("results/README.md", "A figure that holds beyond its process")
        self.assertIn("2 files · 1 scenario · 1 cell", self.type([run.replace("seq 16", "seq 2"), pool]))
        with open(os.path.join(self.folder, "pooled.md")) as file:
            self.assertIn("2 processes: too few for an interval", file.read())


if __name__ == "__main__":
    unittest.main(verbosity=2)
