#!/usr/bin/env python3
"""What only a real process shows: signals, closed pipes, silence in a pipe, quick help.

usage: process_test.py <attnbench binary>
"""
import fcntl
import hashlib
import json
import os
import platform
import pty
import re
import shlex
import shutil
import signal
import struct
import statistics
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Two cases: the first is done in a moment, the second would take minutes.
SCENARIO = """
defaults:
  model: {heads_q: 8, heads_kv: 2, head_dim: 64}
  dtype: f32
  kv_cache: {page_size: 16, dtype: f32}
mixes:
  first: {batch: [{count: 2, mode: decode, kv_len: 100}]}
  second: {batch: [{count: 8, mode: decode, kv_len: 512}]}
measure: {cache: [warm], rounds: [%d, %d], samples: [1, 5], timeout: %ds}
verify: {rows: 16}
backends: [torch_native]
"""

# Without the seconds that ceilings take, which --quick measures in one turn. Such a run lasts until a signal or its
# timeout, so that a second thread would only keep another processor busy.
MANY_ROUNDS = ("--quick", "--rounds", "100000", "--threads", "1")


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
        self.write(rounds=1, timeout_s=1)  # the first case ends by its timeout, the second runs on
        process = self.start("--json", self.json, *MANY_ROUNDS, *arguments)
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

    def test_an_interrupt_of_ab_keeps_the_pairs_that_are_known_and_ends_its_child(self):
        # A program that measures once in a moment and then takes for ever.
        self.write(rounds=1, timeout_s=4)
        slow = os.path.join(self.folder.name, "slow")
        with open(slow, "w") as file:
            file.write(f"""#!/bin/sh
[ -e {slow}.3 ] && exec sleep 600
for n in 1 2 3; do [ -e {slow}.$n ] || {{ touch {slow}.$n; break; }}; done
exec {BINARY} "$@"
""")
        os.chmod(slow, 0o755)
        process = subprocess.Popen([BINARY, "ab", "--base", slow, "--new", slow, self.scenario, "--case", "first"],
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not os.path.exists(slow + ".3"):
            time.sleep(0.1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("INCONCLUSIVE(few_pairs)", out)
        self.assertIn("interrupted · exit 130", out)

    CROSSOVER = ("--case", "first", "--axis", "batch[0].kv_len", "--from", "8",
                 "--base", "torch_native", "--new", "cpu_flash", "--quick")

    def test_an_interrupt_of_crossover_keeps_the_values_that_are_known(self):
        self.write(rounds=1, timeout_s=60)
        for patience_s in 0.25, 0.5, 1, 2, 4, 8, 16:  # when the first value is known, and before the last one is
            process = subprocess.Popen([BINARY, "crossover", self.scenario, *self.CROSSOVER, "--to", "8k", "--rounds",
                                        "8,1000000", "--json", self.json],
                                       text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(patience_s)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, out)
            self.assertIn("stopped before the end", out)
            if "no ratio was measured" not in out:
                break
        shown = [int(value) for value in re.findall(r"\n +(\d+)  .*µs", out)]
        self.assertIn(8, shown)
        with open(self.json) as file:
            kept = json.load(file)
        self.assertEqual((kept["interrupted"], kept["exit_code"]), (True, 130))
        self.assertEqual([point["value"] for point in kept["points"]], shown)

    def test_the_children_of_crossover_know_the_values_of_the_axis(self):
        self.write(rounds=1, timeout_s=60)
        done = subprocess.run([BINARY, "crossover", self.scenario, *self.CROSSOVER, "--to", "64", "--rounds", "8", "--points",
                               "2", "--isolate"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\n +64  .*µs")

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

    def test_an_isolated_backend_uses_the_instruction_set_asked_for(self):
        self.write(rounds=3, timeout_s=1)
        target = "avx2" if platform.machine() == "x86_64" else "neon"
        out, err = self.start("--isolate", "--case", "first*", "--cpu-target", target, "--json",
                              self.json).communicate(timeout=60)
        with open(self.json) as file:
            arch = json.load(file)["devices"][0]["arch"]  # as the child says
        self.assertTrue(arch.endswith(" " + target), arch + out + err)

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
        self.write(rounds=1, timeout_s=1)
        process = self.start("--json", self.json, "--quick", "--rounds", "12")
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=60)
        process.stderr.close()
        self.assertEqual(process.returncode, 141, err)
        with open(self.json) as file:
            self.assertTrue(json.load(file)["records"][0]["time_us"])

    def test_nothing_is_written_to_a_pipe_but_the_table(self):
        self.write(rounds=3, timeout_s=1)
        out, err = self.start("--quick").communicate(timeout=60)
        self.assertEqual(err, "")
        self.assertNotIn("\x1b", out)
        self.assertNotIn("\r", out)

    def test_a_hang_up_keeps_what_is_measured_and_exits_with_129(self):
        process = self.start_and_wait_for_the_second_case()
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 129, out + err)
        with open(self.json) as file:
            self.assertEqual(json.load(file)["records"][0]["verdict"], "passed")

    def test_a_killed_run_goes_on_where_it_stopped(self):
        process = self.start_and_wait_for_the_second_case()
        process.kill()
        process.communicate()
        self.assertFalse(os.path.exists(self.json))
        journal = self.json + ".partial"
        with open(journal) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([list(line) for line in lines], [["run"], ["record"]])
        first = lines[1]["record"]["time_us"]["median"]

        def run(*arguments):
            return subprocess.run([BINARY, "run", self.scenario, *MANY_ROUNDS, *arguments], text=True,
                                  capture_output=True)

        refused = run("--json", self.json)
        self.assertEqual((refused.returncode, refused.stdout), (4, ""))
        self.assertIn(f"{journal} holds 1 results of a run that was cut off", refused.stderr)
        other = run("--resume", self.json, "--seed", "3")
        self.assertEqual(other.returncode, 5)
        self.assertIn("seed '0' and '3'", other.stderr)
        self.write(rounds=1, timeout_s=2)
        changed = run("--resume", self.json)
        self.assertEqual(changed.returncode, 5)
        self.assertIn("SHA-256", changed.stderr)

        self.write(rounds=1, timeout_s=1)
        resumed = run("--resume", self.json)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertFalse(os.path.exists(journal))
        with open(self.json) as file:
            records = json.load(file)["records"]
        self.assertEqual([record["case"] for record in records], ["first", "second"])
        self.assertEqual(records[0]["time_us"]["median"], first)  # not measured again
        self.assertGreater(records[1]["time_us"]["median"], 0)

    def kill_in_the_second_case(self, *outputs):
        """A run that is killed when its first case is done; the folder's files."""
        self.write(rounds=1, timeout_s=1)
        process = self.start(*outputs, *MANY_ROUNDS)
        for line in process.stdout:
            if line.startswith("second"):
                break
        process.kill()
        process.communicate()
        return {name for name in os.listdir(self.folder.name) if name != "s.yaml"}

    def resume(self, path):
        return subprocess.run([BINARY, "run", self.scenario, *MANY_ROUNDS, "--resume", path], text=True,
                              capture_output=True, timeout=60)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_the_journal_stands_beside_the_json_and_any_file_of_a_run_names_it(self):
        outputs = ("-o", self.path("q.csv"), "-o", self.json, "--junit", self.path("report"), "-o", self.path("d.md"))
        for asked in "r.json", "q.csv", "report", "d.md":
            with self.subTest(asked):
                self.assertEqual(self.kill_in_the_second_case(*outputs), {"r.json.partial"})
                resumed = self.resume(self.path(asked))
                self.assertEqual(resumed.returncode, 0, resumed.stderr)
                self.assertIn("1 taken over", resumed.stdout)
                self.assertEqual(set(os.listdir(self.folder.name)), {"s.yaml", "r.json", "q.csv", "report", "d.md"})
                with open(self.json) as file:
                    self.assertEqual(len(json.load(file)["records"]), 2)
                with open(self.path("report")) as file:
                    self.assertTrue(file.read().startswith("<?xml"))
                with open(self.path("d.md")) as file:
                    self.assertTrue(file.read().startswith("### "))
                for name in "r.json", "q.csv", "report", "d.md":
                    os.remove(self.path(name))

    def test_a_run_without_json_goes_on_and_writes_none(self):
        self.assertEqual(self.kill_in_the_second_case("-o", self.path("d.md")), {"d.md.partial"})
        resumed = self.resume(self.path("d.md"))
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(set(os.listdir(self.folder.name)), {"s.yaml", "d.md"})
        with open(self.path("d.md")) as file:
            self.assertTrue(file.read().startswith("### "))

    def test_a_finished_run_is_found_by_another_of_its_files(self):
        self.write(rounds=3, timeout_s=1)
        subprocess.run([BINARY, "run", self.scenario, "--quick", "-o", self.json, "-o", self.path("r.csv")], check=True,
                       stdout=subprocess.DEVNULL)
        began = time.monotonic()
        resumed = subprocess.run([BINARY, "run", self.scenario, "--quick", "--resume", self.path("r.csv")], text=True,
                                 capture_output=True)
        took = time.monotonic() - began
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        closing = resumed.stdout[resumed.stdout.index("2 taken over"):]
        self.assertLess(float(re.search(r"([0-9.]+) s\b", closing).group(1)), took + 0.1, "not the seconds of both runs")
        with open(self.path("r.csv")) as file:
            self.assertTrue(file.readline().startswith("case,"))
        missing = subprocess.run([BINARY, "run", self.scenario, "--resume", self.path("x.csv")], text=True,
                                 capture_output=True)
        self.assertEqual(missing.returncode, 4)
        self.assertIn("x.json nor a journal", missing.stderr)

    def test_two_runs_never_share_a_journal(self):
        process = self.start_and_wait_for_the_second_case()
        second = subprocess.run([BINARY, "run", self.scenario, "--quick", "--json", self.json], text=True,
                                capture_output=True, timeout=60)
        self.assertEqual((second.returncode, second.stdout), (4, ""))
        self.assertIn("r.json.partial belongs to a run that still goes on", second.stderr)
        self.assertIsNone(process.poll())
        process.kill()
        process.communicate()
        self.assertEqual(self.resume(self.json).returncode, 0)

    def test_the_closing_line_gives_the_hash_of_the_json_and_the_seconds_of_its_own_run(self):
        self.kill_in_the_second_case("-o", self.json)
        with open(self.json + ".partial") as file:
            lines = [json.loads(line) for line in file]
        lines[0]["run"]["wall_s"] = 1000.0  # of the run before
        with open(self.json + ".partial", "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        resumed = self.resume(self.json)
        with open(self.json, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        self.assertIn(f"JSON sha256 {digest[:16]}", resumed.stdout)
        self.assertLess(float(re.search(r"([0-9.]+) s\b[^\n]*measuring", resumed.stdout)[1]), 100)

    CONFIG = {"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 2,
              "num_hidden_layers": 2, "head_dim": 64}

    def write_with_config(self, kv_heads):
        with open(self.path("g.json"), "w") as file:
            json.dump(dict(self.CONFIG, num_key_value_heads=kv_heads), file)
        with open(self.scenario, "w") as file:
            file.write((SCENARIO % (1, 1, 2)).replace("{heads_q: 8, heads_kv: 2, head_dim: 64}", "{hf_config: g.json}"))

    def test_a_run_of_another_model_is_not_gone_on_with_nor_merged(self):
        self.write_with_config(kv_heads=2)
        parts = [self.path(f"{i}.json") for i in (1, 2)]
        run = [BINARY, "run", self.scenario, "--quick", "--rounds", "3"]
        subprocess.run([*run, "--shard", "1/2", "-o", parts[0]], check=True, stdout=subprocess.DEVNULL)
        with open(parts[0]) as file:
            configs = json.load(file)["scenarios"][0]["configs"]
        self.assertEqual([each["path"] for each in configs], ["g.json"])
        self.write_with_config(kv_heads=8)
        resumed = subprocess.run([*run, "--resume", parts[0]], text=True, capture_output=True)
        self.assertEqual(resumed.returncode, 5, resumed.stdout)
        with open(self.path("g.json"), "rb") as file:
            now = hashlib.sha256(file.read()).hexdigest()
        self.assertIn(f"SHA-256 of g.json '{configs[0]['sha256']}' and '{now}'", resumed.stderr)
        subprocess.run([*run, "--shard", "2/2", "-o", parts[1]], check=True, stdout=subprocess.DEVNULL)
        merged = subprocess.run([BINARY, "merge", *parts, "-o", self.json], text=True, capture_output=True)
        self.assertEqual(merged.returncode, 4)
        self.assertIn("SHA-256 of g.json", merged.stderr)

    def test_a_run_of_another_build_of_a_plug_in_is_not_gone_on_with(self):
        self.write(rounds=3, timeout_s=1)
        built = os.path.join(os.path.dirname(BINARY), "../plugins/example_plugin.so")
        plugin = shutil.copy(built, self.path("mine.so"))
        run = [BINARY, "run", self.scenario, "--quick", "--plugin", plugin, "--backend", "example_plugin"]
        first = subprocess.run([*run, "-o", self.json], text=True, capture_output=True)
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        with open(plugin, "ab") as file:
            file.write(b"rebuilt")
        resumed = subprocess.run([*run, "--resume", self.json], text=True, capture_output=True)
        self.assertEqual(resumed.returncode, 5)
        self.assertIn(f"SHA-256 of plug-in {plugin} '", resumed.stderr)

    def test_shards_join_to_the_whole_sweep(self):
        self.write(rounds=3, timeout_s=1)
        parts = [os.path.join(self.folder.name, f"{i}.json") for i in (1, 2)]
        for i, part in enumerate(parts):
            subprocess.run([BINARY, "run", self.scenario, "--quick", "--shard", f"{i + 1}/2", "-o", part],
                           check=True, stdout=subprocess.DEVNULL)
        subprocess.run([BINARY, "merge", *parts, "-o", self.json], check=True, stdout=subprocess.DEVNULL)
        with open(self.json) as file:
            whole = json.load(file)
        self.assertEqual([record["case"] for record in whole["records"]], ["first", "second"])
        twice = subprocess.run([BINARY, "merge", parts[0], self.json, "-o", self.json + "2.json"], text=True,
                               capture_output=True)
        self.assertEqual(twice.returncode, 4)
        self.assertIn("both measured", twice.stderr)

    def test_a_hang_up_is_nothing_to_a_run_under_nohup(self):
        self.write(rounds=3, timeout_s=1)
        process = subprocess.Popen(
            ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", BINARY, "run", self.scenario, "--quick"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)

    def assert_ends_by(self, sent, *arguments):
        process = subprocess.Popen([BINARY, *arguments], text=True, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL))
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "it was over before the signal")
        process.send_signal(sent)
        process.wait(timeout=5)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        self.assertEqual(process.returncode, -sent)  # a shell makes 128 + n of it

    def test_the_first_signal_ends_a_command_that_has_nothing_to_keep(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            self.assert_ends_by(sent, "selftest", "--device", "cpu")
            self.assert_ends_by(sent, "expand", "-")
            self.assert_ends_by(sent, "run", "-")

    def test_a_full_disk_behind_standard_output_is_no_success(self):
        self.write(rounds=3, timeout_s=1)
        for arguments in (["list", "models"], ["expand", self.scenario], ["--help"],
                          ["run", self.scenario, "--quick"],
                          ["run", self.scenario, "--quick", "--json", "-"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=60)
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("cannot write standard output", done.stderr)

    def test_a_list_whose_reader_is_gone_ends_as_other_programs_do(self):
        for ignored in ("", "trap '' PIPE; "):
            process = subprocess.Popen(
                ["bash", "-c", ignored + "\"$@\" | exit 0; exit ${PIPESTATUS[0]}", "bash", "sh",
                 "-c", "sleep 0.2; exec \"$@\"", "sh", BINARY, "list", "models"])
            self.assertEqual(process.wait(timeout=20), 141)

    def test_a_scenario_comes_from_standard_input_too(self):
        self.write(rounds=3, timeout_s=1)
        with open(self.scenario) as file:
            done = subprocess.run([BINARY, "expand", "-"], stdin=file, text=True,
                                  capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("second", done.stdout)
        done = subprocess.run([BINARY, "run", "-"], input="foo: 1\n", text=True, capture_output=True)
        self.assertEqual(done.returncode, 4)
        with open("/dev/zero") as endless:
            endless = subprocess.run([BINARY, "run", "-"], stdin=endless, capture_output=True)
        self.assertEqual(endless.returncode, 4)
        self.assertIn("stdin:1:1: error: unknown key 'foo'", done.stderr)

    def test_a_repro_line_repeats_an_isolated_cell_from_another_folder(self):
        self.write(rounds=3, timeout_s=1)
        options = ["--case", "first", "--quick", "--isolate", "--timeout", "30s", "--threads", "1"]
        done = subprocess.run([BINARY, "run", "s.yaml", *options, "--json", self.json],
                              cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.json) as file:
            line = json.load(file)["records"][0]["repro"]
        self.assertEqual(shlex.split(line)[0], BINARY)
        for words in ("--quick", "--isolate", "--timeout 30", "--threads 1"):
            self.assertIn(words, line)
        done = subprocess.run(line + " --json -", shell=True, cwd="/", capture_output=True,
                              text=True, check=True)
        again = json.loads(done.stdout)
        self.assertEqual(again["environment"]["threads"], 1)
        self.assertEqual(again["records"][0]["repro"], line)

    def on_a_terminal(self, columns, kind, *arguments, command=None):
        """What a command, else a run, writes to a terminal of so many columns."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([BINARY, *(command or ("run", self.scenario)), *arguments], stdout=slave,
                                   stderr=slave, env={**os.environ, "TERM": kind})
        os.close(slave)
        written = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # closed by the other side
                break
            if not part:
                break
            written += part
        os.close(master)
        self.assertEqual(process.wait(timeout=60), 0)
        return written.decode()

    def test_no_line_on_a_terminal_is_wider_than_it(self):
        self.write(rounds=1, timeout_s=1)
        with open(self.scenario) as file:
            text = file.read().replace("first:", "a_rather_long_mix_name_for_the_chat_of_a_tuesday:")
        with open(self.scenario, "w") as file:
            file.write(text)
        for columns in (60, 80):
            written = self.on_a_terminal(columns, "xterm", "--case", "a_rather*", *MANY_ROUNDS)
            self.assertIn("case 1/1 a_rather", written)
            for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;]*[mK]", "", written)):
                self.assertLessEqual(len(line), columns, line)

    def test_a_dumb_terminal_gets_no_escapes(self):
        self.write(rounds=3, timeout_s=1)
        self.assertNotIn("\x1b", self.on_a_terminal(80, "dumb", "--quick"))
        self.assertIn("\x1b", self.on_a_terminal(80, "xterm", "--quick"))

    def completions(self, *words):
        script = "source $0; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _attnbench;" \
                 "printf '%s\\n' \"${COMPREPLY[@]}\""
        path = os.path.join(SOURCE, "scripts/attnbench.bash-completion")
        done = subprocess.run(["bash", "-c", script, path, BINARY, *words], text=True, check=True,
                              capture_output=True, cwd=self.folder.name)
        return done.stdout.split()

    def test_the_shell_completes_commands_options_and_values(self):
        self.write(rounds=3, timeout_s=1)
        self.assertEqual(self.completions("ex"), ["expand"])
        self.assertEqual(self.completions("cro"), ["crossover"])
        self.assertEqual(self.completions("run", "--cache", ""), ["cold", "warm", "serving"])
        self.assertEqual(self.completions("run", self.scenario, "--case", "s"), ["second"])
        self.assertIn("needle", self.completions("dump", "--fill", ""))
        self.assertEqual(self.completions("expand", "--indices", "slot"), ["slot_mapping"])
        self.assertEqual(self.completions("selftest", "--device", ""), ["cpu", "cuda"])
        self.assertIn("cpu_flash", self.completions("run", "--backend", "c"))
        self.assertEqual(self.completions("run", "--prec"), ["--precision"])
        self.assertEqual(self.completions("run", "--in-"), ["--in-process"])
        self.assertEqual(self.completions("list", "c"), ["cases"])
        self.assertIn("--format", self.completions("list", "models", "--"))
        self.assertEqual(self.completions("run", "s"), ["s.yaml"])
        self.assertEqual(self.completions("watch", "--metric", "gb"), ["gb_per_s"])

    def test_the_shell_completes_models_devices_and_lists_of_backends(self):
        self.assertEqual(self.completions("model", "qwen3-3"), ["qwen3-30b-a3b", "qwen3-32b"])
        self.assertEqual(self.completions("select", "--model", "qwen3-32"), ["qwen3-32b"])
        self.assertIn("sm90", self.completions("select", "--arch", "sm9"))
        self.assertIn("torch_native,cpu_flash", self.completions("run", "--backend", "torch_native,cpu_"))
        for name in self.completions("run", "--backend", "cpu_flash:"):
            self.assertNotIn(",", name)
        with open(os.path.join(self.folder.name, "r.json"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.completions("merge", "r"), ["r.json"])

    def test_a_shell_that_breaks_words_at_colons_completes_parameters_of_backends(self):
        for values in (("cpu_flash", ":"), ("cpu_flash", ":", "split")):
            names = self.completions("run", "--backend", *values)
            self.assertIn("split_keys=128", names, values)
        self.assertIn("128", self.completions("run", "--backend", "cpu_flash", ":", "split_keys", "=", "12"))
        self.assertIn("split_keys=128", self.completions("run", "--backend", "torch_native,cpu_flash", ":", "split"))
        names = self.completions("run", "--backend", "cpu_flash", ":", "split_keys", "=", "128,torch")
        self.assertEqual(names, ["128,torch_native"])
        self.assertEqual(self.completions("run", "--backend", "torch_native", ":"), [])

    def test_lists_fit_the_terminal_and_stay_lines_in_a_pipe(self):
        piped = subprocess.run([BINARY, "list", "backends"], text=True, check=True, capture_output=True).stdout
        self.assertTrue(all(re.match(r"\S+ +(cpu|cuda) ", line) for line in piped.splitlines()))
        self.assertGreater(max(map(len, piped.splitlines())), 100)
        scenarios = os.path.join(SOURCE, "scenarios")
        for command in (("list", "backends"), ("list", "scenarios", scenarios)):
            written = self.on_a_terminal(100, "dumb", command=command)
            self.assertIn("cpu_flash" if command[1] == "backends" else "quickstart", written)
            for line in written.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_the_cases_of_a_scenario_with_an_unknown_backend_are_refused(self):
        with open(os.path.join(self.folder.name, "n.yaml"), "w", encoding="utf-8") as file:
            file.write("backends: [nope]\nmixes: {a: {model: llama-3.1-8b, batch: [{mode: decode, kv_len: 4}]}}\n")
        done = subprocess.run([BINARY, "list", "cases", "n.yaml"], text=True, check=False, capture_output=True,
                              cwd=self.folder.name)
        self.assertEqual(done.returncode, 4)
        self.assertIn("nope", done.stderr)

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
