# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Random lists of chosen keys, and compressed rows, for random_scenarios.py and random_pipelines.py."""

PATTERNS = ["uniform", "recent", "shared", "one_page", "every_page", "holes", "duplicates"]


def selection(rng, length):
    """Lists of chosen keys, most of them shorter than the context. `length` draws a number up to another."""
    wanted = {"topk": length(rng, 100), "unit": rng.choice([1, 1, 1, 2, 3, 8, 16, 128]),
              "groups": rng.choice(["one", "kv_heads", "heads"]), "pattern": rng.choice(PATTERNS),
              "padding": rng.choice(["end", "front", "repeat"])}
    if min(wanted["topk"], wanted["unit"]) > 1:
        wanted["tail"] = rng.choice(["counted", "open", "own"])
    if wanted["pattern"] == "shared":
        wanted["overlap"] = rng.choice([0, 0.01, 0.5, 0.75, 0.99, 1.0])
    return wanted


def compressed_layer(rng, batch, kv_cache, length):
    """A mix of a latent layer with compressed rows, all of them or those of lists, beside a window or all tokens."""
    wanted = {"compress_ratio": rng.choice([1, 2, 3, 4, 4, 4, 8, 16, 128])}
    if rng.random() < 0.8:
        wanted["window"] = {"keys": length(rng, 150)}
    if rng.random() < 0.6:
        wanted["sinks"] = True
    if rng.random() < 0.15:
        wanted["softcap"] = rng.choice([1, 5, 30])
    if rng.random() < 0.5:
        lists = selection(rng, length)
        wanted["selection"] = {key: lists[key] for key in ("topk", "pattern", "padding", "overlap") if key in lists}
    width = rng.choice([16, 64, 128, 512])
    rope = rng.choice([0, 0, 0, 8, 64])
    made = {"model": {"heads_q": rng.choice([1, 2, 3, 8, 16]), "kv_lora_rank": width, "qk_nope_head_dim": width,
                      "qk_rope_head_dim": rope},
            "dtype": rng.choice(["f32", "f16", "bf16"]), "attention": wanted}
    entries = []
    while not entries or any("prefix" in entry or "chain" not in entry.get("tree", {"chain": 1}) for entry in entries):
        entries = batch(rng, rng.choice(["decode", "extend", "mixed", "target_verify", "draft_extend", "split_prefill"]))
    made["batch"] = entries
    if rng.random() < 0.15:
        made["padding"] = rng.choice([1, 3, {"requests": 2, "seq_len": 0}, {"tokens": 5}])
    made["kv_cache"] = kv_cache(rng, made, True, False)
    return made


def hierarchy(rng, made, length):
    """The selection of a case, made hierarchical: pages before a window, or each with a softmax of its own."""
    wanted = made["attention"]["selection"]
    wanted.pop("tail", None)
    wanted["softmax"] = rng.choice(["keys", "units", "units"])
    if wanted["softmax"] == "units" and rng.random() < 0.2:
        return wanted
    wanted["window_keys"] = length(rng, 200)
    heads_kv = made["model"].get("heads_kv", 1) // made.get("tp", 1)
    if wanted["groups"] == "kv_heads" and heads_kv > 1 and rng.random() < 0.3:
        wanted["window_heads"] = rng.randrange(1, heads_kv)
    if rng.random() < 0.7:
        wanted["fusion"] = True
    if wanted["unit"] > 1 and rng.random() < 0.3:
        wanted["landmarks"] = True
    return wanted


def scored(rng, heads_kv, length, kinds=("keys", "pools", "pools", "maxima", "pages")):
    """A selection that an indexer scores: of keys, of pools and their tails, of maxima, or of pages before a window."""
    wanted = {"topk": length(rng, 100)}
    kind = rng.choice(kinds)
    if kind == "keys":
        return wanted | {"index_heads": rng.choice([1, 4, 32, 64])}
    wanted["unit"] = rng.choice([2, 4, 8, 16])
    if kind == "pools":
        return wanted | {"topk": wanted["topk"] + 1, "tail": rng.choice(["open", "own"]), "index_heads": rng.choice([1, 4, 32])}
    wanted["groups"] = rng.choice(["one", "kv_heads"]) if heads_kv > 1 else "one"
    if kind == "maxima":
        return wanted | {"score": "max"}
    return wanted | {"score": rng.choice(["group", "head", "bounds"]), "window_keys": length(rng, 100),
                     "fusion": rng.random() < 0.7, "softmax": rng.choice(["keys", "units"]), "stale": rng.choice(["0%", "20%"])}


def labels(rng, head_dim, length):
    """A selection of decodes by the heavy channels of keys, with a window beside it now and then."""
    wanted = {"topk": length(rng, 300), "groups": rng.choice(["heads", "heads", "kv_heads", "one"]), "score": "channels",
              "channels": length(rng, head_dim)}
    if rng.random() < 0.3:
        wanted |= {"window_keys": length(rng, 100), "fusion": rng.random() < 0.7, "softmax": rng.choice(["keys", "units"])}
    return wanted
