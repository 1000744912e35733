# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""python_host.py as a module, and what C hands to it: what its tests share."""
import ctypes
import importlib
import math
import pathlib
import shutil
import sys
import tempfile
import textwrap
import unittest
from ctypes import byref, c_size_t

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "lib/isolate"
EXAMPLE = ROOT / "backends/python_example/python_example.py"
INCLUDE = ROOT / "lib/backend/include"

sys.path.insert(0, str(FOLDER))
import python_host as host
import python_mirror as mirror

# As attnbench passes it to an interpreter.
PARTS = [(FOLDER / name).read_text() for name in ("python_mirror.py", "python_host.py")]
TEXT = "".join(["HEADER = r'''", mirror.header_text(), "'''\n", *PARTS])


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


numpy, torch, CC = optional("numpy"), optional("torch"), shutil.which("cc")
needs_numpy = unittest.skipUnless(numpy, "NumPy is not installed")
needs_torch = unittest.skipUnless(torch, "torch is not installed")
needs_cc = unittest.skipUnless(CC, "there is no C compiler cc")

ITEM = {dtype: bits // 8 for dtype, (_, bits, _) in mirror.FORMATS.items()}


def c_problem(**changes):
    """An attnbench_problem with words for its enums."""
    values = dict(family="softmax", heads_q=2, heads_kv=1, head_dim_qk=4, head_dim_v=4, causal=1, scale=0.5, ranks=1,
                  sliding_window_size=-1, dtype="f32", cache_dtype="f32", cache_layout="NHD", page_size=2,
                  mode="decode", max_requests=2, max_q_len=1, max_q_tokens=2, max_kv_len=3)
    problem = mirror.ProblemStruct(struct_size=ctypes.sizeof(mirror.ProblemStruct))
    for name, value in {**values, **changes}.items():
        setattr(problem, name, mirror.PROBLEM_WORDS[name].index(value) if isinstance(value, str) else value)
    return problem


def dense(shape):
    return [math.prod(shape[d + 1:]) for d in range(len(shape))]


def c_tensor(memory, dtype, shape, strides=None):
    """An attnbench_tensor over a ctypes array; its memory is the caller's to keep."""
    tensor = mirror.TensorStruct(data=ctypes.addressof(memory), dtype=mirror.DTYPES.index(dtype), rank=len(shape))
    tensor.shape[:len(shape)] = shape
    tensor.stride[:len(shape)] = strides or dense(shape)
    return tensor


class CBatch:
    """An attnbench_batch and all that it points to."""

    def __init__(self, problem, q_lens, kv_lens, tensors=()):
        self.problem = problem
        self.q_lens = (ctypes.c_int32 * len(q_lens))(*q_lens)
        self.kv_lens = (ctypes.c_int32 * len(kv_lens))(*kv_lens)
        self.tensors = (mirror.TensorStruct * len(mirror.ROLES))()
        for role, tensor in dict(tensors).items():
            self.tensors[mirror.ROLES.index(role)] = tensor
        self.struct = mirror.BatchStruct(
            ctypes.sizeof(mirror.BatchStruct), ctypes.pointer(problem), len(q_lens), sum(q_lens), self.q_lens,
            self.kv_lens, 2.0, 0.5, len(mirror.ROLES), self.tensors)
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
        self.reserve = dict(mirror.STRUCTS["memory"]._fields_)["reserve"](reserve)
        memory = mirror.STRUCTS["memory"](ctypes.sizeof(mirror.STRUCTS["memory"]), 77, self.reserve)
        handle = c_size_t(0)
        status, message = self.call(table.plan, table.self, byref(batch.struct), byref(memory), byref(handle))
        batch.forget()
        ctypes.memset(byref(memory), 0x7F, ctypes.sizeof(memory))
        return status, message, handle.value

    def planned(self, table, batch=None, **more):
        status, message, handle = self.plan(table, batch, **more)
        self.assertEqual((status, message), (mirror.OK, ""))
        self.assertNotEqual(handle, 0)
        return handle
