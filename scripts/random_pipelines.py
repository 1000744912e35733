#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random pipelines of sparse layers, alone and behind the write of keys, and then as many random layers that
write index keys, too, and as many compressors, and fails unless every verdict is passed, MISTRUSTED or unsupported.

  scripts/random_pipelines.py build/release/bin/attnbench --count 200

Options and what is printed are those of random_scenarios.py.
"""
import random
import sys

from random_scenarios import CHECKS, PAGE_SIZES, length, main
from random_selections import labels, scored


def checks_of(*steps):
    return CHECKS | {"measure": CHECKS["measure"] | {"step": list(steps), "samples": [1, 4]}}


def model(rng):
    if rng.random() < 0.2:
        return {"heads_q": rng.choice([1, 8, 16]), "kv_lora_rank": rng.choice([32, 128]), "qk_nope_head_dim": 64,
                "qk_rope_head_dim": rng.choice([16, 64])}
    heads_kv = rng.choice([1, 1, 2, 4])
    return {"heads_q": heads_kv * rng.choice([1, 2, 4]), "heads_kv": heads_kv, "head_dim": rng.choice([16, 64, 128])}


def entry(rng, mode):
    if mode == "target_verify":
        return {"count": rng.randint(1, 3), "mode": mode, "prefix_len": length(rng, 300), "tree": {"chain": 3}}
    if mode == "decode":
        return {"count": rng.randint(1, 4), "mode": mode, "kv_len": length(rng, 1000)}
    return {"mode": mode, "q_len": length(rng, 60), "prefix_len": rng.choice([0, length(rng, 300)])}


def mix(seed, index):
    """Pipeline `index` of a seed."""
    return drawn(seed, index, "pipeline", "keys", "pools", "pools", "maxima", "pages", with_labels=True)


def layer(seed, index):
    """Layer `index` of a seed: its indexer's cache has a row of each key, or of each pool of them."""
    return drawn(seed, index, "layer", "keys", "pools", "maxima")


def drawn(seed, index, name, *kinds, with_labels=False):
    """All contexts have a complete unit of some query."""
    rng = random.Random(f"{seed}/{index}/{name}")
    made = {"model": model(rng), "dtype": rng.choice(["f32", "f16", "bf16"])}
    wanted = scored(rng, made["model"].get("heads_kv", 1), length, kinds)
    # By numbers of its own: the cases of a seed stay what they were beside it.
    if random.Random(f"{seed}/{index}/{name}/padding").random() < 0.3:
        wanted["padding"] = "front"
    modes = rng.choice([["decode"], ["decode"], ["extend"], ["decode", "extend"], ["target_verify"]])
    made["batch"] = [entry(rng, mode) | {"name": f"e{i}"} for i, mode in enumerate(modes)]
    made["batch"][0] |= {"kv_len" if modes[0] == "decode" else "prefix_len": 150 + length(rng, 500)}
    # By numbers of its own: the others of a seed stay what they were.
    chooser = random.Random(f"{seed}/{index}/labels")
    if with_labels and modes == ["decode"] and "head_dim" in made["model"] and chooser.random() < 0.3:
        wanted = labels(chooser, made["model"]["head_dim"], length)
    unit = wanted.get("unit", 1)
    made["kv_cache"] = {"page_size": max(rng.choice(PAGE_SIZES) // unit, 1) * unit,
                        "placement": rng.choice(["contiguous", "shuffled", "reversed"])}
    made["attention"] = {"selection": wanted}
    if rng.random() < 0.2 and "head_dim" in made["model"]:
        made["attention"]["sinks"] = True
    if rng.random() < 0.2 and "softmax" not in wanted:
        made["attention"]["softcap"] = 30
    if rng.random() < 0.2:
        made["kv_cache"] |= {"dtype": "e4m3", "scales": rng.choice(["tensor", "head", "token"])}
    if rng.random() < 0.2:
        made["padding"] = rng.choice([2, {"tokens": 5}])
    return made


def compressor(seed, index):
    """Compressor `index` of a seed: rows of 4 tokens that overlap, or of 128."""
    rng = random.Random(f"{seed}/{index}/compressor")
    width, ratio = rng.choice([16, 64, 128, 512]), rng.choice([4, 4, 128])
    modes = rng.choice([["decode"], ["extend"], ["decode", "extend"], ["target_verify"]])
    return {"model": {"heads_q": 1, "kv_lora_rank": width, "qk_nope_head_dim": width, "qk_rope_head_dim": rng.choice([0, 0, 8, 64])},
            "batch": [entry(rng, mode) | {"name": f"e{i}"} for i, mode in enumerate(modes)],
            "kv_cache": {"page_size": rng.choice([1, 2, 5]) * ratio, "placement": rng.choice(["contiguous", "shuffled", "reversed"])},
            "attention": {"compress_ratio": ratio, "window": {"keys": length(rng, 150)}}}


if __name__ == "__main__":
    failed = main(__doc__, mix, checks_of("pipeline", "kv_pipeline"))
    failed = main(__doc__, layer, checks_of("index_write", "layer")) or failed
    sys.exit(main(__doc__, compressor, checks_of("compress")) or failed)
