# SPDX-FileCopyrightText: 2026 attnbench authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of an installed attnbench: bin, lib, include and share, as `cmake --install` makes them."""
