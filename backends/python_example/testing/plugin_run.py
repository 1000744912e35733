# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""A run of one Python plug-in over one scenario, as tests look at it."""
import json
import pathlib
import subprocess
import sys
import tempfile


# Behind a plug-in's text: its answers of an earlier run, wherever what it looks at is what it was there. `look` is an
# expression of a few numbers, `answer` the names of the outputs.
def replayed(look, *answer):
    return f"ANSWER = {answer}" + REPLAYED.replace("LOOK", look)


REPLAYED = """
class Replayed(Plan):
    def __init__(self, batch):
        super().__init__(batch)
        self.known = {}
    def run(self, stream):
        seen = LOOK.tobytes()
        if seen not in self.known:
            super().run(stream)
            self.known[seen] = [getattr(self, name).copy() for name in ANSWER]
        for name, kept in zip(ANSWER, self.known[seen]):
            getattr(self, name)[...] = kept
Plan = Replayed
"""


def run_plugin(binary, plugin, scenario, *options):
    """Of two texts: the exit status, the cells by backend and step as (verdict, reason), and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        file, case, result = (pathlib.Path(folder, name) for name in ("mine.py", "case.yaml", "result.json"))
        file.write_text(plugin)
        case.write_text(scenario)
        done = subprocess.run(
            [binary, "run", case, "--plugin", file, "--python", sys.executable, "--quick", "--rounds", "1,1",
             "--cache", "warm", "--json", result, *options], capture_output=True, text=True, timeout=300)
        records = json.loads(result.read_text())["records"] if result.exists() else []
    cells = {(each["backend"], each["step"]): (each["verdict"], each["reason"]) for each in records}
    return done.returncode, cells, done.stdout + done.stderr
