# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""What a plug-in that is written in Python sees of attnbench/backend.h: structs, words for enums, tensors, a batch.

It is the first part of the text that attnbench passes to an interpreter; python_host.py is the second.
"""
import sys

if __name__ == "__main__":
    # With -c the current folder comes first: a file json.py there is not the json that is meant below.
    sys.path[:] = filter(None, sys.path)

import ctypes
import dataclasses
import os
import re
import types
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p

OK, ERROR, UNSUPPORTED = 0, 1, 2
# These are missing from some batches; the others can be empty, but are there.
OPTIONAL_ROLES = ("k_new", "v_new", "sinks", "custom_mask", "mask_indptr", "k_scales", "v_scales", "q_scales",
                  "intermediate_states", "retrieve_parent_token", "topk_indices", "topk_length", "logits",
                  "row_lens", "index_q", "index_weights", "index_cache", "skip")
# DLPack's code and bits, and what NumPy calls the type or an integer of the same size.
FORMATS = {"f32": (2, 32, "float32"), "f16": (2, 16, "float16"), "bf16": (4, 16, "uint16"), "e4m3": (10, 8, "uint8"),
           "e5m2": (12, 8, "uint8"), "i32": (0, 32, "int32"), "i64": (0, 64, "int64"), "u8": (1, 8, "uint8")}


def mirror(header):
    """What a header declares that is written as attnbench/backend.h is: its structs, the words of its enums, which count
    from 0, and by structs the members that are true or false; all names without attnbench_. Pointers that are only handed
    on, a plan's handle and the room for a message among them, are plain integers."""
    text = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
    types = {"size_t": c_size_t, "int": c_int, "int32_t": c_int32, "int64_t": c_int64, "float": ctypes.c_float,
             "double": ctypes.c_double}
    types.update((new, types[old]) for old, new in re.findall(r"typedef (\w+) (\w+);", text))

    def ctype(written):
        if written == "const char*":
            return c_char_p
        known, stars = types.get(re.sub(r"const |struct |\*", "", written).strip()), written.count("*")
        if known is None and stars:  # void, char, or a struct that is not whole yet
            known, stars = c_size_t, stars - 1
        for _ in range(stars):
            known = POINTER(known)
        return known

    def member(declaration):
        function = re.fullmatch(r"(.+)\(\*(\w+)\)\((.*)\)", declaration)
        if function:
            result, name, arguments = function.groups()
            return name, CFUNCTYPE(ctype(result.strip()), *(member(each.strip())[1] for each in arguments.split(",")))
        written, name, count = re.fullmatch(r"(.*[ *])(\w+)(?:\[(\d+)\])?", declaration).groups()
        return name, ctype(written.strip()) * int(count) if count else ctype(written.strip())

    structs, truths, words = {}, {}, {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, flags=re.S):
        fields = [member(" ".join(each.split())) for each in body.split(";") if each.strip()]
        short = name.replace("attnbench_", "", 1)
        types[name] = structs[short] = type(f"{short}_struct", (ctypes.Structure,), {"_fields_": fields})
        truths[short] = re.findall(r"attnbench_bool (\w+);", body)
    for name, body in re.findall(r"enum attnbench_(\w+) \{(.*?)\}", text, flags=re.S):
        found = re.findall(r"ATTNBENCH_(\w+) =", body)
        shared = os.path.commonprefix(found).rpartition("_")[0]  # SCALES of SCALES_HEAD
        found = [word[len(shared) + 1:] if shared else word for word in found]
        as_is = ("NHD", "HND", *(found if name == "graph_support" else ()))
        words[name] = tuple(word if word in as_is else word.lower() for word in found)
    return structs, words, truths


def header_text():
    """attnbench/backend.h behind what it includes: attnbench passes it as HEADER in front of this text; in a checkout
    it is three files."""
    if "HEADER" in globals():
        return HEADER
    text = ""
    for name in ("problem.h", "batch.h", "backend.h"):
        with open(os.path.join(os.path.dirname(__file__), "../backend/include/attnbench", name)) as file:
            text += file.read()
    return text


STRUCTS, WORDS, TRUTHS = mirror(header_text())
ProblemStruct, TensorStruct, IndexStruct, BatchStruct, NumericsStruct, BackendStruct = map(
    STRUCTS.get, ("problem", "tensor", "index", "batch", "numerics", "backend"))
DEVICES, DTYPES, LAYOUTS, GRAPH_SUPPORTS = map(WORDS.get, ("device", "dtype", "layout", "graph_support"))
ROLES = WORDS["role"][:-1]  # the last one is their number
# Members that are an enum's: `mode`, and `cache_dtype` as well as `q_dtype`.
PROBLEM_WORDS = {name: WORDS[enum] for name, _ in ProblemStruct._fields_ for enum in (name.partition("_")[2], name)
                 if enum in WORDS}
TEXTS = [name for name, ctype in BackendStruct._fields_ if ctype is c_char_p and name != "name"]
FUNCTIONS = {name: ctype for name, ctype in BackendStruct._fields_ if isinstance(ctype, type(CFUNCTYPE(None)))}


# DLManagedTensor, with the structs in it laid out flat.
class DLPackStruct(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", ctypes.c_uint64), ("manager_ctx", c_void_p),
                ("deleter", c_void_p)]


# A tensor's memory is attnbench's, so that a deleter has nothing to do. But it may be called without the interpreter's
# lock, amid an exception or after Python's end, which no function of Python's can bear. The C library's abs() stands
# in. As nothing reports when a description is unused, all of them are kept; equal tensors share one, so they are few.
DELETER = ctypes.cast(ctypes.CDLL(None).abs, c_void_p)
CAPSULE_NAME = b"dltensor"
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
descriptions = {}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor of a batch. Its memory lives as long as the plan; nothing here copies it."""
    address: int
    dtype: str
    shape: tuple
    strides: tuple  # counted in elements
    device: str
    device_id: int

    def numpy(self):
        """A NumPy array on the same memory. bf16 shows as uint16 and fp8 as uint8: NumPy has neither."""
        import numpy
        if self.device != "cpu":
            raise TypeError("NumPy cannot see a GPU's memory; use torch() or DLPack")
        dtype = numpy.dtype(FORMATS[self.dtype][2])
        if 0 in self.shape:
            return numpy.empty(self.shape, dtype)
        strides = [stride * dtype.itemsize for stride in self.strides]
        extent = sum((size - 1) * stride for size, stride in zip(self.shape, strides)) + dtype.itemsize
        return numpy.ndarray(self.shape, dtype, (ctypes.c_char * extent).from_address(self.address), 0, strides)

    def torch(self):
        """A torch.Tensor on the same memory."""
        import torch
        if self.dtype not in ("e4m3", "e5m2"):
            return torch.utils.dlpack.from_dlpack(self)
        # Only some versions of torch take fp8 from DLPack; all that have fp8 take bytes.
        fp8 = torch.float8_e4m3fn if self.dtype == "e4m3" else torch.float8_e5m2
        return torch.utils.dlpack.from_dlpack(dataclasses.replace(self, dtype="u8")).view(fp8)

    def __dlpack_device__(self):
        return (2 if self.device == "cuda" else 1, self.device_id)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("a tensor of attnbench is used where it is, without a copy")
        rank, (code, bits, _) = len(self.shape), FORMATS[self.dtype]
        described = descriptions.setdefault(self, DLPackStruct(
            self.address, *self.__dlpack_device__(), rank, code, bits, 1, (c_int64 * rank)(*self.shape),
            (c_int64 * rank)(*self.strides), 0, None, DELETER))
        return new_capsule(ctypes.addressof(described), CAPSULE_NAME, None)


def tensor_of(given):
    """An attnbench_tensor with words for its enums."""
    return Tensor(given.data or 0, DTYPES[given.dtype], tuple(given.shape[:given.rank]),
                  tuple(given.stride[:given.rank]), DEVICES[given.device], given.device_id)


def problem_of(given):
    """An attnbench_problem with words for its enums."""
    values = {name: getattr(given, name) for name, _ in ProblemStruct._fields_[1:]}
    values.update({name: words[values[name]] for name, words in PROBLEM_WORDS.items()})
    values.update({name: bool(values[name]) for name in TRUTHS["problem"]})
    return types.SimpleNamespace(**values)


class Batch:
    """One step as an engine hands it over: a copy of an attnbench_batch, which lives as long as a call only."""

    def __init__(self, given, memory=None):
        self.problem = problem_of(given.problem.contents)
        self.batch_size, self.q_tokens = given.batch_size, given.q_tokens
        self.q_lens, self.kv_lens = (lens[:given.batch_size] for lens in (given.q_lens, given.kv_lens))
        self.k_scale, self.v_scale = given.k_scale, given.v_scale  # a stored key times k_scale is the key
        self.q_scale, self.out_scale = given.q_scale, given.out_scale  # as k_scale; stored out is out / out_scale
        self._memory, self._indices = memory, (given.context, given.indices)
        structs = TensorStruct * given.num_tensors
        here = ctypes.cast(given.tensors, POINTER(structs)).contents
        self._tensors = dict(zip(ROLES, structs.from_buffer_copy(here)))

    def end(self):
        """The call ends with which the batch came: what attnbench does in it alone is refused from now on."""
        self._memory = self._indices = None

    def tensor(self, role):
        """The tensor of a role, such as "q"; None when this batch has none."""
        given = self._tensors[role]
        if not given.data and (role in OPTIONAL_ROLES or 0 not in given.shape[:given.rank]):
            return None
        return tensor_of(given)

    def indices(self, format, host=False):
        """The arrays of an index format such as "csr", by their names: tensors on the backend's device, or in host
        memory, and plain numbers. Called in plan() and update(); attnbench/backend.h says what each format holds.
        LookupError where a format does not apply to the step, with the reason; ValueError where it is none."""
        if self._indices is None:
            raise RuntimeError("index arrays are built in plan() and update() alone")
        context, build = self._indices
        first, message = POINTER(IndexStruct)(), ctypes.create_string_buffer(1024)
        status = build(context, format.encode(), ctypes.byref(first), ctypes.addressof(message), len(message))
        if status != OK:
            reason = message.value.decode("utf-8", "replace")
            raise LookupError(f"{format}: {reason}") if status == UNSUPPORTED else ValueError(reason)
        arrays, at = {}, ctypes.cast(first, c_void_p).value
        while at:
            index = IndexStruct.from_address(at)
            tensor = tensor_of(index.tensor)
            if host and tensor.shape and 0 not in tensor.shape and not index.host:
                raise ValueError(f"{format}: arrays that the step builds have no values on the host")
            if host:
                tensor = dataclasses.replace(tensor, address=index.host or 0, device="cpu", device_id=0)
            arrays[index.name.decode()] = tensor if tensor.shape else index.number
            at = index.next
        return arrays

    def reserve(self, size):
        """The address of `size` bytes of scratch memory, which live as long as the plan. Called once, in plan()."""
        if self._memory is None:
            raise RuntimeError("memory is reserved in plan(), and once")
        memory, self._memory = self._memory, None
        address = memory.reserve(memory.context, size)
        if not address:
            raise MemoryError(f"attnbench has no {size} bytes of scratch memory")
        return address


# In one text with this one, python_host.py finds it by the name that it has as a file.
sys.modules.setdefault("python_mirror", sys.modules[__name__])
