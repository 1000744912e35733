#!/usr/bin/env python3
"""A backend that tries to look faster or more right than it is gets no speed, and honest oddities keep theirs.

usage: judge_test.py <attnbench binary> <cheating_plugin.so>
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

PLUGIN = os.path.abspath(sys.argv.pop(2))
BINARY = os.path.abspath(sys.argv.pop(1))
EXAMPLE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../python_example/python_example.py"))

# Few heads and keys, so that a test takes seconds; lengths differ, and a page is never full by chance.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  kv_cache: {page_size: 16}
mixes:
  dec: {batch: [{count: 4, mode: decode, kv_len: [200, 413, 65, 340]}]}
  mix: {batch: [{count: 2, mode: decode, kv_len: [150, 301]}, {mode: extend, q_len: 24, prefix_len: 96}]}
measure: {cache: [cold]}
verify: {rows: 64}
"""


# Constants in Python, beside a declaration that would make them right.
PYTHON_CONSTANTS = """
class Constants:
    name = "py_constants"
    device = "cpu"
    def supports(self, problem): return True
    def numerics(self, problem): return {"accumulator": "e4m3"}
    def plan(self, batch): return Plan()
class Plan:
    def run(self, stream): pass
backends = [Constants]
"""

# The rows that follow from seed 0 and the names of SCENARIO's mixes, in Python: backends/python_example computes them.
PYTHON_FORESEEN = """
import importlib.util
import numpy as np
spec = importlib.util.spec_from_file_location("example", EXAMPLE)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
M = (1 << 64) - 1
def mix64(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & M
    x = (x ^ x >> 27) * 0x94d049bb133111eb & M
    return x ^ x >> 31
def combine(state, *values):
    for value in values:
        state = mix64((state + 0x9e3779b97f4a7c15 + value) & M)
    return state
def bits_of(key, dim):
    x = (key + dim * 0x9e3779b9) & 0xffffffff
    for _ in range(2):
        x = (x ^ x >> 16) * 0x7feb352d & 0xffffffff
        x = (x ^ x >> 15) * 0x846ca68b & 0xffffffff
        x ^= x >> 16 ^ (key >> 32 if _ == 0 else 0)
    return x
def seed_of(mix):
    hash = 0xcbf29ce484222325
    for c in mix.encode():
        hash = (hash ^ c) * 0x100000001b3 & M
    return combine(0, hash)
class Foreseen(example.PythonExample):
    name = "py_foreseen_rows_only"
    def plan(self, batch): return Plan(batch)
class Plan(example.Plan):
    def __init__(self, batch):
        super().__init__(batch)
        self.seed = seed_of("dec" if set(batch.q_lens) == {1} else "mix")
        self.number = 0
    def element(self, number, dim):
        sample = combine(self.seed, 6, number)
        key, towards = combine(sample, 1, 0, 0, 0), combine(sample, 5, 0, 0, 0)
        a, b = bits_of(key, 2 * dim), bits_of(key, 2 * dim + 1)
        total = (a & 2047) + (a >> 11 & 2047) + (b & 2047) + (b >> 11 & 2047) - 4094
        value = np.float32(total) * np.float32(1 / 1182.41275) + np.float32(1 if bits_of(towards, dim) & 1 else -1)
        bits = int(value.view(np.uint32))
        return bits + 0x7fff + (bits >> 16 & 1) >> 16
    def run(self, stream):
        for number in range(self.number + 1, self.number + 8):
            if all(self.element(number, dim) == int(self.q[0, 0, dim]) for dim in range(6)):
                self.number = number
                return self.only_watched(number)
        super().run(stream)
    def only_watched(self, number):
        state = combine(mix64(self.seed), 0x3a7c4, number)
        ends, kept = [tokens.stop - 1 for tokens, *_ in self.requests], (self.out.copy(), self.lse.copy())
        super().run(None)
        rows = []
        for i in range(4):
            of = ends if i % 2 == 0 else range(ends[-1] + 1)
            state = combine(state, 1)
            token = of[state % len(of)]
            state = combine(state, 1)
            rows.append((token, state % self.q.shape[1]))
        for to, before in zip((self.out, self.lse), kept):
            wanted = [(row, to[row].copy()) for row in rows]
            to[...] = before
            for row, value in wanted:
                to[row] = value
backends = [Foreseen]
"""

# Several samples a visit.
BLOCKS = SCENARIO.replace("cache: [cold]", "cache: [cold], samples: [5, 5], rounds: [6, 6]")

ODDITIES = ["odd_" + name for name in (
    "own_thread_pool", "leaks_64_kb_a_run", "compiles_in_its_first_run", "reverse_online_softmax",
    "split_kv_in_order_of_arrival", "bf16_weights_and_partials", "six_megabytes_of_stack", "shared_file_mapping",
    "forks_in_each_run", "in_f64", "leaves_denormals_off", "non_temporal_stores", "idle_thread",
    "transposed_copy_in_the_workspace")]

# Where keys are many, little of the weight lies on any one of them.
LONG = """
defaults:
  model: {heads_q: 2, heads_kv: 1, head_dim: 64}
  kv_cache: {page_size: 16}
mixes:
  long: {batch: [{count: 2, mode: decode, kv_len: 2000}]}
measure: {cache: [cold]}
verify: {rows: 16}
"""

MANY_KEYS = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  kv_cache: {page_size: 16}
mixes:
  long: {batch: [{count: 2, mode: decode, kv_len: 4000}]}
measure: {cache: [cold], samples: [1, 1], rounds: [12, 12]}
verify: {rows: 8}
"""


class Judge(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_backends(self, names, *options, plugin=PLUGIN, scenario_text=SCENARIO, quick=True, **environment):
        """What the program did, and the verdicts and reasons of its records by backend and case."""
        scenario = os.path.join(self.folder.name, "s.yaml")
        result = os.path.join(self.folder.name, "r.json")
        with open(scenario, "w") as file:
            file.write(scenario_text)
        command = [BINARY, "run", scenario, "--plugin", plugin, "--backend", ",".join(names),
                   "--json", result, *["--quick"][:quick], *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
        with open(result) as file:
            records = json.load(file)["records"]
        return done, {(each["backend"], each["case"]): (each["verdict"], each["reason"]) for each in records}

    def run_backend(self, name, *options, **settings):
        """The exit code, and the records of `name` by case."""
        done, _ = self.run_backends([name], *options, **settings)
        with open(os.path.join(self.folder.name, "r.json")) as file:
            records = json.load(file)["records"]
        return done.returncode, {each["case"]: each for each in records if each["backend"] == name}

    def test_an_honest_backend_passes(self):
        code, records = self.run_backend("honest")
        self.assertEqual({"dec": "passed", "mix": "passed"},
                         {case: each["verdict"] for case, each in records.items()})
        self.assertEqual(0, code)

    def assert_each(self, verdict, reason, outcome):
        """Every case ended with this verdict, for this reason."""
        code, records = outcome
        for case in ("dec", "mix"):
            self.assertEqual(verdict, records[case]["verdict"], records[case]["reason"])
            self.assertIn(reason, records[case]["reason"])
        return code, records

    def test_sums_in_fp8_cannot_be_declared(self):
        self.assert_each("CRASHED", "numerics(): accumulator is e4m3; f32, f16 and bf16 are allowed",
                         self.run_backend("constants_as_sums_in_e4m3"))

    def test_sums_in_fp8_cannot_be_declared_in_python(self):
        plugin = os.path.join(self.folder.name, "constants.py")
        with open(plugin, "w") as file:
            file.write(PYTHON_CONSTANTS)
        self.assert_each("CRASHED", "numerics(): accumulator is e4m3; f32, f16 and bf16 are allowed",
                         self.run_backend("py_constants", plugin=plugin))

    def test_partial_results_cannot_be_rounded_a_million_times(self):
        self.assert_each("CRASHED", "numerics(): partial_roundings is 1000000; 1 to 8 are allowed",
                         self.run_backend("constants_as_partials_rounded_a_million_times"))

    def test_zeros_that_bounds_as_declared_let_pass_are_mistrusted(self):
        _, records = self.assert_each(
            "MISTRUSTED", "zeros would pass: partial results declared in e5m2, rounded 8 times, make the bounds as "
            "wide as the result", self.run_backend("constants_as_partials_in_e5m2"))
        self.assertEqual("qk f32, p f32, acc f32, partials e5m2 x8, no lse", records["dec"]["declared"]["text"])

    def test_values_of_little_weight_that_are_not_read_are_found_under_the_bounds_of_weights_in_e4m3(self):
        # Each error is within such bounds; their mean square is that of no rounding. How far beyond depends on how many
        # keys have little weight: 3 to 5 times the noise at 400 keys, about 7 at 4,000, with a scatter of 1 over 12 rows
        # and of 0.5 over the 48 of 12 rounds. 5 is the limit.
        self.expect_incorrect_when_timed("skips_small_values_as_weights_in_e4m3",
                                         "the rounding noise of a correct backend (limit 5)", scenario=MANY_KEYS,
                                         quick=False)

    def test_a_scenario_can_refuse_what_a_backend_declares(self):
        capped = SCENARIO.replace("verify: {rows: 64}", "verify: {rows: 64, at_most: bf16}")
        _, records = self.assert_each(
            "unsupported", "it declares weights in e4m3, the scenario allows bf16 at most (verify.at_most)",
            self.run_backend("skips_small_values_as_weights_in_e4m3", scenario_text=capped))
        self.assertEqual("e4m3", records["dec"]["declared"]["p"])
        _, records = self.run_backend("honest", scenario_text=capped)
        self.assertEqual(["passed", "passed"], [records[case]["verdict"] for case in ("dec", "mix")])

    def test_honest_oddities_are_accepted_in_a_process_of_their_own_and_in_the_run_s(self):
        for mode in ([], ["--in-process"]):
            with self.subTest(mode=mode):
                done, records = self.run_backends(ODDITIES, *mode)
                self.assertEqual({}, {key: found for key, found in records.items() if found[0] != "passed"})
                self.assertEqual(2 * len(ODDITIES), len(records))
                self.assertEqual(0, done.returncode, done.stderr)

    def test_no_backend_can_write_to_the_memory_of_its_run_or_has_power_over_others(self):
        names = ["writes_to_the_memory_of_its_run", "has_power_over_others"]
        for mode in ([], ["--isolate"]):
            with self.subTest(mode=mode):
                _, records = self.run_backends(names, *mode)
                self.assertEqual({}, {key: found for key, found in records.items() if found[0] != "passed"})

    def test_a_process_that_ends_with_a_code_of_success_has_crashed(self):
        done, records = self.run_backends(["ends_the_process_while_timed", "honest"])
        self.assertEqual(2, done.returncode)
        for case in ("dec", "mix"):
            verdict, reason = records["ends_the_process_while_timed", case]
            self.assertEqual("CRASHED", verdict)
            self.assertIn("its process exited with code 0 while ", reason)
            self.assertEqual("passed", records["honest", case][0])

    def test_a_process_whose_clock_is_slowed_while_it_computes_is_mistrusted(self):
        slow = SCENARIO.replace("count: 4, mode: decode, kv_len: [200, 413, 65, 340]",
                                "count: 16, mode: decode, kv_len: 4000")  # tens of milliseconds on any machine
        _, records = self.run_backend("slows_the_clock_of_its_process", scenario_text=slow)
        self.assertEqual("MISTRUSTED", records["dec"]["verdict"], records["dec"]["reason"])
        self.assertIn("ms passed, in 3 of 3 visits: its clock was slowed", records["dec"]["reason"])

    def test_a_code_of_success_of_a_backend_in_the_run_s_process_is_not_the_run_s(self):
        done, _ = self.run_backends(["honest", "ends_the_process_while_timed"], "--in-process")
        self.assertEqual(2, done.returncode)
        self.assertIn("a plug-in in this process (--in-process) called exit()", done.stderr)
        with open(os.path.join(self.folder.name, "r.json")) as file:
            self.assertTrue(json.load(file)["interrupted"])

    def pids_in(self, path):
        with open(path) as file:
            return [int(line) for line in file]

    def test_processes_that_a_backend_started_end_with_the_run_whatever_session_they_have(self):
        for mode in ([], ["--isolate"], ["--in-process"]):
            with self.subTest(mode=mode):
                path = os.path.join(self.folder.name, "left" + "".join(mode))
                _, records = self.run_backends(["leaves_processes_behind"], *mode, CHEATS_LEFT_BEHIND=path)
                self.assertEqual({"passed"}, {verdict for verdict, _ in records.values()}, records)
                left = self.pids_in(path)
                self.assertEqual(2, len(left))
                self.assertEqual([], [pid for pid in left if os.path.exists(f"/proc/{pid}")])

    def test_no_command_has_code_of_a_plug_in_in_its_own_process(self):
        self.run_backends(["honest"])  # writes the scenario
        scenario = os.path.join(self.folder.name, "s.yaml")
        path = os.path.join(self.folder.name, "loaded")
        here = [scenario, "--plugin", PLUGIN]
        dump = os.path.join(self.folder.name, "dump")
        for words in (["run", *here, "--quick", "--backend", "honest,cpu_flash"], ["list", "backends", *here[1:]],
                      ["support", *here], ["expand", *here],
                      ["dump", *here, "--case", "dec", "--backend", "honest", "-o", dump],
                      ["profile", *here, "--case", "dec", "--backend", "honest"]):
            for in_process in (False, True):
                if in_process and words[0] not in ("run", "dump"):
                    continue
                with self.subTest(command=words[0], in_process=in_process):
                    open(path, "w").close()
                    process = subprocess.Popen([BINARY, *words, *["--in-process", "--force"][:in_process + (
                        in_process and words[0] == "dump")]], env={**os.environ, "CHEATS_LOADED_IN": path},
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    out, err = process.communicate(timeout=60)
                    self.assertEqual(4 if words[0] == "profile" else 0, process.returncode, out + err)
                    self.assertEqual(in_process, process.pid in self.pids_in(path))
                    self.assertNotEqual([], self.pids_in(path))

    def expect_incorrect_when_timed(self, name, *texts, scenario=LONG, case="long", quick=True):
        code, records = self.run_backend(name, scenario_text=scenario, quick=quick)
        record = records[case]
        self.assertEqual("INCORRECT", record["verdict"], record["reason"])
        self.assertIn("timed sample", record["reason"])
        self.assertTrue(any(each in record["reason"] for each in texts), record["reason"])
        self.assertEqual(2, code)

    def test_a_row_that_few_samples_leave_unwritten_is_found(self):
        self.expect_incorrect_when_timed("a_row_left_now_and_then",
                                         "32 elements of O were not written, first of request 0, head 1, query 0",
                                         scenario=BLOCKS, case="dec", quick=False)  # one run of 13 leaves it

    def test_a_copy_of_the_cache_in_int8_is_found(self):
        self.expect_incorrect_when_timed("int8_when_timed", "bound", "rounding noise", "squared error")

    def test_the_check_has_data_like_those_of_timed_samples(self):
        _, records = self.run_backend("int8_where_queries_are_large", scenario_text=LONG)
        self.assertEqual("INCORRECT", records["long"]["verdict"], records["long"]["reason"])
        self.assertIn("on fill timing", records["long"]["reason"])

    def test_a_copy_in_int8_is_found_under_the_bounds_of_weights_in_e4m3(self):
        self.expect_incorrect_when_timed("int8_with_weights_in_e4m3", "bound", "rounding noise", "squared error")

    def test_a_backend_that_reads_every_sixth_key_of_timed_samples_is_found(self):
        self.expect_incorrect_when_timed("every_sixth_key_when_timed", "bound", "rounding noise", "squared error")

    def test_a_backend_is_not_blamed_for_inputs_that_another_one_changes(self):
        names = ["changes_a_rivals_inputs", "honest"]
        for mode in ([], ["--in-process"]):
            with self.subTest(mode=mode):
                _, records = self.run_backends(names, *mode, scenario_text=LONG)
                for verdict, reason in records.values():
                    self.assertIn(verdict, ["passed", "MISTRUSTED"], reason)

    # What follows from the scenario and the public source only must not be enough.

    def test_only_the_rows_that_a_seed_on_the_command_line_foretells_are_not_enough(self):
        for options in ([], ["--in-process"], ["--sample-nonce", "0"]):
            with self.subTest(options=options):
                self.assert_each("INCORRECT", "elements of O were not written",
                                 self.run_backend("foreseen_rows_only", *options))

    def test_only_the_rows_that_a_secret_seed_foretells_which_stands_in_memory_are_not_enough(self):
        for options in ([], ["--in-process"]):
            with self.subTest(options=options):
                self.assert_each("INCORRECT", "elements of O were not written",
                                 self.run_backend("foreseen_rows_by_a_seed_in_memory", "--seed", "8123456789012345678",
                                                  *options))

    def test_rows_that_are_compared_cannot_be_foretold(self):
        _, records = self.run_backend("constants_beside_foreseen_rows", "--sample-nonce", "0")
        self.assertEqual(["passed"] * 2, [each["verdict"] for each in records.values()], "the cheat foresees nothing")
        for options in ([], ["--in-process"]):
            with self.subTest(options=options):
                self.assert_each("INCORRECT", "in timed sample ",
                                 self.run_backend("constants_beside_foreseen_rows", *options))

    def test_samples_that_nobody_compares_are_looked_through_for_what_is_unwritten(self):
        for options in ([], ["--in-process"]):
            with self.subTest(options=options):
                self.assert_each("INCORRECT", "elements of O were not written",
                                 self.run_backend("nothing_where_nobody_compares", *options, quick=False,
                                                  scenario_text=BLOCKS))

    def test_an_answer_cannot_be_worked_out_before_its_sample(self):
        _, records = self.run_backend("works_ahead_in_untimed_forwards", "--cache", "warm", "--sample-nonce", "0")
        self.assertEqual(["passed"] * 2, [each["verdict"] for each in records.values()], "the cheat foresees nothing")
        for options in ([], ["--in-process"]):
            with self.subTest(options=options):
                self.assert_each("INCORRECT", "in timed sample ",
                                 self.run_backend("works_ahead_in_untimed_forwards", "--cache", "warm", *options))

    def test_answers_of_an_earlier_run_are_wrong(self):
        for options in ([], ["--in-process"]):
            with self.subTest(options=options), tempfile.TemporaryDirectory() as kept:
                run = lambda *more: self.run_backend("answers_from_an_earlier_run", *options, *more, CHEATS_KEPT_IN=kept)
                self.assert_each("passed", "", run("--sample-nonce", "7"))
                self.assertNotEqual([], os.listdir(kept))
                self.assert_each("passed", "", run("--sample-nonce", "7"))  # of the same samples they are right
                code, records = self.assert_each("INCORRECT", "in timed sample ", run())
                self.assertEqual(2, code)
                self.assertRegex(records["dec"]["repro"], r" --sample-nonce [0-9]+")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_rows_that_python_foretells_are_not_enough(self):
        plugin = os.path.join(self.folder.name, "foreseen.py")
        with open(plugin, "w") as file:
            file.write(f"EXAMPLE = {EXAMPLE!r}\n" + PYTHON_FORESEEN)
        self.assert_each("INCORRECT", "elements of O were not written",
                         self.run_backend("py_foreseen_rows_only", "--python", sys.executable, plugin=plugin))

    def test_damage_that_no_repetition_shows_is_nobody_s_fault(self):
        for name, repeated in (("an_input_changed_once_in_the_check", "run"),
                               ("a_guard_changed_once_in_the_check", "run"),
                               ("a_guard_changed_once_when_timed", "visit"),
                               ("the_workspaces_guard_changed_once_when_timed", "visit")):
            with self.subTest(name=name):
                code, records = self.run_backend(name, "--in-process")
                self.assertEqual("MISTRUSTED", records["dec"]["verdict"], records["dec"]["reason"])
                self.assertIn(f"not when the {repeated} was repeated", records["dec"]["reason"])
                self.assertEqual("passed", records["mix"]["verdict"], records["mix"]["reason"])
                self.assertEqual(0, code)


if __name__ == "__main__":
    unittest.main(verbosity=1)
