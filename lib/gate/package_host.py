# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Released versions of a package, and environments that hold one of them beside all that this interpreter has.

usage: versions PACKAGE final|pre   {"versions": the oldest first}
       make PACKAGE VERSION         {"python": the interpreter of an environment, which is kept}

The last line is JSON: what is written above, or {"absent": why there is no such package or version}, or {"unable": why
nothing of the kind can be done here}.
"""
import errno
import fcntl
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import site
import subprocess
import sys
import venv

LOCATION = "import importlib.metadata, sys; print(importlib.metadata.distribution(sys.argv[1]).locate_file(''))"

NO_SPACE = "no space is left where environments are kept (XDG_CACHE_HOME), or where pip unpacks (TMPDIR)"


class Absent(Exception):
    pass


class Unable(Exception):
    pass


def pip(*words):
    if importlib.util.find_spec("pip") is None:
        raise Unable(f"{sys.executable} has no pip")
    # A configured --user excludes --target.
    return subprocess.run([sys.executable, "-m", "pip", *words, "--disable-pip-version-check", "--no-input"],
                          env={**os.environ, "PIP_USER": "0"}, capture_output=True, text=True)


def complaint(done):
    """What pip says of its failure, in a line."""
    built = re.search(r"\n[ │]*(.*)\n[ │]*\[end of output\]", done.stderr)
    if built:
        return f"it does not build: {built[1]}"
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error:")] or lines or ["pip says nothing"]
    return re.sub("^error: *", "", errors[-1], flags=re.I)


def expect_means(done):
    """Raises where another package or version would fail as well."""
    if "No space left on device" in done.stderr or "Disk quota exceeded" in done.stderr:
        raise Unable(NO_SPACE)
    broken = re.search("after connection broken by '(.*)'", done.stderr)
    if broken:
        raise Unable(f"pip does not reach the index: {broken[1]}")


def released(package, which):
    done = pip("index", "versions", *(["--pre"] if which == "pre" else []), package)
    found = re.search("^Available versions: (.+)$", done.stdout, re.M)
    if found:
        return found[1].split(", ")[::-1]
    expect_means(done)
    if "No matching distribution" in done.stderr:
        python = "Python %d.%d" % sys.version_info[:2]
        raise Absent(f"pip finds no package {package} with a {'' if which == 'pre' else 'final '}release for {python}")
    raise Unable(f"pip does not tell the versions of {package}: {complaint(done)}")


def base_folders():
    """Where this interpreter finds packages."""
    folders = site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
    return [folder for folder in folders if os.path.isdir(folder)]


def fill(env, package, version):
    """An environment whose own packages go before those of this interpreter. One that inherited them by
    system_site_packages would lose those of a virtual environment that this interpreter belongs to."""
    venv.EnvBuilder(symlinks=True).create(env)
    packages = next(env.glob("lib/python*/site-packages"))
    lines = [f"import site; site.addsitedir({folder!r})\n" for folder in base_folders()]
    (packages / "attnbench_base.pth").write_text("".join(lines))
    # A range leaves out what was yanked, ==VERSION does not.
    exact = f"=={version}" if "+" in version else f">={version},<={version}"
    done = pip("install", "--quiet", "--no-deps", "--target", str(packages), package + exact)
    if done.returncode != 0:
        expect_means(done)
        no_such = "No matching distribution" in done.stderr
        raise Absent("it was yanked, or has nothing for this Python" if no_such else complaint(done))
    found = subprocess.run([env / "bin/python", "-c", LOCATION, package], capture_output=True, text=True)
    if found.returncode != 0 or os.path.realpath(found.stdout.strip()) != os.path.realpath(packages):
        raise Unable(f"another {package} stands before every version: {found.stdout.strip() or complaint(found)}; "
                     f"is PYTHONPATH set?")


def made(package, version):
    """The interpreter of the environment, which is made unless it is there."""
    kept = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "attnbench/environments"
    kept.mkdir(parents=True, exist_ok=True)
    interpreter = json.dumps([sys.executable, sys.version, base_folders()])
    env = kept / f"{package}-{version}-{hashlib.sha256(interpreter.encode()).hexdigest()[:8]}"
    python = env / "bin/python"
    with open(kept / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if python.exists():
            return str(python)
        part = kept / "part"
        for remains in (part, env):  # of one that was killed, or whose interpreter is gone
            shutil.rmtree(remains, ignore_errors=True)
        try:
            fill(part, package, version)
            part.rename(env)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return str(python)


def answer(command, package, *words):
    if not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", package, re.A):
        return {"absent": f"'{package}' is no name of a package"}
    try:
        return {"versions": released(package, *words)} if command == "versions" else {"python": made(package, *words)}
    except Absent as error:
        return {"absent": str(error)}
    except Unable as error:
        return {"unable": str(error)}
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return {"unable": NO_SPACE}
        return {"unable": f"{error.strerror or error}: {error.filename}" if error.filename else str(error)}


if __name__ == "__main__":
    print("\n" + json.dumps(answer(*sys.argv[1:])))
