#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What python_host.py makes of a Python plug-in, seen from C's side and without attnbench.

usage: python_host_test.py [unittest's arguments]; what needs NumPy, torch or cc is skipped where there is none
"""
import ast
import contextlib
import ctypes
import gc
import io
import pathlib
import subprocess
import sys
import textwrap
import types
import unittest
import unittest.mock
import weakref
from ctypes import byref, c_size_t

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))
sys.dont_write_bytecode = True

from c_side import CC, EXAMPLE, INCLUDE, TEXT, CBatch, HostTest, c_problem, mirror, needs_cc


class LayoutTest(HostTest):
    @needs_cc
    def test_structs_and_numbers_are_those_of_the_header(self):
        expected, lines = {}, []

        def expect(expression, value):
            expected[expression] = value
            lines.append(f'printf("%s = %ld\\n", "{expression}", (long)({expression}));')

        for name, struct in mirror.STRUCTS.items():
            expect(f"sizeof(attnbench_{name})", ctypes.sizeof(struct))
            for member, _ in struct._fields_:
                field = getattr(struct, member)
                expect(f"offsetof(attnbench_{name}, {member})", field.offset)
                expect(f"sizeof ((attnbench_{name} *)0)->{member}", field.size)
        prefixes = {"scales": "scales_", "q_scales": "q_scales_", "graph_support": "graph_"}
        for enum, words in mirror.WORDS.items():
            for index, word in enumerate(words):
                expect(f"ATTNBENCH_{(prefixes.get(enum, '') + word).upper()}", index)
        for name, value in (("OK", mirror.OK), ("ERROR", mirror.ERROR), ("UNSUPPORTED", mirror.UNSUPPORTED)):
            expect(f"ATTNBENCH_{name}", value)
        expect("ATTNBENCH_ROLES", len(mirror.ROLES))
        source = self.write("#include <attnbench/backend.h>\n#include <stdio.h>\nint main(void) {\n"
                            + "\n".join(lines) + "\nreturn 0;\n}\n", "layout.c")
        program = str(self.folder / "layout")
        subprocess.run([CC, "-I", str(INCLUDE), source, "-o", program], check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        found = {expression: int(value) for expression, _, value in
                 (line.partition(" = ") for line in printed.splitlines())}
        self.assertEqual(found, expected)

    def test_a_member_or_a_word_that_joins_the_header_is_in_the_mirror(self):
        header = mirror.header_text()
        for old, new in (("  int32_t ranks;", "  int32_t ranks;\n  attnbench_bool is_new; /* 1; or 0 */\n  double news[3];"),
                         ("  ATTNBENCH_MIXED = 2,", "  ATTNBENCH_MIXED_UP = 2,\n  ATTNBENCH_MIXED = 3,"),
                         ("  void (*destroy)(void* plan);", "  int32_t (*ask)(void* plan, const attnbench_tensor* of);")):
            self.assertEqual(header.count(old), 1, old)
            header = header.replace(old, new)
        structs, words, truths = mirror.mirror(header)
        fields = dict(structs["problem"]._fields_)
        self.assertEqual((fields["is_new"], ctypes.sizeof(fields["news"])), (ctypes.c_int32, 24))
        self.assertEqual(structs["problem"].ranks.offset + 4, structs["problem"].is_new.offset)
        self.assertIn("is_new", truths["problem"])
        self.assertEqual(words["mode"][1:4], ("decode", "mixed_up", "mixed"))
        ask = dict(structs["backend"]._fields_)["ask"]
        self.assertEqual((ask._restype_, ask._argtypes_), (ctypes.c_int32, (c_size_t, ctypes.POINTER(structs["tensor"]))))

    def test_the_text_is_one_that_python_3_9_can_read(self):
        for text in (TEXT, EXAMPLE.read_text()):
            ast.parse(text, feature_version=(3, 9))


class SupportsTest(HostTest):
    def test_yes_no_and_neither(self):
        answers = self.backend("""
            def supports(self, problem):
                return {2: None, 3: True, 4: "not on\\nSundays", 5: False, 6: 1, 7: {}}[problem.heads_q]
        """)
        self.assertEqual(self.supports(answers), (mirror.OK, ""))
        self.assertEqual(self.supports(answers, heads_q=3), (mirror.OK, ""))
        self.assertEqual(self.supports(answers, heads_q=4), (mirror.UNSUPPORTED, "not on\nSundays"))
        self.assertEqual(self.supports(answers, heads_q=5), (mirror.UNSUPPORTED, ""))
        for heads in (6, 7):
            status, message = self.supports(answers, heads_q=heads)
            self.assertEqual(status, mirror.ERROR)
            self.assertIn("my.py: TypeError: supports() returned", message)

    def test_an_error_has_the_last_place_in_the_file(self):
        raises = self.backend("""
            def supports(self, problem):
                return self.helped(problem)
            def helped(self, problem):
                errors = [ValueError("no\\n  idea"), SystemExit(3), KeyboardInterrupt(), Unprintable()]
                if problem.heads_q < 4:
                    raise errors[problem.heads_q]
                import json
                json.loads("{")
        """, head="""
            class Unprintable(Exception):
                def __str__(self):
                    raise self
        """)
        text = (self.folder / "my.py").read_text().splitlines()
        line = next(n for n, words in enumerate(text, 1) if "raise errors" in words)
        for index, words in enumerate(("ValueError: no idea", "SystemExit: 3", "KeyboardInterrupt",
                                       "Unprintable: its message cannot be made")):
            self.assertEqual(self.supports(raises, heads_q=index), (mirror.ERROR, f"my.py:{line}: {words}"))
        status, message = self.supports(raises, heads_q=4)
        self.assertTrue(message.startswith(f"my.py:{line + 2}: JSONDecodeError: Expecting"), message)

    def test_a_message_is_cut_to_its_room(self):
        table = self.backend("def supports(self, problem): return 'a\\0b\\udc80' + 'é' * 3000")
        for room in (1, 2, 5, 6, 7, 100, 1024):
            status, message = self.supports(table, room=room)
            self.assertEqual(status, mirror.UNSUPPORTED)
            self.assertEqual(message, ("a b?" + "é" * 3000)[:4 + max(0, room - 1 - 4) // 2][:room - 1])
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(table.supports(table.self, byref(c_problem()), 0, 0), mirror.UNSUPPORTED)
        self.assertIn("éé", errors.getvalue())

    def test_a_problem_has_words_and_truths(self):
        table = self.backend("def supports(self, problem): return repr(sorted(vars(problem).items()))")
        message = self.supports(table, mode="target_verify", cache_dtype="e5m2", cache_layout="HND", family="latent",
                                room=4096)[1]
        problem = dict(ast.literal_eval(message))
        self.assertEqual(list(problem), sorted(name for name, _ in mirror.ProblemStruct._fields_[1:]))
        self.assertEqual([problem[name] for name in ("mode", "dtype", "cache_dtype", "cache_layout", "family")],
                         ["target_verify", "f32", "e5m2", "HND", "latent"])
        self.assertIs(problem["causal"], True)
        self.assertIs(problem["recorded"], False)
        self.assertEqual(problem["scale"], 0.5)
        self.assertEqual(problem["max_kv_len"], 3)


class LoadTest(HostTest):
    def test_is_called_once_before_anything_else(self):
        table = self.backend("""
            def load(self): self.loads = getattr(self, "loads", 0) + 1
            def formats(self, problem): return ["HND"] * self.loads
            def supports(self, problem): return f"loaded {self.loads}"
        """)
        layouts, count = (ctypes.c_int32 * 4)(), ctypes.c_int32(4)
        for _ in range(2):
            self.assertEqual(self.call(table.formats, table.self, byref(c_problem()), layouts, byref(count))[0], mirror.OK)
            self.assertEqual(count.value, 1)
            self.assertEqual(self.supports(table), (mirror.UNSUPPORTED, "loaded 1"))

    def test_what_it_raises_makes_the_backend_absent(self):
        table = self.backend("""
            def load(self):
                self.loads = getattr(self, "loads", 0) + 1
                raise OSError(f"libcudart.so.{self.loads}:\\nno such file")
            def formats(self, problem): return self.layouts
        """)
        layouts, count = (ctypes.c_int32 * 4)(), ctypes.c_int32(4)
        for _ in range(2):
            self.assertEqual(self.call(table.formats, table.self, byref(c_problem()), layouts, byref(count))[0], mirror.OK)
            self.assertEqual(count.value, 4)
            status, message = self.supports(table)
            self.assertEqual(status, mirror.UNSUPPORTED)
            self.assertRegex(message, r"^absent: my.py:\d+: OSError: libcudart.so.1: no such file$")


class MemoryTest(HostTest):
    def test_when_a_case_begins_torch_hands_back_what_it_keeps_of_the_last_one(self):
        emptied = []
        cuda = types.SimpleNamespace(is_initialized=lambda: True, empty_cache=lambda: emptied.append(True))
        table = self.backend("")
        with unittest.mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=cuda)):
            self.supports(table)
            self.assertEqual(emptied, [True])
            cuda.is_initialized = lambda: False  # a processor's backend
            self.supports(table)
        self.supports(table)  # without torch
        self.assertEqual(emptied, [True])


class NumericsTest(HostTest):
    def ask(self, members):
        table = self.backend(members)
        numerics = mirror.NumericsStruct(ctypes.sizeof(mirror.NumericsStruct), lse=1, partial_roundings=1)
        status, message = self.call(table.numerics, table.self, byref(c_problem()), byref(numerics))
        rounds = [getattr(numerics, name) for name, _ in mirror.NumericsStruct._fields_[1:]]
        return status, rounds, "" if status == mirror.OK else message

    def test_what_is_named_is_filled_in(self):
        self.assertEqual(self.ask(""), (mirror.OK, [0, 0, 0, 0, 1, 1], ""))
        self.assertEqual(self.ask("def numerics(self, problem): return None"), (mirror.OK, [0, 0, 0, 0, 1, 1], ""))
        said = self.ask("def numerics(self, problem): return {'lse': False, 'partial_roundings': 2}")
        self.assertEqual(said, (mirror.OK, [0, 0, 0, 0, 0, 2], ""))
        said = self.ask("def numerics(self, problem): return {'p': 'bf16', 'partial_out': 'e5m2', 'qk_input': 'f16'}")
        self.assertEqual(said, (mirror.OK, [1, 2, 0, 4, 1, 1], ""))

    def test_nonsense_is_an_error(self):
        for answer in ({"P": "bf16"}, {"p": "bf17"}, {"p": "i32"}, {"struct_size": "f32"}, {"lse": "f32"},
                       {"p": False}, {"partial_roundings": True}, {"partial_roundings": "bf16"}):
            status, _, errors = self.ask(f"def numerics(self, problem): return {answer}")
            self.assertEqual(status, mirror.ERROR)
            self.assertIn("my.py: ValueError: numerics() says", errors)
        status, _, errors = self.ask("def numerics(self, problem): return 1 // 0")
        self.assertEqual(status, mirror.ERROR)
        self.assertRegex(errors, r"^my.py:\d+: ZeroDivisionError: ")


class FormatsTest(HostTest):
    def ask(self, members, **problem):
        table = self.backend(members)
        layouts, count = (ctypes.c_int32 * 4)(), ctypes.c_int32(4)
        status, message = self.call(table.formats, table.self, byref(c_problem(**problem)), layouts, byref(count))
        return ([mirror.LAYOUTS[layout] for layout in layouts[:count.value]] if status == mirror.OK else status), message

    def test_without_a_word_strided_rows_with_one_scale_are_read(self):
        self.assertEqual(self.ask("")[0], ["NHD", "HND"])
        self.assertEqual(self.ask("", cache_scales="token")[0], [])

    def test_a_list_or_a_method_says_what_is_read(self):
        self.assertEqual(self.ask("formats = ['x_packed', 'NHD']")[0], ["x_packed", "NHD"])
        method = "def formats(self, problem): return ['combined'] if problem.cache_scales == 'head' else []"
        self.assertEqual(self.ask(method, cache_scales="head")[0], ["combined"])
        self.assertEqual(self.ask(method)[0], [])

    def test_the_order_of_a_recurrent_layer_s_states_is_a_format(self):
        self.assertEqual(self.ask("formats = ['states_vk']")[0], ["states_vk"])

    def test_ragged_keys_are_a_format(self):
        self.assertEqual(self.ask("formats = ['ragged', 'NHD']")[0], ["ragged", "NHD"])

    def test_nonsense_is_an_error(self):
        for answer in ("'NHD'", "['nhd']", "['NHD'] * 5"):
            status, message = self.ask(f"formats = {answer}")
            self.assertEqual(status, mirror.ERROR)
            self.assertIn("ValueError: formats says", message)


class PlanTest(HostTest):
    def test_a_plan_runs_until_it_is_destroyed(self):
        table = self.backend("""
            def plan(self, batch):
                self.made = Plan(batch)
                return self.made
        """, """
            def __init__(self, batch):
                self.batch = batch
            def run(self, stream):
                raise ValueError(f"{stream} {self.batch.q_lens} {self.batch.kv_lens} {self.batch.batch_size} "
                                 f"{self.batch.q_tokens} {self.batch.k_scale} {self.batch.v_scale} "
                                 f"{self.batch.q_scale} {self.batch.out_scale} {self.batch.problem.q_dtype} "
                                 f"{self.batch.problem.mode}")
        """)
        handles = [self.planned(table) for _ in range(3)]
        self.assertEqual(len(set(handles)), 3)
        backend = self.tables_alive.backends[0]
        plan = weakref.ref(backend.__dict__.pop("made"))
        for stream in (0, 2**63 + 1):
            status, message = self.call(table.run, handles[2], stream)
            self.assertEqual(status, mirror.ERROR)
            self.assertRegex(message, rf"^my.py:\d+: ValueError: {stream} \[1, 1\] \[3, 2\] 2 2 2.0 0.5 0.25 4.0 f32 decode$")
        table.destroy(handles[2])
        gc.collect()
        self.assertIsNone(plan())
        self.assertEqual(self.call(table.run, handles[2], 0), (mirror.ERROR, f"my.py: KeyError: {handles[2]}"))
        self.assertEqual(sorted(self.tables_alive.plans), sorted(handles[:2]))

    def test_a_good_run_says_nothing(self):
        table = self.backend(plan="def run(self, stream): return 'ignored'")
        self.assertEqual(self.call(table.run, self.planned(table), 0), (mirror.OK, ""))

    def test_what_cannot_run_is_no_plan(self):
        for returned, kind in (("None", "NoneType"), ("Plan()", "Plan"), ("7", "int")):
            table = self.backend(f"def plan(self, batch): return {returned}")
            self.assertEqual(self.plan(table), (mirror.ERROR, f"my.py: plan() returned {kind}, which has no "
                                                            "run(self, stream)", 0))
        table = self.backend("def plan(self, batch): raise SystemExit('no kernel')")
        status, message, handle = self.plan(table)
        self.assertEqual((status, handle), (mirror.ERROR, 0))
        self.assertRegex(message, r"^my.py:\d+: SystemExit: no kernel$")

    def test_an_error_of_which_the_plug_in_has_no_line_is_told_with_that_of_a_file_beside_it(self):
        self.write("def plan(self, batch):\n    raise ValueError('no help')\n", "helper_of_mine.py")
        self.addCleanup(sys.modules.pop, "helper_of_mine", None)
        table = self.backend("plan = helper_of_mine.plan", head="import helper_of_mine")
        self.assertEqual(self.plan(table), (mirror.ERROR, "helper_of_mine.py:2: ValueError: no help", 0))

    def test_memory_is_reserved_once_and_while_planning(self):
        asked = []

        def reserve(context, size):
            asked.append((context, size))
            return 0x1000 if size < 1000 else 0

        members = """
            def plan(self, batch):
                plan = Plan()
                plan.batch, plan.address = batch, batch.reserve({})
                {}
                return plan
        """
        run = """
            def run(self, stream):
                self.batch.reserve(1)
        """
        for size, more, expected in ((512, "", None), (4096, "", "MemoryError: attnbench has no 4096 bytes"),
                                     (512, "batch.reserve(1)", "RuntimeError: memory is reserved in plan(), and once")):
            table = self.backend(members.format(size, more), run)
            status, message, handle = self.plan(table, reserve=reserve)
            if expected is None:
                self.assertEqual(status, mirror.OK, message)
                self.assertEqual(self.tables_alive.plans[handle].address, 0x1000)
                status, message = self.call(table.run, handle, 0)
                self.assertIn("RuntimeError: memory is reserved in plan(), and once", message)
            else:
                self.assertIn(expected, message)
            self.assertEqual(status, mirror.ERROR)
        self.assertEqual(asked, [(77, 512), (77, 4096), (77, 512)])
        table = self.backend("def plan(self, batch):\n    self.batch = batch\n    return Plan()", run)
        self.planned(table, reserve=reserve)
        with self.assertRaises(RuntimeError):
            self.tables_alive.backends[0].batch.reserve(1)
        self.assertEqual(len(asked), 3)

    def test_a_plan_may_say_what_a_library_chose(self):
        def resolved(body):
            table = self.backend(plan="def run(self, stream): pass\n" + body)
            return self.call(table.resolved, self.planned(table))
        self.assertEqual(resolved(""), (mirror.OK, ""))
        self.assertEqual(resolved("resolved = 'fa3,\\n split'"), (mirror.OK, "fa3, split"))
        status, message = resolved("resolved = 3")
        self.assertEqual(status, mirror.ERROR)
        self.assertIn("my.py: TypeError: resolved is 3; it is the name of the kernel", message)

    def test_a_plan_may_hand_over_its_own_graph(self):
        def graph(body):
            table = self.backend(plan="def run(self, stream): pass\n" + body)
            address = c_size_t(77)
            return (*self.call(table.graph, self.planned(table), byref(address)), address.value)
        answer = "def graph(self): return {}"
        self.assertEqual(graph(""), (mirror.OK, "", 0))
        self.assertEqual(graph(answer.format("None")), (mirror.OK, "", 0))
        self.assertEqual(graph(answer.format("0x7f00")), (mirror.OK, "", 0x7F00))
        own = "class Graph:\n    def raw_cuda_graph(self): return 99\n" + answer.format("self.Graph()")
        self.assertEqual(graph(own), (mirror.OK, "", 99))
        status, message, _ = graph(answer.format("'no graph'"))
        self.assertEqual(status, mirror.ERROR)
        self.assertIn("my.py: TypeError: graph() returned 'no graph'", message)

    def test_update_takes_the_step_or_refuses(self):
        def update(plan):
            table = self.backend(plan="def run(self, stream): pass\n" + textwrap.dedent(plan))
            batch = CBatch(c_problem(), [1], [9])
            return self.call(table.update, self.planned(table), byref(batch.struct), 5)

        answer = """
            def update(self, batch, stream):
                assert batch.kv_lens == [9] and stream == 5
                return {}
        """
        self.assertEqual(update(""), (mirror.UNSUPPORTED, ""))
        self.assertEqual(update(answer.format(True)), (mirror.OK, ""))
        self.assertEqual(update(answer.format(False)), (mirror.UNSUPPORTED, ""))
        status, message = update(answer.format(None))
        self.assertEqual(status, mirror.ERROR)
        self.assertIn("my.py: TypeError: update() returned None", message)
        self.assertRegex(update(answer.format("batch.reserve(1)"))[1], r"^my.py:\d+: RuntimeError: memory is reserved")


if __name__ == "__main__":
    unittest.main()
