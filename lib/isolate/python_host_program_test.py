#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Which backends python_host.py finds in a file, and what it prints as a program.

usage: python_host_program_test.py [unittest's arguments]; what needs cc is skipped where there is none
"""
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))
sys.dont_write_bytecode = True

from c_side import CC, INCLUDE, TEXT, HostTest, mirror, needs_cc


class DiscoveryTest(HostTest):
    CLASS = """
        class {}:
            name = "{}"
            def supports(self, problem): pass
            def plan(self, batch): pass
    """

    def names(self, text):
        return [backend.name.decode() for backend in self.tables(text).array]

    def test_classes_of_the_file_are_backends(self):
        self.write(self.CLASS.format("Theirs", "theirs"), "theirs.py")
        both = textwrap.dedent(self.CLASS.format("B", "b")) + textwrap.dedent(self.CLASS.format("A", "a"))
        abstract = """
            import abc
            class Base(abc.ABC):
                name = "base"
                def supports(self, problem): pass
                @abc.abstractmethod
                def plan(self, batch): pass
        """
        more = "from theirs import Theirs\n" + textwrap.dedent(abstract) + both + "C = A\n"
        self.assertEqual(self.names(more), ["b", "a"])
        self.assertEqual(self.names("from theirs import Theirs\n" + both + "backends = [Theirs, A()]\n"),
                         ["theirs", "a"])
        del sys.modules["theirs"]

    def test_a_table_holds_what_the_class_says(self):
        table = self.backend("""
            version = 2
            description = "first\\n  and second"
            index_format = "blöck_table"
            device = "cuda"
            deterministic = False
            graph_support = "UNIFORM_BATCH"
            padding_seq_len = 0
        """, "def run(self, stream): pass")
        gc.collect()
        words = [f"{n}" * 20 for n in range(10000)]  # whatever was freed is overwritten
        self.assertEqual((table.name, table.version, table.description, table.index_format.decode()),
                         (b"mine", b"2", b"first and second", "blöck_table"))
        self.assertEqual((table.struct_size, table.device, table.deterministic, table.graph_support,
                          table.padding_seq_len), (ctypes.sizeof(mirror.BackendStruct), 1, 0, 2, 0))
        self.assertEqual(self.call(table.run, self.planned(table), 0), (mirror.OK, ""))
        del words

    def test_each_table_asks_its_own_backend(self):
        tables = self.tables("""
            class Numbered:
                def __init__(self, number):
                    self.name = f"n{number}"
                def supports(self, problem):
                    return self.name
                def plan(self, batch): pass
            backends = (Numbered(0), Numbered(1), Numbered(2))
        """)
        self.assertEqual([self.supports(table)[1] for table in tables.array], ["n0", "n1", "n2"])


    def test_each_value_of_a_tuning_parameter_is_a_variant_that_plans_with_it(self):
        tables = self.tables("""
            class Mine:
                name, engine_flag = "mine", ""
                splits, stages = 0, 2
                tuning = {"splits": ([8], "--kv-splits"), "stages": ([3], ""), "tile": ([4], "KV_TILE=")}
                tile = 0
                def supports(self, problem):
                    return f"{self.splits} splits, {self.stages} stages"
                def plan(self, batch): pass
        """)
        said = [(table.name.decode(), table.only_by_name, table.engine_flag.decode(), self.supports(table)[1])
                for table in tables.array]
        self.assertEqual(said, [("mine", 0, "", "0 splits, 2 stages"),
                                ("mine:splits=8", 1, "--kv-splits 8", "8 splits, 2 stages"),
                                ("mine:stages=3", 1, "", "0 splits, 3 stages"),
                                ("mine:tile=4", 1, "KV_TILE=4", "0 splits, 2 stages")])


class ProgramTest(HostTest):
    """The host as attnbench starts it."""

    def start(self, *arguments, **more):
        return subprocess.run([sys.executable, "-c", TEXT, *arguments], capture_output=True, text=True,
                              timeout=60, **more)

    def describe(self, text, **more):
        done = self.start("describe", self.write(text), **more)
        self.assertFalse((self.folder / "__pycache__").exists())
        return done.returncode, done.stdout, done.stderr

    def test_describe_prints_json_and_nothing_else(self):
        self.write("raise SystemExit('the wrong json')", "json.py")  # in the current folder
        code, out, err = self.describe("""
            import os, sys
            print("hello", sys.argv, end="")
            os.write(1, b"raw")
            class Mine:
                name = "mine"
                graph_support = "ALWAYS"
                deterministic = 0
                def supports(self, problem): pass
                def plan(self, batch): pass
            class Other(Mine):
                name = "other"
                only_by_name = True
                def __init__(self):
                    self.version = "of the instance"
        """, cwd=self.folder)
        self.assertEqual(code, 0, err)
        other = {"name": "other", "version": "of the instance", "description": "", "index_format": "", "device": "cpu",
                 "deterministic": False, "graph_support": "ALWAYS", "padding_seq_len": 1, "writes_kv": False,
                 "only_by_name": True, "reads_fp8_queries": False, "writes_fp8_outputs": False,
                 "reads_queries_apart": False, "reads_page_gaps": False, "reads_selection": False,
                 "builds_indices": "", "selects_keys": False, "scores_keys": False, "reads_lists_at_run": False,
                 "reads_compressed_rows": False, "engine_flag": "",
                 "packages": "", "kernel": "", "absence": ""}
        self.assertEqual(json.loads(out), [dict(other, name="mine", version="0", only_by_name=False), other])
        self.assertIn("hello", err)
        self.assertIn("raw", err)
        self.assertIn("my.py']", err)

    def test_the_answer_is_the_last_line_of_both_streams_together(self):
        text = textwrap.dedent(DiscoveryTest.CLASS.format("A", "a")) + "print('no line', end='')\n"
        for more, expected in (("", '[{"name": "a",'), ("print()\n1 / 0\n", "my.py:8: ZeroDivisionError: division")):
            command = [sys.executable, "-c", TEXT, "describe", self.write(text + more)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            first, *_, last = done.stdout.splitlines()
            self.assertEqual(first, "no line")
            self.assertTrue(last.startswith(expected), done.stdout)

    def test_describe_says_what_is_wrong_in_one_line(self):
        methods = "    def supports(self, problem): pass\n    def plan(self, batch): pass\n"
        self.write("def go():\n    raise OSError('from\\nhelper')\n", "helper.py")
        self.write("1 +\n", "broken.py")
        for text, expected in [
            ("x = 1\ndef f(:\n", "my.py:2: SyntaxError: invalid syntax"),
            ("x = 1\nimport broken\n", "my.py:2: SyntaxError: invalid syntax (broken.py, line 1)"),
            ("\n\nimport no_such_package\n", "my.py:3: ModuleNotFoundError: No module named 'no_such_package'"),
            ("import helper\n\nhelper.go()\n", "my.py:3: OSError: from helper"),
            ("raise SystemExit(0)\n", "my.py:1: SystemExit: 0"),
            ("x = 1\n", "my.py: defines no backend; see attnbench new-plugin --python"),
            ("backends = []\n", "my.py: defines no backend; see attnbench new-plugin --python"),
            ("class A:\n" + methods, "my.py: class A has no name; a backend has a name, supports() and plan()"),
            ("class A:\n    name = 'a'\n    def plan(self, batch): pass\n",
             "my.py: class A has no supports(); a backend has a name, supports() and plan()"),
            ("class A: pass\nbackends = [A]\n",
             "my.py: class A has no name and no supports() and no plan(); a backend has a name, supports() and plan()"),
            ("class A:\n    name = 'a'\n    device = 'gpu'\n" + methods,
             "my.py: class A has device 'gpu'; it is cpu or cuda"),
            ("class A:\n    name = 'a'\n    padding_seq_len = 2\n" + methods,
             "my.py: class A has padding_seq_len 2; it is 1 or 0"),
            ("class A:\n    name = 'a'\n    requires = ['torch']\n" + methods,
             "my.py: class A has requires ['torch']; it is a dict of versions by packages"),
            ("class A:\n    name = 'a'\n    tuning = {'splits': ([1], '')}\n" + methods,
             "my.py: class A has tuning {'splits': ([1], '')}; it is a dict of attributes, each with a list of its values "
             'and an engine\'s option, {"splits": ([8, 16], "--kv-splits")}; "": none'),
            ("class A:\n    name = 'a'\n    tuning = {'name': 8}\n" + methods,
             "my.py: class A has tuning {'name': 8}; it is a dict of attributes, each with a list of its values "
             'and an engine\'s option, {"splits": ([8, 16], "--kv-splits")}; "": none'),
            ("class A:\n    name = 'a'\n    def __init__(self):\n        self.x = y\n" + methods,
             "my.py:4: NameError: name 'y' is not defined"),
        ]:
            with self.subTest(text=text):
                self.assertEqual(self.describe(text), (1, "", expected + "\n"))
        self.assertRegex(self.start("describe", "/nowhere.py").stderr, "^nowhere.py: FileNotFoundError: .*\n$")

    def test_packages_are_found_without_an_import(self):
        self.write("raise SystemExit('imported')", "half.py")
        for name, version in (("half", "1.5"), ("whole", "2.0+cu130")):
            (self.folder / f"{name}-1.dist-info").mkdir()
            self.write(f"Name: {name}\nVersion: {version}\n", f"{name}-1.dist-info/METADATA")
        code, out, err = self.describe("""
            class Mine:
                name = "mine"
                kernel = "half::well"
                requires = {"half": "1.4", "whole": "2.0"}
                def supports(self, problem): pass
                def plan(self, batch): pass
            class Other(Mine):
                name = "other"
                requires = {"no-such-package": "0.9..1.0", "whole": "2.0", "nor_this": "3"}
        """, env=dict(os.environ, PYTHONPATH=str(self.folder)))
        self.assertEqual(code, 0, err)
        mine, other = json.loads(out)
        self.assertEqual((mine["packages"], mine["kernel"], mine["absence"]),
                         ("half==1.5 whole==2.0+cu130", "half::well", ""))
        self.assertEqual((other["packages"], other["absence"]), (
            "whole==2.0+cu130", f"no package no-such-package and no nor_this in {sys.executable}: {sys.executable} -m pip "
                                "install no-such-package==1.0 nor_this==3"))

    @needs_cc
    def test_a_worker_gives_its_tables_to_the_library(self):
        source = self.write(r"""
            #include <attnbench/backend.h>
            #include <stdio.h>
            #include <string.h>
            static void *reserve(void *context, size_t bytes) { return bytes == 64 ? context : 0; }
            int attnbench_worker(int32_t parent, const attnbench_backend *tables, size_t count) {
              char message[64] = "";
              attnbench_problem problem = {.struct_size = sizeof problem, .heads_q = 7};
              float values[2] = {1, 2};
              attnbench_tensor tensors[ATTNBENCH_ROLES] = {{.data = values, .rank = 1, .shape = {2}, .stride = {1}}};
              attnbench_batch batch = {.struct_size = sizeof batch, .problem = &problem, .num_tensors = ATTNBENCH_ROLES,
                                       .tensors = tensors};
              attnbench_memory memory = {sizeof memory, values, reserve};
              void *plan = 0;
              const attnbench_backend *table = &tables[count - 1];
              fprintf(stderr, "parent %d, last %s\n", parent, table->name);
              int status = table->supports(table->self, &problem, message, sizeof message);
              fprintf(stderr, "supports %d '%s'\n", status, message);
              status = table->plan(table->self, &batch, &memory, &plan, message, sizeof message);
              fprintf(stderr, "plan %d %d\n", status, plan != 0);
              memset(&batch, 0x7f, sizeof batch);
              status = table->run(plan, 0, message, sizeof message);
              fprintf(stderr, "run %d\n", status);
              status = table->run(plan, plan, message, sizeof message);
              fprintf(stderr, "run %d '%s'\n", status, message);
              table->destroy(plan);
              return 40 + (int)count;
            }
        """, "fake.c")
        library = str(self.folder / "fake.so")
        subprocess.run([CC, "-shared", "-fPIC", "-I", str(INCLUDE), source, "-o", library], check=True)
        path = self.write("""
            import ctypes
            class First:
                name = "first"
                def supports(self, problem): pass
                def plan(self, batch): pass
            class Last:
                name = "last"
                def supports(self, problem): return f"{problem.heads_q} heads: " + "x" * 100
                def plan(self, batch): return Plan(batch)
            class Plan:
                def __init__(self, batch):
                    self.q, self.scratch = batch.tensor("q"), batch.reserve(64)
                def run(self, stream):
                    if stream: raise RuntimeError(f"{stream}: " + "y" * 100)
                    values = (ctypes.c_float * 2).from_address(self.q.address)
                    print("values", values[:], self.scratch == self.q.address)
        """)
        done = self.start("worker", path, library, "1234")
        self.assertEqual((done.returncode, done.stdout), (42, ""), done.stderr)
        self.assertEqual(done.stderr.splitlines(), [
            "parent 1234, last last", "supports 2 '" + ("7 heads: " + "x" * 100)[:63] + "'", "plan 0 1",
            "values [1.0, 2.0] True", "run 0", "run 1 '" + ("my.py:15: RuntimeError: 1: " + "y" * 100)[:63] + "'"])

    def test_a_worker_without_its_library_says_so(self):
        path = self.write(DiscoveryTest.CLASS.format("A", "a"))
        done = self.start("worker", path, str(self.folder / "none.so"), "1")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^my.py: OSError: .*none.so.*\n$")
        done = self.start("worker", self.write("1 / 0"), "none.so", "1")
        self.assertEqual((done.returncode, done.stderr), (1, "my.py:1: ZeroDivisionError: division by zero\n"))


if __name__ == "__main__":
    unittest.main()
