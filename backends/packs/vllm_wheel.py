# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The versions that the vLLM pack is written for."""
REQUIRES = {"vllm": "0.22.0", "torch": "2.11.0"}
WITH_TRITON = {**REQUIRES, "triton": "3.6.0"}
