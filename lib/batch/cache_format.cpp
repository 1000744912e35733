// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/cache_format.h"

#include <fmt/format.h>

#include "lib/model/model_geometry.h"

namespace attnbench {

std::string_view to_string(KvLayout layout) {
  switch (layout) {
    case KvLayout::kNhd:
      return "NHD";
    case KvLayout::kHnd:
      return "HND";
    case KvLayout::kCombined:
      return "combined";
    case KvLayout::kXPacked:
      return "x_packed";
    case KvLayout::kStatesKv:
      return "states_kv";
    case KvLayout::kStatesVk:
      return "states_vk";
    case KvLayout::kRagged:
      return "ragged";
    case KvLayout::kJoint:
      return "joint";
    case KvLayout::kJointHnd:
      return "joint_hnd";
  }
  return "?";
}

std::string_view to_string(KvScales scales) {
  switch (scales) {
    case KvScales::kTensor:
      return "tensor";
    case KvScales::kHead:
      return "head";
    case KvScales::kToken:
      return "token";
    case KvScales::kBlock:
      return "block";
    case KvScales::kRequest:
      return "request";
    case KvScales::kGroup:
      return "group";
  }
  return "?";
}

std::string to_string(const CacheFormat& format) {
  if (format.scales == KvScales::kBlock) return std::string(kDsMlaRows);
  if (format.scales == KvScales::kGroup) return fmt::format("{} of V4", kDsMlaRows);
  std::string name = fmt::format("{} {}", to_string(format.dtype), to_string(format.layout));
  if (format.scales != KvScales::kTensor) {
    name += fmt::format(" with a scale per {}", to_string(format.scales));
  }
  return name;
}

KvScales ds_mla_scales(const ModelGeometry& model) {
  const bool is_all = model.qk_rope_head_dim == 0 && model.qk_nope_head_dim == model.kv_lora_rank;
  return model.is_mla() && is_all ? KvScales::kGroup : KvScales::kBlock;
}

std::string layout_refusal(const AttentionLayer& layer, const CacheFormat& format) {
  const bool latent = layer.family == Family::kLatent;
  if (format.layout == KvLayout::kCombined) {
    if (latent) return "MLA keeps one row for K and V, which leaves nothing to combine";
    if (layer.head_dim_qk != layer.head_dim_v) {
      return fmt::format("one tensor of K and V has one head_dim, these are {} and {}",
                         layer.head_dim_qk, layer.head_dim_v);
    }
  }
  if (is_joint(format.layout) && latent) {
    return "MLA keeps one row for K and V, which leaves nothing to join";
  }
  if (format.layout == KvLayout::kXPacked) {
    if (latent) return "MLA rows are never packed";
    const int x = x_of(format.dtype);
    if (layer.head_dim_qk % x != 0) {
      return fmt::format("x is {} in {}, and head_dim {} is no multiple of it", x,
                         to_string(format.dtype), layer.head_dim_qk);
    }
  }
  if (format.layout == KvLayout::kRagged) {
    if (latent) return "absorbed MLA reads latent rows from a pool; mla: expanded has such keys";
    if (format.page_size != 1) return "rows that lie one behind the other have no pages";
    if (format.scales != KvScales::kTensor) {
      return "keys as projections leave them have one scale: only a pool's rows bring their own";
    }
  }
  return {};
}

namespace {

/// Why a row cannot be one of groups of 64 before 64 columns in bf16.
std::string groups_refusal(const AttentionLayer& layer) {
  if (layer.head_dim_qk != layer.head_dim_v) {
    return fmt::format(
        "the 584-byte row is all K and V, and this one has {} columns of K only: scales: block has "
        "rows with those, or qk_rope_head_dim: 0",
        layer.head_dim_qk - layer.head_dim_v);
  }
  if (layer.head_dim_v >= 128 && layer.head_dim_v % 64 == 0) return {};
  return fmt::format(
      "groups of 64 columns lie before 64 in bf16, and kv_lora_rank {} is no such number: 128, "
      "192, "
      "256 and so on are, 512 of DeepSeek-V4",
      layer.head_dim_v);
}

}  // namespace

std::string scales_refusal(const AttentionLayer& layer, const CacheFormat& format) {
  if (format.scales == KvScales::kTensor) return {};
  if (size_bytes(format.dtype) != 1) {
    return fmt::format("{} needs no scales: e4m3 and e5m2 do", to_string(format.dtype));
  }
  if (!are_of_blocks(format.scales)) return {};
  const std::string_view name = format.scales == KvScales::kGroup
                                    ? "the 584-byte row with scales behind its page"
                                    : "the 656-byte row with scales inside";
  if (layer.family != Family::kLatent) return fmt::format("{} is MLA's", name);
  if (format.dtype != DType::kE4M3) return fmt::format("{} is of e4m3", name);
  if (format.scales == KvScales::kGroup) return groups_refusal(layer);
  const int block = block_row(format.scales, layer.head_dim_v, layer.head_dim_qk).block;
  if (layer.head_dim_v % block != 0) {
    return fmt::format("a scale is of {} values, and kv_lora_rank {} is no multiple of it", block,
                       layer.head_dim_v);
  }
  if ((layer.head_dim_qk - layer.head_dim_v) % 2 != 0) {
    return "f32 scales need rows of a multiple of 4 bytes: qk_rope_head_dim has to be even";
  }
  return {};
}

}  // namespace attnbench
