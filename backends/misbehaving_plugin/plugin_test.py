#!/usr/bin/env python3
"""When a plug-in misbehaves, only its own cells are lost, with a message.

usage: plugin_test.py <attnbench binary> <misbehaving_plugin.so> <example_plugin.so>
"""
import importlib.util
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

EXAMPLE = os.path.abspath(sys.argv.pop(3))
PLUGIN = os.path.abspath(sys.argv.pop(2))
BINARY = os.path.abspath(sys.argv.pop(1))
PYTHON_EXAMPLE = os.path.join(os.path.dirname(__file__), "../python_example/python_example.py")

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


# Each of its backends does one thing that a plug-in must not do, and computes nothing.
PYTHON_PLUGIN = """
import os, time

class Base:
    def supports(self, problem): pass
    def numerics(self, problem): pass
    def plan(self, batch): return self
    def run(self, stream): pass

class A(Base):
    name = "py_throws_in_supports"
    def supports(self, problem): raise KeyError("table")
class B(Base):
    name = "py_refuses"
    def supports(self, problem): return "not on a " + problem.mode
class C(Base):
    name = "py_throws_in_numerics"
    def numerics(self, problem): return {"p": "f12"}
class Rounds(Base):
    name = "py_rounds_never"
    def numerics(self, problem): return {"partial_roundings": 0}
class D(Base):
    name = "py_throws_in_plan"
    def plan(self, batch): return batch.tensor("no such thing")
class E(Base):
    name = "py_throws_in_run"
    def run(self, stream):
        raise ValueError("out of luck")
class F(Base):
    name = "py_has_no_run"
    def plan(self, batch): return 5
class G(Base):
    name = "py_exits"
    def run(self, stream): os._exit(3)
class H(Base):
    name = "py_quits"
    def run(self, stream): raise SystemExit(0)
class I(Base):
    name = "py_hangs"
    def run(self, stream): time.sleep(1000)
class J(Base):
    name = "py_crashes"
    def run(self, stream): os.kill(os.getpid(), 11)
class K(Base):
    name = "py_computes_nothing"
class L(Base):
    name = "py_allocates_in_run"
    def run(self, stream): bytearray(1 << 20)
class M(Base):
    name = "py_leaks_in_run"
    lost = []
    def run(self, stream): self.lost.append(bytes(2 << 30))  # untouched pages take no memory
class Prints(Base):
    name = "py_prints"
    def run(self, stream): print("a line of sixty-four characters, which a debugging aid has left\\n" * 40000)
class N(Base):
    name = "py_asks_for_no_format"
    def plan(self, batch): batch.indices("page_tabel")
class O(Base):
    name = "py_asks_for_a_format_of_others"
    def plan(self, batch): batch.indices("tree_mask")
class P(Base):
    name = "py_asks_for_a_format_in_run"
    def plan(self, batch):
        self.batch = batch
        return self
    def run(self, stream): self.batch.indices("csr")
backends = [A, B, C, Rounds, D, E, F, G, H, I, J, K, L, M, Prints, N, O, P]
"""

# A right one, by the formulas of attnbench/backend.h.
PYTHON_DELTA_NET = """
import numpy as np

class DeltaNet:
    name = "py_delta_net"
    def supports(self, problem):
        return None if (problem.family, problem.dtype) == ("recurrent", "f32") else "gated delta nets in f32 only"
    def plan(self, batch): return Plan(batch)

class Plan:
    def __init__(self, batch):
        assert batch.tensor("k_cache") is None and batch.tensor("lse") is None
        roles = ("q", "k_new", "v_new", "g", "beta", "states", "out")
        self.tensors = [batch.tensor(role).numpy() for role in roles]
        start = batch.tensor("query_start_loc").numpy()
        slots, kept = (batch.tensor(role).numpy() for role in ("state_indices", "has_initial_state"))
        self.requests = [each for each in zip(slots, kept, start[:-1], start[1:]) if each[0] >= 0]  # the rest is padding
        self.behind = batch.tensor("intermediate_states")
        assert (self.behind is not None) == (batch.problem.mode == "target_verify")
        self.parents = batch.tensor("retrieve_parent_token")
        assert (self.parents is None) == (self.behind is None)
        if self.behind is not None:
            self.behind, self.parents = self.behind.numpy(), self.parents.numpy()
        self.scale, self.group = batch.problem.scale, batch.problem.heads_kv // batch.problem.heads_q

    def run(self, stream):
        q, k, v, g, beta, states, out = self.tensors
        q, k = (np.repeat(x / np.sqrt((x * x).sum(-1, keepdims=True) + 1e-6), self.group, axis=1) for x in (q, k))
        for request, (slot, kept, first, end) in enumerate(self.requests):
            state = states[slot]  # [heads_kv, dk, dv]
            if self.behind is not None: state = state.copy()  # what a draft must leave as it is
            if not kept: state[...] = 0
            for t in range(first, end):
                if self.behind is not None and t > first: state = self.behind[first + self.parents[request, t - first]].copy()
                state *= np.exp(g[t])[:, None, None]
                news = beta[t][:, None] * (v[t] - np.einsum("hkv,hk->hv", state, k[t]))
                state += np.einsum("hk,hv->hkv", k[t], news)
                out[t] = self.scale * np.einsum("hkv,hk->hv", state, q[t])
                if self.behind is not None: self.behind[t] = state
"""


class PluginTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.scenario = os.path.join(self.folder.name, "s.yaml")
        with open(self.scenario, "w") as file:
            file.write(SCENARIO)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def attnbench(self, *arguments, misbehave="", plugins="", memory=None, environment=()):
        """`memory` limits the bytes that each process may have."""
        limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))) if memory else None
        environment = dict(os.environ, MISBEHAVE=misbehave, ATTNBENCH_PLUGINS=plugins, OMP_NUM_THREADS="1",
                           **dict(environment))
        return subprocess.run([BINARY, *arguments], env=environment, preexec_fn=limit, capture_output=True,
                              text=True, timeout=120)

    def run_all(self, expected, *options, plugin=PLUGIN, memory=None):
        """Runs the named backends beside cpu_flash; `expected` is {backend: (verdict, part of the reason)}."""
        results = os.path.join(self.folder.name, "r.json")
        done = self.attnbench("run", self.scenario, "--quick", "--plugin", plugin, "--backend", ",".join([*expected, "cpu_flash"]),
                              "--json", results, *options, memory=memory)
        self.assertEqual(done.returncode, 2, done.stderr)
        with open(results) as file:
            records = {record["backend"]: record for record in json.load(file)["records"]}
        self.assertEqual(records["cpu_flash"]["verdict"], "passed", done.stdout + done.stderr)
        for backend, (verdict, reason) in expected.items():
            with self.subTest(backend=backend):
                record = records[backend]
                self.assertEqual(record["verdict"], verdict, record["reason"])
                self.assertIn(reason, record["reason"])
                self.assertIn(f"--plugin {plugin}", record["repro"])
        return records

    def test_each_failure_costs_its_own_cells_and_says_why(self):
        self.run_all({
            "throws_in_supports": ("CRASHED", "no idea"),
            "fails_in_supports": ("CRASHED", "supports(): lost the table"),
            "silent_refusal": ("unsupported", "it gives no reason"),
            "throws_in_numerics": ("CRASHED", "no number"),
            "rounds_to_nonsense": ("CRASHED", "numerics(): 77 is no floating-point dtype"),
            "throws_in_plan": ("CRASHED", "threw something that is no std::exception"),
            "fails_in_plan": ("CRASHED", "plan(): no kernel for this batch"),
            "throws_in_run": ("CRASHED", "out of luck"),
            "fails_in_run": ("CRASHED", "run(): launch failed"),
            "writes_too_far": ("INCORRECT", "guard bytes of 'out' changed"),
            "changes_inputs": ("INCORRECT", "input 'q' was modified"),
            "throws_in_destroy": ("INCORRECT", "non-finite"),
        })

    def test_what_ends_a_process_is_survived_in_isolation(self):
        self.run_all({
            "crashes": ("CRASHED", "SIGSEGV"),
            "exits": ("CRASHED", "exited with code 3"),
            "hangs": ("CRASHED", "gave no answer within 3 s"),
        }, "--isolate", "--timeout", "3s")

    def test_what_ends_or_stops_a_process_costs_its_own_cells_with_no_option_too(self):
        self.run_all({
            "crashes": ("CRASHED", "SIGSEGV"),
            "exits": ("CRASHED", "exited with code 3"),
            "hangs": ("CRASHED", "gave no answer within 3 s"),
        }, "--timeout", "3s")

    def write_two_cases(self):
        """The plug-in's backend "quits" does so in the second."""
        self.write("s.yaml", SCENARIO.replace(
            "measure:", "  three: {batch: [{count: 3, mode: decode, kv_len: 9}]}\nmeasure:"))

    def test_a_plug_in_that_calls_exit_decides_no_exit_code_and_loses_no_result(self):
        self.write_two_cases()
        results = os.path.join(self.folder.name, "r.json")
        for mode, count in ([], 4), (["--in-process"], 2):
            with self.subTest(mode=mode):
                done = self.attnbench("run", self.scenario, "--quick", "--plugin", PLUGIN, "--backend",
                                      "cpu_flash,quits", "--json", results, *mode)
                self.assertEqual(done.returncode, 2, done.stderr)
                with open(results) as file:
                    found = json.load(file)
                records = {(each["backend"], each["case"]): each["verdict"] for each in found["records"]}
                self.assertEqual(records["cpu_flash", "tiny"], "passed")
                self.assertEqual(len(records), count)
                self.assertEqual(found["interrupted"], bool(mode))
                self.assertEqual("--in-process" in found["records"][0]["repro"], bool(mode))
                if mode:
                    self.assertIn("quits · verifying: a plug-in in this process (--in-process) called exit()", done.stderr)
                    self.assertIn("in process, where nothing protects the run from them: quits", done.stdout)
                else:
                    self.assertEqual(records["quits", "three"], "CRASHED")
                    self.assertEqual(records["cpu_flash", "three"], "passed")

    def test_a_plug_in_that_hangs_ends_by_one_signal(self):
        results = os.path.join(self.folder.name, "r.json")
        for mode in [], ["--in-process"]:
            for sent in signal.SIGTERM, signal.SIGINT:
                with self.subTest(mode=mode, sent=sent):
                    process = subprocess.Popen([BINARY, "run", self.scenario, "--quick", "--plugin", PLUGIN, "--backend",
                                                "cpu_flash,hangs", "--json", results, *mode], text=True,
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    for line in process.stdout:
                        if line.startswith("tiny"):
                            break
                    time.sleep(1)
                    process.send_signal(sent)
                    out, err = process.communicate(timeout=15)
                    self.assertEqual(process.returncode, 128 + sent, out + err)
                    if mode:
                        self.assertIn("hangs · verifying does not come back", err)
                        os.remove(results + ".partial") if os.path.exists(results + ".partial") else None
                    else:
                        self.assertIn("were measured and are kept", err)

    def test_what_a_plug_in_prints_stays_out_of_the_results_and_has_an_end(self):
        python = self.write("bad.py", PYTHON_PLUGIN)
        for name, plugin, mode in (("prints", PLUGIN, []), ("prints", PLUGIN, ["--in-process"]), ("py_prints", python, [])):
            with self.subTest(name=name, mode=mode):
                done = self.attnbench("run", self.scenario, "--quick", "--plugin", plugin, "--python", sys.executable,
                                      "--backend", f"{name},cpu_flash", "--json", "-", *mode)
                verdicts = {each["backend"]: each["verdict"] for each in json.loads(done.stdout)["records"]}
                self.assertEqual(verdicts, {name: "INCORRECT", "cpu_flash": "passed"})
                self.assertIn("a line of sixty-four characters", done.stderr)
                if mode:  # nobody stands between a plug-in and the terminal there
                    continue
                self.assertLess(len(done.stderr), 1_100_000)
                self.assertIn(f"note: {name} has printed more than 1048576 bytes; the rest is dropped", done.stderr)

    def test_each_failure_of_python_costs_its_own_cells_and_names_the_line(self):
        plugin = os.path.join(self.folder.name, "bad.py")
        with open(plugin, "w") as file:
            file.write(PYTHON_PLUGIN)
        line = {text.split('"')[1]: number + 1 for number, text in enumerate(PYTHON_PLUGIN.split("\n"), 1)
                if "name = " in text}
        self.run_all({
            "py_throws_in_supports": ("CRASHED", f"bad.py:{line['py_throws_in_supports']}: KeyError: 'table'"),
            "py_refuses": ("unsupported", "not on a decode"),
            "py_throws_in_numerics": ("CRASHED", "f12"),
            "py_rounds_never": ("CRASHED", "numerics(): partial_roundings is 0; 1 to 8 are allowed"),
            "py_throws_in_plan": ("CRASHED", f"bad.py:{line['py_throws_in_plan']}: "),
            "py_throws_in_run": ("CRASHED", f"bad.py:{line['py_throws_in_run'] + 1}: ValueError: out of luck"),
            "py_has_no_run": ("CRASHED", "run"),
            "py_exits": ("CRASHED", "exited with code 3"),
            "py_quits": ("CRASHED", "SystemExit"),
            "py_crashes": ("CRASHED", "SIGSEGV"),
            "py_computes_nothing": ("INCORRECT", "non-finite"),
            "py_asks_for_no_format": ("CRASHED", f"bad.py:{line['py_asks_for_no_format']}: ValueError: there is no index "
                                                 "format 'page_tabel'; did you mean 'page_table'?"),
            "py_asks_for_a_format_of_others": ("CRASHED", "tree_mask: only a target_verify step has a draft tree"),
            "py_asks_for_a_format_in_run": ("CRASHED", "index arrays are built in plan() and update() alone"),
        }, "--python", sys.executable, plugin=plugin)

    def test_python_that_hangs_is_given_up_with_isolation_and_without(self):
        plugin = self.write("bad.py", PYTHON_PLUGIN)
        for isolation in [[], ["--isolate"]]:
            with self.subTest(isolation=isolation):
                records = self.run_all({"py_hangs": ("CRASHED", "gave no answer within 3 s")}, *isolation,
                                       "--timeout", "3s", "--python", sys.executable, plugin=plugin)
                self.assertIn("--timeout 3", records["py_hangs"]["repro"])
                # Where nothing has a process of its own, no run takes the option.
                self.assertEqual("--timeout 3" in records["cpu_flash"]["repro"], bool(isolation))

    def test_memory_that_run_takes_or_loses_is_missed_by_its_own_process_only(self):
        plugin = self.write("bad.py", PYTHON_PLUGIN)
        unnoticed = ("INCORRECT", "non-finite")  # as any other that computes nothing
        memory = 8 << 30
        if self.attnbench("--version", memory=memory).returncode != 0:
            self.skipTest("a sanitizer's shadow takes more address space than that")
        self.run_all({"allocates_in_run": unnoticed, "leaks_in_run": ("CRASHED", "run(): no memory left")},
                     "--isolate", memory=memory)
        for isolation in [[], ["--isolate"]]:
            with self.subTest(isolation=isolation):
                self.run_all({"py_allocates_in_run": unnoticed, "py_leaks_in_run": ("CRASHED", "MemoryError")},
                             *isolation, "--python", sys.executable, plugin=plugin, memory=memory)

    def test_other_backends_in_isolation_need_nothing_of_the_interpreter(self):
        plugin = os.path.join(self.folder.name, "picky.py")
        with open(plugin, "w") as file:
            file.write("import os\nos.environ['ONLY_THERE']\n" + PYTHON_PLUGIN)
        python = os.path.join(self.folder.name, "python")
        with open(python, "w") as file:
            file.write(f'#!/bin/sh\nONLY_THERE=1 exec {sys.executable} "$@"\n')
        os.chmod(python, 0o755)
        self.run_all({"py_computes_nothing": ("INCORRECT", "non-finite")}, "--isolate", "--python", python,
                     plugin=plugin)

    def records_of(self, plugin, *options, environment=()):
        """The exit code, standard error and records of a run of all backends of a plug-in, by name."""
        results = os.path.join(self.folder.name, "r.json")
        done = self.attnbench("run", self.scenario, "--quick", "--plugin", plugin, "--python", sys.executable,
                              "--json", results, *options, environment=environment)
        with open(results) as file:
            return done.returncode, done.stderr, {each["backend"]: each for each in json.load(file)["records"]}

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_a_backend_without_an_lse_says_so_and_none_is_checked(self):
        with open(PYTHON_EXAMPLE) as file:
            text = file.read().replace("                self.lse[tokens, head] =", "                forgotten =")
        self.assertIn("forgotten", text)
        silent = self.write("silent.py", text)
        honest = self.write("honest.py", text.replace('name = "python_example"', """name = "honest"
    def numerics(self, problem): return {"lse": False}"""))
        code, _, records = self.records_of(silent, "--plugin", honest, "--backend", "python_example,honest")
        self.assertEqual(code, 2)
        self.assertIn("query 0, LSE", records["python_example"]["reason"])
        self.assertEqual(records["honest"]["verdict"], "passed", records["honest"]["reason"])
        error = records["honest"]["error"]
        self.assertEqual((error["lse"], error["lse_bound_ratio"]), (None, None))
        self.assertLess(error["bound_ratio"], 1)

    def test_a_package_that_is_missing_or_cannot_be_imported_makes_its_backends_absent(self):
        self.write("half.py", "raise OSError('libhalf.so.13: no such file')")
        os.mkdir(os.path.join(self.folder.name, "half-1.dist-info"))
        self.write("half-1.dist-info/METADATA", "Name: half\nVersion: 1.5\n")
        plugin = self.write("packed.py", """
class Base:
    kernel = "half::well"
    def load(self): import half
    def supports(self, problem): pass
    def plan(self, batch): pass
class Broken(Base):
    name, requires = "half:broken", {"half": "1.4"}
class Missing(Base):
    name, requires = "half:missing", {"half": "1.4", "no-such-package": "2.0"}
""")
        missing = (f"no package no-such-package in {sys.executable}: {sys.executable} -m pip install "
                   "no-such-package==2.0")
        environment = {"PYTHONPATH": self.folder.name}
        loaded = ["--plugin", plugin, "--python", sys.executable]
        done = self.attnbench("list", "backends", *loaded, environment=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, f"half:missing +cpu +absent: {re.escape(missing)}\n")
        self.assertRegex(done.stdout, r"half:broken +cpu +\(half==1.5\)\n")  # only an import could tell
        code, errors, records = self.records_of(plugin, environment=environment)
        self.assertEqual(code, 0)
        self.assertEqual(errors, f"note: half:missing is absent: {missing}\n")
        self.assertNotIn("half:missing", records)
        broken = records["half:broken"]
        self.assertEqual((broken["verdict"], broken["reason"]),
                         ("unsupported", "absent: packed.py:4: OSError: libhalf.so.13: no such file"))
        self.assertEqual((broken["packages"], broken["kernel"]), ("half==1.5", "half::well"))
        code, errors, records = self.records_of(plugin, "--backend", "half:missing,cpu_flash", environment=environment)
        self.assertEqual((code, errors), (0, ""))
        absent = records["half:missing"]
        self.assertEqual((absent["verdict"], absent["reason"]), ("unsupported", missing))
        support = self.attnbench("support", self.scenario, *loaded, environment=environment)
        self.assertIn("absent: packed.py:4: OSError: libhalf.so.13: no such file", " ".join(support.stdout.split()))

    def test_a_package_for_gpus_is_not_asked_for_by_a_program_built_without_them(self):
        plugin = self.write("packed.py", """
class Kernel:
    name, device, requires = "far:kernel", "cuda", {"no-such-package": "2.0"}
    def supports(self, problem): pass
    def plan(self, batch): pass
""")
        done = self.attnbench("list", "backends", "--plugin", plugin, "--python", sys.executable, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        absence = {each["name"]: each["absence"] for each in json.loads(done.stdout)}
        built_without = (absence["paged_fa"] or "").startswith("built with")
        self.assertEqual("pip install" in absence["far:kernel"], not built_without, absence["far:kernel"])

    def test_values_of_a_tuning_parameter_run_in_processes_of_their_own(self):
        plugin = self.write("mine.py", """
class Mine:
    name = "mine"
    splits = 1
    tuning = {"splits": ([8, 16], "--kv-splits")}
    def supports(self, problem): return f"{self.splits} splits"
    def plan(self, batch): pass
""")
        results = os.path.join(self.folder.name, "r.json")
        done = self.attnbench("run", self.scenario, "--quick", "--isolate", "--plugin", plugin, "--python", sys.executable,
                              "--backend", "mine:splits=*,cpu_flash:split_keys=*", "--json", results)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"cpu_flash:split_keys: \d+ is the best of 5 choices")
        with open(results) as file:
            records = {record["backend"]: record for record in json.load(file)["records"]}
        self.assertEqual({name: (record["reason"], record["engine_flag"]) for name, record in records.items()
                          if name.startswith("mine")},
                         {"mine:splits=8": ("8 splits", "--kv-splits 8"), "mine:splits=16": ("16 splits", "--kv-splits 16")})
        self.assertEqual({record["verdict"] for name, record in records.items() if name.startswith("cpu")}, {"passed"})
        listed = self.attnbench("list", "backends", "--plugin", plugin, "--python", sys.executable).stdout
        self.assertRegex(listed, r"\nmine:splits=8,16 +cpu ")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_a_pair_of_two_python_files_or_of_one_and_a_native_backend_runs_mixed_steps(self):
        self.write("s.yaml", """
defaults: {model: {heads_q: 4, heads_kv: 2, head_dim: 16}, dtype: f32}
mixes: {mix: {batch: [{mode: decode, kv_len: 20}, {mode: extend, q_len: 5, prefix_len: 7}, {mode: decode, kv_len: 9}]}}
measure: {cache: [warm]}
""")
        with open(PYTHON_EXAMPLE) as file:
            text = file.read()
        mine, theirs = (self.write(f"{name}.py", text.replace('"python_example"', f'"{name}"')) for name in ("mine", "theirs"))
        results = os.path.join(self.folder.name, "r.json")
        pairs = ["mine+theirs", "cpu_flash+mine", "theirs+torch_native", "torch_native+cpu_flash"]
        for isolate in ([], ["--isolate"]):
            done = self.attnbench("run", self.scenario, "--quick", "--plugin", mine, "--plugin", theirs, "--python",
                                  sys.executable, "--backend", ",".join(pairs), "--json", results, *isolate)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(results) as file:
                records = json.load(file)["records"]
            self.assertEqual({record["backend"]: record["verdict"] for record in records}, dict.fromkeys(pairs, "passed"))
            self.assertIn("prefill+decode: ", done.stdout)
        done = self.attnbench("run", self.scenario, "--plugin", EXAMPLE, "--plugin", mine, "--python", sys.executable,
                              "--backend", "example_plugin+mine")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("a pair can be of this program and a plug-in, of one .so file, or of .py files", done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_a_plug_in_takes_part_in_recurrent_layers(self):
        self.write("s.yaml", """
defaults:
  model: {linear_num_key_heads: 2, linear_num_value_heads: 4, linear_key_head_dim: 16, linear_value_head_dim: 24}
  layer: linear
  dtype: f32
mixes:
  decode: {batch: 3q1s9_q1s1}
  mix: {batch: q9_q6s20_2q1s30}
  draft: {padding: 1, batch: [{mode: target_verify, prefix_len: [7, 0], tree: {chain: 3}}]}
  tree: {padding: 1, batch: [{mode: target_verify, prefix_len: [7, 0], tree: {parents: [-1, 0, 0, 1, 2]}}]}
measure: {cache: [warm]}
""")
        plugin = self.write("delta_net.py", PYTHON_DELTA_NET)
        results = os.path.join(self.folder.name, "r.json")
        done = self.attnbench("run", self.scenario, "--quick", "--plugin", plugin, "--python", sys.executable,
                              "--backend", "py_delta_net,gated_delta_net", "--json", results)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(results) as file:
            records = json.load(file)["records"]
        self.assertEqual([(record["verdict"], record["reason"]) for record in records if record["time_us"] is None], [])
        self.assertEqual({record["backend"]: record["verdict"] for record in records},
                         {"py_delta_net": "passed", "gated_delta_net": "passed"})

    def test_a_python_file_that_is_no_plug_in_is_refused_with_the_reason(self):
        for text, reason in [("x = 1", "defines no backend"), ("import nowhere", "bad.py:1: ModuleNotFoundError"),
                             ("class X:\n    name = 'Bad Name'\n    def supports(self, p): pass\n    plan = supports",
                              "bad.py: a backend is named 'Bad Name'; lower case letters"),
                             ("class X: pass\n1/0", "bad.py:2: ZeroDivisionError"), ("def", "SyntaxError")]:
            with self.subTest(text=text):
                plugin = os.path.join(self.folder.name, "bad.py")
                with open(plugin, "w") as file:
                    file.write(text)
                done = self.attnbench("list", "backends", "--plugin", plugin, "--python", sys.executable)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        done = self.attnbench("list", "backends", "--plugin", plugin, "--python", "/nowhere/python")
        self.assertEqual(done.returncode, 5)
        self.assertIn("--python names the interpreter", done.stderr)

    def test_a_plug_in_that_is_none_is_refused_with_the_reason(self):
        for misbehave, reason in [
            ("other_version", "built for version 99"),
            ("throws", "not today"),
            ("old_table", "a backend of 8 bytes"),
            ("bad_name", "'Not A Name'"),
            ("taken_name", "there is a backend 'cpu_flash' already"),
            ("no_run", "has no run()"),
            ("no_device", "is for device 5"),
            ("no_backends", "exports no backend"),
            ("quits_at_once", "its process exited with code 0 while it said which backends it holds"),
            ("crashes_at_once", "its process was killed by signal 11 (SIGSEGV) while it said which backends it holds"),
        ]:
            with self.subTest(misbehave=misbehave):
                done = self.attnbench("list", "backends", "--plugin", PLUGIN, misbehave=misbehave)
                self.assertEqual(done.returncode, 4, done.stdout)
                self.assertIn(reason, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for path, reason in [("/nowhere.so", "there is no such file"), (self.scenario, "cannot be loaded")]:
            done = self.attnbench("list", "backends", "--plugin", path)
            self.assertEqual(done.returncode, 4)
            self.assertIn(reason, done.stderr)

    def test_a_scenario_names_plug_ins_by_their_files(self):
        self.write("idle.py", PYTHON_PLUGIN + "backends = [K]")
        os.mkdir(os.path.join(self.folder.name, "kernels"))
        copy = shutil.copy(EXAMPLE, os.path.join(self.folder.name, "kernels"))
        self.write("s.yaml", SCENARIO + "backends: [cpu_flash, kernels/example_plugin.so, ./idle.py,"
                                        " ./kernels/../kernels/example_plugin.so]\n")
        verdicts = {"cpu_flash": "passed", "example_plugin": "passed", "py_computes_nothing": "INCORRECT"}
        results = os.path.join(self.folder.name, "r.json")
        python = ["--python", sys.executable]
        for options in [[], ["--isolate"], ["--plugin", copy]]:
            with self.subTest(options=options):
                done = self.attnbench("run", self.scenario, "--quick", *python, "--json", results, *options)
                self.assertEqual(done.returncode, 2, done.stderr)
                with open(results) as file:
                    records = {record["backend"]: record for record in json.load(file)["records"]}
                self.assertEqual({name: record["verdict"] for name, record in records.items()}, verdicts)
                for name, record in records.items():
                    self.assertNotIn("--plugin", record["repro"])
        for name, verdict in verdicts.items():
            again = self.attnbench(*shlex.split(records[name]["repro"])[1:])
            self.assertEqual(again.returncode, 2 if verdict == "INCORRECT" else 0, again.stdout + again.stderr)
            self.assertIn(name[:8], again.stdout)
        support = self.attnbench("support", self.scenario, *python)
        self.assertEqual(support.returncode, 0, support.stderr)
        self.assertIn("py_computes_nothing", support.stdout)
        expanded = self.attnbench("expand", self.scenario, *python)
        self.assertEqual(expanded.returncode, 0, expanded.stderr)

    def test_a_plug_in_that_a_scenario_names_wrongly_is_told_with_its_place(self):
        self.write("empty.py", "x = 1")
        line = SCENARIO.count("\n") + 1
        for item, interpreter, code, reason in [
            ("nowhere.so", sys.executable, 4, "nowhere.so: there is no such file"),
            ("./s.yaml", sys.executable, 4, "cannot be loaded"),
            ("empty.py", sys.executable, 4, "defines no backend"),
            ("empty.py", "/nowhere/python", 5, "--python names the interpreter"),
        ]:
            self.write("s.yaml", SCENARIO + f"backends: [cpu_flash, {item}]\n")
            for command in ["run", "support", "expand"]:
                with self.subTest(item=item, code=code, command=command):
                    done = self.attnbench(command, self.scenario, "--python", interpreter)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertIn(f"{self.scenario}:{line}:23: ", done.stderr)
                    self.assertIn(reason, done.stderr)
                    self.assertEqual(done.stderr.count("error: "), 1, done.stderr)

    def test_a_plug_in_that_a_scenario_leaves_out_is_told(self):
        self.write("s.yaml", SCENARIO + "backends: [cpu_flash]\n")
        done = self.attnbench("run", self.scenario, "--quick", "--plugin", EXAMPLE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(f"note: no backend of {EXAMPLE} takes part", done.stderr)
        for named in (["--backend", "example_plugin"], ["--backend", "cpu_flash"]):
            done = self.attnbench("run", self.scenario, "--quick", "--plugin", EXAMPLE, *named)
            self.assertEqual(done.stderr, "")

    def test_the_environment_names_plug_ins_for_every_command(self):
        done = self.attnbench("list", "backends", plugins=PLUGIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fails_in_plan", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
