#!/usr/bin/env python3
"""A program in the sandbox of `judge` cannot do what a hostile one would, and computes as ever.

usage: sandbox_test.py <attnbench binary>
"""
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import textwrap
import unittest

BINARY = os.path.abspath(sys.argv.pop(1))

# What the deeds share. `other` is a process of the same user outside the sandbox; `call` is a system call.
COMMON = """
import ctypes, errno, mmap, os, signal, socket, struct, sys, threading
other, outside, scratch = int(sys.argv[1]), sys.argv[2], sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)
def expect(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
def buffer(size): return ctypes.create_string_buffer(size)
"""

# Each succeeds for an ordinary program and not in the sandbox. These are held by Landlock.
WRITES = {
    "writes a file outside": "open(outside + '/kept', 'a').write('x')",
    "makes a file outside": "open(outside + '/new', 'w')",
    "truncates a file outside": "os.truncate(outside + '/kept', 0)",
    "removes a file outside": "os.remove(outside + '/kept')",
    "renames a file outside": "os.rename(outside + '/kept', scratch + '/kept')",
    "links a file outside": "os.link(outside + '/kept', outside + '/more')",
    "makes a folder outside": "os.mkdir(outside + '/folder')",
    "reads another process's memory": """
        line = next(line for line in open(f'/proc/{other}/maps') if ' rw-p ' in line)
        memory = os.open(f'/proc/{other}/mem', os.O_RDONLY)
        expect(len(os.pread(memory, 8, int(line.split('-')[0], 16))) - 8)""",
}
# These are held by seccomp and by limits.
CALLS = {
    "changes the mode of a file outside": "os.chmod(outside + '/kept', 0o777)",
    "changes it by a newer call": "expect(libc.syscall(452, -100, (outside + '/kept').encode(), 0o777, 0))",
    "changes attributes of a file outside": "os.setxattr(outside + '/kept', 'user.x', b'1')",
    "reads another process by ptrace": "expect(libc.ptrace(16, other, 0, 0)); os.waitpid(other, 0x40000000)",
    "reads another process by process_vm_readv": """
        there, here = int(open(f'/proc/{other}/maps').readline().split('-')[0], 16), buffer(8)
        local = struct.pack('QQ', ctypes.addressof(here), 8)
        expect(libc.process_vm_readv(other, local, 1, struct.pack('QQ', there, 8), 1, 0))""",
    "signals another process": "os.kill(other, signal.SIGURG)",
    "signals a thread of another process": "expect(libc.tgkill(other, other, signal.SIGURG))",
    "signals another process by its descriptor": "signal.pidfd_send_signal(os.pidfd_open(other), signal.SIGURG)",
    "queues a signal to another process": "expect(libc.sigqueue(other, signal.SIGURG, 0))",
    "binds another process to a processor": """
        os.sched_setaffinity(other, {min(os.sched_getaffinity(other))})
        if len(os.sched_getaffinity(other)) > 1: raise PermissionError""",
    "lowers another process's priority": "os.setpriority(os.PRIO_PROCESS, other, 5)",
    "lowers the priority of all": "os.setpriority(os.PRIO_USER, 12345, 5)",
    "limits another process": "import resource; resource.prlimit(other, resource.RLIMIT_CORE, (0, 0))",
    "opens a socket of the network": "socket.socket(socket.AF_INET)",
    "opens a socket of the kernel": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "makes a namespace": "expect(libc.unshare(0x10000000))",
    "makes a process in a namespace": """
        child = libc.syscall({'x86_64': 56}.get(os.uname().machine, 220), 0x10000000 | 17, 0, 0, 0, 0)
        if child == 0: os._exit(0)
        expect(child); os.waitpid(child, 0)""",
    "takes more memory than there is": """
        libc.mmap.restype = ctypes.c_void_p
        both, kept = 3, 0x4022  # to read and write, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        if libc.mmap(None, ctypes.c_size_t(1 << 44), both, kept, -1, 0) == 2 ** 64 - 1: expect(-1)""",
    "makes a file of more than 4 GB": "os.truncate(os.memfd_create('x'), 5 << 30)",
}

# Each works in the sandbox, too.
HONEST = {
    "writes to its folder": """
        import tempfile
        file = tempfile.NamedTemporaryFile()
        file.write(b'x')
        os.mkdir(scratch + '/folder'); os.rename(scratch + '/folder', scratch + '/other'); os.rmdir(scratch + '/other')
        assert file.name.startswith(os.path.realpath(scratch)), file.name""",
    "writes to /dev/null": "open('/dev/null', 'w').write('x')",
    "reads files": "open('/etc/passwd').read(); os.listdir('/proc')",
    "names a thread of its own, as CUDA does": """
        with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as file: file.write("mine")""",
    "has threads": """
        threads = [threading.Thread(target=lambda: None) for _ in range(8)]
        [each.start() for each in threads]; [each.join() for each in threads]""",
    "has processes, and ends them": """
        import subprocess
        assert subprocess.run(['echo', 'yes'], capture_output=True).stdout == b'yes\\n'
        child = subprocess.Popen(['sleep', '600']); child.kill(); assert child.wait() == -9""",
    "forks": "child = os.fork() or os._exit(0); assert os.waitpid(child, 0)[1] == 0",
    "shares memory": """
        file = os.memfd_create('x'); os.truncate(file, 4096); mmap.mmap(file, 4096)
        os.posix_spawn('/bin/true', ['true'], {})""",
    "makes code": "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)",
    "reserves more addresses than there is memory": """
        libc.mmap.restype = ctypes.c_void_p
        none, kept = 0, 0x4022  # PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        assert libc.mmap(None, ctypes.c_size_t(1 << 44), none, kept, -1, 0) != 2 ** 64 - 1""",
    "binds itself": "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); os.setpriority(os.PRIO_PROCESS, 0, 1)",
    "has local sockets": "socket.socketpair(); socket.socket(socket.AF_UNIX)",
    "signals itself": "signal.signal(signal.SIGUSR1, lambda *_: None); os.kill(os.getpid(), signal.SIGUSR1)",
}



def refused(done):
    return any(each in done.stderr for each in ("PermissionError", "OSError", "File too large"))


class SandboxTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside, self.scratch = (os.path.join(folder.name, name) for name in ("outside", "scratch"))
        os.mkdir(self.outside)
        os.mkdir(self.scratch)
        # In a sandbox of its own: a superuser's program without capabilities has no power over one that has them.
        self.other = subprocess.Popen([BINARY, "confined", "--scratch", self.outside, "--", "sleep", "600"])
        self.addCleanup(lambda: (self.other.kill(), self.other.wait()))

    def do(self, deed, confined, environment=()):
        with open(os.path.join(self.outside, "kept"), "w") as file:
            file.write("text")
        for name in ("new", "more", "folder"):
            path = os.path.join(self.outside, name)
            if os.path.exists(path):
                os.rmdir(path) if os.path.isdir(path) else os.remove(path)
        words = [sys.executable, "-c", COMMON + textwrap.dedent(deed), str(self.other.pid), self.outside, self.scratch]
        before = [BINARY, "confined", "--scratch", self.scratch, "--"] if confined else []
        return subprocess.run([*before, *words], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **dict(environment)})

    def lacks(self):
        """What `confined` says that this system cannot hold."""
        done = subprocess.run([BINARY, "confined", "--scratch", self.scratch], capture_output=True, text=True, timeout=60)
        return " ".join(text for text, essential in json.loads(done.stdout) if essential)

    def hostile_deeds(self):
        lacks, deeds = self.lacks(), {}
        if "writes are not limited" not in lacks:
            deeds.update(WRITES)
        if "can be emptied" in lacks:
            del deeds["truncates a file outside"]
        if "system calls are not limited" not in lacks:
            deeds.update(CALLS)
        if not deeds:
            self.skipTest(lacks)
        return deeds

    def test_no_hostile_deed_succeeds(self):
        works_outside = 0
        deeds = self.hostile_deeds()
        for name, deed in deeds.items():
            with self.subTest(deed=name):
                held = self.do(deed, confined=True)
                self.assertNotEqual(held.returncode, 0, "it succeeded")
                self.assertTrue(refused(held), held.stderr)
                works_outside += self.do(deed, confined=False).returncode == 0
        # Some systems refuse a few of them to everyone.
        self.assertGreater(works_outside, len(deeds) * 2 // 3)

    def test_an_honest_program_notices_nothing(self):
        # Without that of Linux 6.12 it cannot signal even the processes that it started.
        linux = tuple(int(part) for part in platform.release().split(".")[:2])
        ends_children = linux >= (6, 12) and not self.lacks()
        for name, deed in HONEST.items():
            if name == "has processes, and ends them" and not ends_children:
                continue
            with self.subTest(deed=name):
                done = self.do(deed, confined=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_numpy_multiplies(self):
        done = self.do("import numpy; assert (numpy.ones((300, 300)) @ numpy.ones((300, 300)) == 300).all()", True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_a_system_lacks_is_said(self):
        done = subprocess.run([BINARY, "confined", "--scratch", self.scratch], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^\[.*\]\n$")

    def test_a_program_that_is_not_there_is_named(self):
        done = subprocess.run([BINARY, "confined", "--scratch", self.scratch, "--", "/nowhere"], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (5, "error: cannot run /nowhere: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
