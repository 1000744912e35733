# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the kernels that an engine requires and an environment without a GPU lacks. No rule calls one."""
import importlib.machinery
import importlib.util
import sys
import types
from unittest import mock

# Of what engines require: kernels, gigabytes that mostly need a GPU. Other packages are to be installed.
KERNELS = ["sgl_kernel", "flashinfer", "deep_gemm", "flash_mla", "tokenspeed_mla", "aiter"]


class Anything(types.ModuleType):
    """A module whose every name is a mock."""
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return mock.MagicMock(name=name)


class StandIns:
    """Finds the modules of those packages that nobody else finds."""

    def __init__(self, packages):
        self.packages = {package for package in packages if importlib.util.find_spec(package) is None}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.packages:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


class LenientExtensions:
    """Compiled modules of the engine: one that does not load, because it was built for another PyTorch, is stood in for. No rule
    calls a kernel, and the engine that was installed as it asks would have it."""

    def __init__(self, engine):
        self.engine = engine

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(self.engine + "."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
            spec.loader = LenientLoader(spec.loader)
            return spec
        return None


class LenientLoader:
    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        try:
            return self.loader.create_module(importlib.machinery.ModuleSpec(spec.name, self.loader, origin=spec.origin))
        except ImportError:
            return Anything(spec.name)

    def exec_module(self, module):
        if not isinstance(module, Anything):
            self.loader.exec_module(module)


def stand_in_for_kernels(engine):
    sys.meta_path.insert(0, LenientExtensions(engine))
    sys.meta_path.append(StandIns(KERNELS))
