// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/backend_choice.h"
#include "lib/backend/testing/stub_backend.h"

#include <gmock/gmock.h>

#include "lib/base/error.h"

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

}  // namespace
}  // namespace attnbench
