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
import importlib.util
import io
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
import unittest.mock
import weakref
from ctypes import byref, c_size_t

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HOST = HERE / "python_host.py"
EXAMPLE = ROOT / "backends/python_example/python_example.py"
INCLUDE = ROOT / "lib/backend/include"

specification = importlib.util.spec_from_file_location("python_host", HOST)
host = sys.modules["python_host"] = importlib.util.module_from_spec(specification)
specification.loader.exec_module(host)


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numpy, torch, CC = optional("numpy"), optional("torch"), shutil.which("cc")
needs_numpy = unittest.skipUnless(numpy, "NumPy is not installed")
needs_torch = unittest.skipUnless(torch, "torch is not installed")
needs_cc = unittest.skipUnless(CC, "there is no C compiler cc")

ITEM = {dtype: bits // 8 for dtype, (_, bits, _) in host.FORMATS.items()}


def c_problem(**changes):
    """An attnbench_problem with words for its enums."""
    values = dict(family="softmax", heads_q=2, heads_kv=1, head_dim_qk=4, head_dim_v=4, causal=1, scale=0.5, ranks=1,
                  sliding_window_size=-1, dtype="f32", cache_dtype="f32", cache_layout="NHD", page_size=2,
                  mode="decode", max_requests=2, max_q_len=1, max_q_tokens=2, max_kv_len=3)
    problem = host.ProblemStruct(struct_size=ctypes.sizeof(host.ProblemStruct))
    for name, value in {**values, **changes}.items():
        setattr(problem, name, host.PROBLEM_WORDS[name].index(value) if isinstance(value, str) else value)
    return problem


def dense(shape):
    return [math.prod(shape[d + 1:]) for d in range(len(shape))]


def c_tensor(memory, dtype, shape, strides=None):
    """An attnbench_tensor over a ctypes array; its memory is the caller's to keep."""
    tensor = host.TensorStruct(data=ctypes.addressof(memory), dtype=host.DTYPES.index(dtype), rank=len(shape))
    tensor.shape[:len(shape)] = shape
    tensor.stride[:len(shape)] = strides or dense(shape)
    return tensor


class CBatch:
    """An attnbench_batch and all that it points to."""

    def __init__(self, problem, q_lens, kv_lens, tensors=()):
        self.problem = problem
        self.q_lens = (ctypes.c_int32 * len(q_lens))(*q_lens)
        self.kv_lens = (ctypes.c_int32 * len(kv_lens))(*kv_lens)
        self.tensors = (host.TensorStruct * len(host.ROLES))()
        for role, tensor in dict(tensors).items():
            self.tensors[host.ROLES.index(role)] = tensor
        self.struct = host.BatchStruct(
            ctypes.sizeof(host.BatchStruct), ctypes.pointer(problem), len(q_lens), sum(q_lens), self.q_lens,
            self.kv_lens, 2.0, 0.5, len(host.ROLES), self.tensors)
        self.struct.q_scale, self.struct.out_scale = 0.25, 4.0

    def forget(self):
        """Overwrites what lives as long as a call only."""
        for each in (self.problem, self.q_lens, self.kv_lens, self.tensors, self.struct):
            ctypes.memset(ctypes.addressof(each), 0x7F, ctypes.sizeof(each))


class HostTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(setattr, sys, "argv", sys.argv)
        self.addCleanup(setattr, sys, "path", list(sys.path))

    def write(self, text, name="my.py"):
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def tables(self, text):
        path = self.write(text)
        return host.Tables([path], host.load(path))

    def backend(self, members="", plan="pass", head=""):
        """The table of one backend that has these members, and whose Plan has those."""
        text = textwrap.dedent(head) + "\nclass Mine:\n    name = 'mine'\n"
        for method, body in (("supports(self, problem)", "pass"), ("plan(self, batch)", "return Plan()")):
            if f"def {method.partition('(')[0]}(" not in members:
                text += f"    def {method}: {body}\n"
        text += textwrap.indent(textwrap.dedent(members), "    ") + "\nclass Plan:\n"
        self.tables_alive = self.tables(text + textwrap.indent(textwrap.dedent(plan), "    ") + "\n")
        return self.tables_alive.array[0]

    def call(self, function, *arguments, room=1024):
        """What a function of a table answers: its status and its message."""
        message = ctypes.create_string_buffer(b"\x55" * (room + 8), room + 8)
        status = function(*arguments, ctypes.addressof(message), room)
        self.assertEqual(message.raw[room:], b"\x55" * 8, "it wrote too far")
        return status, "" if message.raw[0] == 0x55 else message.raw[:message.raw.index(b"\0")].decode()

    def supports(self, table, room=1024, **changes):
        return self.call(table.supports, table.self, byref(c_problem(**changes)), room=room)

    def plan(self, table, batch=None, reserve=lambda context, size: 0):
        """The status, message and handle of plan()."""
        batch = batch or CBatch(c_problem(), [1, 1], [3, 2])
        self.reserve = dict(host.MemoryStruct._fields_)["reserve"](reserve)
        memory = host.MemoryStruct(ctypes.sizeof(host.MemoryStruct), 77, self.reserve)
        handle = c_size_t(0)
        status, message = self.call(table.plan, table.self, byref(batch.struct), byref(memory), byref(handle))
        batch.forget()
        ctypes.memset(byref(memory), 0x7F, ctypes.sizeof(memory))
        return status, message, handle.value

    def planned(self, table, batch=None, **more):
        status, message, handle = self.plan(table, batch, **more)
        self.assertEqual((status, message), (host.OK, ""))
        self.assertNotEqual(handle, 0)
        return handle


class LayoutTest(HostTest):
    @needs_cc
    def test_structs_and_numbers_are_those_of_the_header(self):
        structs = {"problem": host.ProblemStruct, "tensor": host.TensorStruct, "batch": host.BatchStruct,
                   "memory": host.MemoryStruct, "index": host.IndexStruct, "numerics": host.NumericsStruct, "backend": host.BackendStruct}
        expected, lines = {}, []

        def expect(expression, value):
            expected[expression] = value
            lines.append(f'printf("%s = %ld\\n", "{expression}", (long)({expression}));')

        for name, struct in structs.items():
            expect(f"sizeof(attnbench_{name})", ctypes.sizeof(struct))
            for member, _ in struct._fields_:
                field = getattr(struct, member)
                expect(f"offsetof(attnbench_{name}, {member})", field.offset)
                expect(f"sizeof ((attnbench_{name} *)0)->{member}", field.size)
        groups = {**host.PROBLEM_WORDS, "cache_scales": [f"scales_{word}" for word in host.PROBLEM_WORDS["cache_scales"]],
                  "q_scales": [f"q_scales_{word}" for word in host.PROBLEM_WORDS["q_scales"]]}
        words = list(groups.values()) + [host.DEVICES, host.DTYPES, host.ROLES]
        for index, word in (pair for group in words for pair in enumerate(group)):
            expect(f"ATTNBENCH_{word.upper()}", index)
        for index, word in enumerate(host.GRAPH_SUPPORTS):
            expect(f"ATTNBENCH_GRAPH_{word}", index)
        for name, value in (("OK", host.OK), ("ERROR", host.ERROR), ("UNSUPPORTED", host.UNSUPPORTED)):
            expect(f"ATTNBENCH_{name}", value)
        expect("ATTNBENCH_ROLES", len(host.ROLES))
        source = self.write("#include <attnbench/backend.h>\n#include <stdio.h>\nint main(void) {\n"
                            + "\n".join(lines) + "\nreturn 0;\n}\n", "layout.c")
        program = str(self.folder / "layout")
        subprocess.run([CC, "-I", str(INCLUDE), source, "-o", program], check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        found = {expression: int(value) for expression, _, value in
                 (line.partition(" = ") for line in printed.splitlines())}
        self.assertEqual(found, expected)

    def test_the_text_is_one_that_python_3_9_can_read(self):
        for path in (HOST, EXAMPLE):
            ast.parse(path.read_text(), feature_version=(3, 9))


class SupportsTest(HostTest):
    def test_yes_no_and_neither(self):
        answers = self.backend("""
            def supports(self, problem):
                return {2: None, 3: True, 4: "not on\\nSundays", 5: False, 6: 1, 7: {}}[problem.heads_q]
        """)
        self.assertEqual(self.supports(answers), (host.OK, ""))
        self.assertEqual(self.supports(answers, heads_q=3), (host.OK, ""))
        self.assertEqual(self.supports(answers, heads_q=4), (host.UNSUPPORTED, "not on\nSundays"))
        self.assertEqual(self.supports(answers, heads_q=5), (host.UNSUPPORTED, ""))
        for heads in (6, 7):
            status, message = self.supports(answers, heads_q=heads)
            self.assertEqual(status, host.ERROR)
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
            self.assertEqual(self.supports(raises, heads_q=index), (host.ERROR, f"my.py:{line}: {words}"))
        status, message = self.supports(raises, heads_q=4)
        self.assertTrue(message.startswith(f"my.py:{line + 2}: JSONDecodeError: Expecting"), message)

    def test_a_message_is_cut_to_its_room(self):
        table = self.backend("def supports(self, problem): return 'a\\0b\\udc80' + 'é' * 3000")
        for room in (1, 2, 5, 6, 7, 100, 1024):
            status, message = self.supports(table, room=room)
            self.assertEqual(status, host.UNSUPPORTED)
            self.assertEqual(message, ("a b?" + "é" * 3000)[:4 + max(0, room - 1 - 4) // 2][:room - 1])
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(table.supports(table.self, byref(c_problem()), 0, 0), host.UNSUPPORTED)
        self.assertIn("éé", errors.getvalue())

    def test_a_problem_has_words_and_truths(self):
        table = self.backend("def supports(self, problem): return repr(sorted(vars(problem).items()))")
        message = self.supports(table, mode="target_verify", cache_dtype="e5m2", cache_layout="HND", family="latent")[1]
        problem = dict(ast.literal_eval(message))
        self.assertEqual(list(problem), sorted(name for name, _ in host.ProblemStruct._fields_[1:]))
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
            self.assertEqual(self.call(table.formats, table.self, byref(c_problem()), layouts, byref(count))[0], host.OK)
            self.assertEqual(count.value, 1)
            self.assertEqual(self.supports(table), (host.UNSUPPORTED, "loaded 1"))

    def test_what_it_raises_makes_the_backend_absent(self):
        table = self.backend("""
            def load(self):
                self.loads = getattr(self, "loads", 0) + 1
                raise OSError(f"libcudart.so.{self.loads}:\\nno such file")
            def formats(self, problem): return self.layouts
        """)
        layouts, count = (ctypes.c_int32 * 4)(), ctypes.c_int32(4)
        for _ in range(2):
            self.assertEqual(self.call(table.formats, table.self, byref(c_problem()), layouts, byref(count))[0], host.OK)
            self.assertEqual(count.value, 4)
            status, message = self.supports(table)
            self.assertEqual(status, host.UNSUPPORTED)
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
        numerics = host.NumericsStruct(ctypes.sizeof(host.NumericsStruct), lse=1, partial_roundings=1)
        status, message = self.call(table.numerics, table.self, byref(c_problem()), byref(numerics))
        rounds = [getattr(numerics, name) for name, _ in host.NumericsStruct._fields_[1:]]
        return status, rounds, "" if status == host.OK else message

    def test_what_is_named_is_filled_in(self):
        self.assertEqual(self.ask(""), (host.OK, [0, 0, 0, 0, 1, 1], ""))
        self.assertEqual(self.ask("def numerics(self, problem): return None"), (host.OK, [0, 0, 0, 0, 1, 1], ""))
        said = self.ask("def numerics(self, problem): return {'lse': False, 'partial_roundings': 2}")
        self.assertEqual(said, (host.OK, [0, 0, 0, 0, 0, 2], ""))
        said = self.ask("def numerics(self, problem): return {'p': 'bf16', 'partial_out': 'e5m2', 'qk_input': 'f16'}")
        self.assertEqual(said, (host.OK, [1, 2, 0, 4, 1, 1], ""))

    def test_nonsense_is_an_error(self):
        for answer in ({"P": "bf16"}, {"p": "bf17"}, {"p": "i32"}, {"struct_size": "f32"}, {"lse": "f32"},
                       {"p": False}, {"partial_roundings": True}, {"partial_roundings": "bf16"}):
            status, _, errors = self.ask(f"def numerics(self, problem): return {answer}")
            self.assertEqual(status, host.ERROR)
            self.assertIn("my.py: ValueError: numerics() says", errors)
        status, _, errors = self.ask("def numerics(self, problem): return 1 // 0")
        self.assertEqual(status, host.ERROR)
        self.assertRegex(errors, r"^my.py:\d+: ZeroDivisionError: ")


class FormatsTest(HostTest):
    def ask(self, members, **problem):
        table = self.backend(members)
        layouts, count = (ctypes.c_int32 * 4)(), ctypes.c_int32(4)
        status, message = self.call(table.formats, table.self, byref(c_problem(**problem)), layouts, byref(count))
        return ([host.LAYOUTS[layout] for layout in layouts[:count.value]] if status == host.OK else status), message

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
            self.assertEqual(status, host.ERROR)
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
            self.assertEqual(status, host.ERROR)
            self.assertRegex(message, rf"^my.py:\d+: ValueError: {stream} \[1, 1\] \[3, 2\] 2 2 2.0 0.5 0.25 4.0 f32 decode$")
        table.destroy(handles[2])
        gc.collect()
        self.assertIsNone(plan())
        self.assertEqual(self.call(table.run, handles[2], 0), (host.ERROR, f"my.py: KeyError: {handles[2]}"))
        self.assertEqual(sorted(self.tables_alive.plans), sorted(handles[:2]))

    def test_a_good_run_says_nothing(self):
        table = self.backend(plan="def run(self, stream): return 'ignored'")
        self.assertEqual(self.call(table.run, self.planned(table), 0), (host.OK, ""))

    def test_what_cannot_run_is_no_plan(self):
        for returned, kind in (("None", "NoneType"), ("Plan()", "Plan"), ("7", "int")):
            table = self.backend(f"def plan(self, batch): return {returned}")
            self.assertEqual(self.plan(table), (host.ERROR, f"my.py: plan() returned {kind}, which has no "
                                                            "run(self, stream)", 0))
        table = self.backend("def plan(self, batch): raise SystemExit('no kernel')")
        status, message, handle = self.plan(table)
        self.assertEqual((status, handle), (host.ERROR, 0))
        self.assertRegex(message, r"^my.py:\d+: SystemExit: no kernel$")

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
                self.assertEqual(status, host.OK, message)
                self.assertEqual(self.tables_alive.plans[handle].address, 0x1000)
                status, message = self.call(table.run, handle, 0)
                self.assertIn("RuntimeError: memory is reserved in plan(), and once", message)
            else:
                self.assertIn(expected, message)
            self.assertEqual(status, host.ERROR)
        self.assertEqual(asked, [(77, 512), (77, 4096), (77, 512)])
        table = self.backend("def plan(self, batch):\n    self.batch = batch\n    return Plan()", run)
        self.planned(table, reserve=reserve)
        with self.assertRaises(RuntimeError):
            self.tables_alive.backends[0].batch.reserve(1)
        self.assertEqual(len(asked), 3)

    def test_a_plan_may_hand_over_its_own_graph(self):
        def graph(body):
            table = self.backend(plan="def run(self, stream): pass\n" + body)
            address = c_size_t(77)
            return (*self.call(table.graph, self.planned(table), byref(address)), address.value)
        answer = "def graph(self): return {}"
        self.assertEqual(graph(""), (host.OK, "", 0))
        self.assertEqual(graph(answer.format("None")), (host.OK, "", 0))
        self.assertEqual(graph(answer.format("0x7f00")), (host.OK, "", 0x7F00))
        own = "class Graph:\n    def raw_cuda_graph(self): return 99\n" + answer.format("self.Graph()")
        self.assertEqual(graph(own), (host.OK, "", 99))
        status, message, _ = graph(answer.format("'no graph'"))
        self.assertEqual(status, host.ERROR)
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
        self.assertEqual(update(""), (host.UNSUPPORTED, ""))
        self.assertEqual(update(answer.format(True)), (host.OK, ""))
        self.assertEqual(update(answer.format(False)), (host.UNSUPPORTED, ""))
        status, message = update(answer.format(None))
        self.assertEqual(status, host.ERROR)
        self.assertIn("my.py: TypeError: update() returned None", message)
        self.assertRegex(update(answer.format("batch.reserve(1)"))[1], r"^my.py:\d+: RuntimeError: memory is reserved")


class IndicesTest(HostTest):
    """The index arrays that a batch builds."""

    def setUp(self):
        super().setUp()
        memory, on_host = (ctypes.c_int32 * 4)(1, 2, 3, 4), (ctypes.c_int32 * 4)(1, 2, 3, 4)
        tensor = c_tensor(memory, "i32", [2, 2])
        tensor.device, tensor.device_id = 1, 3
        size = ctypes.sizeof(host.IndexStruct)
        number = host.IndexStruct(size, None, b"longest", host.TensorStruct(dtype=host.DTYPES.index("i64")), None, 77)
        table = host.IndexStruct(size, ctypes.addressof(number), b"table", tensor, ctypes.addressof(on_host), 0)
        self.addresses = ctypes.addressof(memory), ctypes.addressof(on_host)
        self.held = memory, on_host, number, table

        def indices(context, format, first, message, room):
            if format == b"tables":
                first[0] = ctypes.pointer(table)
                return host.OK
            ctypes.memmove(message, b"not today\0", 10)
            return host.UNSUPPORTED if format == b"trees" else host.ERROR

        self.batch = CBatch(c_problem(), [1], [9])
        self.batch.struct.indices = self.kept = host.INDICES(indices)

    def test_are_tensors_and_numbers_by_their_names(self):
        arrays = host.Batch(self.batch.struct).indices("tables")
        self.assertEqual(list(arrays), ["table", "longest"])
        self.assertEqual(arrays["longest"], 77)
        table = arrays["table"]
        self.assertEqual((table.address, table.dtype, table.shape, table.strides, table.device, table.device_id),
                         (self.addresses[0], "i32", (2, 2), (2, 1), "cuda", 3))
        table = host.Batch(self.batch.struct).indices("tables", host=True)["table"]
        self.assertEqual((table.address, table.device, table.device_id), (self.addresses[1], "cpu", 0))

    def test_what_does_not_apply_and_what_is_no_format_are_told_apart(self):
        with self.assertRaisesRegex(LookupError, "^trees: not today$"):
            host.Batch(self.batch.struct).indices("trees")
        with self.assertRaisesRegex(ValueError, "^not today$"):
            host.Batch(self.batch.struct).indices("tabels")

    def test_are_built_in_plan_and_update_alone(self):
        table = self.backend("def plan(self, batch): return Plan(batch)", """
            def __init__(self, batch):
                self.batch, self.table = batch, batch.indices("tables")["table"]
            def run(self, stream):
                self.batch.indices("tables")
            def update(self, batch, stream):
                self.batch = batch
                return batch.indices("tables")["table"] == self.table
        """)
        handle = self.planned(table, self.batch)
        refused = "RuntimeError: index arrays are built in plan() and update() alone"
        self.assertIn(refused, self.call(table.run, handle, 0)[1])
        self.setUp()
        self.assertEqual(self.call(table.update, handle, byref(self.batch.struct), 0)[0], host.UNSUPPORTED)
        self.assertIn(refused, self.call(table.run, handle, 0)[1])


class TensorTest(HostTest):
    """Tensors of a batch, as its plan() sees them."""

    def batch_of(self, **tensors):
        return host.Batch(CBatch(c_problem(), [], [], tensors).struct)

    def test_a_tensor_says_what_it_is(self):
        memory = (ctypes.c_uint16 * 48)()
        batch = self.batch_of(q=c_tensor(memory, "bf16", [2, 3, 8]), sinks=c_tensor(memory, "f32", [2]))
        q = batch.tensor("q")
        self.assertEqual((q.address, q.dtype, q.shape, q.strides, q.device, q.device_id),
                         (ctypes.addressof(memory), "bf16", (2, 3, 8), (24, 8, 1), "cpu", 0))
        self.assertIsNone(batch.tensor("k_new"))
        self.assertIsNone(batch.tensor("out"))
        with self.assertRaises(KeyError):
            batch.tensor("Q")

    def test_an_empty_tensor_is_there_and_an_absent_one_is_not(self):
        nowhere = host.TensorStruct(data=0, rank=2)
        nowhere.shape[:2] = [0, 4]
        batch = self.batch_of(q=nowhere, k_new=nowhere)
        self.assertEqual(batch.tensor("q").shape, (0, 4))
        self.assertIsNone(batch.tensor("k_new"))
        if numpy:
            self.assertEqual(batch.tensor("q").numpy().shape, (0, 4))

    def test_a_gpu_keeps_its_memory_to_itself(self):
        tensor = c_tensor((ctypes.c_float * 4)(), "f32", [4])
        tensor.device, tensor.device_id = 1, 3
        q = self.batch_of(q=tensor).tensor("q")
        self.assertEqual((q.device, q.device_id, q.__dlpack_device__()), ("cuda", 3, (2, 3)))
        if numpy:
            with self.assertRaisesRegex(TypeError, "GPU"):
                q.numpy()

    @needs_numpy
    def test_numpy_sees_the_memory_through_any_strides(self):
        pages, page_size, heads, dim = 3, 2, 4, 5
        names = {"f32": "float32", "f16": "float16", "bf16": "uint16", "e4m3": "uint8", "e5m2": "uint8",
                 "i32": "int32", "i64": "int64", "u8": "uint8"}
        for dtype, name in names.items():
            with self.subTest(dtype=dtype):
                backing = numpy.arange(pages * heads * page_size * dim + 7).astype(name)  # guarded: 7 behind
                held = (ctypes.c_char * backing.nbytes).from_buffer(backing)
                strides = [heads * page_size * dim, dim, page_size * dim, 1]  # HND
                tensor = c_tensor(held, dtype, [pages, page_size, heads, dim], strides)
                view = self.batch_of(k_cache=tensor).tensor("k_cache").numpy()
                expected = backing[:-7].reshape(pages, heads, page_size, dim).transpose(0, 2, 1, 3)
                self.assertEqual(view.dtype, numpy.dtype(name))
                self.assertTrue(numpy.array_equal(view, expected))
                view[2, 1, 3, 4] = 99  # the last element
                self.assertEqual(backing[-8], 99)
                self.assertTrue(view.flags.writeable)

    def managed(self, capsule):
        pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi))
        return host.DLPackStruct.from_address(pointer(capsule, b"dltensor"))

    def test_a_capsule_describes_the_tensor(self):
        memory = (ctypes.c_uint8 * 64)()
        codes = {"f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "e4m3": (10, 8), "e5m2": (12, 8), "i32": (0, 32),
                 "i64": (0, 64), "u8": (1, 8)}
        for dtype, code in codes.items():
            tensor = self.batch_of(q=c_tensor(memory, dtype, [2, 2], [1, 2])).tensor("q")
            capsule = tensor.__dlpack__()
            managed = self.managed(capsule)
            self.assertEqual((managed.code, managed.bits, managed.lanes), (*code, 1))
            self.assertEqual((managed.data, managed.device_type, managed.device_id, managed.ndim, managed.byte_offset),
                             (ctypes.addressof(memory), 1, 0, 2, 0))
            self.assertEqual((managed.shape[:2], managed.strides[:2]), ([2, 2], [1, 2]))
            # A consumer calls this once, maybe when the tensor is gone; a capsule that nobody takes just goes.
            del tensor, capsule
            gc.collect()
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
            self.assertEqual(managed.shape[:2], [2, 2])
        before = len(host.descriptions)
        for _ in range(100):
            self.batch_of(q=c_tensor(memory, "f32", [2, 2], [1, 2])).tensor("q").__dlpack__(stream=1)
        self.assertEqual(len(host.descriptions), before)
        with self.assertRaises(BufferError):
            self.batch_of(q=c_tensor(memory, "f32", [2, 2])).tensor("q").__dlpack__(copy=True)

    @needs_numpy
    def test_numpy_takes_a_capsule(self):
        backing = numpy.arange(24, dtype=numpy.float32)
        held = (ctypes.c_char * backing.nbytes).from_buffer(backing)
        tensor = self.batch_of(q=c_tensor(held, "f32", [2, 3, 4], [12, 1, 3])).tensor("q")
        taken = numpy.from_dlpack(tensor)
        del tensor
        gc.collect()
        self.assertTrue(numpy.shares_memory(taken, backing))
        self.assertTrue(numpy.array_equal(taken, backing.reshape(2, 4, 3).transpose(0, 2, 1)))
        with self.assertRaisesRegex((RuntimeError, BufferError), "(?i)dtype|type"):  # NumPy's own words arrive
            numpy.from_dlpack(self.batch_of(q=c_tensor(held, "bf16", [2, 2])).tensor("q"))

    @needs_torch
    def test_torch_takes_every_type(self):
        names = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
                 "e5m2": "float8_e5m2", "i32": "int32", "i64": "int64", "u8": "uint8"}
        memory = (ctypes.c_uint8 * 64)()
        for dtype, name in names.items():
            tensor = self.batch_of(q=c_tensor(memory, dtype, [2, 2], [1, 2])).tensor("q").torch()
            self.assertEqual((tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.data_ptr()),
                             (getattr(torch, name), (2, 2), (1, 2), ctypes.addressof(memory)))
            tensor.view(torch.uint8 if ITEM[dtype] == 1 else tensor.dtype).fill_(1)
            self.assertNotEqual(bytes(memory)[:4 * ITEM[dtype]], bytes(4 * ITEM[dtype]))
            ctypes.memset(memory, 0, 64)


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
                          table.padding_seq_len), (ctypes.sizeof(host.BackendStruct), 1, 0, 2, 0))
        self.assertEqual(self.call(table.run, self.planned(table), 0), (host.OK, ""))
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
        return subprocess.run([sys.executable, "-c", HOST.read_text(), *arguments], capture_output=True, text=True,
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
                 "reads_queries_apart": False, "engine_flag": "",
                 "packages": "", "kernel": "", "absence": ""}
        self.assertEqual(json.loads(out), [dict(other, name="mine", version="0", only_by_name=False), other])
        self.assertIn("hello", err)
        self.assertIn("raw", err)
        self.assertIn("my.py']", err)

    def test_the_answer_is_the_last_line_of_both_streams_together(self):
        text = textwrap.dedent(DiscoveryTest.CLASS.format("A", "a")) + "print('no line', end='')\n"
        for more, expected in (("", '[{"name": "a",'), ("print()\n1 / 0\n", "my.py:8: ZeroDivisionError: division")):
            command = [sys.executable, "-c", HOST.read_text(), "describe", self.write(text + more)]
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
                requires = {"no-such-package": "1.0", "whole": "2.0", "nor_this": "3"}
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


@needs_numpy
class ExampleTest(HostTest):
    """backends/python_example against plain float64."""

    def judge(self, dtype, cache_dtype, layout):
        rng = numpy.random.default_rng(5)
        heads_q, heads_kv, dim, page_size, pages = 6, 2, 8, 4, 12
        q_lens, kv_lens = [1, 5, 3], [9, 5, 14]
        tokens, k_scale, v_scale, scale = sum(q_lens), 2.0, 0.5, 0.3

        def rounded(values, kind):
            """The values as memory of that type, and what they then are."""
            if kind != "bf16":
                stored = values.astype({"f32": "float32", "f16": "float16"}[kind])
                return stored, stored.astype("float64")
            stored = (values.astype("float32").view("uint32") >> 16).astype("uint16")
            return stored, (stored.astype("uint32") << 16).view("float32").astype("float64")

        q_stored, q = rounded(rng.normal(size=(tokens, heads_q, dim)), dtype)
        shape = (pages, page_size, heads_kv, dim) if layout == "NHD" else (pages, heads_kv, page_size, dim)
        strides = dense(shape) if layout == "NHD" else [dense(shape)[d] for d in (0, 2, 1, 3)]
        caches = [rounded(rng.normal(size=shape), cache_dtype) for _ in range(2)]
        k, v = (values if layout == "NHD" else values.transpose(0, 2, 1, 3) for _, values in caches)
        k, v = (values.reshape(-1, heads_kv, dim) for values in (k, v))  # by slot
        out = numpy.full((tokens, heads_q, dim), 7, q_stored.dtype)
        lse = numpy.full((tokens, heads_q), numpy.nan, "float32")
        table = numpy.full((5, 20), -1, "int32")
        rows = numpy.array([3, 0, 4], "int32")
        free = random.Random(1).sample(range(pages), pages)
        for row, kv_len in zip(rows, kv_lens):
            slots = [page * page_size + i for page in (free.pop() for _ in range(-(-kv_len // page_size)))
                     for i in range(page_size)]
            table[row, :kv_len] = slots[:kv_len]
        arrays = {"q": (q_stored, dtype), "out": (out, dtype), "lse": (lse, "f32"), "req_to_token": (table, "i32"),
                  "req_pool_indices": (rows, "i32")}
        held = {role: (ctypes.c_char * array.nbytes).from_buffer(array) for role, (array, _) in arrays.items()}
        tensors = {role: c_tensor(held[role], kind, array.shape) for role, (array, kind) in arrays.items()}
        for role, (stored, _) in zip(("k_cache", "v_cache"), caches):
            held[role] = (ctypes.c_char * stored.nbytes).from_buffer(stored)
            tensors[role] = c_tensor(held[role], cache_dtype, (pages, page_size, heads_kv, dim), strides)
        problem = c_problem(heads_q=heads_q, heads_kv=heads_kv, head_dim_qk=dim, head_dim_v=dim, scale=scale,
                            mode="mixed", dtype=dtype, cache_dtype=cache_dtype, cache_layout=layout,
                            page_size=page_size)
        handle = self.planned(self.table, CBatch(problem, q_lens, kv_lens, tensors))
        for _ in range(2):
            out[...] = 7
            self.assertEqual(self.call(self.table.run, handle, 0), (host.OK, ""))
        self.table.destroy(handle)

        got = out.astype("float64") if dtype != "bf16" else (out.astype("uint32") << 16).view("float32")
        token = 0
        for row, q_len, kv_len in zip(rows, q_lens, kv_lens):
            for i in range(q_len):
                seen = table[row, :kv_len - q_len + i + 1]
                for head in range(heads_q):
                    logits = k[seen, head // 3] @ q[token, head] * scale * k_scale
                    weights = numpy.exp(logits)
                    expected = weights @ v[seen, head // 3] / weights.sum() * v_scale
                    half_unit = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}[dtype]  # of a number like 1
                    error = numpy.abs(got[token, head] - expected) - half_unit * numpy.abs(expected)
                    self.assertLess(error.max(), 1e-6)
                    self.assertAlmostEqual(lse[token, head], math.log(weights.sum()), places=5)
                token += 1

    def setUp(self):
        super().setUp()
        self.tables_alive = host.Tables([str(EXAMPLE)], host.load(str(EXAMPLE)))
        self.table = self.tables_alive.array[0]

    def test_it_agrees_in_every_type_and_layout(self):
        for dtype, cache_dtype, layout in (("f32", "f32", "NHD"), ("f32", "f32", "HND"), ("bf16", "bf16", "HND"),
                                           ("f16", "f16", "NHD"), ("bf16", "f16", "NHD"), ("f16", "bf16", "HND")):
            with self.subTest(dtype=dtype, cache_dtype=cache_dtype, layout=layout):
                self.judge(dtype, cache_dtype, layout)

    def test_it_refuses_the_rest_with_a_reason(self):
        self.assertEqual(self.supports(self.table), (host.OK, ""))
        for change, word in ((dict(family="latent"), "MLA"), (dict(mode="target_verify"), "trees"),
                             (dict(sliding_window_size=0), "window"), (dict(logit_cap=30.0), "softcap"),
                             (dict(has_sinks=1), "sinks"), (dict(has_alibi=1), "ALiBi"), (dict(causal=0), "causal"),
                             (dict(is_cross_attention=1), "self"), (dict(cache_dtype="e4m3"), "f32"),
                             (dict(dtype="e5m2"), "f32")):
            status, reason = self.supports(self.table, **change)
            self.assertEqual(status, host.UNSUPPORTED)
            self.assertIn(word, reason)

    def test_a_batch_without_requests_is_planned_and_run(self):
        tensors = {}
        for role, shape in (("q", (0, 2, 4)), ("out", (0, 2, 4)), ("lse", (0, 2)), ("req_pool_indices", (0,)),
                            ("k_cache", (0, 2, 1, 4)), ("v_cache", (0, 2, 1, 4)), ("req_to_token", (0, 3))):
            tensors[role] = host.TensorStruct(rank=len(shape), dtype=host.DTYPES.index("f32"))
            tensors[role].shape[:len(shape)] = shape
        handle = self.planned(self.table, CBatch(c_problem(mode="idle"), [], [], tensors))
        self.assertEqual(self.call(self.table.run, handle, 0), (host.OK, ""))

    def test_bf16_rounds_to_nearest_even_and_keeps_what_is_no_number(self):
        module = sys.modules["attnbench_plugin"]
        bits = [0x3F800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x80000000]
        stored = numpy.zeros(len(bits), "uint16")
        module.store(stored, numpy.array(bits, "uint32").view("float32"))
        self.assertEqual([hex(b) for b in stored],
                         [hex(b) for b in (0x3F80, 0x3F80, 0x3F82, 0x3F81, 0x7F80, 0xFF80, 0x7F80, 0x8000)])
        for nan in (0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001):
            module.store(stored, numpy.full(len(bits), nan, "uint32").view("float32"))
            self.assertTrue(numpy.isnan(module.to_f32(stored)).all())


if __name__ == "__main__":
    unittest.main()
