#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""How a Python plug-in sees the tensors and the index arrays of a batch.

usage: python_host_tensors_test.py [unittest's arguments]; what needs NumPy or torch is skipped where there is none
"""
import ctypes
import gc
import pathlib
import sys
import unittest
from ctypes import byref

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "testing"))
sys.dont_write_bytecode = True

from c_side import ITEM, CBatch, HostTest, c_problem, c_tensor, mirror, needs_numpy, needs_torch, numpy, torch


class IndicesTest(HostTest):
    """The index arrays that a batch builds."""

    def setUp(self):
        super().setUp()
        memory, on_host = (ctypes.c_int32 * 4)(1, 2, 3, 4), (ctypes.c_int32 * 4)(1, 2, 3, 4)
        tensor = c_tensor(memory, "i32", [2, 2])
        tensor.device, tensor.device_id = 1, 3
        size = ctypes.sizeof(mirror.IndexStruct)
        number = mirror.IndexStruct(size, 0, b"longest", mirror.TensorStruct(dtype=mirror.DTYPES.index("i64")), 0, 77)
        table = mirror.IndexStruct(size, ctypes.addressof(number), b"table", tensor, ctypes.addressof(on_host), 0)
        self.addresses = ctypes.addressof(memory), ctypes.addressof(on_host)
        self.held = memory, on_host, number, table

        def indices(context, format, first, message, room):
            if format == b"tables":
                first[0] = ctypes.pointer(table)
                return mirror.OK
            ctypes.memmove(message, b"not today\0", 10)
            return mirror.UNSUPPORTED if format == b"trees" else mirror.ERROR

        self.batch = CBatch(c_problem(), [1], [9])
        self.batch.struct.indices = self.kept = dict(mirror.BatchStruct._fields_)["indices"](indices)

    def test_are_tensors_and_numbers_by_their_names(self):
        arrays = mirror.Batch(self.batch.struct).indices("tables")
        self.assertEqual(list(arrays), ["table", "longest"])
        self.assertEqual(arrays["longest"], 77)
        table = arrays["table"]
        self.assertEqual((table.address, table.dtype, table.shape, table.strides, table.device, table.device_id),
                         (self.addresses[0], "i32", (2, 2), (2, 1), "cuda", 3))
        table = mirror.Batch(self.batch.struct).indices("tables", host=True)["table"]
        self.assertEqual((table.address, table.device, table.device_id), (self.addresses[1], "cpu", 0))

    def test_what_does_not_apply_and_what_is_no_format_are_told_apart(self):
        with self.assertRaisesRegex(LookupError, "^trees: not today$"):
            mirror.Batch(self.batch.struct).indices("trees")
        with self.assertRaisesRegex(ValueError, "^not today$"):
            mirror.Batch(self.batch.struct).indices("tabels")

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
        self.assertEqual(self.call(table.update, handle, byref(self.batch.struct), 0)[0], mirror.UNSUPPORTED)
        self.assertIn(refused, self.call(table.run, handle, 0)[1])


class TensorTest(HostTest):
    """Tensors of a batch, as its plan() sees them."""

    def batch_of(self, **tensors):
        return mirror.Batch(CBatch(c_problem(), [], [], tensors).struct)

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
        nowhere = mirror.TensorStruct(data=0, rank=2)
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
        return mirror.DLPackStruct.from_address(pointer(capsule, b"dltensor"))

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
        before = len(mirror.descriptions)
        for _ in range(100):
            self.batch_of(q=c_tensor(memory, "f32", [2, 2], [1, 2])).tensor("q").__dlpack__(stream=1)
        self.assertEqual(len(mirror.descriptions), before)
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


if __name__ == "__main__":
    unittest.main()
