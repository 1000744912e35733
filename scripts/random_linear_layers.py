# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Random layers with a state per request, for random_scenarios.py."""
import math


def linear_layer(rng, batch, length):
    """A case of one. `batch` draws the entries of a step of a mode, `length` a number up to another."""
    mode = rng.choice(["decode", "decode", "extend", "extend", "mixed", "target_verify"])
    heads = rng.choice([1, 1, 2, 3, 4])
    made = {"model": {"linear_attention": rng.choice(["gated_delta_net", "kimi_delta", "lightning", "mamba2"]),
                      "linear_num_key_heads": heads, "linear_num_value_heads": heads * rng.choice([1, 1, 2, 3]),
                      "linear_key_head_dim": rng.choice([1, 5, 16, 32, 33, 64, 128, 200]),
                      "linear_value_head_dim": rng.choice([1, 3, 16, 32, 40, 64, 128])},
            "dtype": rng.choice(["f32", "f16", "bf16"]), "batch": batch(rng, mode)}
    while any("empty_rows" in entry for entry in made["batch"]):  # each token changes a state
        made["batch"] = batch(rng, mode)
    if rng.random() < 0.2:
        made["attention"] = {"scale": round(math.exp(rng.uniform(-4, 0)), 4)}
    if rng.random() < 0.15:
        made["padding"] = rng.choice([1, 3, {"requests": 2, "seq_len": 0}, {"tokens": length(rng, 100)}])
    return made
