// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attnbench {

/// What the layers of a model attend to. A preset's or a config's layers may be of several kinds.
enum class LayerKind : std::uint8_t {
  kFull,        ///< every earlier key
  kSliding,     ///< the last keys
  kChunked,     ///< the keys of the query's own chunk (Llama 4)
  kSparse,      ///< keys that an indexer picks (DeepSeek-V3.2)
  kCompressed,  ///< the last keys, and compressed rows of all tokens (HCA of DeepSeek-V4)
  kLinear,  ///< a recurrent state instead of keys (gated delta net, lightning, Kimi delta, Mamba)
  kCross    ///< keys of an encoder's output (Whisper, Llama 3.2 Vision)
};
inline constexpr std::array kLayerKinds = {
    LayerKind::kFull,       LayerKind::kSliding, LayerKind::kChunked, LayerKind::kSparse,
    LayerKind::kCompressed, LayerKind::kLinear,  LayerKind::kCross};
/// The words of presets and scenarios, in the order of kLayerKinds.
inline constexpr std::array<std::string_view, 7> kLayerKindWords = {
    "full", "sliding", "chunked", "sparse", "compressed", "linear", "cross"};

[[nodiscard]] std::string_view to_string(LayerKind kind);

/// How many layers of each kind a model has.
class LayerCounts {
 public:
  LayerCounts() = default;
  LayerCounts(LayerKind kind, int layers) { (*this)[kind] = layers; }

  [[nodiscard]] int& operator[](LayerKind kind) { return counts_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] int operator[](LayerKind kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] int total() const;
  /// "12 full, 36 chunked"; without the layers of `left_out`.
  [[nodiscard]] std::string text(std::optional<LayerKind> left_out = std::nullopt) const;

  bool operator==(const LayerCounts&) const = default;

 private:
  std::array<int, kLayerKinds.size()> counts_{};
};

}  // namespace attnbench
