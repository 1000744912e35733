// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>

namespace attnbench {
namespace {

Place place_of(const YAML::Mark& mark, std::size_t length) {
  return {mark.line + 1, mark.column + 1, static_cast<int>(std::max<std::size_t>(1, length))};
}

/// In plain words what yaml-cpp's messages mean. Empty where they are plain.
std::string meaning_of(std::string_view message) {
  if (message.starts_with("end of map flow") || message.starts_with("end of sequence flow")) {
    return "a '{', a '[' or a quote in an earlier line is not closed";
  }
  if (message.starts_with("illegal flow end"))
    return "this bracket does not fit the bracket that it closes";
  if (message.starts_with("illegal EOF in scalar")) return "a quote is not closed";
  if (message.starts_with("end of map") || message.starts_with("end of sequence")) {
    return "keys of one map, and items of one list, begin in the same column";
  }
  if (message.starts_with("illegal map value")) {
    return "a key and its ': ' cannot stand here; text that contains ': ' takes quotes";
  }
  return "";
}

/// The most frequent mistakes that make a line invalid YAML, as far as the line shows them.
std::string likely_cause(std::string_view line, int column, std::string_view message) {
  if (line.starts_with('\t')) return "the line begins with a tab: YAML is indented by spaces";
  // {batch[0].count: 8}: there a bracket begins a list.
  const std::string_view before = line.substr(0, static_cast<std::size_t>(std::max(column, 0)));
  const std::size_t bracket = before.rfind('[');
  const bool inside_word = bracket != std::string_view::npos && bracket > 0 &&
                           std::isalnum(static_cast<unsigned char>(before[bracket - 1])) != 0;
  return inside_word ? "inside { } a path with brackets takes quotes: {\"batch[0].count\": [8, 16]}"
                     : meaning_of(message);
}

/// Builds the tree from the parser's events: unlike yaml-cpp's own nodes it tells an alias from
/// its anchor, sees repeated keys, and resolves merges.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Problems& problems) : problems_(&problems) {}

  [[nodiscard]] YamlPtr root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    take(make(YamlNode::Kind::kNull, mark, 1), anchor, mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      throw YAML::ParserException(mark, "an alias stands inside its own anchor");
    }
    take(known->second, 0, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";
    refuse_tag(mark, tag);
    if (expects_key()) {
      Frame& frame = stack_.back();
      frame.key = value;
      frame.key_place = place_of(mark, value.size() + (quoted ? 2 : 0));
      frame.key_is_merge = value == "<<" && !quoted;
      frame.has_key = true;
      return;
    }
    auto node = make(YamlNode::Kind::kScalar, mark, value.size() + (quoted ? 2 : 0));
    node->text = value;
    take(std::move(node), anchor, mark);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override {
    merge(stack_.back());
    close();
  }

 private:
  struct Frame {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    std::string key;
    Place key_place;
    bool has_key = false;
    bool key_is_merge = false;
    std::vector<YamlEntry> merges;
    std::unordered_map<std::string, int> key_lines, merge_lines;  ///< of the keys met so far
  };

  [[nodiscard]] bool expects_key() const {
    return !stack_.empty() && stack_.back().node->is_map() && !stack_.back().has_key;
  }

  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    throw YAML::ParserException(mark, "tags such as '" + tag + "' have no meaning here");
  }

  [[nodiscard]] std::string path_here() const {
    if (stack_.empty()) return "";
    const Frame& frame = stack_.back();
    if (frame.node->is_list()) {
      return fmt::format("{}[{}]", frame.node->path, frame.node->items.size());
    }
    return frame.node->path.empty() ? frame.key : frame.node->path + "." + frame.key;
  }

  std::shared_ptr<YamlNode> make(YamlNode::Kind kind, const YAML::Mark& mark, std::size_t length) {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->place = place_of(mark, length);
    node->path = path_here();
    return node;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_tag(mark, tag);
    if (expects_key())
      throw YAML::ParserException(
          mark, "a list or a map stands where a key is expected; is a bracket open?");
    Frame frame;
    frame.node = make(kind, mark, 1);
    frame.anchor = anchor;
    frame.mark = mark;
    stack_.push_back(std::move(frame));
  }

  void close() {
    const Frame frame = std::move(stack_.back());
    stack_.pop_back();
    take(frame.node, frame.anchor, frame.mark);
  }

  /// A finished node finds its place in its parent.
  void take(YamlPtr node, YAML::anchor_t anchor, const YAML::Mark& mark) {
    if (anchor != 0) anchors_[anchor] = node;
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    if (expects_key()) throw YAML::ParserException(mark, "a key is one word");
    Frame& frame = stack_.back();
    if (frame.node->is_list()) {
      frame.node->items.push_back(std::move(node));
      return;
    }
    frame.has_key = false;
    YamlEntry entry{frame.key, frame.key_place, frame.node->path, std::move(node)};
    auto& lines = frame.key_is_merge ? frame.merge_lines : frame.key_lines;
    const auto [first, is_new] = lines.try_emplace(entry.key, entry.place.line);
    if (!is_new) {
      problems_->add(entry.place, fmt::format("key '{}' is given twice", entry.key),
                     fmt::format("it is given already at line {}", first->second));
      return;
    }
    (frame.key_is_merge ? frame.merges : frame.node->entries).push_back(std::move(entry));
  }

  void merge(Frame& frame) {
    for (const YamlEntry& merged : frame.merges) {
      if (merged.value->is_list()) {
        for (const YamlPtr& item : merged.value->items) merge_map(frame, merged, *item);
      } else {
        merge_map(frame, merged, *merged.value);
      }
    }
  }

  void merge_map(Frame& frame, const YamlEntry& merged, const YamlNode& source) {
    if (!source.is_map()) {
      problems_->add(merged.place,
                     fmt::format("<< merges a map or a list of maps, found {}", describe(source)),
                     "for example: <<: *base   with   &base in front of a map further up");
      return;
    }
    for (const YamlEntry& entry : source.entries) {
      const bool is_new = frame.key_lines.try_emplace(entry.key, entry.place.line).second;
      if (is_new) frame.node->entries.push_back(entry);
    }
  }

  Problems* problems_;
  YamlPtr root_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
};

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  const auto found =
      std::ranges::find_if(entries, [&](const YamlEntry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "'" + node.text + "'";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "?";
}

YamlPtr read_yaml(const std::string& text, Problems& problems) {
  TreeBuilder builder(problems);
  try {
    // A line may end in CR, but yaml-cpp takes the last one of a file for text.
    const bool ends_in_cr = text.ends_with('\r');
    std::istringstream stream(ends_in_cr ? text.substr(0, text.size() - 1) + '\n' : text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return nullptr;
    TreeBuilder rest(problems);
    if (parser.HandleNextDocument(rest) && rest.root() != nullptr) {
      problems.add(rest.root()->place, "a second YAML document begins here",
                   "a file is one scenario: leave '---' out");
    }
  } catch (const YAML::Exception& error) {
    const bool placed = !error.mark.is_null();
    const Place place = placed ? place_of(error.mark, 1) : Place{};
    // yaml-cpp calls a deep file a bad one; 0.8 appends an anchor's name, 0.7 does not.
    const bool deep = dynamic_cast<const YAML::DeepRecursion*>(&error) != nullptr;
    problems.add(place,
                 deep ? "lists and maps stand too deep inside each other"
                      : "not YAML: " + error.msg.substr(0, error.msg.find(": ")),
                 likely_cause(problems.line(place.line), place.column, error.msg));
    return nullptr;
  }
  return builder.root();
}

YamlPtr make_scalar(std::string text, const Place& place, std::string path) {
  auto node = std::make_shared<YamlNode>();
  node->kind = YamlNode::Kind::kScalar;
  node->place = place;
  node->path = std::move(path);
  node->text = std::move(text);
  return node;
}

YamlPtr with_entry(const YamlNode& node, std::string_view key, const Place& place, YamlPtr value) {
  auto copy = std::make_shared<YamlNode>(node);
  for (YamlEntry& entry : copy->entries) {
    if (entry.key != key) continue;
    entry.value = std::move(value);
    return copy;
  }
  copy->entries.push_back({std::string(key), place, copy->path, std::move(value)});
  return copy;
}

YamlPtr with_item(const YamlNode& node, std::size_t index, YamlPtr value) {
  auto copy = std::make_shared<YamlNode>(node);
  copy->items.at(index) = std::move(value);
  return copy;
}

std::string flow_text(const YamlNode& node) {
  std::string inside;
  const auto add = [&](const std::string& text) { inside += (inside.empty() ? "" : ", ") + text; };
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "~";
    case YamlNode::Kind::kScalar:
      return node.text;
    case YamlNode::Kind::kList:
      for (const YamlPtr& item : node.items) add(flow_text(*item));
      return '[' + inside + ']';
    case YamlNode::Kind::kMap:
      for (const YamlEntry& entry : node.entries) add(entry.key + ": " + flow_text(*entry.value));
      return '{' + inside + '}';
  }
  return inside;
}

}  // namespace attnbench
