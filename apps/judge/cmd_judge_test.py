#!/usr/bin/env python3
"""`attnbench judge` gives one verdict for each candidate, whatever the candidate does.

usage: cmd_judge_test.py <attnbench binary> <cheating_plugin.so>
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

PLUGIN = os.path.abspath(sys.argv.pop(2))
BINARY = os.path.abspath(sys.argv.pop(1))

# Few heads and keys, so that a test takes a second.
SCENARIO = """
defaults:
  model: {heads_q: 4, heads_kv: 2, head_dim: 32}
  kv_cache: {page_size: 16}
mixes:
  dec: {batch: [{count: 4, mode: decode, kv_len: [200, 413, 65, 340]}]}
measure: {cache: [cold], precision: 50%, rounds: [6, 12], samples: [1, 5], timeout: 5s}
verify: {rows: 32}
"""


def settled(ask, is_open):
    """What `ask` returns; again where it is open, since other programs may have delayed a clock or a sample."""
    for _ in range(2):
        found = ask()
        if not is_open(found):
            return found
    return ask()


class JudgeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.scenario = self.write("s.yaml", SCENARIO)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def judge(self, candidate, *options, scenario=None):
        return subprocess.run([BINARY, "judge", candidate, scenario or self.scenario, *options], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)

    def verdict_on(self, backend, *options, **settings):
        """The exit code and the JSON of a judgement."""
        done = self.judge(PLUGIN, "--backend", backend, "--json", "-", *options, **settings)
        self.assertEqual(done.stdout.count("\n"), 1, done.stdout + done.stderr)
        return done.returncode, json.loads(done.stdout)

    def test_a_right_candidate_is_accepted_with_a_score_and_its_interval(self):
        code, found = settled(lambda: self.verdict_on("honest"), lambda told: told[0] == 3)
        self.assertEqual((code, found["verdict"]), (0, "accepted"), found)
        score = found["score"]
        self.assertLess(0, score["lo"])
        self.assertLessEqual(score["lo"], score["value"])
        self.assertLessEqual(score["value"], score["hi"])
        self.assertEqual([each["case"] for each in found["cases"]], ["dec"])
        self.assertIn(found["cases"][0]["against"], ("cpu_flash", "torch_native"))

    def test_a_candidate_is_compared_with_the_backend_that_is_named(self):
        code, found = settled(lambda: self.verdict_on("honest", "--against", "torch_native", "--cache", "cold"),
                              lambda told: told[0] == 3)
        self.assertEqual((code, found["cases"][0]["against"]), (0, "torch_native"))

    def test_people_read_the_same(self):
        done = settled(lambda: self.judge(PLUGIN, "--backend", "honest"), lambda told: told.returncode == 3)
        self.assertRegex(done.stdout, r"^accepted: score [\d.]+ \([\d.]+ to [\d.]+\)\n  dec  [\d.]+ ")

    def test_one_wrong_sample_makes_it_incorrect_and_is_named(self):
        code, found = self.verdict_on("int8_when_timed")
        self.assertEqual((code, found["verdict"], found["score"]), (2, "incorrect", None))
        self.assertRegex(found["reasons"][0]["reason"], r"in timed sample \d+ of the eager launches: ")
        self.assertIn("--sample-nonce", found["reasons"][0]["repro"])

    def test_a_process_that_ends_has_crashed(self):
        code, found = self.verdict_on("ends_the_process_while_timed")
        self.assertEqual((code, found["verdict"]), (2, "crashed"))
        self.assertIn("its process exited with code 0", found["reasons"][0]["reason"])

    def test_a_process_that_hangs_has_crashed(self):
        plugin = self.write("hangs.py", """
import time
class Hangs:
    name = "hangs"
    def supports(self, problem): pass
    def plan(self, batch): return self
    def run(self, stream): time.sleep(1000)
""")
        done = self.judge(plugin, "--timeout", "1s", "--python", sys.executable)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "^crashed\n  dec, hangs, .*its process gave no answer within 1 s")
        done = self.judge(plugin, "--limit", "2s", "--python", sys.executable)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "(?s)^inconclusive\n.*its 2 s were over")

    def test_bounds_that_prove_nothing_are_inconclusive(self):
        code, found = settled(lambda: self.verdict_on("constants_as_partials_in_e5m2"),
                              lambda told: told[1]["verdict"] == "cheating suspected")  # a delayed clock
        self.assertEqual((code, found["verdict"], found["score"]), (3, "inconclusive", None))
        self.assertIn("zeros would pass", found["reasons"][0]["reason"])

    def test_roundings_beyond_those_of_the_scenario_are_inconclusive(self):
        capped = self.write("capped.yaml", SCENARIO.replace("rows: 32", "rows: 32, at_most: bf16"))
        code, found = self.verdict_on("skips_small_values_as_weights_in_e4m3", scenario=capped)
        self.assertEqual((code, found["verdict"]), (3, "inconclusive"))
        self.assertIn("the scenario allows bf16 at most", found["reasons"][0]["reason"])

    def test_mistakes_of_the_user_are_told_in_one_message_each(self):
        unchecked = self.write("unchecked.yaml", SCENARIO.replace("rows: 32", "enabled: false"))
        self.write("empty.py", "x = 1")
        for words, reason in [
                (["nowhere.so", "s.yaml"], "nowhere.so: there is no such file"),
                (["empty.py", "s.yaml"], "empty.py: defines no backend"),
                ([PLUGIN, "t.yaml"], "cannot read t.yaml: there is no such file"),
                ([PLUGIN, "s.yaml", "--backend", "honst"], "did you mean 'honest'?"),
                ([PLUGIN, "s.yaml", "--against", "cpu_flsh"], "did you mean 'cpu_flash'?"),
                ([PLUGIN, "s.yaml", "--against", "honest"], "--against names backends of the candidate only"),
                ([PLUGIN, "s.yaml", "--plugin", PLUGIN], "is the candidate: --plugin cannot name it, too"),
                ([PLUGIN, unchecked], "so that nothing can be judged"),
                ([PLUGIN], "scenario is required"), ([], "candidate is required"),
                (["--serve", PLUGIN], "--serve reads candidates from standard input")]:
            with self.subTest(words=words):
                done = subprocess.run([BINARY, "judge", *words, "--json", "-"], cwd=self.folder, capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertEqual((done.stdout, done.stderr.count("error: ")), ("", 1), done.stderr)

    def test_each_line_of_a_serving_judge_gets_an_answer_whatever_its_candidate_does(self):
        deed = """
import os, sys, time
def prints(count):
    for _ in range(count): os.write(1, b"x" * (1 << 20))
class Candidate:
    name = "candidate"
    def supports(self, problem): pass
    def plan(self, batch): return self
    def run(self, stream): {run}
{load}
"""
        deeds = {"crashes": ("os.kill(os.getpid(), 11)", ""), "hangs": ("time.sleep(1000)", ""),
                 "prints": ("prints(64); os._exit(7)", ""), "crashes_at_once": ("pass", "os.kill(os.getpid(), 11)"),
                 "hangs_at_once": ("pass", "time.sleep(1000)"), "prints_at_once": ("pass", "prints(256)"),
                 "forges": ("os.write(2, b'\\n' + open('forged').read().encode() + b'\\n'); os._exit(0)", ""),
                 "no_python": ("pass", "1/0")}
        for name, (run, load) in deeds.items():
            self.write(name + ".py", deed.format(run=run, load=load))
        self.write("forged", json.dumps({"verdict": "accepted", "score": {"value": 100}}))
        honest = {"candidate": PLUGIN, "scenario": "s.yaml", "backend": "honest"}
        lines = [honest, *({"candidate": name + ".py", "scenario": "s.yaml"} for name in deeds), [],
                 {"candidate": PLUGIN}, {**honest, "candidate": 5}, {**honest, "agianst": "cpu_flash"},
                 {**honest, "scenario": "--help"}, {**honest, "against": "torch_native"}]
        asked = "".join(json.dumps({**line, "id": [i]} if line else line) + "\n" for i, line in enumerate(lines))
        done = settled(lambda: subprocess.run(
            [BINARY, "judge", "--serve", "--timeout", "4s", "--cache", "warm", "--python", sys.executable],
            input=asked + "\nno json\n", cwd=self.folder, capture_output=True, text=True, timeout=120),
            lambda told: '"inconclusive"' in told.stdout)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
        told = [(each.get("verdict", "error"), each.get("error") or next((r["reason"] for r in each["reasons"]), ""))
                for each in answers]
        expected = [("accepted", ""), ("crashed", "signal 11"), ("crashed", "gave no answer within 4 s"),
                    ("crashed", "exited with code 7"), ("crashed", "signal 11"), ("crashed", "gave no answer within 4 s"),
                    ("incorrect", ""), ("crashed", "exited with code 0"), ("error", "ZeroDivisionError"),
                    ("error", "the line is no JSON object"), ("error", "'scenario' is missing"),
                    ("error", "'candidate' is no text"), ("error", "did you mean 'against'?"),
                    ("error", "--help: there is no such file"), ("accepted", ""), ("error", "the line is no JSON object")]
        self.assertEqual([verdict for verdict, _ in told], [verdict for verdict, _ in expected], told)
        for (_, reason), (_, part) in zip(told, expected):
            self.assertIn(part, reason)
        self.assertEqual([each.get("id") for each in answers],
                         [[i] if line else None for i, line in enumerate(lines)] + [None])
        self.assertEqual(answers[14]["cases"][0]["against"], "torch_native")
        self.assertLess(max(each["seconds"] for each in answers), 20)

    def test_a_candidate_leaves_no_process_to_the_next(self):
        mark = f"60{os.getpid()}0"  # seconds that nothing else on this machine sleeps
        self.write("leaves.py", f"""
import subprocess
class Leaves:
    name = "leaves"
    def supports(self, problem): pass
    def plan(self, batch): return self
    def run(self, stream): subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
""")

        def sleeping():
            found = []
            for path in glob.glob("/proc/[0-9]*/cmdline"):
                try:
                    with open(path) as file:
                        found += [path] if file.read() == f"sleep\0{mark}\0" else []
                except OSError:  # it has ended
                    pass
            return found

        serving = subprocess.Popen([BINARY, "judge", "--serve", "--python", sys.executable], cwd=self.folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(serving.stdout.close)
        serving.stdin.write('{"candidate": "leaves.py", "scenario": "s.yaml"}\n')
        serving.stdin.flush()
        self.assertEqual(json.loads(serving.stdout.readline())["verdict"], "incorrect")
        self.assertEqual(sleeping(), [])
        serving.stdin.close()
        self.assertEqual(serving.wait(timeout=60), 0)

    def test_a_candidate_is_held_by_a_sandbox_as_it_is_loaded_and_as_it_runs(self):
        here = subprocess.run([BINARY, "confined", "--scratch", self.folder], capture_output=True, text=True, timeout=60)
        lacks = [text for text, essential in json.loads(here.stdout) if essential]
        if lacks:
            self.skipTest(f"this system cannot hold it: {'; '.join(lacks)}")
        kept = self.write("kept", "text")
        deeds = {"a file": f"open({kept!r}, 'a')", "a signal": "os.kill(os.getppid(), 0)",
                 "the answer": "open(f'/proc/{os.getppid()}/fd/1', 'w')",
                 "the memory": "open(f'/proc/{os.getppid()}/mem', 'r')"}
        text = """
import os
def refused(deed):
    try: deed()
    except PermissionError: return
    raise SystemExit(9)
refused(lambda: DEED)
class Held:
    name = "held"
    def supports(self, problem): pass
    def plan(self, batch): return self
    def run(self, stream): refused(lambda: DEED); open(os.environ["TMPDIR"] + "/mine", "w")
"""
        for name, deed in deeds.items():
            with self.subTest(deed=name):
                self.write("held.py", text.replace("DEED", deed))
                done = self.judge("held.py", "--json", "-", "--python", sys.executable)
                found = json.loads(done.stdout)
                self.assertEqual(found["verdict"], "incorrect", found)  # it computes nothing, but ran
                self.assertEqual(found["sandbox"]["tier"], 2, found["sandbox"])

    def test_a_limit_ends_what_judges_one_candidate(self):
        self.write("hangs.py", """
import time
class Hangs:
    name = "hangs"
    def supports(self, problem): pass
    def plan(self, batch): return self
    def run(self, stream): time.sleep(1000)
""")
        done = subprocess.run([BINARY, "judge", "--serve", "--limit", "2s", "--python", sys.executable],
                              input='{"candidate": "hangs.py", "scenario": "s.yaml"}', cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["verdict"], "inconclusive", answer)
        self.assertIn("its 2 s were over (--limit)", [each["reason"] for each in answer["reasons"]])


if __name__ == "__main__":
    unittest.main(verbosity=2)
