#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_packs, on packages that are made here."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "scripts/check_packs"
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

from engine_packages import Functions, Library


def load_script():
    loader = importlib.machinery.SourceFileLoader("check_packs", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_packs", loader))
    loader.exec_module(module)
    return module


OPERATORS = Library("engine", "_C", ("_stable.so", "_C.so"))
KERNELS = Functions(("engine.new.kernel", "engine.kernel"))
CALLS = {"engine": {(OPERATORS, "fwd"), (OPERATORS, "bound"), (KERNELS, "attend"), (KERNELS, "Wrapper.plan")}}
LIBRARY = b"\0fwd(Tensor q, int[] sizes=[1, 2], float scale) -> Tensor[]\0 longer_bound\0"
SOURCE = """
from engine.platforms import current
def attend(q: "Tensor", k, *, scale: float = 1.0):
    return current.units()
class Wrapper:
    def plan(self, indptr, page_size=16): pass
"""


@unittest.skipUnless(SCRIPT.exists(), "scripts are not installed")
class SchemasTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.script, self.env = load_script(), pathlib.Path(folder.name)
        self.script.SCHEMAS = self.env / "schemas"
        self.script.SCHEMAS.mkdir()
        self.script.calls_of_packs = lambda: CALLS
        self.make("1.0", LIBRARY, SOURCE)

    def make(self, version, library, source, path="kernel.py", so="_C.so"):
        for old in [*self.env.glob("*.dist-info"), *self.env.glob("engine/**/*.py"), *self.env.glob("engine/*.so")]:
            old.rmdir() if old.is_dir() else old.unlink()
        (self.env / f"engine-{version}.dist-info").mkdir()
        file = self.env / "engine" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        (self.env / "engine" / so).write_bytes(library)

    def check(self, *against, update=False):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = self.script.check(str(self.env), dict(against), update)
        return code, out.getvalue()

    def test_an_environment_is_as_its_snapshot(self):
        code, out = self.check(update=True)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"engine 1\.0 +5 calls and imports +as in 1\.0")
        text = (self.script.SCHEMAS / "engine-1.0.txt").read_text()
        self.assertIn("_C.fwd\n  engine/_C.so\n  (Tensor q, int[] sizes=[1, 2], float scale) -> Tensor[]\n", text)
        self.assertIn("_C.bound\n  engine/_C.so\n  known once it is loaded only\n", text)
        self.assertIn("engine.new.kernel.attend\n  engine.kernel\n  (q, k, *, scale=1.0)\n", text)
        self.assertIn("engine.platforms.current.units\n", text)
        self.assertEqual(self.check()[0], 0)

    def test_a_module_of_which_functions_are_taken_alone_asks_for_nothing(self):
        alone = Functions(KERNELS.modules, alone=True)
        self.script.calls_of_packs = lambda: {"engine": {(alone, "attend")}}
        self.assertEqual(self.check(update=True)[0], 0)
        self.assertNotIn("imports of", (self.script.SCHEMAS / "engine-1.0.txt").read_text())
        self.make("1.0", LIBRARY, SOURCE.replace("units()", "cores()"))
        self.assertEqual(self.check()[0], 0)
        self.make("1.0", LIBRARY, SOURCE.replace("def attend", "def attention"))
        self.assertEqual(self.check()[0], 1)

    def test_each_planted_change_is_red_and_named(self):
        self.check(update=True)
        for old, new, told in (("q: ", "query: ", "lost: q; added: query"),
                               ("page_size=16", "page_size=1", "page_size=1"),
                               ("def attend", "def attention", "gone"), ("k, *", "k, sinks=None, *", "sinks=None"),
                               ("units()", "cores()", "asks for engine.platforms.current.cores")):
            self.make("1.0", LIBRARY, SOURCE.replace(old, new))
            code, out = self.check()
            self.assertEqual(code, 1, out)
            self.assertIn(told, out)
        for old, new, told in ((b"Tensor q,", b"Tensor q, Tensor k,", "added: Tensor k"), (b"fwd(", b"forward(", "gone"),
                               (b"-> Tensor[]", b"-> Tensor", "returns -> Tensor"), (b"bound", b"tied", "gone")):
            self.make("1.0", LIBRARY.replace(old, new), SOURCE)
            code, out = self.check()
            self.assertEqual(code, 1, out)
            self.assertIn(told, out)

    def test_a_later_version_may_move_a_call_and_append_defaults(self):
        self.check(update=True)
        self.make("1.10", LIBRARY.replace(b"scale)", b"scale, int sm=0)"),
                  SOURCE.replace("page_size=16", "page_size=16, x=1"), "new/kernel.py", "_stable.so")
        code, out = self.check()
        self.assertEqual(code, 0, out)
        for told in ("engine 1.0 -> 1.10", "now in engine.new.kernel", "now in engine/_stable.so", "appended: int sm=0",
                     "appended: x=1"):
            self.assertIn(told, out)

    def test_the_nearest_older_snapshot_is_taken_unless_another_one_is_named(self):
        self.check(update=True)
        self.make("1.9", LIBRARY, SOURCE)
        self.check(update=True)
        self.make("1.10", LIBRARY, SOURCE)
        self.assertIn("as in 1.9", self.check()[1])
        self.assertIn("as in 1.0", self.check(("engine", "1.0"))[1])
        with self.assertRaisesRegex(self.script.BadInput, "no snapshot engine-2.0; there are 1.0, 1.9"):
            self.check(("engine", "2.0"))

    def test_bad_input_is_said_in_a_sentence(self):
        with self.assertRaisesRegex(self.script.BadInput, "there is no snapshot of engine: --update writes one"):
            self.check()
        with self.assertRaisesRegex(self.script.BadInput, "is no environment: there is no package in it"):
            self.script.check(str(self.env / "nowhere"), {}, False)
        self.script.calls_of_packs = lambda: {"other": set()}
        with self.assertRaisesRegex(self.script.BadInput, "has none of the packages that packs call: other"):
            self.check()

    def test_an_interpreter_stands_for_its_environment(self):
        site = self.env / "venv/lib/python3.12/site-packages/engine-1.0.dist-info"
        site.mkdir(parents=True)
        python = self.env / "venv/bin/python"
        python.parent.mkdir()
        os.symlink(sys.executable, python)
        self.assertEqual(self.script.sites_of(str(python)), [site.parent])


class SnapshotsTest(unittest.TestCase):
    def test_each_call_of_a_pack_is_in_every_snapshot_of_its_package(self):
        if not SCRIPT.exists():
            self.skipTest("scripts are not installed")
        script = load_script()
        for package, calls in script.calls_of_packs().items():
            kept = list(script.SCHEMAS.glob(f"{package}-[0-9]*.txt"))
            self.assertTrue(kept, package)
            names = {f"{getattr(place, 'namespace', None) or place.modules[0]}.{name}" for place, name in calls}
            for path in kept:
                self.assertLessEqual(names, set(script.read_snapshot(path)), path.name)


if __name__ == "__main__":
    unittest.main()
