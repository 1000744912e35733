// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/language.h"

#include <limits>
#include <vector>

#include "lib/config/key_values.h"
#include "lib/scenario/layer_reader.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

KeySection scenario_section() {
  return {
      "scenario",
      "the top level",
      "The file",
      {{"scenario", a_name(&Scenario::name), "Shown in headings and records.", "the file's name"},
       {"description", a_text(&Scenario::description), "One line for `attnbench list scenarios`."},
       {"seed", whole(&Scenario::seed, 0, std::numeric_limits<std::int64_t>::max()),
        "Decides drawn lengths, contents, page placement and the order of visits."},
       {"defaults", map_of("defaults"), "What all mixes inherit."},
       {"prefixes", map_of("prefix", "a map of names"),
        "Shared prefixes by name: a number of tokens, or a map of what one adds to another."},
       {"mixes", map_of("mix", "a map of names"), "The batches by name.", "", true},
       {"sweep", map_of("sweep"), "Applied to every mix without a sweep of its own."},
       {"measure", map_of("measure"), "What to time, and when to stop."},
       {"verify", map_of("verify"), "What to check before timing."},
       {"backends", by_section("names, plug-in files, or a list"),
        "Which backends run. With a GPU, a CPU backend runs only the cases that no GPU backend "
        "supports; a variant such as `splitkv:dynamic` runs only by name.",
        "all that are present"},
       {"hybrid", map_of("hybrid"), "A backend for prompts and one for decodes, as one."},
       {"python", by_section("a map of names"),
        "Interpreters of plug-ins in Python by the names of their environments, as `--python "
        "NAME=PROGRAM` gives them; a path is relative to the file's folder.",
        "`ATTNBENCH_PYTHON`, or python3"}}};
}

/// What mixes have, and inherit.
std::vector<KeyRow> layer_rows() {
  return {
      {"model", map_of("model", "a preset's name, or a map"),
       "The model (`attnbench list models`), or its geometry; required here or in `defaults`."},
      {"layer", by_section(list_of_words(kLayerKindWords)), "The kind of layer that is run.",
       "the model's sparse layer, else its full one; its sliding one where all slide"},
      {"layers", by_section("`all`, or a map of kinds"),
       "A case for each kind of the model's layers, and the time of a whole step.",
       "one layer, of `layer`"},
      {"mla", word(&LayerChoice::mla, kMlaForms), "The form of latent attention."},
      {"tp", whole(&LayerChoice::tp, 1, 1024),
       "Tensor-parallel ranks. The heads of one rank are run; a rank has at least one KV head."},
      {"dtype", by_section("`f32` `f16` `bf16`", "bf16"),
       "The type of activations: Q, new K and V, and O. `attention` puts Q and O into fp8."},
      {"kv_cache", map_of("kv_cache"), "Pages, layout and type of the cache."},
      {"attention", map_of("attention"), "Mask, softcap, sinks and so on.", "the model's"}};
}

KeySection mix_section() {
  KeySection section{"mix", "a mix", "mixes.NAME", layer_rows()};
  section.rows.push_back({"batch", map_of("entry", "a list of entries, or a batch string"),
                          "The requests of the step.", "", true});
  section.rows.push_back({"padding", map_of("padding", "a number of requests, or a map"),
                          "Requests, or rows of no request, that only fill the batch up.", "0"});
  section.rows.push_back(
      {"sweep", map_of("sweep", "a map, or none"), "This mix's own sweep.", "the file's"});
  return section;
}

}  // namespace

const KeyLanguage& scenario_language() {
  // The order in which hints name the sections that have a key.
  static const KeyLanguage language(
      {scenario_section(),  {"defaults", "defaults", "defaults", layer_rows()},
       mix_section(),       padding_section(),
       model_section(),     rope_scaling_section(),
       kv_cache_section(),  attention_section(),
       window_section(),    entry_section(),
       chunk_section(),     tree_section(),
       draft_section(),     length_section(),
       lognormal_section(), zipf_section(),
       bimodal_section(),   quantiles_section(),
       sweep_section(),     axis_section(),
       range_section(),     log2_section(),
       measure_section(),   verify_section(),
       hybrid_section(),    dual_chunk_section(),
       prefix_section(),    page_stride_section(),
       selection_section(), captured_section()});
  return language;
}

}  // namespace attnbench
