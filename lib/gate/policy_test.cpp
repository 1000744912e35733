// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "lib/base/error.h"
#include "lib/gate/testing/measured_run.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

std::string mistakes_of(const std::string& text) {
  try {
    (void)parse_policy(text, "gate.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was read";
}

constexpr const char* kWhole = R"(
limits: {latency: 3%, latency_floor: 2us}
rules:
  - {case: 'decode/*', latency: 5%, error: 0.9}
  - {mix: decode, backend: 'split*', latency: 8%, roofline: 0.5, support: required}
allow:
  - {case: mla, verdict: [MISSING, SKIPPED_NOW], reason: "it's being rewritten", expires: 2026-12-31}
)";

TEST(Policy, lets_later_rules_override_earlier_ones_setting_by_setting) {
  const Policy policy = parse_policy(kWhole, "gate.yaml");
  const auto limits_of = [&](const char* case_id, const char* backend) {
    const Record record = measured_cell(case_id, backend, 1);
    return policy.limits_of(CellKey(record), record.mix);
  };
  EXPECT_EQ(limits_of("prefill", "splitkv").latency, 0.03);
  EXPECT_NEAR(*limits_of("prefill", "splitkv").latency_floor_us, 2, 1e-9);
  EXPECT_EQ(limits_of("prefill", "splitkv").error, std::nullopt);
  EXPECT_EQ(limits_of("decode/a", "fa3").latency, 0.05);
  const Limits both = limits_of("decode/a", "splitkv");
  EXPECT_EQ(both.latency, 0.08);
  EXPECT_EQ(both.error, 0.9);
  EXPECT_EQ(both.roofline, 0.5);
  EXPECT_EQ(both.must_run, true);
}

TEST(Policy, defaults_to_two_percent_and_half_a_microsecond) {
  const Record record = measured_cell("decode", "splitkv", 1);
  for (const char* nothing : {"", "# nothing but a comment\n"}) {
    const Limits limits = parse_policy(nothing, "p").limits_of(CellKey(record), record.mix);
    EXPECT_EQ(limits.latency, 0.02);
    EXPECT_EQ(limits.latency_floor_us, 0.5);
  }
}

TEST(Policy, reads_back_the_text_that_it_dumps) {
  const std::string text = policy_text(parse_policy(kWhole, "gate.yaml"));
  EXPECT_EQ(policy_text(parse_policy(text, "dump.yaml")), text);
  EXPECT_THAT(text, HasSubstr("limits: {latency: 0.03, latency_floor: 2us}"));
  EXPECT_THAT(text, HasSubstr("reason: 'it''s being rewritten', expires: 2026-12-31"));
  EXPECT_EQ(policy_text(Policy{}), "limits: {latency: 0.02, latency_floor: 0.5us}\n");
}

TEST(Policy, of_the_page_on_comparing_is_one) {
  std::ifstream file(ATTNBENCH_SOURCE_DIR "/results/comparing.md");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string page = std::move(text).str(), fence = "```";
  const std::size_t begin = page.find("```yaml\nlimits:"), end = page.find(fence, begin + 7);
  ASSERT_NE(begin, std::string::npos);
  const Policy policy = parse_policy(page.substr(begin + 8, end - begin - 8), "comparing.md");
  EXPECT_EQ(policy.rules.size(), 2u);
  EXPECT_EQ(policy.allowances.size(), 1u);
}

TEST(Policy, reports_unknown_keys_with_their_place_and_the_nearest) {
  EXPECT_THAT(mistakes_of("limits: {latensy: 2%}"),
              HasSubstr("gate.yaml:1:10: error: unknown key 'latensy' in limits"));
  EXPECT_THAT(mistakes_of("limits: {latensy: 2%}"), HasSubstr("did you mean 'latency'?"));
  EXPECT_THAT(mistakes_of("rule: []"), HasSubstr("did you mean 'rules'?"));
  EXPECT_THAT(mistakes_of("reason: x"), HasSubstr("'reason' belongs in allow"));
}

TEST(Policy, reports_every_value_that_is_none) {
  EXPECT_THAT(mistakes_of("limits: {latency: -1%}"), HasSubstr("gate.yaml:1:19"));
  EXPECT_THAT(mistakes_of("limits: {latency_floor: 3}"), HasSubstr("takes a time"));
  EXPECT_THAT(mistakes_of("limits: {roofline: 120%}"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(mistakes_of("limits: {error: 0}"), HasSubstr("error"));
  EXPECT_THAT(mistakes_of("limits: {support: yes}"), HasSubstr("required optional"));
  EXPECT_THAT(mistakes_of("rules: {latency: 2%}"), HasSubstr("rules takes a list"));
  EXPECT_THAT(mistakes_of("- 1"), HasSubstr("a policy takes a map"));
}

TEST(Policy, takes_no_allowance_without_verdict_reason_and_date) {
  const std::string bare = mistakes_of("allow: [{backend: mla}]");
  EXPECT_THAT(bare, HasSubstr("an allowance needs verdict"));
  const auto with = [](const char* keys) {
    return mistakes_of("allow: [{backend: mla, " + std::string(keys) + "}]");
  };
  EXPECT_THAT(with("verdict: REGRESSED"), HasSubstr("an allowance needs reason"));
  EXPECT_THAT(with("verdict: REGRESSED, reason: x"), HasSubstr("an allowance needs expires"));
  EXPECT_THAT(with("verdict: REGRESED, reason: x, expires: 2026-01-01"),
              HasSubstr("did you mean 'REGRESSED'?"));
  EXPECT_THAT(with("verdict: [], reason: x, expires: 2026-01-01"), HasSubstr("an empty list"));
  for (const char* date : {"tomorrow", "2026-02-30", "2026-1-1", "[2026]", "26-01-01-1"}) {
    EXPECT_THAT(with(("verdict: REGRESSED, reason: x, expires: " + std::string(date)).c_str()),
                HasSubstr("expires takes a date"))
        << date;
  }
}

}  // namespace
}  // namespace attnbench
