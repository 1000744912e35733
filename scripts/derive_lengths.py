#!/usr/bin/env python3
"""Derives scenarios/lengths/azure-conv-2023.csv from the Azure LLM inference trace 2023, conversation.

usage: scripts/derive_lengths.py AzureLLMInferenceTrace_conv.csv > scenarios/lengths/azure-conv-2023.csv

The trace (19 366 requests of 2023-11-16) is published in the Azure Public Dataset under CC-BY 4.0 and described
in Patel et al., "Splitwise: Efficient generative LLM inference using phase splitting", ISCA 2024.
A quantile q of n sorted values is values[min(floor(q n), n - 1)].
"""
import csv
import sys

# Steps of 5 % in the body, finer where the tail bends.
QUANTILES = [i / 20 for i in range(20)] + [0.01, 0.975, 0.99, 0.995, 0.999, 0.9999, 1.0]


def main(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    context = sorted(int(row["ContextTokens"]) for row in rows)
    generated = sorted(int(row["GeneratedTokens"]) for row in rows)
    print(f"# {len(rows)} requests of the Azure LLM inference trace 2023 (conversation), Azure Public Dataset, CC-BY 4.0")
    print("# derived by scripts/derive_lengths.py")
    print("quantile,context_tokens,generated_tokens")
    for q in sorted(QUANTILES):
        index = min(int(q * len(rows)), len(rows) - 1)
        print(f"{q:g},{context[index]},{generated[index]}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
