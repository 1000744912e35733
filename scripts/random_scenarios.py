#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random legal cases and fails unless every verdict is passed, MISTRUSTED or unsupported.

  scripts/random_scenarios.py build/release/bin/attnbench                  # 10,000 cases
  scripts/random_scenarios.py build/release/bin/attnbench --count 200 --seed 7
  scripts/random_scenarios.py build/release/bin/attnbench --jobs 16        # as many programs at a time

Case number i of a seed is the same whatever --count, --first and --per-file are: what failed in a long run is
run again by `--first i --count 1`. Cases are small, so that checking one takes milliseconds; many are mixes of
one file, so that starting the program costs next to nothing.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from random_linear_layers import linear_layer
from random_selections import compressed_layer, hierarchy, selection

Cases = collections.namedtuple("Cases", "seed mix checks")
ALLOWED = {"passed", "MISTRUSTED", "unsupported"}
# Whole pages of every size below, but for `odd`; a tree of three levels and a prefix beside it.
PREFIXES = {"short": 192, "long": 384, "tools": {"after": "short", "tokens": 192},
            "agent": {"after": "tools", "tokens": 192}, "odd": {"after": "short", "tokens": 37}}
PREFIX_LENS = {"short": 192, "long": 384, "tools": 384, "agent": 576, "odd": 229}
PAGE_SIZES = [1, 2, 3, 4, 8, 16, 16, 32, 48, 64]
FP8 = ["e4m3", "e5m2"]
KV_DTYPES = ["f32", "f16", "bf16", *FP8]
CHECKS = {"measure": {"cache": "warm", "block": "1ms", "step": ["attention", "both"]},
          "verify": {"rows": 64}}  # timing is not the point


def length(rng, most):
    """From 1 to `most`, short ones as often as long ones."""
    return min(most, max(1, round(math.exp(rng.uniform(0, math.log(most))))))


def model(rng):
    if rng.random() < 0.03:  # a row that is all K and V
        rank = rng.choice([128, 192, 256, 512])
        return {"heads_q": rng.choice([1, 2, 3, 8, 16]), "kv_lora_rank": rank, "qk_nope_head_dim": rank, "qk_rope_head_dim": 0}
    if rng.random() < 0.15:
        return {"heads_q": rng.choice([1, 2, 3, 8, 16]), "kv_lora_rank": rng.choice([16, 32, 64, 128, 512]),
                "qk_nope_head_dim": rng.choice([16, 64, 128]), "qk_rope_head_dim": rng.choice([8, 16, 32, 64])}
    heads_kv = rng.choice([1, 1, 2, 2, 3, 4])
    geometry = {"heads_q": heads_kv * rng.choice([1, 1, 2, 3, 4, 7, 8]), "heads_kv": heads_kv,
                "head_dim": rng.choice([8, 16, 24, 32, 40, 64, 64, 72, 96, 128, 128, 192, 256])}
    if rng.random() < 0.15:
        geometry["head_dim_v"] = rng.choice([8, 16, 48, 64, 128])
    return geometry


def scale(rng):
    return round(math.exp(rng.uniform(-3, 3)), 4)


def kv_cache(rng, made, latent, shared):
    """`latent`: the rows are those of absorbed MLA; `shared`: requests share pages."""
    padding = made.get("padding", {"tokens": 0})
    fills_up = not isinstance(padding, dict) or "requests" in padding  # by requests, whose key would be a pool's slot 0
    ragged = not latent and not shared and not fills_up and rng.random() < (0.5 if "mla" in made else 0.15)
    if ragged:
        cache = {"layout": "ragged"}
    else:
        cache = {"page_size": rng.choice(PAGE_SIZES),
                 "placement": rng.choice(["contiguous", "shuffled", "interleaved", "fragmented", "reversed"])}
    if rng.random() < 0.5:
        cache["dtype"] = rng.choice(KV_DTYPES)
        scales = ["tensor"] * 3
        if not ragged and cache["dtype"] in FP8:
            scales += ["head", "token"] + ["request"] * (not shared)
            of_blocks = latent and cache["dtype"] == "e4m3" and made["model"]["kv_lora_rank"] % 128 == 0
            scales += ["block"] * (6 * of_blocks)
            of_groups = latent and cache["dtype"] == "e4m3" and made["model"]["qk_rope_head_dim"] == 0
            scales += ["group"] * (6 * of_groups)
        cache["scales"] = rng.choice(scales)
        for name in ["k_scale"] if latent else ["k_scale", "v_scale"]:
            if cache["scales"] == "tensor" and rng.random() < 0.6:
                drawn_scale = scale(rng)
                # Keys of narrow heads under a small softmax scale reach 655, where e4m3 ends at 448.
                least = 2 if name == "k_scale" and cache["dtype"] == "e4m3" else 0
                cache[name] = max(least, drawn_scale)
        if ragged:
            del cache["scales"]
    if not ragged:
        layouts = ["NHD", "HND"]
        if not latent and "head_dim" in made["model"]:
            layouts += ["combined"] * ("head_dim_v" not in made["model"])
            layouts += ["joint", "joint_hnd"]
            layouts += ["x_packed"] * (made["model"]["head_dim"] % 16 == 0)
        cache["layout"] = rng.choice(layouts)
        if made["attention"].keys() & {"window", "chunk"} and rng.random() < 0.3:
            cache["swa_pool"] = True
    return cache


def in_fp8(rng):
    """Queries or outputs in fp8."""
    wanted = {}
    if rng.random() < 0.1:
        wanted["q_dtype"] = rng.choice(FP8)
        kind = rng.choice(["tensor"] * 3 + ["head", "token", "request"])
        wanted |= {"q_scale": scale(rng)} if kind == "tensor" else {"q_scales": kind}
    if rng.random() < 0.1:
        wanted |= {"out_dtype": rng.choice(FP8), "out_scale": scale(rng)}
    return wanted


def attention(rng, mode, mla):
    wanted = {}
    if mode == "cross":
        wanted.update(cross=True, causal=False)
    elif mode in ("decode", "extend", "mixed") and rng.random() < 0.1:
        wanted["causal"] = False
    elif mode != "items" and rng.random() < 0.25:
        wanted["window"] = {"keys_before": length(rng, 300) - 1} if rng.random() < 0.5 else {
            "keys": length(rng, 300)}
    if not mla and mode not in ("cross", "dllm_extend", "items") and wanted.get("causal", True) and rng.random() < 0.15:
        wanted["chunk"] = length(rng, 200)
    if not mla and mode in ("decode", "extend", "mixed") and not wanted and rng.random() < 0.15:
        chunk = 1 + length(rng, 200)
        wanted["dual_chunk"] = {"chunk_size": chunk, "local_size": rng.randrange(chunk)}
    if not mla and mode != "cross" and rng.random() < 0.1:
        wanted["temperature_len"] = 1 + length(rng, 300)
    if rng.random() < 0.2:
        wanted["softcap"] = rng.choice([1, 5, 30, 50])
    if not mla and rng.random() < 0.25:
        wanted["sinks"] = True
    plain = mode != "dllm_extend" and wanted.get("causal", True) and "dual_chunk" not in wanted
    if not mla and plain and rng.random() < 0.15:
        wanted["alibi"] = True
    if rng.random() < 0.1:
        wanted["scale"] = round(math.exp(rng.uniform(-4, 0)), 4)
    return wanted


def takes_selection(made, mode):
    """Whether lists of chosen keys may stand beside what was drawn."""
    if made.get("layer") == "cross" or {"window", "chunk", "dual_chunk", "alibi", "causal"} & made["attention"].keys():
        return False
    if mode == "target_verify":
        return "chain" in made["batch"][0]["tree"]
    return mode in ("decode", "extend", "mixed")


def drawn(rng, least, most):
    """A length of `least` at least, as a number or as a distribution."""
    if rng.random() < 0.75:
        return least - 1 + length(rng, most)
    kind = rng.choice(["uniform", "lognormal", "zipf", "bimodal"])
    low, high = sorted([length(rng, most), length(rng, most)])
    parameters = {"uniform": [low, high], "lognormal": {"median": low, "sigma": 0.8},
                  "zipf": {"exponent": 1.1, "max": high},
                  "bimodal": {"low": low, "high": high + 1, "high_share": 0.3}}[kind]
    return {kind: parameters, "min": least, "max": least + most}


def decode(rng):
    entry = {"mode": "decode", "count": rng.choice([1, 1, 2, 3, 7])}
    if rng.random() < 0.2:
        entry["prefix"] = rng.choice(list(PREFIXES))
        return entry | {"kv_len": drawn(rng, PREFIX_LENS[entry["prefix"]] + 1, 200)}
    if rng.random() < 0.1:
        return entry | {"kv_len": {"uniform": [0, 3]}, "empty_rows": True}
    return entry | {"kv_len": drawn(rng, 1, 700)}


def extend(rng):
    entry = {"mode": "extend", "count": rng.choice([1, 1, 2, 3])}
    chance = rng.random()
    if chance < 0.15:
        size = length(rng, 64)
        index = rng.randrange(4)
        return entry | {"prompt_len": size * index + length(rng, 100), "chunk": {"size": size, "index": index}}
    if chance < 0.35:
        return entry | {"prefix": rng.choice(list(PREFIXES)), "q_len": length(rng, 40)}
    if chance < 0.42:
        return entry | {"q_len": length(rng, 60), "kv_len": rng.randrange(40), "empty_rows": True}
    if chance < 0.6:
        return entry | {"q_len": drawn(rng, 1, 70), "prefix_len": 0}
    return entry | {"q_len": length(rng, 60), "prefix_len": drawn(rng, 1, 300)}


def branches(rng, mode):
    """Requests of some branches of the tree, neighbours of one branch or not."""
    entries = []
    for _ in range(rng.randint(2, 4)):
        entry = {"count": rng.choice([1, 2, 3]), "prefix": rng.choice(list(PREFIXES))}
        if mode == "decode" or (mode == "mixed" and rng.random() < 0.5):
            entry |= {"mode": "decode", "kv_len": drawn(rng, PREFIX_LENS[entry["prefix"]] + 1, 100)}
        else:
            entry |= {"mode": "extend", "q_len": length(rng, 40)}
        entries.append(entry)
    return entries


def with_items(rng):
    """Prompts that end in items to score, each behind a delimiter, and the last one before another."""
    items = [length(rng, 9) for _ in range(rng.randint(1, 4))]
    entry = {"mode": "extend", "count": rng.choice([1, 2]), "items": items,
             "q_len": length(rng, 40) + sum(items) + len(items) + 1}
    if rng.random() < 0.5:
        return entry | {"prefix": rng.choice(list(PREFIXES))}
    return entry | {"prefix_len": rng.choice([0, length(rng, 200)])}


def draft(rng, mode):
    if mode == "draft_decode":
        entry = {"mode": mode, "count": rng.choice([1, 2, 5]),
                 "draft": {"topk": rng.randint(1, 5), "step": rng.randrange(6)}}
        if rng.random() < 0.4:
            entry["prefix"] = rng.choice(list(PREFIXES))
            return [entry | {"prefix_len": drawn(rng, PREFIX_LENS[entry["prefix"]], 100)}]
        return [entry | {"prefix_len": drawn(rng, 1, 300)}]
    if mode in ("draft_extend", "draft_extend_v2"):
        return [{"mode": mode, "count": rng.choice([1, 2, 5]), "q_len": rng.randint(1, 8),
                 "prefix_len": drawn(rng, 1, 300)}]
    kind = rng.choice(["chain", "parents", "topk"])
    if kind == "chain":
        tree = {"chain": rng.randint(1, 9)}
    elif kind == "parents":
        tree = {"parents": [-1] + [rng.randrange(i) for i in range(1, rng.randint(1, 24))]}
    else:
        topk, depth = rng.randint(1, 4), rng.randint(1, 4)
        tree = {"topk": topk, "depth": depth, "tokens": rng.randint(2, 1 + topk * depth)}
    entry = {"mode": mode, "count": rng.choice([1, 2, 5]), "tree": tree}
    if rng.random() < 0.2:
        entry["prefix"] = rng.choice(list(PREFIXES))
        return [entry | {"prefix_len": drawn(rng, PREFIX_LENS[entry["prefix"]], 100)}]
    return [entry | {"prefix_len": drawn(rng, 1, 400)}]


def batch(rng, mode):
    if mode == "cross":
        if rng.random() < 0.3:
            prefix = rng.choice(list(PREFIXES))
            kv_len = {"kv_len": drawn(rng, PREFIX_LENS[prefix], 100)} if rng.random() < 0.5 else {}
            return [{"mode": "decode", "count": rng.choice([1, 4]), "prefix": prefix},
                    {"mode": "extend", "q_len": length(rng, 40), "prefix": prefix} | kv_len]
        if rng.random() < 0.5:
            return [{"mode": "decode", "count": rng.choice([1, 3]), "kv_len": drawn(rng, 1, 400)}]
        return [{"mode": "extend", "q_len": length(rng, 40), "kv_len": length(rng, 300)}]
    if mode == "items":
        return [with_items(rng)] + ([extend(rng)] if rng.random() < 0.5 else [])
    if mode == "idle":
        return [{"mode": "idle"}]
    if mode in ("target_verify", "draft_extend", "draft_extend_v2", "draft_decode"):
        return draft(rng, mode)
    if mode == "split_prefill" and rng.random() < 0.3:
        size, index = length(rng, 64), rng.randrange(4)
        return [{"mode": mode, "prompt_len": size * index + length(rng, 100), "chunk": {"size": size, "index": index}}]
    if mode == "split_prefill":
        return [{"mode": mode, "q_len": drawn(rng, 1, 70), "prefix_len": drawn(rng, 1, 300)}]
    if mode == "dllm_extend":
        entry = {"mode": mode, "count": rng.choice([1, 2, 5]), "q_len": length(rng, 70), "prefix_len": drawn(rng, 1, 300)}
        return [entry | ({"block": length(rng, 80)} if rng.random() < 0.7 else {})]
    if rng.random() < 0.15:
        return branches(rng, mode)
    makers = {"decode": [decode], "extend": [extend], "mixed": [decode, extend]}[mode]
    return [make(rng) for make in makers for _ in range(rng.choice([1, 1, 2]))]


def make_cross_layer(rng, made):
    """Of a decoder, whose own lengths stand beside its encoder's."""
    for key in ("cross", "causal"):
        del made["attention"][key]
    made |= {"layer": "cross", "batch": batch(rng, rng.choice(["decode", "extend", "mixed"]))}
    for entry in made["batch"]:
        entry["encoder_len"] = 0 if rng.random() < 0.1 else drawn(rng, 1, 400)


def named(made):
    """With names for the entries of a batch, where there are several."""
    if len(made["batch"]) > 1:
        for number, entry in enumerate(made["batch"]):
            entry["name"] = f"entry{number}"
    return made


def mix(seed, index):
    """Case `index` of a seed."""
    # By numbers of its own, as lists of chosen keys below: the others of a seed stay what they were.
    chooser = random.Random(f"{seed}/{index}/linear")
    if chooser.random() < 0.08:
        return named(linear_layer(chooser, batch, length))
    chooser = random.Random(f"{seed}/{index}/compressed")
    if chooser.random() < 0.05:
        return named(compressed_layer(chooser, batch, kv_cache, length))
    rng = random.Random(f"{seed}/{index}")
    mode = rng.choice(["decode"] * 6 + ["extend"] * 5 + ["mixed"] * 4 + ["target_verify"] * 3 +
                      ["draft_extend", "draft_extend_v2", "draft_decode", "split_prefill", "dllm_extend"] +
                      ["cross"] * 2 + ["items"] * 2)
    if rng.random() < 0.01:
        mode = "idle"
    made = {"model": model(rng), "dtype": rng.choice(["f32", "f16", "bf16"])}
    mla = "kv_lora_rank" in made["model"]
    if mla and mode == "cross":
        mode = "decode"
    if mla and mode != "items" and rng.random() < 0.3:
        made["mla"] = "expanded"
        made["model"]["head_dim_v"] = rng.choice([16, 64, 128])
    made["attention"] = attention(rng, mode, mla) | in_fp8(rng)
    if mla and "mla" not in made and rng.random() < 0.2:
        made["attention"]["queries"] = "apart"
    made["batch"] = batch(rng, mode)
    if mode == "cross" and rng.random() < 0.4:
        make_cross_layer(rng, made)
    if mode == "target_verify" and "chain" in made["batch"][0]["tree"] and not mla and rng.random() < 0.3:
        made["attention"] = {"dual_chunk": {"chunk_size": 1 + length(rng, 100), "local_size": 1}}
    if made["model"]["heads_q"] % 2 == 0 and made["model"].get("heads_kv", 1) in (1, 2, 4) and rng.random() < 0.1:
        made["tp"] = 2
    if mode != "idle" and rng.random() < 0.15:
        made["padding"] = rng.choice([1, 3, {"requests": 2, "seq_len": 0}, {"tokens": 1}, {"tokens": length(rng, 100)},
                                      {"requests": 2, "tokens": 3}])
    shared = mode == "draft_decode" or any("prefix" in entry for entry in made["batch"])
    made["kv_cache"] = kv_cache(rng, made, mla and "mla" not in made, shared)
    # By numbers of its own: the cases of a seed stay what they were beside their lists.
    chooser = random.Random(f"{seed}/{index}/selection")
    if takes_selection(made, mode) and chooser.random() < 0.15:
        made["attention"]["selection"] = selection(chooser, length)
        levels = random.Random(f"{seed}/{index}/hierarchy")
        if levels.random() < 0.4:
            made["attention"]["selection"] = hierarchy(levels, made, length)
    return named(made)


def run(program, cases, numbers, backends, folder):
    """Records of these cases; None where the program ended otherwise than by a table."""
    path, out = folder / f"random-{numbers[0]}.yaml", folder / f"random-{numbers[0]}.json"
    scenario = {"seed": cases.seed, "prefixes": PREFIXES, **cases.checks,
                "mixes": {f"r{i}": cases.mix(cases.seed, i) for i in numbers}}
    if backends:
        scenario["backends"] = backends
    path.write_text(json.dumps(scenario, indent=1))  # which is YAML, too
    command = [program, "run", str(path), "--quick", "--quiet", "--threads", "1", "--json", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if not out.exists():
        print(f"{' '.join(command)}: exit {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr[-4000:]}")
        return None
    return json.loads(out.read_text())["records"]


def main(description=__doc__, mix_of=mix, checks=None):
    """Cases that `mix_of` draws, run with these checks, by default those of this file."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the attnbench to run")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-file", type=int, default=250)
    parser.add_argument("--backend", action="append", default=[], help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time, each on one processor")
    options = parser.parse_args()
    cases = Cases(options.seed, mix_of, checks or CHECKS)

    verdicts, doubts, failed, refused = collections.Counter(), collections.Counter(), 0, 0
    worst = collections.defaultdict(float)
    numbers = range(options.first, options.first + options.count)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        files = [pool.submit(run, options.program, cases, numbers[begin:begin + options.per_file],
                             options.backend, pathlib.Path(folder))
                 for begin in range(0, len(numbers), options.per_file)]
        for file in files:
            records = file.result()
            refused += records is None
            for record in records or []:
                verdict = "IMPOSSIBLE" if record["impossible"] else record["verdict"]
                verdicts[verdict] += 1
                if record["error"]:
                    key = (record["backend"], record["dtype"])
                    worst[key] = max(worst[key], record["error"]["rms_ratio"] or 0)
                if record["verdict"] == "MISTRUSTED":
                    doubts[re.sub(r"[0-9.]+", "#", record["reason"])] += 1
                if verdict in ALLOWED:
                    continue
                failed += 1
                number = int(record["mix"][1:])
                print(f"{record['case']} {record['backend']}: {verdict}: {record['reason']}\n"
                      f"  {json.dumps(mix_of(options.seed, number))}\n"
                      f"  again: {sys.argv[0]} {options.program} --seed {options.seed} --first {number} --count 1")
            sys.stdout.flush()
    print(f"{len(numbers)} cases: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    for reason, count in doubts.most_common():
        print(f"  {count} MISTRUSTED: {reason}")
    for (backend, dtype), ratio in sorted(worst.items()):
        print(f"  largest rms_ratio of {backend}, {dtype}: {ratio:.2f}")
    return 1 if failed or refused or not verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
