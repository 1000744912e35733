// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/forward_mode.h"
#include "lib/batch/fp8_activations.h"
#include "lib/batch/index_outputs.h"
#include "lib/batch/key_run.h"
#include "lib/batch/step_part.h"
#include "lib/model/attention_layer.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

struct ChosenKeys;
class KeySet;

/// Where the pages of a request lie in the pool.
enum class Placement : std::uint8_t {
  kContiguous,   ///< request after request, ascending
  kShuffled,     ///< seeded permutation of all pages (default)
  kInterleaved,  ///< page j of every request, then page j + 1: how decode grows a batch
  kFragmented,   ///< ascending with seeded holes that no request owns
  kReversed,     ///< descending
};
inline constexpr std::array kPagePlacements = {Placement::kContiguous, Placement::kShuffled,
                                               Placement::kInterleaved, Placement::kFragmented,
                                               Placement::kReversed};

struct KvCacheConfig {
  std::int64_t page_size = 1;    ///< tokens
  std::int64_t page_stride = 0;  ///< CacheFormat::page_stride
  /// Tokens that the memory manager hands out at once, whole pages in a row: as many as the state
  /// of a hybrid model's linear layer takes bytes (vLLM's block, over kernel blocks). Only these
  /// can be shared. 0: page_size.
  std::int64_t manager_page_size = 0;
  std::optional<KvLayout> layout;  ///< none: each backend gets what it reads best
  DType dtype = DType::kBF16;
  KvScales scales = KvScales::kTensor;
  float k_scale = 1;  ///< kTensor: stored K times k_scale is K (SGLang's and vLLM's k_scale)
  float v_scale = 1;
  Placement placement = Placement::kShuffled;  ///< of pages, which ragged keys have not
  /// The pool of a layer with a window or chunks holds the pages that these reach and no others, as
  /// in SGLang's SWAKVPool. Entries of the request table before them are 0, the dummy slot.
  bool swa_pool = false;
  std::int64_t pool_tokens = 0;  ///< capacity; 0 = what the batch needs plus an eighth for poison

  /// Keys and values as projections leave them: there is no pool, and pages are of one token.
  [[nodiscard]] bool is_ragged() const { return layout == KvLayout::kRagged; }
  [[nodiscard]] std::int64_t manager_page() const {
    return manager_page_size > 0 ? manager_page_size : page_size;
  }
};

/// The tokens of `tokens` that fill pages.
[[nodiscard]] constexpr std::int64_t whole_pages(std::int64_t tokens, std::int64_t page_size) {
  return tokens / page_size * page_size;
}

/// Keys and values that several requests share: same content, and the same pages but for a last,
/// partial one, which each has for itself. Prefixes that extend each other are a tree
/// (lib/scenario/prefix_tree.h).
struct SharedPrefix {
  std::string name;
  std::int64_t length = 0;  ///< tokens, the parent's included
  int parent = -1;          ///< index of the prefix that it extends, below its own; -1 = none
};

/// What only fills a step up (lib/batch/graph_padding.h): requests, and behind the query tokens of
/// all requests rows that belong to none.
struct BatchPadding {
  std::int64_t requests = 0;
  std::int32_t seq_len = 1;  ///< keys that each claims to have: 0 or 1, the values engines fill in
  std::int64_t tokens = 0;   ///< rows of Q, O and the new keys and values that no request has

  [[nodiscard]] bool exists() const { return requests > 0 || tokens > 0; }
};

/// Lengths and mask of one request in this step.
struct Request {
  std::string group;            ///< name of the batch entry it came from
  std::int64_t q_len = 1;       ///< new tokens of this step (draft tokens for target_verify)
  std::int64_t kv_len = 1;      ///< prefix + new tokens; for cross attention the encoder's length
  int shared_prefix = -1;       ///< index into Case::prefixes, -1 = none
  std::int64_t shared_len = 0;  ///< leading tokens of kv_len that are the shared prefix's
  /// target_verify: parent of each of the q_len draft tokens, -1 for the root (token 0); parents
  /// come before children. Empty for all other modes.
  std::vector<int> tree_parents;
  /// Multi-item scoring: lengths of the items that follow the prompt's own part, a delimiter before
  /// each and one behind the last, all of them in q_len. Empty elsewhere.
  std::vector<std::int64_t> items;
  /// Bidirectional spans of a prompt, ascending and apart (an image's tokens): of the request's
  /// keys, where a chunk of a prompt ends inside a span also of those to come. Empty elsewhere.
  std::vector<KeyRun> spans;
  /// Which contents the request's own tokens carry; -1 = its index in Case::requests. A request
  /// taken out of its batch keeps its contents by keeping this number.
  std::int64_t stream = -1;
  /// Decides which keys are chosen for its queries, in a layer with a selection.
  std::uint64_t selection_seed = 0;
  /// The lists of its query tokens under SelectionPattern::kCaptured; null: they are drawn.
  std::shared_ptr<const ChosenKeys> captured;
  /// Children that a node of its tree may have, of which the tree drawn may hold fewer (SGLang's
  /// --speculative-eagle-topk). 0: there is no tree, or its parents are all that is known.
  int tree_topk = 0;
  /// Cross attention: the encoder's keys and values lie in the cache before the step (SGLang's
  /// name); else a KV write of the step brings them there.
  bool encoder_cached = true;
  /// Of a cross layer beside the decoder's own ones: tokens of the decoder, this step's included.
  /// 0 elsewhere: of a cross layer alone nothing says what the decoder has beside its q_len.
  std::int64_t decoder_len = 0;

  /// Keys before the new tokens. Negative where there are more queries than keys: queries are the
  /// last positions (bottom-right alignment), so that the first ones stand before key 0.
  [[nodiscard]] std::int64_t prefix_len() const { return kv_len - q_len; }
  /// New tokens that have a key of their own in the cache: all, but for those before key 0.
  [[nodiscard]] std::int64_t new_keys() const { return std::min(q_len, kv_len); }
};

/// Keys of a mix that a sweep set, with their values as text: {"kv_cache.page_size", "16"}.
using SweptValues = std::vector<std::pair<std::string, std::string>>;

/// For how many layers of its model a case stands, in a mix with `layers`.
struct ModelLayers {
  std::string kind{};      ///< "full"; empty: the mix is of one layer alone
  int layers = 0;          ///< of this kind
  int of_step = 0;         ///< of all kinds that the mix runs
  std::string left_out{};  ///< kinds that the model has and the mix does not run, "36 chunked"
  int kv_shared = 0;       ///< of `layers`, those that write no keys and values
  int index_shared = 0;    ///< of `layers`, those that take no keys of their own
};

/// One fully determined forward step: no ranges, no distributions left. Everything that follows
/// (fixture, contents, truth, cost) is a pure function of this value.
struct Case {
  std::string id;  ///< "mix/ps16", stable, unique in its scenario, works as --case filter
  std::string mix;
  std::string scenario;
  std::string model;       ///< preset name, path of a config.json, or "inline"
  std::string model_note;  ///< what that name leaves unsaid; empty when nothing
  ModelGeometry geometry;  ///< of the whole model, before tensor parallelism
  ModelLayers model_layers;
  int tp = 1;
  std::uint64_t seed = 0;
  /// Drawn anew by each run and on no command line: where the fresh keys of timed samples lie, and
  /// which of their rows are compared, follows from no file, so that answers that were computed
  /// ahead or kept from another run are wrong. All that is timed otherwise stays the same.
  std::uint64_t sample_nonce = 0;
  AttentionLayer layer;
  DType dtype = DType::kBF16;  ///< of new K/V, and of Q and O where they are not in fp8
  KvCacheConfig kv_cache;
  ForwardMode mode = ForwardMode::kDecode;
  StepPart step = StepPart::kAttention;    ///< set by the run: the scenario's file lists several
  IndexForm index_form = IndexForm::kCsr;  ///< what a step of StepPart::kIndex builds
  std::vector<SharedPrefix> prefixes;
  std::vector<Request> requests;
  BatchPadding padding;  ///< behind `requests`
  /// A draft model's decode: each request is as many in `requests`, one for each of its branches.
  /// 0: another step.
  int draft_topk = 0;
  /// Requests of the recorded CUDA graph that serves this step, padding included. 0: there is no
  /// padding, be it that no buckets are asked for or that such steps are not padded.
  std::int64_t graph_bucket = 0;
  SweptValues sweep;
  Fp8Activations fp8;
  float q_scale = 1;    ///< QScales::kTensor: stored Q times it is Q (TensorRT-LLM's q_scale)
  float out_scale = 1;  ///< stored O in fp8 times it is O (vLLM's output_scale)

  /// `mla: composed`: the prompts in the expanded form, then the decodes in the absorbed one, each
  /// a step of its own with its own tensors; one forward computes both. The members above describe
  /// the whole step, its layer in the absorbed form. Empty: the case is one step.
  std::vector<Case> parts;

  [[nodiscard]] DType q_dtype() const { return fp8.q.value_or(dtype); }
  [[nodiscard]] DType out_dtype() const { return fp8.out.value_or(dtype); }
  [[nodiscard]] std::int64_t q_tokens() const;  ///< T, without padding
  /// Rows of query tokens that `padding` adds: those of its requests, of which a decode's or a
  /// target_verify's has as many as each of the case's and one of the extend family none, and those
  /// of no request.
  [[nodiscard]] std::int64_t padding_q_tokens() const;
  [[nodiscard]] std::int64_t kv_tokens()
      const;  ///< sum of kv_len, shared prefixes counted per request
};

/// The steps that a forward of the case computes, one after the other: its parts, or itself.
[[nodiscard]] std::span<const Case> steps_of(const Case& c);
/// Of a cross layer: an encoder's keys and values are new in this step.
[[nodiscard]] bool writes_encoders(const Case& c);
/// For how many layers of its model the part of the step stands: those that have it.
[[nodiscard]] int layers_of_part(const Case& c);
/// The case of one part of the step. The KV write of a cross layer is that of the encoders that are
/// not cached: their requests, with the encoder's tokens as those of a prompt. Where all are, there
/// is nothing to write, and supports_step() says so. A selector fills the entries of a list but the
/// tail's, and in a pipeline no pattern says what its lists are.
[[nodiscard]] Case with_step(const Case& c, StepPart step);

/// Units of keys that have logits for a query, whose selection has a causal mask only: of an
/// indexer of rows those that end at the query or before, of one that takes maxima and of a
/// selector its own one, too. A row of more queries than keys may have none.
[[nodiscard]] std::int64_t scored_units(const Case& c, const Request& request, std::int64_t token);

/// Why a case has nothing that the part would build (StepPartRow::builds); empty: it has.
[[nodiscard]] std::string why_not_built(const Case& c, StepPart part);

/// Whether a request of a composed step is computed in the absorbed form, over the latent cache:
/// vLLM's split_decodes_and_prefills with a threshold of 1. All others are expanded.
[[nodiscard]] inline bool is_absorbed(const Request& request) { return request.q_len == 1; }

/// The parts of `whole`, a mixed step of absorbed latent attention (Case::parts): its prompts in
/// the layer `expanded`, over keys and values that lie ragged, as the up-projection leaves them, in
/// the type of the activations; then its decodes. Prompts behind one prefix have rows of their own,
/// as they were up-projected request by request.
[[nodiscard]] std::vector<Case> composed_parts(const Case& whole, const AttentionLayer& expanded);

/// Throws ConfigError where `command`, "dump", is given a composed step.
void refuse_composed(const Case& c, const char* command);
/// The lists of `count` query tokens of the request, the first being its token `first`, in a layer
/// with a selection.
[[nodiscard]] ChosenKeys lists_of(const AttentionLayer& layer, const Request& request,
                                  std::int64_t first, std::int64_t count);
/// Which keys the queries of a request see in a layer of softmax attention. Chosen keys are drawn
/// in it, for all queries.
[[nodiscard]] KeySet key_set_of(const AttentionLayer& layer, const Request& request);

/// Case::sample_nonce of the case and its parts.
void set_sample_nonce(Case& c, std::uint64_t nonce);

[[nodiscard]] std::string_view to_string(Placement placement);

}  // namespace attnbench
