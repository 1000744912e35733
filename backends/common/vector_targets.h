// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included before any header of Highway: which instruction sets vector code is compiled for. The
// rest of the program is built for x86-64-v3, which is Highway's AVX2 less AES.
#define HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_AVX3 | HWY_NEON))
