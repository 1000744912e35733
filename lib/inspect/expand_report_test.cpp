// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/expand_report.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/isolate/isolated_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lib/inspect/expanded_case.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

Scenario small_scenario() {
  Scenario scenario;
  scenario.name = "small";
  scenario.path = "small.yaml";
  scenario.cases = all_small_cases();
  scenario.cases.push_back(small_idle());
  return scenario;
}

std::vector<const Case*> all_of(const Scenario& scenario) {
  std::vector<const Case*> cases;
  for (const Case& c : scenario.cases) cases.push_back(&c);
  return cases;
}

class Refusing : public StubBackend {
 public:
  Refusing() : StubBackend("refusing") {}
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.mode == ForwardMode::kDecode ? Support::yes() : Support::no("decode only");
  }
};

TEST(ExpandTable, fits_100_columns_and_names_every_request) {
  const Scenario scenario = small_scenario();
  std::ostringstream out;
  write_expand_table(scenario, all_of(scenario), out);
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
  for (const Case& c : scenario.cases) {
    EXPECT_THAT(out.str(), HasSubstr("\n" + c.id + "    "));
    for (const Request& r : c.requests) EXPECT_THAT(out.str(), HasSubstr(r.group));
  }
}

TEST(ExpandJson, lists_every_request_with_its_lengths) {
  const Scenario scenario = small_scenario();
  std::ostringstream out;
  write_expand_json(scenario, all_of(scenario), out);
  const auto root = nlohmann::json::parse(out.str());
  ASSERT_EQ(root["cases"].size(), scenario.cases.size());
  for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
    const Case& c = scenario.cases[i];
    const auto& found = root["cases"][i];
    EXPECT_EQ(found["id"], c.id);
    ASSERT_EQ(found["requests"].size(), c.requests.size());
    for (std::size_t r = 0; r < c.requests.size(); ++r) {
      EXPECT_EQ(found["requests"][r]["q_len"], c.requests[r].q_len);
      if (!c.layer.is_cross_attention) {
        EXPECT_EQ(found["requests"][r]["prefix_len"], c.requests[r].prefix_len());
      }
      EXPECT_EQ(found["requests"][r]["kv_len"], c.requests[r].kv_len);
    }
    EXPECT_EQ(found["index_arrays"]["kv_indptr"]["size"], c.requests.size() + 1);
    EXPECT_EQ(found["flops"], count_cost(c).flops);
  }
}

TEST(Expand, counts_each_part_of_a_step_that_is_measured) {
  Case chosen = with_selection(small_plain_decode(), {.topk = 8, .index_heads = 4});
  Scenario scenario;
  scenario.measure.step = {StepPart::kIndexer, StepPart::kSelect, StepPart::kKvWrite};
  std::ostringstream table, json;
  write_expand_table(scenario, {&chosen}, table);
  write_expand_json(scenario, {&chosen}, json);
  const auto steps = nlohmann::json::parse(json.str())["cases"][0]["steps"];
  ASSERT_EQ(steps.size(), 3u);
  for (const auto& step : steps) {
    const StepPart part = scenario.measure.step[static_cast<std::size_t>(&step - &steps[0])];
    const Cost cost = count_cost(with_step(chosen, part));
    EXPECT_EQ(step["step"], to_string(part));
    EXPECT_EQ(step["flops"], cost.flops);
    EXPECT_EQ(step["bytes_unique"], cost.bytes_unique);
    EXPECT_THAT(table.str(), HasSubstr("  " + std::string(to_string(part)) + ": "));
  }
  EXPECT_THAT(table.str(), Not(HasSubstr("visible pairs")));
}

TEST(Expand, says_which_part_of_a_step_nobody_can_run) {
  const Case dense = small_plain_decode();
  Scenario scenario;
  scenario.measure.step = {StepPart::kAttention, StepPart::kSelect};
  std::ostringstream table, json;
  write_expand_table(scenario, {&dense}, table);
  write_expand_json(scenario, {&dense}, json);
  EXPECT_THAT(table.str(), HasSubstr("  attention: "));
  EXPECT_THAT(table.str(), HasSubstr("\n  no select: "));
  const auto step = nlohmann::json::parse(json.str())["cases"][0]["steps"][1];
  EXPECT_TRUE(step["flops"].is_null());
  EXPECT_EQ(step["reason"], why_not_built(dense, StepPart::kSelect));
}

TEST(Expand, prints_no_prefix_of_an_encoder_s_keys) {
  const Case cross = small_cross();  // in one request queries outnumber keys
  const Scenario scenario;
  std::ostringstream table, json;
  write_expand_table(scenario, {&cross}, table);
  EXPECT_EQ(table.str().find(" -4 "), std::string::npos) << table.str();
  EXPECT_THAT(table.str(), HasSubstr("audio                       7          -        3\n"));
  write_expand_json(scenario, {&cross}, json);
  const auto parsed = nlohmann::json::parse(json.str());
  for (const auto& request : parsed["cases"][0]["requests"]) {
    EXPECT_TRUE(request["prefix_len"].is_null());
  }
}

TEST(Expand, says_whose_encoders_keys_are_written) {
  const Case cross = small_cross();
  const Scenario scenario;
  std::ostringstream table, json;
  write_expand_table(scenario, {&cross}, table);
  EXPECT_THAT(table.str(), HasSubstr("-        7  new encoder\n"));
  EXPECT_THAT(table.str(),
              HasSubstr("  kv_write of 2 new encoders: 40 tokens, 41.0 kB to the cache\n"));
  EXPECT_THAT(table.str(), HasSubstr("    encoder_lens         [6] 1 7 8 9 3 33\n"));
  EXPECT_THAT(table.str(), HasSubstr("    encoder_out_cache_loc [40] "));
  write_expand_json(scenario, {&cross}, json);
  const auto found = nlohmann::json::parse(json.str())["cases"][0];
  EXPECT_EQ(found["encoder_bytes_written"], 40 * 4 * (64 + 64) * 2);
  const auto& requests = found["requests"];
  EXPECT_EQ(requests[0]["encoder_cached"], true);
  EXPECT_EQ(requests[1]["encoder_cached"], false);
}

TEST(Expand, shows_how_much_of_a_prefix_lies_on_whole_pages) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 64}}\nprefixes: {system: 65}\nmixes:\n"
      "  m: {batch: [{mode: extend, prefix: system, q_len: 300}]}\n",
      "s.yaml");
  std::ostringstream table, json;
  write_expand_table(scenario, {&scenario.cases.at(0)}, table);
  EXPECT_THAT(table.str(), HasSubstr("301         64      365  system 65, 64 in whole pages\n"));
  write_expand_json(scenario, {&scenario.cases.at(0)}, json);
  const auto request = nlohmann::json::parse(json.str())["cases"][0]["requests"][0];
  EXPECT_EQ(request["shared_len"], 65);
  EXPECT_EQ(request["shared_page_len"], 64);
}

TEST(Expand, keeps_the_longest_name_of_a_layout_apart_from_its_pool) {
  const Scenario scenario =
      parse_scenario("defaults: {model: llama-3.1-8b}\nmixes:\n  m: {batch: 1q1s9}\n", "s.yaml");
  std::ostringstream table;
  write_expand_table(scenario, {&scenario.cases.at(0)}, table);
  EXPECT_THAT(table.str(), HasSubstr("    joint_hnd kv pool bf16 ["));
}

TEST(Expand, shows_what_lies_between_pages_and_what_the_manager_hands_out) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 16}}\nprefixes: {system: 65}\nmixes:\n"
      "  m: {kv_cache: {page_stride: {layers: 2}, manager_page_size: 48}, batch: "
      "[{mode: extend, prefix: system, q_len: 300}]}\n",
      "s.yaml");
  std::ostringstream table, json;
  write_expand_table(scenario, {&scenario.cases.at(0)}, table);
  EXPECT_THAT(table.str(),
              HasSubstr("pages of 16 · 32 tokens apart · 3 in each of the manager's 48 "
                        "tokens"));
  EXPECT_THAT(table.str(), HasSubstr("system 65, 48 in whole pages\n"));
  write_expand_json(scenario, {&scenario.cases.at(0)}, json);
  const auto cache = nlohmann::json::parse(json.str())["cases"][0]["kv_cache"];
  EXPECT_EQ(cache["page_stride"], 32);
  EXPECT_EQ(cache["manager_page_size"], 48);
  EXPECT_EQ(cache["pages_used"], 24) << "8 of the manager, for 365 tokens";
  EXPECT_EQ(cache["pool_bytes"], cache["num_pages"].get<std::int64_t>() * 32 * 8 * 2 * 128 * 2);
}

TEST(Expand, shows_what_fills_a_step_up) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 16}}\nmixes:\n"
      "  m: {padding: {requests: 1, seq_len: 0, tokens: 2}, batch: [{mode: extend, q_len: 3, "
      "prefix_len: 4}]}\n",
      "s.yaml");
  std::ostringstream table, json;
  write_expand_table(scenario, {&scenario.cases.at(0)}, table);
  EXPECT_THAT(table.str(), HasSubstr("    1 more fill the batch up: row 0, slot 0, seq_len 0\n"
                                     "    2 more token rows belong to no request: slot 0, "
                                     "position 0\n"));
  EXPECT_THAT(table.str(), HasSubstr("qo_indptr            [3] 0 3 3\n"));
  EXPECT_THAT(table.str(), HasSubstr("positions            [5] 4 5 6 0 0\n"));
  write_expand_json(scenario, {&scenario.cases.at(0)}, json);
  const auto padding = nlohmann::json::parse(json.str())["cases"][0]["padding"];
  EXPECT_EQ(padding, nlohmann::json::parse(R"({"requests": 1, "seq_len": 0, "tokens": 2})"));
}

TEST(Expand, shows_which_prefixes_extend_others) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 64}}\n"
      "prefixes: {system: 65, tools: {after: system, tokens: 100}}\nmixes:\n"
      "  m: {batch: [{mode: decode, prefix: tools, kv_len: 200}]}\n",
      "s.yaml");
  std::ostringstream table, json;
  write_expand_table(scenario, {&scenario.cases.at(0)}, table);
  EXPECT_THAT(table.str(), HasSubstr("\n  prefixes system 65 · tools 165 after system\n"));
  EXPECT_THAT(table.str(), HasSubstr("200  tools 165, 128 in whole pages\n"));
  write_expand_json(scenario, {&scenario.cases.at(0)}, json);
  const auto parsed = nlohmann::json::parse(json.str())["cases"][0];
  EXPECT_EQ(parsed["prefixes"], nlohmann::json::parse(R"([
    {"name": "system", "after": null, "tokens": 65, "length": 65},
    {"name": "tools", "after": "system", "tokens": 100, "length": 165}])"));
  EXPECT_EQ(parsed["requests"][0]["shared_prefix"], "tools");
}

TEST(Expand, says_what_vllm_would_do_about_a_shared_prefix) {
  Case shared = small_plain_decode();
  shared.id = "shared";
  shared.layer.heads_q = 32;
  shared.layer.heads_kv = 8;
  shared.prefixes = {{"system", 8192}};
  Request request;
  request.kv_len = 8200;
  request.shared_prefix = 0;
  request.shared_len = 8192;
  shared.requests.assign(16, request);
  const Case alone = small_plain_decode();
  Scenario scenario;
  std::ostringstream table, json;
  write_expand_table(scenario, {&shared, &alone}, table);
  // 8192 / 128 = 64 tiles; 16 x 8 x 64 = 8192 blocks are 63 waves on 132 multiprocessors.
  EXPECT_THAT(
      table.str(),
      HasSubstr(
          "\n  vLLM's use_cascade: no (64 tiles in turn, 63 by FlashDecoding, on 132 SMs)\n"));
  EXPECT_THAT(table.str(), HasSubstr("\n  vLLM's use_cascade: - (no shared prefix)\n"));
  write_expand_json(scenario, {&shared, &alone}, json);
  const auto cases = nlohmann::json::parse(json.str())["cases"];
  EXPECT_EQ(cases[0]["common_prefix_len"], 8192);
  EXPECT_EQ(cases[0]["use_cascade"], "no");
  EXPECT_EQ(cases[0]["use_cascade_reason"], "64 tiles in turn, 63 by FlashDecoding, on 132 SMs");
  EXPECT_EQ(cases[1]["use_cascade"], "-");
  EXPECT_EQ(cases[1]["use_cascade_reason"], "no shared prefix");
}

TEST(Expand, says_how_sglang_would_have_flashinfer_read_a_prompt) {
  Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b}\nmixes: {chunk: {batch: q64s128}, decode: {batch: "
      "q1s128}}\n",
      "s.yaml");
  const std::vector<const Case*> cases = all_of(scenario);
  const auto table = [&] {
    std::ostringstream out;
    write_expand_table(scenario, cases, out);
    return out.str();
  };
  EXPECT_THAT(table(),
              HasSubstr("\n  flashinfer in SGLang: ragged_paged (some request has a prefix)\n"));
  scenario.verify.batch_invariant_required = true;
  EXPECT_THAT(table(), HasSubstr("\n  flashinfer in SGLang: paged (deterministic inference)\n"));
  std::ostringstream json;
  write_expand_json(scenario, cases, json);
  const auto found = nlohmann::json::parse(json.str())["cases"];
  EXPECT_EQ(found[0]["sglang_flashinfer_prefill"]["path"], "paged");
  EXPECT_EQ(found[1]["sglang_flashinfer_prefill"], nullptr);
}

TEST(Expand, says_how_well_pages_are_filled_and_what_rows_without_pages_would_take) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 64}}\nprefixes: {system: 65}\nmixes:\n"
      "  m: {batch: [{count: 2, mode: decode, prefix: system, kv_len: 100}, {mode: decode, kv_len: "
      "10}]}\n",
      "s.yaml");
  std::ostringstream table, json;
  write_expand_table(scenario, {&scenario.cases.at(0)}, table);
  // A page of the prefix, one of each request; 64 + 36 + 36 + 10 tokens.
  EXPECT_THAT(
      table.str(),
      AllOf(HasSubstr("\n  146 tokens in 256 slots of pages\n    of 210 kv tokens, 64 are of "
                      "prefixes that lie there once for all"),
            HasSubstr("110 slots unused, 57 % used"),
            HasSubstr("1 token of shared prefixes stored again"),
            HasSubstr("without pages or sharing, a row as long as the longest for each request: "
                      "300 slots, 70 % used\n")));
  write_expand_json(scenario, {&scenario.cases.at(0)}, json);
  const auto cache = nlohmann::json::parse(json.str())["cases"][0]["kv_cache"];
  EXPECT_EQ(cache["slots_used"], 256);
  EXPECT_EQ(cache["wasted_slots"], 110);
  EXPECT_EQ(cache["prefix_tokens_again"], 1);
  EXPECT_EQ(cache["contiguous_slots"], 300);
  EXPECT_DOUBLE_EQ(cache["utilisation"].get<double>(), 146.0 / 256);
  EXPECT_DOUBLE_EQ(cache["contiguous_utilisation"].get<double>(), 210.0 / 300);
}

TEST(Expand, says_whose_own_pool_has_given_pages_back) {
  const auto table_of = [](const std::string& attention) {
    const Scenario scenario = parse_scenario(
        "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 16, swa_pool: true}}\nmixes:\n"
        "  m: {attention: {" +
            attention + "}, batch: [{mode: decode, kv_len: 70}]}\n",
        "s.yaml");
    std::ostringstream table;
    write_expand_table(scenario, {&scenario.cases.at(0)}, table);
    return table.str();
  };
  // Keys 62 to 69 are in pages 3 and 4, keys 48 to 69 as well; both bounds leave page 4.
  EXPECT_THAT(table_of("window: {keys: 8}"),
              AllOf(HasSubstr("the window's own pool"), HasSubstr("2 of 7 pages used"),
                    HasSubstr("48 given back behind the window")));
  EXPECT_THAT(table_of("chunk: 24"),
              AllOf(HasSubstr("the chunks' own pool"), HasSubstr("2 of 7 pages used"),
                    HasSubstr("48 given back behind the chunks")));
  EXPECT_THAT(table_of("window: {keys: 8}, chunk: 64"), HasSubstr("64 given back"));
}

TEST(Expand, names_the_layers_that_a_case_stands_for) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: gpt-oss-20b, layers: all}\nmixes: {m: {batch: q1s100}}\n", "s.yaml");
  std::ostringstream table, json;
  write_expand_table(scenario, {&scenario.cases.at(1)}, table);
  EXPECT_THAT(table.str(), HasSubstr("gpt-oss-20b tp 1 · 12 sliding layers · 64 q heads"));
  write_expand_json(scenario, {&scenario.cases.at(1)}, json);
  EXPECT_EQ(nlohmann::json::parse(json.str())["cases"][0]["model_layers"]["of_step"], 24);
}

TEST(ExpandedCase, shows_both_ends_of_a_long_array_and_all_of_a_short_one) {
  const Case c = small_prefix_hits();
  for (const AbridgedArray& array : expand_case(c).arrays) {
    const auto shown = static_cast<std::int64_t>(array.head.size() + array.tail.size());
    EXPECT_EQ(shown, std::min<std::int64_t>(array.size, 8)) << array.name;
  }
}

TEST(ExpandedCase, counts_a_shared_page_once) {
  const Case c = small_prefix_hits();
  const ExpandedCase e = expand_case(c);
  EXPECT_GT(e.pages_used, 0);
  EXPECT_LT(e.pages_used, e.num_pages);  // page 0 is the dummy
}

/// Says that it is a GPU; nothing runs on it.
class NamedGpu final : public Device {
 public:
  NamedGpu() { info_.kind = DeviceKind::kCuda; }
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t, std::string_view) override {
    return {};
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return {}; }
  void copy_to_host(void*, const std::byte*, std::size_t) override {}
  void copy_from_host(std::byte*, const void*, std::size_t) override {}
  void flush_cache(Stream&) override {}
  void touch(Stream&, std::span<const std::span<const std::byte>>) override {}

 private:
  DeviceInfo info_;
};

/// A kernel of a GPU whose graphs repeat decodes, on a device that only says it is one.
class Captured final : public StubBackend {
 public:
  Captured() : StubBackend("captured") {
    info_.device = DeviceKind::kCuda;
    info_.cuda_graph = CudaGraphSupport::kUniformBatch;
  }
};

std::vector<const Registry::Entry*> all_of(const Registry& registry) {
  std::vector<const Registry::Entry*> entries;
  for (const Registry::Entry& entry : registry.entries()) entries.push_back(&entry);
  return entries;
}

TEST(SupportTable, says_which_graphs_a_backend_does_not_claim) {
  Scenario scenario = small_scenario();
  Registry registry;
  registry.add([] { return std::make_unique<Captured>(); });
  Devices devices;
  devices.push_back(std::make_unique<NamedGpu>());
  IsolatedExecutor hosts(scenario, {});
  const Case decode = small_plain_decode();
  const Case extend = small_sliding_window();
  const auto table = [&](std::vector<LaunchMode> launch) {
    scenario.measure.launch = std::move(launch);
    std::ostringstream out;
    write_support_table({scenario, {&decode, &extend}, all_of(registry), devices, hosts}, out);
    return out.str();
  };
  const std::string refusal =
      "UNSUPPORTED(no CUDA graph: extend needs level ALWAYS, the backend claims UNIFORM_BATCH)\n";
  EXPECT_THAT(table({LaunchMode::kEager}), Not(HasSubstr("graph")));
  EXPECT_THAT(table({LaunchMode::kGraph}), HasSubstr("captured  OK\n"));
  EXPECT_THAT(table({LaunchMode::kGraph}), HasSubstr("captured  " + refusal));
  EXPECT_THAT(table({LaunchMode::kEager, LaunchMode::kGraph}),
              HasSubstr("captured  OK eager, graph " + refusal));
}

TEST(SupportTable, says_ok_or_why_not_for_every_pair) {
  const Scenario scenario = small_scenario();
  Registry registry;
  registry.add([] { return std::make_unique<Refusing>(); });
  BackendInfo absent;
  absent.name = "absent_one";
  registry.add_absent(absent, "built without nvcc");
  Devices devices;
  devices.push_back(make_cpu_device(1));
  IsolatedExecutor hosts(scenario, {});
  const Case decode = small_plain_decode();
  const Case extend = small_sliding_window();
  std::ostringstream out;
  write_support_table({scenario, {&decode, &extend}, all_of(registry), devices, hosts}, out);
  EXPECT_THAT(out.str(), HasSubstr("refusing    OK\n"));
  EXPECT_THAT(out.str(), HasSubstr("refusing    UNSUPPORTED(decode only)\n"));
  EXPECT_THAT(out.str(), HasSubstr("absent_one  UNSUPPORTED(built without nvcc)\n"));
}

/// Rounds weights to fp8.
class Coarse final : public StubBackend {
 public:
  Coarse() : StubBackend("coarse") {}
  [[nodiscard]] Numerics numerics(const Problem&) const override { return {.p = DType::kE4M3}; }
};

TEST(SupportTable, says_who_declares_more_rounding_than_the_scenario_allows) {
  Scenario scenario = small_scenario();
  scenario.verify.at_most = DType::kBF16;
  Registry registry;
  registry.add([] { return std::make_unique<Coarse>(); });
  Devices devices;
  devices.push_back(make_cpu_device(1));
  IsolatedExecutor hosts(scenario, {});
  const Case decode = small_plain_decode();
  std::ostringstream out;
  write_support_table({scenario, {&decode}, all_of(registry), devices, hosts}, out);
  EXPECT_THAT(out.str(), HasSubstr("coarse   UNSUPPORTED(it declares weights in e4m3, the scenario "
                                   "allows bf16 at most (verify.at_most))\n"));
}

TEST(ExpandCase, of_any_size_is_cheap_and_says_what_it_leaves_out) {
  Case c = small_plain_decode();
  c.requests.resize(1);
  c.requests[0].kv_len = std::int64_t{1} << 30;
  c.kv_cache.page_size = 16;
  const ExpandedCase e = expand_case(c);
  EXPECT_TRUE(e.arrays.empty());
  EXPECT_THAT(e.arrays_left_out, HasSubstr("left out: they would take "));
  EXPECT_EQ(e.pages_used, std::int64_t{1} << 26);
}

TEST(SupportJson, says_for_every_launch_of_every_pair_whether_and_why_not) {
  Scenario scenario = small_scenario();
  scenario.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  Registry registry;
  registry.add([] { return std::make_unique<Refusing>(); });
  Devices devices;
  devices.push_back(make_cpu_device(1));
  IsolatedExecutor hosts(scenario, {});
  const Case decode = small_plain_decode();
  const Case extend = small_sliding_window();
  std::ostringstream out;
  write_support_json({scenario, {&decode, &extend}, all_of(registry), devices, hosts}, out);
  const auto root = nlohmann::json::parse(out.str());
  EXPECT_EQ(root["scenario"], scenario.name);
  ASSERT_EQ(root["answers"].size(), 4u);
  EXPECT_EQ(root["answers"][0]["supported"], true);
  EXPECT_EQ(root["answers"][1]["launch"], "graph");
  EXPECT_EQ(root["answers"][1]["reason"], "no CUDA graph on a CPU");
  EXPECT_EQ(root["answers"][2]["reason"], "decode only");
  EXPECT_EQ(root["answers"][2]["supported"], false);
}

}  // namespace
}  // namespace attnbench
