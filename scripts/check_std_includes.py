#!/usr/bin/env python3
"""Fails when a header uses a name of the standard library without including the header that declares it. The compiler
proves the rest (cmake/AttnbenchHeaderCheck.cmake), but with the standard headers precompiled, which hides just that."""
import pathlib
import re
import sys

DECLARES = {
    "algorithm": "all_of any_of clamp copy copy_n count equal fill find_if lower_bound max max_element min min_element "
                 "mismatch none_of ranges shuffle sort stable_sort upper_bound",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast bit_ceil countr_zero has_single_bit popcount rotl",
    "chrono": "chrono",
    "cmath": "abs exp exp2 fabs isfinite isinf isnan lerp log log2 pow sqrt tanh",
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
    "map": "map",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex unique_lock",
    "numeric": "accumulate iota",
    "optional": "nullopt nullopt_t optional",
    "random": "mt19937_64",
    "set": "set",
    "span": "as_bytes as_writable_bytes span",
    "sstream": "istringstream ostringstream",
    "stdexcept": "logic_error runtime_error",
    "string": "string to_string",
    "string_view": "string_view",
    "thread": "thread",
    "tuple": "tie tuple",
    "type_traits": "is_arithmetic_v is_enum_v is_same_v is_trivial_v is_trivially_copyable_v remove_cvref_t "
                   "underlying_type_t",
    "utility": "exchange make_pair move pair swap",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
# Declared by several headers; any of them will do.
ANY_OF = {"size": "span vector string array iterator", "ssize": "span vector string array iterator",
          "get": "variant tuple utility array", "data": "span vector string array iterator",
          "cout": "iostream", "ostream": "ostream iosfwd sstream fstream iostream", "istream": "istream iosfwd sstream fstream iostream",
          "size_t": "cstddef cstring string string_view vector span array map",
          "abs": "cmath cstdlib", "string_view": "string_view string", "swap": "utility algorithm"}


def headers_of(name):
    if name in ANY_OF:
        return ANY_OF[name].split()
    return [header for header, names in DECLARES.items() if name in names.split()]


def faults_of(name, text):
    included = set(re.findall(r"^#include <([^>]+)>", text, re.MULTILINE))
    code = re.sub(r"//.*", "", text)
    if "fmt::" in code and not any(header.startswith("fmt/") for header in included):
        yield f"{name}: uses fmt:: and includes no header of it"
    for used in sorted(set(re.findall(r"\bstd::(\w+)", code))):
        headers = headers_of(used)
        if not headers:
            yield f"{name}: std::{used} is unknown to {pathlib.Path(__file__).name}: add it to the table there"
        elif not included.intersection(headers):
            yield f"{name}: uses std::{used} and does not include <{headers[0]}>"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    faults = []
    for top in ("lib", "reference", "backends", "apps"):
        for path in sorted((root / top).rglob("*.h")):
            faults += faults_of(path.relative_to(root).as_posix(), path.read_text())
    print("\n".join(faults) or "every header includes what it uses of the standard library")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
