// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/result/record_text.h"
#include "lib/result/testing/sample_run.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string print(const std::vector<Record>& records, TerminalOptions options = {},
                  double read_bytes_per_s = 21.3e9, DeviceKind kind = DeviceKind::kCpu) {
  std::ostringstream out;
  RunResult run = sample_run();
  run.devices[0].device.kind = kind;
  run.ceilings.read_bytes_per_s = read_bytes_per_s;
  run.records = records;
  const Scenario scenario = sample_scenario();
  TerminalReport report(out, options);
  report.started(run, scenario);
  report.case_started(scenario.cases[0], records.front().cost);
  for (const Record& record : records) report.record(record);
  report.case_finished(scenario.cases[0]);
  report.finished(run, {});
  return out.str();
}

/// The widest value that every column can get.
Record widest() {
  Record r = sample_run().records[0];
  r.backend = "sixteen_is_wide_";
  r.cost.bytes_unique = 99999000000;
  r.cost.flops = 99999000000;
  r.timing.median_us = 999.4e3;
  r.timing.lo_us = 0;
  r.timing.hi_us = 9e6;
  r.roofline = 9.999;
  r.plan.median_us = 999.4e3;
  r.outcome = Completed{Check::kNotVerified, Speed::kClaimed};
  r.error.bound_ratio = 1.8e300;
  return r;
}

TEST(TerminalReport, notes_a_model_once_with_the_first_case_that_runs) {
  std::ostringstream out;
  Scenario scenario = sample_scenario();
  scenario.cases.assign(3, scenario.cases[0]);
  for (Case& c : scenario.cases) c.model_note = "of the cases that run";
  scenario.cases[0].model_note = "of a case that does not run";
  TerminalReport report(out, {});
  report.started(sample_run(), scenario);
  EXPECT_THAT(out.str(), Not(HasSubstr("note:")));
  for (const std::size_t i : {1u, 2u}) report.case_started(scenario.cases[i], {});
  EXPECT_THAT(out.str(), Not(HasSubstr("of a case that does not run")));
  const std::size_t first = out.str().find("of the cases that run");
  ASSERT_NE(first, std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("of the cases that run", first + 1), std::string::npos) << out.str();
}

TEST(TerminalReport, fits_100_columns_in_the_worst_case) {
  std::vector<Record> records = sample_run().records;
  records.push_back(widest());
  Record chatty = records[5];
  chatty.backend = "a_backend_with_a_name_that_does_not_end";
  chatty.outcome = Completed{Check::kMistrusted, Speed::kClaimed,
                             std::string(300, 'x') + " and then some words to wrap"};
  records.push_back(chatty);
  for (Record& record : records) record.repro = "short";
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    for (const std::string& line : lines_of(print(records, {}, 21.3e9, kind))) {
      EXPECT_LE(display_width(line), kTerminalWidth) << line;
    }
  }
}

TEST(TerminalReport, fits_a_narrow_terminal_by_leaving_columns_out) {
  std::vector<Record> records = sample_run().records;
  records.push_back(widest());
  for (Record& record : records) record.repro = "short";
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    for (const std::size_t width : {80u, 90u, 99u}) {
      const std::string text = print(records, {.width = width}, 21.3e9, kind);
      for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
      EXPECT_THAT(text, HasSubstr("median"));
      EXPECT_THAT(text, HasSubstr("verdict"));
    }
  }
  EXPECT_THAT(print(records, {.width = 80}), HasSubstr("roof"));
  EXPECT_THAT(print(records, {.width = 80}), Not(HasSubstr(" plan ")));
}

TEST(TerminalReport, shows_a_long_name_from_its_case_on_and_of_one_too_long_both_ends) {
  Record record = sample_run().records[0];
  record.backend = "flashinfer:prefill_fa3";
  EXPECT_THAT(print({record}), HasSubstr("\n  flashinfer:prefill_fa3  cold"));
  record.backend = "sglang:triton_decode:splits=64";
  EXPECT_THAT(print({record}), HasSubstr("\n  sglang:triton…code:splits=64  cold"));
}

TEST(TerminalReport, passes_on_nothing_that_steers_a_terminal) {
  Record hostile = sample_run().records[2];
  hostile.backend = "b\x1b[31m";
  hostile.outcome = Incorrect{"why\x1b]0;owned\x07\xff", true};
  hostile.repro = "attnbench run '\x1b[2J'";
  const std::string text = print({hostile});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("why\\x1b]0;owned\\x07\\xff"));
}

TEST(TerminalReport, says_what_of_a_layer_is_not_as_usual) {
  const auto header = [](const Case& c) {
    std::ostringstream out;
    TerminalReport report(out, {});
    report.started(sample_run(), sample_scenario());
    report.case_started(c, {});
    return out.str();
  };
  Case c = sample_scenario().cases[1];
  EXPECT_THAT(header(c), Not(HasSubstr("window")));
  c.tp = 8;
  c.layer.sliding_window_size = 1023;
  c.layer.has_sinks = true;
  c.layer.logit_cap = 50;
  c.kv_cache.layout = KvLayout::kHnd;
  c.kv_cache.placement = Placement::kReversed;
  EXPECT_THAT(header(c), HasSubstr("tp 8, window 1024, sinks, softcap 50, HND, reversed"));
  c.fp8.q = DType::kE4M3;
  c.fp8.out = DType::kE5M2;
  EXPECT_THAT(header(c), HasSubstr("softcap 50, Q in e4m3, O in e5m2, HND"));
  c.fp8.q_scales = QScales::kToken;
  EXPECT_THAT(header(c), HasSubstr("Q in e4m3 by token, O in e5m2"));
  c.fp8 = {};
  c.kv_cache.swa_pool = true;
  EXPECT_THAT(header(c), HasSubstr("HND, SWA pool, reversed"));
  c.layer.attention_chunk = 8192;
  c.layer.dual_chunk = {8192, 1024};
  c.layer.temperature_len = 1024;
  c.layer.causal_block = 32;
  EXPECT_THAT(
      header(c),
      HasSubstr("window 1024, blocks of 32, chunk 8192, dual chunk 8192, local 1024, sinks, "
                "softcap 50, temperature 1024, HND"));
  c.layer.queries_apart = true;
  c.parts = {c};
  EXPECT_THAT(header(c), HasSubstr("temperature 1024, prompts expanded, queries apart, HND"));
  c.layer.causal = false;
  EXPECT_THAT(header(c), HasSubstr("not causal, tp 8"));
  c.layer.is_cross_attention = true;
  EXPECT_THAT(header(c), HasSubstr("cross attention, tp 8"));
  EXPECT_THAT(header(c), HasSubstr(" 1 q token "));
  c.step = StepPart::kKvWrite;
  EXPECT_THAT(header(c), HasSubstr(" 1 new token "));
}

TEST(TerminalReport, says_on_which_cache_a_backend_ran_where_the_scenario_left_it_open) {
  const auto shown = [](std::optional<KvLayout> asked, KvLayout layout) {
    std::ostringstream out;
    TerminalReport report(out, {});
    report.started(sample_run(), sample_scenario());
    Case c = sample_scenario().cases[0];
    c.kv_cache.layout = asked;
    report.case_started(c, {});
    Record record = sample_run().records[0];
    record.kv_cache.layout = layout;
    report.record(record);
    report.case_finished(c);
    return out.str();
  };
  EXPECT_THAT(shown({}, KvLayout::kXPacked), HasSubstr("on a x_packed cache"));
  EXPECT_THAT(shown({}, KvLayout::kNhd), Not(HasSubstr("on a ")));
  EXPECT_THAT(shown(KvLayout::kXPacked, KvLayout::kXPacked), Not(HasSubstr("on a ")));
}

std::string print_on_gpu(const Record& record) {
  return print({record}, {.width = kMostTerminalWidth}, 4.65e12, DeviceKind::kCuda);
}

TEST(TerminalReport, shows_what_a_launch_takes_on_the_host_where_a_gpu_takes_part) {
  Record record = sample_run().records[0];
  record.timing.enqueue_us = 2.8125;
  const std::string text = print_on_gpu(record);
  EXPECT_THAT(text, HasSubstr("    plan enqueue  verdict"));
  EXPECT_THAT(text, HasSubstr(" 12.2 µs 2.81 µs  passed"));
  EXPECT_THAT(print({record}), Not(HasSubstr("enqueue")));
  record.timing.enqueue_us = 0;  // a CPU's row beside it
  EXPECT_THAT(print_on_gpu(record), HasSubstr(" 12.2 µs       –  passed"));
}

TEST(TerminalReport, says_once_a_case_what_index_builds_take) {
  Record record = sample_run().records[0];
  record.index = {12.3, 180.5};
  const std::string text = print({record, record});
  const std::string line = "\n  index arrays: built on the GPU in 12.3 µs, on the host in 180 µs\n";
  EXPECT_THAT(text, HasSubstr(line));
  EXPECT_EQ(text.find(line), text.rfind(line));
  EXPECT_THAT(print({sample_run().records[0]}), Not(HasSubstr("index arrays")));
}

TEST(TerminalReport, marks_a_figure_in_which_the_launch_shows) {
  Record record = sample_run().records[0];
  record.is_short = true;
  const std::string text = print_on_gpu(record);
  EXPECT_THAT(text, HasSubstr("  passed short 0.21"));
  EXPECT_THAT(text, HasSubstr(kShortLegend));
  EXPECT_THAT(text, HasSubstr("1 passed · 1 short"));
  EXPECT_THAT(print_on_gpu(sample_run().records[0]), Not(HasSubstr("short")));
}

TEST(TerminalReport, says_below_a_short_figure_what_a_forward_takes_in_a_batched_graph) {
  Record record = sample_run().records[9];
  std::string text = print_on_gpu(record);
  EXPECT_THAT(text, HasSubstr("  cold/g 4.50 µs 0.3 % "));
  EXPECT_THAT(
      text, HasSubstr("\n      graph×31: 3.88 µs ± 0.3 % a forward, 31 sets of inputs in turn\n"));
  EXPECT_THAT(text, HasSubstr("\ngraph×N: the time of N forwards in one graph"));
  record.graph_n.graph = {20, 1};
  record.graph_n.timing.status = MeasureStatus::kNoisy;
  EXPECT_THAT(print_on_gpu(record),
              HasSubstr("graph×20: 3.88 µs ± 0.3 %* a forward, the same inputs each time\n"));
  record.graph_n = {};
  EXPECT_THAT(print_on_gpu(record), Not(HasSubstr("graph×")));
}

TEST(TerminalReport, says_why_a_batched_graph_was_refused) {
  Record record = sample_run().records[10];
  EXPECT_THAT(print_on_gpu(record), HasSubstr("\n      graph×31: refused: kv pool needs 7.0 GB"));
  record.graph_n.timing.status = MeasureStatus::kInterrupted;
  record.graph_n.reason = "stopped before its first sample";
  EXPECT_THAT(print_on_gpu(record), HasSubstr("graph×31: interrupted: stopped before"));
}

TEST(TerminalReport, wraps_the_line_that_names_many_cache_states) {
  Scenario scenario = sample_scenario();
  scenario.measure.cache = {CacheState::kCold, CacheState::kWarm, CacheState::kServing};
  scenario.measure.launch = {LaunchMode::kEager, LaunchMode::kGraph};
  std::ostringstream out;
  TerminalReport(out, {}).started(sample_run(), scenario);
  EXPECT_THAT(out.str(), HasSubstr("\ncold, warm and serving cache, eager and graph (/g), median"));
  for (const std::string& line : lines_of(out.str())) {
    EXPECT_LE(display_width(line), kTerminalWidth) << line;
  }
}

TEST(TerminalReport, writes_serving_short_enough_for_its_column) {
  Record record = sample_run().records[0];
  record.cache = CacheState::kServing;
  EXPECT_THAT(print({record}), HasSubstr("  serv   "));
  record.launch = LaunchMode::kGraph;
  EXPECT_THAT(print({record}), HasSubstr("  serv/g 11.2 ms"));
  record.graph_forced = true;
  EXPECT_THAT(print({record}), HasSubstr("  serv/f 11.2 ms"));
}

TEST(TerminalReport, keeps_every_column_at_its_place) {
  Record small = sample_run().records[0];
  small.backend = "a";
  small.timing.median_us = 1.5;
  const std::vector<std::string> lines = lines_of(print({widest(), small}));
  const auto column_of = [&](const std::string& word, const std::string& line) {
    return display_width(std::string_view(line).substr(0, line.find(word)));
  };
  std::vector<std::size_t> places;
  for (const std::string& line : lines) {
    if (line.find("  verdict") != std::string::npos) places.push_back(column_of("verdict", line));
    if (line.find("not verified") != std::string::npos && line.starts_with("  sixteen")) {
      places.push_back(column_of("not verified", line));
    }
    if (line.starts_with("  a  ")) places.push_back(column_of("passed", line));
  }
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0], places[1]);
  EXPECT_EQ(places[0], places[2]);
}

TEST(TerminalReport, says_over_a_case_with_a_shared_prefix_what_vllm_would_do) {
  EXPECT_THAT(print({sample_run().records[0]}), HasSubstr("vLLM's use_cascade: yes\n"));
  std::ostringstream out;
  TerminalReport report(out, {});
  report.case_started(sample_scenario().cases[1], {});
  EXPECT_THAT(out.str(), Not(HasSubstr("use_cascade")));
}

TEST(TerminalReport, says_over_a_case_what_fills_it_up) {
  Case c = sample_scenario().cases[1];
  const auto header = [&](const BatchPadding& padding) {
    c.padding = padding;
    std::ostringstream out;
    TerminalReport(out, {}).case_started(c, {});
    return out.str();
  };
  EXPECT_THAT(header({.requests = 3}), HasSubstr(" · filled up by 3 requests\n"));
  EXPECT_THAT(header({.tokens = 1}), HasSubstr(" · filled up by 1 token row\n"));
  EXPECT_THAT(header({.requests = 1, .tokens = 8}),
              HasSubstr(" · filled up by 1 request, 8 token rows\n"));
  EXPECT_THAT(header({}), Not(HasSubstr("filled up")));
}

TEST(TerminalReport, says_over_a_case_how_much_of_its_graph_is_padding) {
  Case c = sample_scenario().cases[1];
  const auto requests = static_cast<std::int64_t>(c.requests.size());
  const auto header = [&](std::int64_t bucket) {
    c.graph_bucket = bucket;
    std::ostringstream out;
    TerminalReport(out, {}).case_started(c, {});
    return out.str();
  };
  EXPECT_THAT(header(requests + 3),
              HasSubstr("graph of " + std::to_string(requests + 3) + " (3 padding)"));
  EXPECT_THAT(header(requests), Not(HasSubstr("padding")));
  EXPECT_THAT(header(0), Not(HasSubstr("padding")));
}

TEST(TerminalReport, settles_units_by_the_machine) {
  const Record record = sample_run().records[0];
  EXPECT_THAT(print({record}), HasSubstr("GB/s"));
  EXPECT_THAT(print({record}, {}, 4.65e12), HasSubstr("  TB/s"));
}

TEST(TerminalReport, prints_no_speed_of_a_wrong_cell_but_its_reason_and_repro_line) {
  const Record wrong = sample_run().records[2];
  const std::string text = print({wrong});
  EXPECT_THAT(text, Not(HasSubstr("5.00 ms")));
  EXPECT_THAT(text, HasSubstr("INCORRECT"));
  EXPECT_THAT(text, HasSubstr("3 NaN, the first at request 3"));
  EXPECT_THAT(text, HasSubstr("\n      " + wrong.repro + "\n"));
}

TEST(TerminalReport, says_in_one_line_which_backends_do_not_take_a_case_and_why) {
  Record cold = sample_run().records[3];
  Record warm = cold;
  warm.cache = CacheState::kWarm;
  Record other = cold;
  other.backend = "mla";
  const std::string text = print({cold, warm, other, sample_run().records[0]});
  const std::string line = "\n  not run: torch_native, mla (no extend beside decode, <yet>)\n";
  EXPECT_THAT(text, HasSubstr(line));
  EXPECT_EQ(text.find("torch_native"), text.rfind("torch_native"));
  const std::string wide = print({cold, warm, other}, {.wide = true});
  EXPECT_THAT(wide, Not(HasSubstr("not run:")));
  EXPECT_NE(wide.find("\n  torch_native "), wide.rfind("\n  torch_native ")) << "a row for each";
}

TEST(TerminalReport, heads_no_table_where_nothing_was_run) {
  const std::string text = print({sample_run().records[3]});
  EXPECT_THAT(text, Not(HasSubstr("  backend  ")));
  EXPECT_THAT(text, HasSubstr("  not run: torch_native"));
}

TEST(TerminalReport, says_who_is_the_fastest_and_by_how_much) {
  const Record best = sample_run().records[0];
  Record tied = best, slow = best;
  tied.backend = "tied";
  slow.backend = "slow";
  tied.timing.median_us *= 1.005;
  slow.timing.median_us *= 2.5;
  slow.timing.lo_us *= 2.5;
  slow.timing.hi_us *= 2.5;
  const std::string text = print({slow, best, tied});
  EXPECT_THAT(text, HasSubstr("\nvs best: the median over that of the fastest correct"));
  EXPECT_THAT(text, HasSubstr("     ±  vs best  GB/s"));
  EXPECT_THAT(text, HasSubstr("\n  slow             cold   28.1 ms 0.3 %   2.50    6.66"));
  EXPECT_THAT(text, HasSubstr("\n  cpu_flash        cold   11.2 ms 0.3 %   1.00 =  16.6"));
  EXPECT_THAT(text, HasSubstr("\n  tied             cold   11.3 ms 0.3 %   1.00 =  16.6"));
}

/// The table of a case with an uncertain, a good and a wrong cell, 40 columns wide.
std::string table_of_a_phone(std::vector<CacheState> states) {
  const Record best = sample_run().records[0];
  Record open = best, wrong = best;
  open.backend = "torch_native";
  open.timing.status = MeasureStatus::kTimeout;
  open.timing.hi_us *= 1.3;
  wrong.backend = "wrong";
  wrong.outcome = Incorrect{"3 NaN", true};
  wrong.repro = "short";
  Scenario scenario = sample_scenario();
  scenario.measure.cache = std::move(states);
  std::ostringstream out;
  TerminalReport report(out, {.width = 40});
  report.started(sample_run(), scenario);
  for (const Record& record : {open, best, wrong}) report.record(record);
  report.case_finished(scenario.cases[0]);
  const std::string table = out.str().substr(out.str().find("\n  backend"));
  for (const std::string& line : lines_of(table)) EXPECT_LE(display_width(line), 40u) << line;
  return table;
}

TEST(TerminalReport, keeps_ranks_verdicts_and_intervals_in_40_columns) {
  EXPECT_THAT(table_of_a_phone({CacheState::kCold}),
              HasSubstr("\n  backend     median     ±       vs best\n"
                        "  torc…ative 11.2 ms  15 %*       1.00 ?\n"
                        "  cpu_flash  11.2 ms 0.3 %        1.00 ?\n"
                        "  wrong            –           INCORRECT\n"));
}

TEST(TerminalReport, keeps_the_cache_of_rows_that_differ_in_it_and_the_star_in_40_columns) {
  EXPECT_THAT(table_of_a_phone({CacheState::kCold, CacheState::kWarm}),
              HasSubstr("\n  backend   cache    median      vs best\n"
                        "  tor…tive  cold   11.2 ms*       1.00 ?\n"
                        "  cpu…lash  cold   11.2 ms        1.00 ?\n"
                        "  wrong     cold         –     INCORRECT\n"));
}

TEST(TerminalReport, explains_the_serving_state_where_it_is_measured) {
  const auto header = [](std::vector<CacheState> states) {
    Scenario scenario = sample_scenario();
    scenario.measure.cache = std::move(states);
    std::ostringstream out;
    TerminalReport(out, {}).started(sample_run(), scenario);
    return out.str();
  };
  EXPECT_THAT(header({CacheState::kServing}), HasSubstr("serv: "));
  EXPECT_THAT(header({CacheState::kCold, CacheState::kWarm}), Not(HasSubstr("serv: ")));
}

TEST(TerminalReport, explains_the_columns_that_it_shows_and_no_other) {
  const std::string all = print({sample_run().records[0]}, {.width = kMostTerminalWidth});
  for (const char* title : {"vs best:", "GB/s:", "roof:", "plan:", "err/bound:", "bit:"}) {
    EXPECT_THAT(all, HasSubstr(title));
  }
  EXPECT_THAT(all, Not(HasSubstr("enqueue:"))) << "without a GPU there is no such column";
  const std::string narrow = print({sample_run().records[0]}, {.width = 80});
  EXPECT_THAT(narrow, HasSubstr("roof:"));
  EXPECT_THAT(narrow, Not(HasSubstr("plan:")));
}

TEST(TerminalReport, says_over_the_cases_that_the_host_only_stands_in) {
  const auto header = [](std::vector<std::string> cpu_fallbacks) {
    RunResult run = sample_run();
    run.cpu_fallbacks = std::move(cpu_fallbacks);
    std::ostringstream out;
    TerminalReport(out, {}).started(run, sample_scenario());
    return out.str();
  };
  EXPECT_THAT(
      header({"cpu_flash", "torch_native"}),
      HasSubstr(
          "\na GPU takes part: without --backend, cpu_flash, torch_native run only the cases"));
  EXPECT_THAT(header({}), Not(HasSubstr("takes part")));
}

TEST(TerminalReport, names_the_environments_over_the_cases) {
  RunResult run = sample_run();
  run.environments = {"v22: vllm==0.22.0 in /old/python", "v33: vllm==0.33.0 in /new/python"};
  std::ostringstream out;
  TerminalReport(out, {}).started(run, sample_scenario());
  EXPECT_THAT(out.str(), HasSubstr("\n  v22: vllm==0.22.0 in /old/python\n"
                                   "  v33: vllm==0.33.0 in /new/python\n"));
}

/// Four figures of a backend, of which so many were not settled in time.
std::string print_with_unsettled(int unsettled, OtherPrograms others, int max_rounds = 40) {
  std::ostringstream out;
  RunResult run = sample_run();
  Scenario scenario = sample_scenario();
  scenario.measure.max_rounds = max_rounds;
  run.records.assign(4, run.records[0]);
  for (int i = 0; i < unsettled; ++i) {
    run.records[static_cast<std::size_t>(i)].timing.status = MeasureStatus::kTimeout;
  }
  TerminalReport report(out, {});
  report.started(run, scenario);
  run.others = others;
  report.finished(run, {});
  return out.str();
}

TEST(TerminalReport, says_once_what_keeps_most_figures_from_converging_and_what_helps) {
  const std::string busy = print_with_unsettled(3, OtherPrograms{1.26, 2});
  EXPECT_THAT(busy, HasSubstr("\n3 of 4 figures missed ±0.5 %: other programs kept 1.3 of 2"));
  EXPECT_THAT(busy, HasSubstr("--threads 1, a longer"));
  for (const std::string& line : lines_of(busy)) EXPECT_LE(display_width(line), kTerminalWidth);
  const std::string quiet = print_with_unsettled(3, OtherPrograms{0.02, 2});
  EXPECT_THAT(quiet, HasSubstr("\n3 of 4 figures missed ±0.5 %: try a longer --cell-timeout"));
  EXPECT_THAT(print_with_unsettled(3, {}), HasSubstr("0.5 %: try a longer --cell-timeout"));
  const std::string converged = print_with_unsettled(2, OtherPrograms{1.26, 2});
  EXPECT_THAT(converged, Not(HasSubstr("missed")));
  EXPECT_THAT(converged, HasSubstr("\nother programs kept 1.3 of 2 processors busy\n"))
      << "an interval does not know of programs that ran all the time";
  EXPECT_THAT(print_with_unsettled(4, OtherPrograms{1.26, 2}, 3), Not(HasSubstr("missed")))
      << "a run of three rounds was not meant to converge";
  EXPECT_THAT(print_with_unsettled(4, OtherPrograms{1.26, 2}, 3),
              HasSubstr("\nother programs kept 1.3 of 2 processors busy\n"))
      << "but its figures suffer as well";
  EXPECT_THAT(print_with_unsettled(4, OtherPrograms{0.02, 2}, 3),
              Not(HasSubstr("processors busy")));
}

TEST(TerminalReport, ends_with_the_answer_what_was_taken_over_and_the_hash_of_the_file) {
  std::ostringstream out;
  RunResult run = sample_run();
  Record slower = run.records[0];
  slower.backend = "slower";
  for (double* us : {&slower.timing.median_us, &slower.timing.lo_us, &slower.timing.hi_us})
    *us *= 2;
  run.records = {run.records[0], slower};
  TerminalReport(out, {.quiet = true})
      .finished(run, {.exit_code = 2, .taken_over = 1, .json_sha256 = std::string(64, 'b')});
  EXPECT_THAT(out.str(), StartsWith("cpu_flash is fastest in 1 of 1 case, 1.00 of the best\n"
                                    "1 case · 1 taken over · 2 cells"));
  EXPECT_THAT(out.str(), HasSubstr("JSON sha256 bbbbbbbbbbbbbbbb "));
}

TEST(TerminalReport, marks_a_cell_that_did_not_converge) {
  EXPECT_THAT(print({sample_run().records[1]}), HasSubstr("%*"));
  EXPECT_THAT(print({sample_run().records[0]}), Not(HasSubstr("%*")));
}

TEST(TerminalReport, gives_a_half_width_beyond_its_column_in_medians) {
  Record wild = sample_run().records[1];
  wild.timing.lo_us = 0;
  wild.timing.hi_us = 2 * 9.99 * wild.timing.median_us;
  EXPECT_THAT(print({wild}), HasSubstr(" 999 %*"));
  wild.timing.hi_us = 2 * 17.2 * wild.timing.median_us;
  EXPECT_THAT(print({wild}), HasSubstr(" 17 ×*"));
}

TEST(TerminalReport, gives_the_reason_of_an_open_figure_unless_it_is_noisy) {
  const std::string noisy = print({sample_run().records[1]});
  EXPECT_THAT(noisy, HasSubstr("  passed       0.21"));
  EXPECT_THAT(noisy, Not(HasSubstr("half-width 4.9 %")));
  Record throttled = sample_run().records[0];
  throttled.timing.status = MeasureStatus::kThrottled;
  throttled.outcome = Completed{Check::kPassed, Speed::kClaimed, "the clock sank"};
  EXPECT_THAT(print({throttled}), HasSubstr("%*"));
  EXPECT_THAT(print({throttled}), HasSubstr("\n      the clock sank\n"));
  Record doubtful = sample_run().records[5];
  doubtful.timing.status = MeasureStatus::kInterrupted;
  EXPECT_THAT(print({doubtful}), HasSubstr("%*"));
  EXPECT_THAT(print({doubtful}), HasSubstr("  MISTRUSTED  "));
}

TEST(TerminalReport, prints_no_interval_of_a_single_round_but_says_why) {
  const Record single = sample_run().records[8];
  const std::string text = print({single});
  EXPECT_THAT(text, HasSubstr("  1.50 s     –*"));
  EXPECT_THAT(text, Not(HasSubstr("0.0 %")));
  EXPECT_THAT(text, HasSubstr("  passed       0.21"));
  EXPECT_THAT(text, HasSubstr("\n–: fewer than six rounds"));
  EXPECT_THAT(text, HasSubstr("1 passed · 1 not converged"));
  EXPECT_THAT(print({sample_run().records[0]}), Not(HasSubstr("six rounds")));
}

TEST(TerminalReport, counts_open_figures_by_status_and_leaves_those_out_that_it_does_not_show) {
  std::vector<Record> records = sample_run().records;
  records[2].timing.status = MeasureStatus::kNoisy;  // wrong: no figure of it is shown
  const std::string text = print(records, {.quiet = true});
  EXPECT_THAT(text, HasSubstr("1 skipped · 1 noisy, 1 not converged, 2 short · interrupted"));
}

TEST(TerminalReport, colours_verdicts_the_best_of_a_case_and_dims_what_was_not_run) {
  std::string text = print(sample_run().records, {.colour = true});
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos;) {
    text.erase(at, text.find('m', at) - at + 1);
    ++marks;
  }
  EXPECT_EQ(text, print(sample_run().records));
  const std::size_t rows = 9, best = 5, not_run = 1;
  EXPECT_EQ(marks, 2 * (rows + best + not_run));
}

TEST(TerminalReport, keeps_to_the_closing_line_when_quiet) {
  const std::string text = print(sample_run().records, {.quiet = true});
  EXPECT_THAT(text, HasSubstr("11 cells"));
  EXPECT_THAT(text, Not(HasSubstr("median")));
}

TEST(ErrorText, is_of_the_worse_one_of_outputs_and_lse) {
  Record record;
  record.error.rows = 1;
  record.error.bound_ratio = 0.25;
  record.error.lse_bound_ratio = 0.5;
  EXPECT_EQ(error_text(record), "0.50");
  record.error.bound_ratio = 0.75;
  EXPECT_EQ(error_text(record), "0.75");
}

TEST(Units, keep_three_digits_across_their_limits) {
  EXPECT_EQ(three_digits(9.994), "9.99");
  EXPECT_EQ(three_digits(9.996), "10.0");
  EXPECT_EQ(three_digits(99.96), "100");
  EXPECT_EQ(time_text(0.75), "750 ns");
  EXPECT_EQ(time_text(999.6), "1.00 ms");
  EXPECT_EQ(time_text(999.6e3), "1.00 s");
  EXPECT_EQ(time_text(52.4), "52.4 µs");
  EXPECT_EQ(bytes_text(187000000), "187 MB");
  EXPECT_EQ(count_text(98304), "98.3 k");
  EXPECT_EQ(count_text(624), "624");
  EXPECT_EQ(percent_text(0.003), "0.3 %");
  EXPECT_EQ(percent_text(0.774), "77 %");
}

TEST(Units, count_characters_not_bytes) {
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("注意"), 4u) << "two columns each";
  EXPECT_EQ(cut_to_width("注意力", 5), "注意…");
  EXPECT_EQ(cut_to_width("注意力", 4), "注…");
  EXPECT_EQ(cut_to_width("abc", 0), "");
  EXPECT_EQ(fit_left("µµµ", 2), "µ…");
  EXPECT_EQ(fit_right("µ", 3), "  µ");
}

}  // namespace
}  // namespace attnbench
