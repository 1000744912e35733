#!/usr/bin/env python3
"""What only a real process shows: signals, closed pipes, silence in a pipe, quick help.

usage: process_test.py <attnbench binary>
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

BINARY = sys.argv.pop(1)

# Two cases: the first is done in a moment, the second would take minutes.
SCENARIO = """
defaults:
  model: {heads_q: 8, heads_kv: 2, head_dim: 64}
  dtype: f32
  kv_cache: {page_size: 16, dtype: f32}
mixes:
  first: {batch: [{count: 2, mode: decode, kv_len: 100}]}
  second: {batch: [{count: 8, mode: decode, kv_len: 4k}]}
measure: {cache: [cold], rounds: [%d, %d], samples: [1, 5], timeout: %ds}
verify: {rows: 16}
backends: [torch_native]
"""


def processes():
    """(pid, state, parent's pid) of every process there is."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:  # gone meanwhile
            continue
        yield int(name), state, int(parent)


class ProcessTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.scenario = os.path.join(self.folder.name, "s.yaml")
        self.json = os.path.join(self.folder.name, "r.json")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, rounds, timeout_s):
        with open(self.scenario, "w") as file:
            file.write(SCENARIO % (rounds, rounds, timeout_s))

    def start(self, *arguments):
        return subprocess.Popen([BINARY, "run", self.scenario, *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def start_and_wait_for_the_second_case(self, *arguments):
        self.write(rounds=100000, timeout_s=4)  # the first case ends by its timeout, the second runs on
        process = self.start("--json", self.json, *arguments)
        for line in process.stdout:
            if line.startswith("second"):
                break
        time.sleep(0.5)
        return process

    def children_of(self, process):
        return [pid for pid, _, parent in processes() if parent == process.pid]

    def assert_gone(self, pids):
        for _ in range(100):
            left = [pid for pid, state, _ in processes() if pid in pids and state != "Z"]
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"still there: {left}")

    def test_an_interrupt_keeps_what_is_measured_and_exits_with_130(self):
        self.interrupt_the_second_case(self.start_and_wait_for_the_second_case())

    def test_an_interrupt_of_an_isolated_run_keeps_it_too_and_ends_the_children(self):
        process = self.start_and_wait_for_the_second_case("--isolate")
        children = self.children_of(process)
        self.assertEqual(len(children), 1)
        self.interrupt_the_second_case(process)
        self.assert_gone(children)

    def test_children_do_not_outlive_a_run_that_is_killed(self):
        process = self.start_and_wait_for_the_second_case("--isolate")
        children = self.children_of(process)
        # Stopped, the child cannot notice that its run is gone: only the kernel can tell it.
        os.kill(children[0], signal.SIGSTOP)
        process.kill()
        process.communicate(timeout=30)
        self.assert_gone(children)

    def test_a_killed_child_costs_its_own_cell_and_makes_the_run_exit_with_2(self):
        process = self.start_and_wait_for_the_second_case("--isolate")
        os.kill(self.children_of(process)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, out + err)
        with open(self.json) as file:
            records = json.load(file)["records"]
        verdicts = {r["case"].split("/")[0]: r["verdict"].lower() for r in records}
        self.assertEqual(verdicts, {"first": "passed", "second": "crashed"})
        self.assertIn("signal 9 (SIGKILL)", out)

    def interrupt_the_second_case(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("stopped by signal 2", err)
        with open(self.json) as file:
            records = json.load(file)["records"]
        first = [r for r in records if r["case"].startswith("first")]
        self.assertEqual(first[0]["verdict"], "passed")
        self.assertGreater(first[0]["time_us"]["median"], 0)

    def test_a_closed_pipe_stops_the_run_and_keeps_the_file(self):
        self.write(rounds=12, timeout_s=1)
        process = self.start("--json", self.json)
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=60)
        process.stderr.close()
        self.assertEqual(process.returncode, 141, err)
        with open(self.json) as file:
            self.assertTrue(json.load(file)["records"][0]["time_us"])

    def test_nothing_is_written_to_a_pipe_but_the_table(self):
        self.write(rounds=3, timeout_s=1)
        out, err = self.start().communicate(timeout=60)
        self.assertEqual(err, "")
        self.assertNotIn("\x1b", out)
        self.assertNotIn("\r", out)

    def test_help_answers_at_once(self):
        # The goal is 50 ms; the limit leaves room for a loaded machine.
        seconds = []
        for _ in range(5):
            begin = time.monotonic()
            subprocess.run([BINARY, "--help"], check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.monotonic() - begin)
        self.assertLess(statistics.median(seconds), 0.5)


if __name__ == "__main__":
    unittest.main()
