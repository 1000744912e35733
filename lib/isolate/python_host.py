# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts a plug-in that is written in Python: attnbench passes this text to any Python from 3.9 on.

    python -c TEXT describe FILE.py                       prints the file's backends as JSON
    python -c TEXT worker FILE.py... LIBRARY PARENT_PID   lets LIBRARY serve a run with them

The structs follow from attnbench/backend.h; a plug-in looks like backends/python_example/python_example.py.
"""
import sys

if __name__ == "__main__":
    # With -c the current folder comes first: a file json.py there is not the json that is meant below.
    sys.path[:] = filter(None, sys.path)

import copy
import ctypes
import dataclasses
import gc
import inspect
import json
import os
import re
import shlex
import traceback
import types
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p

OK, ERROR, UNSUPPORTED = 0, 1, 2
# These are missing from some batches; the others can be empty, but are there.
OPTIONAL_ROLES = ("k_new", "v_new", "sinks", "custom_mask", "mask_indptr", "k_scales", "v_scales", "q_scales",
                  "intermediate_states", "retrieve_parent_token", "topk_indices", "topk_length", "logits",
                  "row_lens", "index_q", "index_weights", "index_cache")
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


class PluginFault(Exception):
    """What is wrong with a plug-in as a whole; no line of it is to blame."""


def explain(error, paths):
    """An error in one line that begins with the place in a file of the user's where it arose, if it did there, or in one
    beside it, which has the code of a backend that the file imports."""
    if isinstance(error, PluginFault):
        return f"{os.path.basename(paths[-1])}: {error}"
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    folders = set(map(os.path.dirname, paths))
    places = ([frame for frame in frames if frame[0] in paths] or
              [frame for frame in frames if os.path.dirname(frame[0]) in folders])
    try:
        text = str(error)
    except Exception:
        text = "its message cannot be made"
    if isinstance(error, SyntaxError) and error.filename in paths:
        places, text = [(error.filename, error.lineno)], error.msg
    place = os.path.basename(paths[-1])
    if places:
        place = f"{os.path.basename(places[-1][0])}:{places[-1][1]}"
    return f"{place}: {type(error).__name__}: {' '.join(text.split())}".removesuffix(": ")


def tell(message, room, text):
    """Copies a text into C's buffer, cut to its size at the end of a character; without a buffer to stderr."""
    if message and room:
        cut = text.replace("\0", " ").encode("utf-8", "replace")[:room - 1].decode("utf-8", "ignore").encode()
        ctypes.memmove(message, cut + b"\0", len(cut) + 1)
    else:
        sys.stdout.flush()  # what was printed before comes before, should both streams be one
        print(text, file=sys.stderr, flush=True)


def answering(function):
    """Makes a callback with room for a message of a method that returns a refusal, or None, and may raise."""
    def callback(self, *arguments):
        *inputs, message, room = arguments
        try:
            refusal = function(self, *inputs)
            if refusal is not None:
                tell(message, room, refusal)
            return OK if refusal is None else UNSUPPORTED
        except BaseException as error:  # SystemExit, too: C cannot catch it
            tell(message, room, explain(error, self.paths))
            return ERROR
    return callback


def give_back_memory():
    """Hands memory that torch keeps, of plans which are gone, back to the GPU, which other processes share. It is called
    when a case begins: nothing is timed then."""
    torch = sys.modules.get("torch")
    if torch and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()


class Tables:
    """What C sees of backends: an array of attnbench_backend, and the functions in it."""

    def __init__(self, paths, backends):
        self.paths, self.backends = paths, backends  # the user's files, and what all of them define
        self.plans, self.handles = {}, 0  # plans by the handle that C has
        self.refusals = {}  # what load() of a backend raised, None where it raised nothing
        functions = [function(getattr(self, name)) for name, function in FUNCTIONS.items()]
        self.structs = []  # they keep alive what their copies in the array point to
        for index, about in enumerate(map(describe, backends)):
            about["device"] = DEVICES.index(about["device"])
            about["graph_support"] = GRAPH_SUPPORTS.index(about["graph_support"])
            values = {name: value.encode() if isinstance(value, str) else value for name, value in about.items()}
            self.structs.append(BackendStruct(struct_size=ctypes.sizeof(BackendStruct), self=index, **values,
                                              **dict(zip(FUNCTIONS, functions))))
        self.array = (BackendStruct * len(backends))(*self.structs)

    def refusal(self, index):
        """Why a backend cannot be used after all, or None. Its load() is called here, once and before anything else."""
        if index not in self.refusals:
            self.refusals[index] = None
            try:
                getattr(self.backends[index], "load", lambda: None)()
            except Exception as error:
                self.refusals[index] = f"absent: {explain(error, self.paths)}"
        return self.refusals[index]

    @answering
    def supports(self, index, problem):
        if self.refusal(index):
            return self.refusal(index)
        answer = self.backends[index].supports(problem_of(problem.contents))
        give_back_memory()
        if not isinstance(answer, (str, bool, type(None))):
            raise TypeError(f"supports() returned {answer!r}; None means yes and a string is the reason for a no")
        return None if answer in (None, True) else answer or ""

    @answering
    def numerics(self, index, problem, answer):
        rounds = getattr(self.backends[index], "numerics", lambda problem: None)
        for stage, word in (rounds(problem_of(problem.contents)) or {}).items():
            kind = {"lse": bool, "partial_roundings": int}.get(stage)
            known = type(word) is kind if kind else word in DTYPES[:5]
            if not known or (stage, c_int32) not in NumericsStruct._fields_:
                raise ValueError(f"numerics() says {stage!r}: {word!r}; attnbench/backend.h has the stages and types")
            setattr(answer.contents, stage, word if kind else DTYPES.index(word))

    @answering
    def formats(self, index, problem, layouts, count):
        asked, formats = problem_of(problem.contents), getattr(self.backends[index], "formats", None)
        plain = ("NHD", "HND") if asked.cache_scales == "tensor" else ()
        if self.refusal(index):
            formats = LAYOUTS[:count[0]]  # supports() says what is wrong
        words = formats(asked) if callable(formats) else plain if formats is None else formats
        if isinstance(words, str) or any(word not in LAYOUTS for word in words) or len(words) > count[0]:
            raise ValueError(f"formats says {words!r}; it is a list of {', '.join(LAYOUTS)}")
        count[0] = len(words)
        for place, word in enumerate(words):
            layouts[place] = LAYOUTS.index(word)

    @answering
    def plan(self, index, batch, memory, handle):
        step = Batch(batch.contents, memory.contents)
        plan = self.backends[index].plan(step)
        step.end()
        if not callable(getattr(plan, "run", None)):
            raise PluginFault(f"plan() returned {type(plan).__name__}, which has no run(self, stream)")
        self.handles = handle[0] = self.handles + 1
        self.plans[self.handles] = plan

    def run(self, handle, stream, message, room):
        try:
            self.plans[handle].run(stream)
            return OK
        except BaseException as error:
            tell(message, room, explain(error, self.paths))
            return ERROR

    @answering
    def update(self, handle, batch, stream):
        update = getattr(self.plans[handle], "update", lambda batch, stream: False)
        step = Batch(batch.contents)
        taken = update(step, stream)
        step.end()
        if taken is None:
            raise TypeError("update() returned None; True means that the plan serves the step, False that it cannot")
        return None if taken else ""

    @answering
    def graph(self, handle, graph):
        made = getattr(self.plans[handle], "graph", lambda: None)()
        if hasattr(made, "raw_cuda_graph"):  # a torch.cuda.CUDAGraph(keep_graph=True)
            made = made.raw_cuda_graph()
        if made is not None and not isinstance(made, int):
            raise TypeError(f"graph() returned {made!r}; it is a CUDAGraph, the address of a cudaGraph_t, or None")
        graph[0] = made or 0

    def resolved(self, handle, text, room):
        try:
            chosen = getattr(self.plans[handle], "resolved", "")
            if not isinstance(chosen, str):
                raise TypeError(f"resolved is {chosen!r}; it is the name of the kernel that a library chose, or \"\"")
            tell(text, room, " ".join(chosen.split()))
            return OK
        except BaseException as error:
            tell(text, room, explain(error, self.paths))
            return ERROR

    def destroy(self, handle):
        self.plans.pop(handle, None)


def describe(backend):
    """A backend's attributes by the names of attnbench_backend, defaults where it says nothing."""
    label, name = f"class {type(backend).__name__}", getattr(backend, "name", None)
    missing = [] if isinstance(name, str) and name else ["name"]
    missing += [f"{method}()" for method in ("supports", "plan") if not callable(getattr(backend, method, None))]
    if missing:
        raise PluginFault(f"{label} has no {' and no '.join(missing)}; a backend has a name, supports() and plan()")
    about = {"name": name}
    for key in TEXTS:
        about[key] = " ".join(str(getattr(backend, key, "0" if key == "version" else "")).split())
    choices = {"device": DEVICES, "graph_support": GRAPH_SUPPORTS, "padding_seq_len": (1, 0),
               **dict.fromkeys(TRUTHS["backend"], (False, True)), "deterministic": (True, False)}
    for key, known in choices.items():
        value = getattr(backend, key, known[0])
        if value not in known:
            raise PluginFault(f"{label} has {key} {value!r}; it is {' or '.join(map(str, known))}")
        about[key] = known[known.index(value)]  # True is 1 to Python, but not to JSON
    return about


def with_tuning(backend):
    """The backend, and of each value in its `tuning` a variant that has it: {"splits": ([8, 16], "--kv-splits")} makes
    NAME:splits=8 and NAME:splits=16, which have the attribute `splits`, and the flag with which an engine sets it; a
    variable of its environment ends with "=", which the value follows."""
    tuning, name = getattr(backend, "tuning", {}), getattr(backend, "name", None)
    try:
        tried = [(parameter, value, flag) for parameter, (values, flag) in tuning.items() for value in values]
        wrong = any(not hasattr(backend, parameter) for parameter, _, _ in tried)
    except (AttributeError, TypeError, ValueError):
        wrong = True
    if wrong:
        raise PluginFault(f"class {type(backend).__name__} has tuning {tuning!r}; it is a dict of attributes, each with "
                          'a list of its values and an engine\'s option, {"splits": ([8, 16], "--kv-splits")}; "": none')
    variants = [backend]
    for parameter, value, flag in tried:
        variants.append(copy.copy(backend))
        vars(variants[-1]).update({"name": f"{name}:{parameter}={value}", parameter: value, "only_by_name": True,
                                   "engine_flag": flag and f"{flag}{'' if flag.endswith('=') else ' '}{value}"})
    return variants


def packages_of(backend):
    """The packages that a backend requires, found without importing them: what is installed, the operation that is
    called, and why the backend is absent, which is "" where nothing is missing. "1.2..1.4" are versions that the plug-in
    was seen with; pip is told of the newest."""
    from importlib import metadata
    requires, found, missing = getattr(backend, "requires", {}), [], []
    if not isinstance(requires, dict) or not all(isinstance(word, str) for pair in requires.items() for word in pair):
        raise PluginFault(f"class {type(backend).__name__} has requires {requires!r}; it is a dict of versions by "
                          "packages")
    for package, version in requires.items():
        try:
            found.append(f"{package}=={metadata.version(package)}")
        except metadata.PackageNotFoundError:
            missing.append(package)
    absence = ""
    if missing:
        command = [sys.executable, "-m", "pip", "install",
                   *(f"{package}=={requires[package].rpartition('..')[2]}" for package in missing)]
        absence = f"no package {' and no '.join(missing)} in {sys.executable}: {shlex.join(command)}"
    return {"packages": " ".join(found), "kernel": str(getattr(backend, "kernel", "")), "absence": absence}


def load(path):
    """Runs the user's file as a module, with its folder first where imports are looked for. Its backends."""
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(path))
    module = sys.modules["attnbench_plugin"] = types.ModuleType("attnbench_plugin")
    module.__file__ = path
    with open(path, "rb") as file:  # not by an import, which would leave a __pycache__ beside it
        exec(compile(file.read(), path, "exec"), module.__dict__)
    found = getattr(module, "backends", None)
    if not isinstance(found, (list, tuple)):
        own = [value for value in dict.fromkeys(filter(inspect.isclass, vars(module).values()))
               if value.__module__ == module.__name__ and not inspect.isabstract(value)]
        found = [value for value in own if all(hasattr(value, name) for name in ("name", "supports", "plan"))]
        # What was meant for a backend is to hear what it lacks.
        found = found or [value for value in own if hasattr(value, "supports") or hasattr(value, "plan")]
    if not found:
        raise PluginFault("defines no backend; see attnbench new-plugin --python")
    made = [value() if inspect.isclass(value) else value for value in found]
    return [variant for backend in made for variant in with_tuning(backend)]


def give_up_power_over_others():
    """What give_up_power_over_others() of attnbench does, before any code of the user's runs."""
    given_up = (5, 19, 23)  # CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_NICE
    libc, header, sets = ctypes.CDLL(None), (c_int32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what its children leave behind is its own
    for capability in given_up:
        libc.prctl(24, capability)  # PR_CAPBSET_DROP
    if hasattr(libc, "capget") and libc.capget(header, sets) == 0:
        for place in range(3):  # effective, permitted, inheritable
            sets[place] &= ~sum(1 << capability for capability in given_up) & 0xffffffff
        libc.capset(header, sets)


def main(mode, *arguments):
    """Does what the command line asks for. The exit code."""
    *paths, library, parent = arguments if mode == "worker" else (*arguments, "", "0")
    paths = [os.path.abspath(path) for path in paths]
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL: a long import does not outlive the run
    give_up_power_over_others()
    answer = os.dup(1)
    os.dup2(2, 1)  # output of the user's file must not mix with the answer
    sys.stdout.reconfigure(line_buffering=True)
    begun = []
    try:
        backends = []
        for path in paths:
            begun.append(path)
            backends += load(path)
        if mode == "describe":
            about = json.dumps([{**describe(backend), **packages_of(backend)} for backend in backends])
            sys.stdout.flush()
            os.write(answer, f"\n{about}\n".encode())  # a line of its own even if both streams are one
            return 0
        tables = Tables(paths, backends)
        serve = ctypes.CDLL(library).attnbench_worker
        serve.argtypes, serve.restype = [c_int32, POINTER(BackendStruct), c_size_t], c_int
        gc.freeze()  # what is imported stays: collections amid timed runs need not look at it
        return serve(int(parent), tables.array, len(tables.array))
    except BaseException as error:
        tell(0, 0, explain(error, begun))
        return 1


if __name__ == "__main__":
    exit_code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(exit_code)  # a GPU's libraries can crash while an interpreter ends, which would hide the code
