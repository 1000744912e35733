# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts a plug-in that is written in Python: attnbench passes TEXT, python_mirror.py with this behind it, to any
Python from 3.9 on.

    python -c TEXT describe FILE.py                       prints the file's backends as JSON
    python -c TEXT worker FILE.py... LIBRARY PARENT_PID   lets LIBRARY serve a run with them

The structs follow from attnbench/backend.h; a plug-in looks like backends/python_example/python_example.py.
"""
import copy
import ctypes
import gc
import inspect
import json
import os
import shlex
import sys
import traceback
import types
from ctypes import POINTER, c_int, c_int32, c_size_t

from python_mirror import (DEVICES, DTYPES, ERROR, FUNCTIONS, GRAPH_SUPPORTS, LAYOUTS, OK, TEXTS, TRUTHS, UNSUPPORTED,
                           BackendStruct, Batch, NumericsStruct, problem_of)


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
