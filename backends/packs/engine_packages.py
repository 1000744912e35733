# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Takes kernels out of installed packages, nothing else of which is run. torch is imported where it is needed: a pack is
listed without it."""
import importlib
import importlib.machinery
import importlib.util
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


def arguments_of(operator, **given):
    """The positional arguments of a torch operator: those given by the names of its schema, else its defaults or None.
    TypeError where another version of the library has no such argument, or needs one more."""
    known = {argument.name: argument for argument in operator._schema.arguments}
    if unknown := given.keys() - known.keys():
        raise TypeError(f"{operator} has no argument {', '.join(sorted(unknown))}: is it the version that is required?")
    needed = [name for name, argument in known.items() if name not in given and not argument.has_default_value()
              and argument.type.kind() != "OptionalType"]
    if needed:
        raise TypeError(f"{operator} needs {', '.join(needed)}, too: is it the version that is required?")
    return [given.get(name, argument.default_value) for name, argument in known.items()]


def library_of(package, path):
    """Loads the operators of a shared object inside an installed package, nothing else of which is run."""
    import torch
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    torch.ops.load_library(os.path.join(folder, path))
