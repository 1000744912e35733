# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Becomes the program in this folder: the process, its signals and its exit code are attnbench's own."""
import os
import signal
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "attnbench")


def main():
    # Plug-ins in Python find the packages that stand beside attnbench, unless another interpreter is named.
    os.environ.setdefault("ATTNBENCH_PYTHON", sys.executable)
    # Python ignores these two, and a program that it becomes would go on ignoring them.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    # Lines to type name the program as it was called, but no shell can call this file.
    called = PROGRAM if __name__ == "__main__" else sys.argv[0]
    os.execv(PROGRAM, [called, *sys.argv[1:]])


if __name__ == "__main__":
    main()
