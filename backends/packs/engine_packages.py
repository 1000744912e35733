# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Takes kernels out of installed packages, nothing else of which is run. torch is imported where it is needed: a pack is
listed without it."""
import ast
import dataclasses
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
import types


def need_gpu(major, kernel):
    """Raises unless this machine's GPU is of the compute capability for which `kernel` is compiled."""
    import torch
    if not torch.cuda.is_available():
        raise RuntimeError("torch finds no GPU")
    found = torch.cuda.get_device_capability()
    if found[0] != major:
        raise RuntimeError(f"{kernel} is compiled for sm_{major}0, the GPU is sm_{found[0]}{found[1]}")


def import_bare(name, bare, stand_ins):
    """Imports module `name` of an installed package without running the __init__.py of the packages `bare`, which would
    start a whole engine. Modules of which it needs one or two names are replaced: stand_ins has their attributes."""
    for package in bare:
        if package in sys.modules:
            continue
        outer = package.rpartition(".")[0]
        spec = importlib.machinery.PathFinder.find_spec(package, sys.modules[outer].__path__ if outer else None)
        module = sys.modules[package] = types.ModuleType(package)
        module.__spec__, module.__path__ = spec, list(spec.submodule_search_locations)
    for module_name, attributes in stand_ins.items():
        module = sys.modules.setdefault(module_name, types.ModuleType(module_name))
        vars(module).update(attributes)
    return importlib.import_module(name)


def arguments_of(operator, optional=None, **given):
    """The positional arguments of a torch operator: those given by the names of its schema, else its defaults or None.
    TypeError where another version of the library has no such argument, or needs one more. `optional`: arguments that
    only some versions have, given where this one has them."""
    known = {argument.name: argument for argument in operator._schema.arguments}
    if unknown := given.keys() - known.keys():
        raise TypeError(f"{operator} has no argument {', '.join(sorted(unknown))}: is it the version that is required?")
    given |= {name: value for name, value in (optional or {}).items() if name in known}
    needed = [name for name, argument in known.items() if name not in given and not argument.has_default_value()
              and argument.type.kind() != "OptionalType"]
    if needed:
        raise TypeError(f"{operator} needs {', '.join(needed)}, too: is it the version that is required?")
    return [given.get(name, argument.default_value) for name, argument in known.items()]


def file_in(package, path):
    """A file's path inside of an installed package, whether or not it is there; nothing of the package is run."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise ImportError(f"no package {package}")
    return os.path.join(spec.submodule_search_locations[0], path)


@dataclasses.dataclass(frozen=True)
class Library:
    """Operators of shared objects inside an installed package, nothing else of which is run. An operator moves from one
    of them to another between versions: all that are there are loaded."""
    package: str
    namespace: str
    paths: tuple

    def load(self, *operators):
        """The namespace of torch.ops. ImportError where an operator is missing there."""
        import torch
        found = [path for path in self.paths if os.path.exists(file_in(self.package, path))]
        if not found:
            raise ImportError(f"{self.package} has no {' and no '.join(self.paths)}")
        for path in found:
            torch.ops.load_library(file_in(self.package, path))
        namespace = getattr(torch.ops, self.namespace)
        if missing := [name for name in operators if not hasattr(namespace, name)]:
            raise ImportError(f"this version of {self.package} has no operator {self.namespace}.{', '.join(missing)}")
        return namespace


@dataclasses.dataclass(frozen=True)
class Functions:
    """Functions, classes and Triton kernels of a module. Versions of a package have it under several names."""
    modules: tuple  # the newest version's first
    alone: bool = False  # take() compiles each without the rest of the module, whose imports need not be there

    def name(self):
        """The first that is there."""
        return self.found()[0]

    def found(self):
        """The first that is there: (its name, its file)."""
        for module in self.modules:
            package, _, inner = module.partition(".")
            path = file_in(package, inner.replace(".", os.sep))
            for file in (f"{path}.py", os.path.join(path, "__init__.py")):
                if os.path.exists(file):
                    return module, file
        raise ImportError(f"no module {' and no '.join(self.modules)}")

    def take(self, name, **names):
        """One function of the module with its decorators. `names` are what its text refers to."""
        module, path = self.found()
        with open(path) as file:
            tree = ast.parse(file.read())
        found = [node for node in tree.body if getattr(node, "name", None) == name]
        if not found:
            raise ImportError(f"{module} has no {name}")
        names["__name__"] = module
        exec(compile(ast.Module(found, []), path, "exec"), names)  # by the file's own lines, which Triton reads again
        return names[name]


class Quiet:
    """An engine's logger, which has methods of the engine's own: it says nothing."""

    def __getattr__(self, name):
        return lambda *args, **given: None


def accepted(function, **given):
    """Of arguments that only some versions of a Python function have, those that this one has."""
    known = inspect.signature(function).parameters
    return {name: value for name, value in given.items() if name in known}
