#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Plants a delay: every block of splitkv's attention kernels waits at its end for PERCENT % of its own time.

usage, in the root of a checkout that is built afterwards: results/gate/plant_delay.py PERCENT
"""
import sys

path = "backends/splitkv/kernels.cuh"
text = open(path).read()
part = float(sys.argv[1]) / 100
old_begin = "  extern __shared__ __align__(128) std::byte shared[];\n  const Item item"
assert text.count(old_begin) == 2
text = text.replace(old_begin, "  const long long planted_begin = clock64();\n" + old_begin)
stall = f"  const long long planted_end = clock64() + static_cast<long long>({part} * (clock64() - planted_begin));\n  while (clock64() < planted_end) {{\n  }}\n"
for store in ["  store_tile<S>(p, item, reinterpret_cast<const float*>(shared), lse);\n}\n\n/// Tiles of up to 64", "  store_tile<S>(p, item, reinterpret_cast<const float*>(shared), lse);\n}\n\n}  // namespace"]:
    assert text.count(store) == 1
    line, rest = store.split("\n", 1)
    text = text.replace(store, line + "\n" + stall + rest)
open(path, "w").write(text)
