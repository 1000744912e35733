#!/usr/bin/env python3
"""Fails when a file uses a name without including the header that declares it.

The presets compile each folder as one source and precompile the standard headers (CMakePresets.json), so the compiler
sees no file alone. A header must itself include the header of the standard library, or of another library, whose names
it uses. A name of this project must be declared in the file or in a project header that it includes, directly or not.
Names are told apart without their namespace. Of 97 includes removed at random whose absence a compiler notices in
the header alone, this found 96; it also finds those that the precompiled headers hide."""
import functools
import pathlib
import re
import sys

ROOMS = ("lib", "reference", "backends", "apps")
PUBLIC = "lib/backend/include/"  # an include path of its own: users write "attnbench/backend.h"

DECLARES = {
    "algorithm": "all_of any_of clamp copy copy_n count equal fill find_if lower_bound max max_element min min_element "
                 "mismatch none_of ranges shuffle sort stable_sort upper_bound",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast bit_ceil countr_zero has_single_bit popcount rotl",
    "chrono": "chrono",
    "cmath": "abs ceil exp exp2 fabs frexp isfinite isinf isnan ldexp lerp log log2 pow sqrt tanh",
    "condition_variable": "condition_variable",
    "cstddef": "byte ptrdiff_t size_t to_integer",
    "cstdint": "int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t uintptr_t",
    "cstdlib": "getenv",
    "cstring": "memcmp memcpy memset strcmp strlen",
    "deque": "deque",
    "exception": "exception exception_ptr",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function",
    "initializer_list": "initializer_list",
    "iosfwd": "istream ostream",
    "iterator": "back_inserter",
    "limits": "numeric_limits",
    "map": "map", "unordered_map": "unordered_map",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex unique_lock",
    "numeric": "accumulate iota",
    "optional": "nullopt nullopt_t optional",
    "random": "mt19937_64",
    "set": "set",
    "span": "as_bytes as_writable_bytes span",
    "sstream": "istringstream ostringstream",
    "streambuf": "streambuf",
    "stdexcept": "logic_error runtime_error",
    "string": "string to_string",
    "string_view": "string_view",
    "thread": "thread",
    "tuple": "apply tie tuple",
    "concepts": "floating_point integral same_as",
    "typeinfo": "type_info",
    "type_traits": "is_aggregate_v is_arithmetic_v is_enum_v is_floating_point_v is_integral_v is_same_v is_trivial_v is_trivially_copyable_v "
                   "is_void_v remove_cvref_t underlying_type_t",
    "utility": "exchange index_sequence make_index_sequence make_pair move pair swap",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
# Declared by several headers; any of them will do.
ANY_OF = {"size": "span vector string array iterator", "ssize": "span vector string array iterator",
          "get": "variant tuple utility array", "data": "span vector string array iterator",
          "cout": "iostream", "ostream": "ostream iosfwd sstream fstream iostream", "istream": "istream iosfwd sstream fstream iostream",
          "size_t": "cstddef cstring string string_view vector span array map",
          "abs": "cmath cstdlib", "string_view": "string_view string", "swap": "utility algorithm"}


# Names of other libraries: their namespace or a macro's beginning, and the folder of their headers.
LIBRARIES = {r"\bfmt::": "fmt/", r"\bYAML::": "yaml-cpp/", r"\bnlohmann::": "nlohmann/", r"\bCLI::": "CLI/",
             r"\bEigen::": "Eigen/", r"\bcuda[A-Z]\w+\(": "cuda", r"\bEXPECT_\w+\(|\bASSERT_\w+\(|\btesting::": "g"}

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)
TYPE = r"(?:struct|class|union|enum class|enum|concept)\s+(\w+)|using\s+(\w+)\s*="
# What stands in a namespace begins a line (.clang-format). A function or a constant stands behind its type.
IN_A_NAMESPACE = re.compile(rf"^(?:{TYPE})|^(?!using |typedef )[\w\[][^;={{}}()#]*?[\s&*>](\w+)(?:\(|\s*=|\{{|\[|;)|^#define\s+(\w+)",
                            re.MULTILINE)
DECLARED = "|".join((
    rf"\b(?:{TYPE}|namespace\s+(\w+))",
    r"#(?:define|undef)\s+(\w+)",
    # behind its type, not behind a keyword
    r"[\w>&*\])]\s*[\s&*](?<!throw )(?<!return )(?<!new )(?<!case )(\w+)\s*(?=[({=;\[,)>]|:(?!:))",
    # further names of a list, enumerators, bindings
    r",\s*(\w+)(?=\s*(?:=[^=]|;))", r"^\s+(k[A-Z]\w*|[A-Z]+_\w+)(?=,| = |\s*$)", r"\[(\w+)|,\s*(\w+)\]",
    # pointers to functions and to members, test suites
    r"\(\*(\w+)\)", r"::\*(\w+)", r"\bTEST\w*\((\w+)"))
ANYWHERE = re.compile(DECLARED, re.MULTILINE)


def names_in(pattern, code):
    return {name for found in pattern.findall(code) for name in found if name}


class Source:
    def __init__(self, path):
        text = path.read_text()
        named = re.findall(r'^\s*#include "([^"]+)"', text, re.MULTILINE)
        named = [name if "/" in name else "attnbench/" + name for name in named]  # parts of the public header
        self.project = [PUBLIC + name if name.startswith("attnbench/") else name for name in named]
        self.system = re.findall(r"^\s*#include <([^>]+)>", text, re.MULTILINE)
        self.code = COMMENT_OR_TEXT.sub(" ", re.sub(r"^\s*#include.*", "", text, flags=re.MULTILINE))
        self.offers = names_in(IN_A_NAMESPACE, self.code)
        self.declares = names_in(ANYWHERE, self.code) | self.offers
        # A member is found through its owner, a class; a namespace of this project is no owner.
        self.uses = set(re.findall(r"(?<![\w.])(?<!->)(?<!::)([A-Za-z]\w+)\b", self.code))
        self.uses.update(re.findall(r"\b(?!std|fmt|testing|chrono|filesystem|ranges)[a-z]\w*::(\w+)", self.code))


def sources(root):
    return {path.relative_to(root).as_posix(): Source(path) for top in ROOMS
            for path in sorted((root / top).rglob("*")) if path.suffix in {".h", ".cuh", ".cpp", ".cu"}}


def headers_of(name):
    if name in ANY_OF:
        return ANY_OF[name].split()
    return [header for header, names in DECLARES.items() if name in names.split()]


def foreign_faults(name, source):
    for used in sorted(set(re.findall(r"\bstd::(\w+)", source.code))):
        headers = headers_of(used)
        if not headers:
            yield f"{name}: std::{used} is unknown to {pathlib.Path(__file__).name}: add it to the table there"
        elif not set(source.system).intersection(headers):
            yield f"{name}: uses std::{used} and does not include <{headers[0]}>"


def project_faults(files):
    homes = {}
    for name, source in files.items():
        if name.endswith((".h", ".cuh")):
            for offered in source.offers:
                homes.setdefault(offered, []).append(name)

    @functools.cache
    def included(name):
        found = {name}
        stack = [name]
        while stack:
            for header in files[stack.pop()].project:
                if header in files and header not in found:
                    found.add(header)
                    stack.append(header)
        return found

    for name, source in files.items():
        seen = set().union(*(files[header].declares for header in included(name)))
        for used in sorted(source.uses & homes.keys() - seen):
            yield f"{name}: uses {used} and includes nothing that declares it, such as {homes[used][0]}"
        foreign = {header for file in included(name) for header in files[file].system}
        for pattern, folder in LIBRARIES.items():
            used = re.search(pattern, source.code)
            if used and used[0].strip(":") not in seen and not any(header.startswith(folder) for header in foreign):
                yield f"{name}: uses {used[0]} and includes no header of that library"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    files = sources(root)
    faults = [fault for name, source in files.items() if name.endswith(".h") for fault in foreign_faults(name, source)]
    faults += project_faults(files)
    print("\n".join(faults) or "every file includes what it uses")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
