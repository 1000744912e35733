// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/fp8_reader.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

constexpr std::array<std::string_view, 2> kFp8Types{"e4m3", "e5m2"};
constexpr std::array<DType, 2> kFp8TypeOf{DType::kE4M3, DType::kE5M2};
constexpr std::array kQScalesKinds{QScales::kTensor, QScales::kHead, QScales::kToken,
                                   QScales::kRequest};
constexpr std::array kQScalesWords{to_string(kQScalesKinds[0]), to_string(kQScalesKinds[1]),
                                   to_string(kQScalesKinds[2]), to_string(kQScalesKinds[3])};

/// The keys of one of the two tensors.
struct Fp8Keys {
  std::string_view dtype, scale, what;
};
constexpr Fp8Keys kQueryKeys{"q_dtype", "q_scale", "queries"};
constexpr Fp8Keys kOutputKeys{"out_dtype", "out_scale", "outputs"};

/// Null where the map has no such key, or nothing under it.
const YamlNode* value_of(const YamlNode& map, std::string_view key) {
  const YamlEntry* entry = map.is_map() ? map.find(key) : nullptr;
  return entry == nullptr || entry->value->kind == YamlNode::Kind::kNull ? nullptr
                                                                         : entry->value.get();
}

bool read_tensor(const YamlNode& map, const Fp8Keys& keys, DType activations,
                 std::optional<DType>& dtype, float& scale, Problems& problems) {
  const YamlNode* const word = value_of(map, keys.dtype);
  const YamlNode* const factor = value_of(map, keys.scale);
  if (word != nullptr) {
    if (word->is_scalar() && (word->text == "f32" || word->text == "f16" || word->text == "bf16")) {
      problems.add(word->place,
                   fmt::format("{} {}: it says that {} are in fp8, others are of `dtype`",
                               keys.dtype, word->text, keys.what),
                   "e4m3 or e5m2; or leave it out");
      return false;
    }
    const auto choice = read_choice(*word, keys.dtype, kFp8Types, problems);
    if (!choice) return false;
    dtype = kFp8TypeOf[*choice];
  }
  if (factor == nullptr) return true;
  if (!dtype) {
    problems.add(factor->place,
                 fmt::format("{} without {}: {} in {} have no scale", keys.scale, keys.dtype,
                             keys.what, to_string(activations)),
                 fmt::format("for example {}: e4m3, or leave {} out", keys.dtype, keys.scale));
    return false;
  }
  const auto value = read_factor(*factor, keys.scale, problems);
  if (value) scale = static_cast<float>(*value);
  return value.has_value();
}

bool read_q_scales(const YamlNode& map, Fp8Settings& to, Problems& problems) {
  const YamlNode* const word = value_of(map, "q_scales");
  if (word == nullptr) return true;
  const auto choice = read_choice(*word, "q_scales", kQScalesWords, problems);
  if (!choice) return false;
  to.types.q_scales = kQScalesKinds[*choice];
  if (to.types.q_scales == QScales::kTensor) return true;
  const YamlNode* const scale = value_of(map, "q_scale");
  if (scale != nullptr) {
    problems.add(scale->place,
                 fmt::format("q_scale is the scale of a whole tensor, and q_scales: {} has its own",
                             to_string(to.types.q_scales)),
                 "leave q_scale out, or q_scales");
  } else if (!to.types.q) {
    problems.add(word->place, "q_scales without q_dtype: only queries in fp8 have scales",
                 "for example q_dtype: e4m3, or leave q_scales out");
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::optional<Fp8Settings> read_fp8(const YamlNode* attention, DType activations,
                                    Problems& problems) {
  Fp8Settings to;
  if (attention == nullptr) return to;
  bool valid = read_tensor(*attention, kQueryKeys, activations, to.types.q, to.q_scale, problems);
  valid = valid && read_q_scales(*attention, to, problems);
  valid = read_tensor(*attention, kOutputKeys, activations, to.types.out, to.out_scale, problems) &&
          valid;
  return valid ? std::optional(to) : std::nullopt;
}

}  // namespace attnbench
