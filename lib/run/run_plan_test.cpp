// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/run_plan.h"
#include "lib/backend/testing/stub_backend.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "lib/base/error.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Named final : public StubBackend {
 public:
  Named(std::string name, bool by_default) : StubBackend(std::move(name)) {
    info_.by_default = by_default;
  }
};

class OfFamily final : public StubBackend {
 public:
  OfFamily(std::string name, Family family) : StubBackend(std::move(name)) {
    info_.only_families = {family};
  }
};

class ChooseBackends : public testing::Test {
 protected:
  ChooseBackends() {
    for (const char* name : {"splitkv", "splitkv:dynamic", "splitkv:fixed_tile", "cascade"}) {
      const bool variant = std::string_view(name).find(':') != std::string_view::npos;
      registry_.add([=] { return std::make_unique<Named>(name, !variant); });
    }
    BackendInfo absent;
    absent.name = "absent";
    registry_.add_absent(absent, "not here");
    registry_.add([] { return std::make_unique<Named>("mine", true); }, "/my/plugin.so");
    absent.name = "mine_on_a_gpu";
    registry_.add_absent(absent, "no GPU", "/my/plugin.so");
  }

  [[nodiscard]] std::vector<std::string> chosen() const {
    std::vector<std::string> names;
    for (const Registry::Entry* entry : choose_backends(scenario_, registry_, filter_)) {
      names.push_back(entry->info.name);
    }
    return names;
  }

  Registry registry_;
  Scenario scenario_;
  RunFilter filter_;
};

TEST_F(ChooseBackends, leaves_variants_and_absent_ones_out_unless_named) {
  EXPECT_THAT(chosen(), ElementsAre("splitkv", "cascade", "mine"));
  scenario_.backends = {"cascade", "splitkv:fixed_tile"};
  EXPECT_THAT(chosen(), ElementsAre("cascade", "splitkv:fixed_tile"));
  filter_.backends = {"splitkv:dynamic", "splitkv", "absent", "splitkv:dynamic"};
  EXPECT_THAT(chosen(), ElementsAre("splitkv:dynamic", "splitkv", "absent"));
}

TEST_F(ChooseBackends, means_all_of_a_plug_in_by_its_file_each_once) {
  scenario_.backends = {"/my/plugin.so", "cascade", "mine", "/my/plugin.so"};
  EXPECT_THAT(chosen(), ElementsAre("mine", "mine_on_a_gpu", "cascade"));
}

TEST_F(ChooseBackends, leaves_those_of_other_layers_out_of_a_case_unless_named) {
  registry_.add([] { return std::make_unique<OfFamily>("linear", Family::kGatedDeltaNet); });
  scenario_.cases = {small_plain_decode(), small_delta_nets().front()};
  const auto run_by_linear = [&](std::size_t i) {
    const RunPlan plan = plan_run(scenario_, registry_, filter_);
    const auto& backends = plan.cases[i].backends;
    return std::ranges::find(backends, registry_.find("linear")) != backends.end();
  };
  EXPECT_FALSE(run_by_linear(0));
  EXPECT_TRUE(run_by_linear(1));
  filter_.backends = {"linear"};
  EXPECT_TRUE(run_by_linear(0)) << "it says why it refuses";
}

TEST_F(ChooseBackends, names_the_nearest_variant) {
  filter_.backends = {"splitkv:dynamc"};
  try {
    static_cast<void>(chosen());
    FAIL() << "took an unknown name";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'splitkv:dynamic'?"));
    EXPECT_THAT(error.what(), HasSubstr("splitkv:fixed_tile"));
  }
}

class Tuned : public ChooseBackends {
 protected:
  Tuned() {
    for (const char* name : {"splitkv:splits=8", "splitkv:splits=16", "splitkv:stages=2"}) {
      registry_.add([=] { return std::make_unique<Named>(name, false); });
    }
  }
  /// What is said of a name that nobody has.
  [[nodiscard]] std::string refusal_of(const char* name) {
    filter_.backends = {name};
    try {
      static_cast<void>(chosen());
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "taken";
  }
};

TEST_F(Tuned, takes_every_value_of_a_tuning_parameter_by_a_glob) {
  filter_.backends = {"splitkv", "splitkv:splits=*", "splitkv:splits=16"};
  EXPECT_THAT(chosen(), ElementsAre("splitkv", "splitkv:splits=8", "splitkv:splits=16"));
  filter_.backends.clear();
  scenario_.backends = {"splitkv:s*=?"};
  EXPECT_THAT(chosen(), ElementsAre("splitkv:splits=8", "splitkv:stages=2"));
  scenario_.backends.clear();
  EXPECT_THAT(chosen(), ElementsAre("splitkv", "cascade", "mine"));
}

TEST_F(Tuned, names_the_values_of_a_parameter_and_the_parameters_of_a_backend) {
  EXPECT_THAT(refusal_of("splitkv:splits=17"),
              testing::AllOf(HasSubstr("'17' is no value of splits"), HasSubstr("splits: 8 16")));
  EXPECT_THAT(refusal_of("splitkv:split=8"),
              testing::AllOf(HasSubstr("splitkv has no tuning parameter 'split'"),
                             HasSubstr("did you mean 'splits'?   parameters: splits stages")));
  EXPECT_THAT(refusal_of("cascade:splits=8"), HasSubstr("cascade has no tuning parameters"));
  EXPECT_THAT(refusal_of("cascad:splits=8"), testing::Not(HasSubstr("splits=16")));
}

TEST_F(Tuned, refuses_a_glob_that_matches_no_backend) {
  EXPECT_THAT(refusal_of("paged*"), HasSubstr("unknown backend 'paged*'"));
}

TEST_F(Tuned, refuses_an_empty_name_which_a_variable_that_is_not_set_leaves) {
  EXPECT_THAT(refusal_of(""), HasSubstr("unknown backend ''"));
}

TEST_F(Tuned, names_the_pack_that_would_bring_a_backend) {
  int packs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(ATTNBENCH_SOURCE_DIR "/backends/packs")) {
    const std::string file = entry.path().filename();
    if (!file.ends_with("_pack.py")) continue;
    const std::string name = file.substr(0, file.find("_pack.py"));
    EXPECT_THAT(refusal_of((name + ":kernel").c_str()),
                HasSubstr(name + " is a pack: --plugin packs/" + name));
    ++packs;
  }
  EXPECT_EQ(packs, 9) << "and no other names";
  EXPECT_THAT(refusal_of("vllm"), HasSubstr("--plugin packs/vllm"));
  EXPECT_THAT(refusal_of("nowhere:fa3"), testing::Not(HasSubstr("packs")));
  registry_.add([] { return std::make_unique<Named>("vllm:fa3", true); }, "/vllm_pack.py");
  EXPECT_THAT(refusal_of("vllm:fa2"), HasSubstr("did you mean 'vllm:fa3'"));
}

/// Takes heads of at most so many dims.
class UpToDims final : public StubBackend {
 public:
  UpToDims(std::string name, DeviceKind kind, int most)
      : StubBackend(std::move(name)), most_(most) {
    info_.device = kind;
  }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.layer.head_dim_qk <= most_ ? Support::yes() : Support::no("too many dims");
  }

 private:
  int most_;
};

/// Two backends of a GPU and two of the processor, of which one comes from a plug-in.
class ChooseForGpu : public testing::Test {
 protected:
  ChooseForGpu() {
    const auto add = [&](const char* name, DeviceKind kind, int most, std::string plugin = {}) {
      registry_.add([=] { return std::make_unique<UpToDims>(name, kind, most); },
                    std::move(plugin));
    };
    add("host", DeviceKind::kCpu, 1000);
    add("gpu", DeviceKind::kCuda, 128);
    add("gpu_small", DeviceKind::kCuda, 8);
    add("mine", DeviceKind::kCpu, 1000, "/my/plugin.so");
    scenario_.cases = {small_plain_decode(), small_mla()};  // 576 dims are for the host
  }

  using Entries = std::vector<const Registry::Entry*>;
  static std::vector<std::string> names(const Entries& entries) {
    std::vector<std::string> names;
    for (const Registry::Entry* entry : entries) names.push_back(entry->info.name);
    return names;
  }
  [[nodiscard]] Entries chosen() const { return choose_backends(scenario_, registry_, filter_); }
  [[nodiscard]] RunPlan plan() const { return plan_run(scenario_, registry_, filter_); }
  [[nodiscard]] std::vector<std::string> fallbacks() const { return names(plan().cpu_fallbacks); }

  Registry registry_;
  Scenario scenario_;
  RunFilter filter_;
};

TEST_F(ChooseForGpu, leaves_the_host_out_where_the_gpu_supports_every_case) {
  filter_.cases = {scenario_.cases[0].id};
  EXPECT_THAT(names(chosen()), ElementsAre("gpu", "gpu_small", "mine"));
  EXPECT_THAT(fallbacks(), ElementsAre("host"));
}

TEST_F(ChooseForGpu, lets_the_host_stand_in_for_a_case_that_no_backend_of_the_gpu_supports) {
  EXPECT_THAT(names(chosen()), ElementsAre("host", "gpu", "gpu_small", "mine"));
  EXPECT_THAT(names(plan().cases[0].backends), ElementsAre("gpu", "gpu_small", "mine"));
  EXPECT_THAT(names(plan().cases[1].backends), ElementsAre("host", "gpu", "gpu_small", "mine"));
}

TEST_F(ChooseForGpu, lets_the_host_stand_in_for_a_part_of_the_step) {
  filter_.cases = {scenario_.cases[0].id};
  scenario_.measure.step = {StepPart::kAttention, StepPart::kKvWrite};  // which no stub writes
  EXPECT_THAT(names(chosen()), ElementsAre("host", "gpu", "gpu_small", "mine"));
}

TEST_F(ChooseForGpu, runs_the_host_beside_the_gpu_where_it_is_named) {
  filter_.backends = {"gpu", "host"};
  EXPECT_THAT(names(chosen()), ElementsAre("gpu", "host"));
  EXPECT_THAT(fallbacks(), testing::IsEmpty());
  EXPECT_THAT(names(plan().cases[0].backends), ElementsAre("gpu", "host"));
  filter_.backends.clear();
  scenario_.backends = {"host", "gpu_small"};
  EXPECT_THAT(names(chosen()), ElementsAre("host", "gpu_small"));
  EXPECT_THAT(fallbacks(), testing::IsEmpty());
}

TEST_F(ChooseForGpu, lets_the_row_of_a_plug_in_tell_what_it_supports) {
  registry_.add([] { return std::make_unique<UpToDims>("theirs", DeviceKind::kCuda, 8); },
                "/their/plugin.so");
  EXPECT_THAT(names(chosen()), ElementsAre("gpu", "gpu_small", "mine", "theirs"));
}

TEST_F(ChooseForGpu, lets_what_a_pack_has_for_the_host_stand_in_as_well) {
  BackendInfo info;
  info.name = "torch:flash_cpu";
  info.packages = "torch==2.11.0";
  registry_.add_hosted(info, {"python3"}, "/packs/torch_pack.py");
  EXPECT_THAT(names(plan().cases[0].backends), ElementsAre("gpu", "gpu_small", "mine"));
  EXPECT_THAT(fallbacks(), ElementsAre("host", "torch:flash_cpu"));
}

TEST_F(ChooseForGpu, runs_the_host_where_the_backends_of_the_gpu_are_absent) {
  Registry here;
  here.add([] { return std::make_unique<UpToDims>("host", DeviceKind::kCpu, 1000); });
  BackendInfo absent;
  absent.name = "gpu";
  absent.device = DeviceKind::kCuda;
  here.add_absent(absent, "no GPU");
  EXPECT_THAT(names(choose_backends(scenario_, here, filter_)), ElementsAre("host"));
  EXPECT_THAT(plan_run(scenario_, here, filter_).cpu_fallbacks, testing::IsEmpty());
}

TEST(SelectCases, takes_ids_and_globs_in_file_order) {
  Scenario scenario;
  scenario.path = "s.yaml";
  for (const char* id : {"mla/ps1", "mla/ps64", "tree/ps1"}) {
    scenario.cases.emplace_back();
    scenario.cases.back().id = id;
  }
  const auto ids = [&](std::vector<std::string> patterns) {
    std::string text;
    for (const Case* c : select_cases(scenario, {std::move(patterns), {}})) text += c->id + " ";
    return text;
  };
  EXPECT_EQ(ids({}), "mla/ps1 mla/ps64 tree/ps1 ");
  EXPECT_EQ(ids({"*/ps1"}), "mla/ps1 tree/ps1 ");
  EXPECT_EQ(ids({"tree*", "mla/ps64"}), "mla/ps64 tree/ps1 ");
  EXPECT_EQ(ids({"mla/ps??"}), "mla/ps64 ");
  EXPECT_EQ(ids({"*a*p*4"}), "mla/ps64 ");
  try {
    ids({"mla/ps65"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no case of s.yaml matches 'mla/ps65'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'mla/ps64'?"));
    EXPECT_THAT(error.what(), HasSubstr("tree/ps1"));
  }
}

}  // namespace
}  // namespace attnbench
