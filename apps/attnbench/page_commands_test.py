#!/usr/bin/env python3
"""Each `attnbench …` line of a page is a line that the program takes.

Nothing is measured. The options of a line are those that `--help` of its command shows; its values are parsed, with
--help behind them. A line that asks about scenarios of this project runs. Where it would measure them, the test
expands the same cases instead, so that a page names no file and no case that is gone.

usage: page_commands_test.py <attnbench binary>
"""
import concurrent.futures
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
MEASURE = ("run", "ab", "selftest", "crossover")
ASK = ("expand", "support", "list", "model", "select")


def pages():
    """Pages for readers. Those below results/h200 keep the lines of the day on which they were typed."""
    return [SOURCE / name for name in ("README.md", "CONTRIBUTING.md", "apps/README.md", "results/README.md",
                                       "results/comparing.md", "results/methodology.md")] + sorted(
        path for path in [*SOURCE.glob("scenarios/**/*.md"), *SOURCE.glob("backends/**/*.md")])


def printed_lines(text):
    """The lines to type and the code spans of a page that call attnbench, without what they say about themselves."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif line.startswith("    "):
            yield number, re.sub(r"\s{2,}#.*|\s#\s.*", "", line.strip())
        elif not fenced:
            for span in re.findall(r"`([^`]+)`", line):
                yield number, span


def calls(line):
    """The words behind `attnbench` of each call in a line of a shell; none where the line is cut short."""
    try:
        lexer = shlex.shlex(re.sub(r"\${{.*?}}", "1", line), posix=True, punctuation_chars="|;&")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return
    call = None
    for word in [*words, ";"]:
        if word.strip("|;&") == "":
            if call is not None:
                yield call
            call = None
        elif call is not None:
            call.append(word)
        elif os.path.basename(word) == "attnbench":
            call = []


@functools.lru_cache(maxsize=None)
def attnbench(*words):
    return subprocess.run([BINARY, *words], cwd=SOURCE, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=60)


@functools.lru_cache(maxsize=None)
def options_of(*named):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", attnbench(*named, "--help").stdout))


def values_of(words, name):
    """The values of an option, which may be there twice: --case a --case b."""
    return [words[i + 1] for i in range(len(words) - 1) if words[i] == name]


def mistake_in(words):
    """What is wrong with a call, in words; None: nothing."""
    words = [word for word in words if word not in ("…", "...")]
    if not words or words[0].startswith("-") or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
        return None
    command = words[0]
    if f"\n  {command} " not in attnbench("--help").stdout:
        return f"there is no command {command}"
    named = words[:2] if command in ("list", "trace") else words[:1]
    cut = words.index("--") if "--" in words else len(words)
    for word in words[1:cut]:
        option = word.partition("=")[0]
        if re.fullmatch(r"--[a-z][\w-]*", option) and option not in options_of(*named):
            return f"{' '.join(named)} has no option {option}"
    if not words[-1].startswith("--"):  # a code span that names an option has no value for it
        done = attnbench(*words[:cut], "--help")
        if done.returncode != 0:
            return done.stdout + done.stderr
    files = [word for word in words if re.fullmatch(r"scenarios/[\w./-]+\.yaml|results/[\w./-]+\.yaml", word)]
    for file in files:
        if not (SOURCE / file).exists():
            return f"there is no {file}"
    if not files or command not in MEASURE + ASK:
        return None
    if command in ASK and not words[-1].startswith("--"):
        asked = [words]
    else:
        cases = [word for case in values_of(words, "--case") for word in ("--case", case)]
        asked = [["expand", file, *cases] for file in files]
    answers = [attnbench(*question) for question in asked]
    if any(answer.returncode == 0 for answer in answers):  # a case is of one of the files
        return None
    return "".join(answer.stdout + answer.stderr for answer in answers)


class PageCommandsTest(unittest.TestCase):
    def test_the_program_takes_each_printed_line(self):
        found = [(f"{page.relative_to(SOURCE)}:{number}", words) for page in pages()
                 for number, line in printed_lines(page.read_text(encoding="utf-8")) for words in calls(line)]
        self.assertGreater(len(found), 50)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            wrong = pool.map(lambda call: mistake_in(call[1]), found)
        told = [f"{where}: attnbench {' '.join(words)}\n{mistake}" for (where, words), mistake in zip(found, wrong) if mistake]
        self.assertEqual(told, [], "\n" + "\n".join(told))


if __name__ == "__main__":
    unittest.main(verbosity=2)
