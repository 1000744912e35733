// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plugin_indices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>
#include <utility>

#include "lib/base/int_math.h"

namespace attnbench {
namespace {

constexpr std::int64_t kPlaceAlignment = 256;

/// Where arrays begin that lie one after another, each with room for its longest; the end last.
std::vector<std::size_t> places_of(const IndexArrays& arrays) {
  std::vector<std::size_t> places{0};
  for (const IndexArray& array : arrays) {
    const std::int64_t bytes = array.most * array.element_bytes();
    places.push_back(places.back() + static_cast<std::size_t>(round_up(bytes, kPlaceAlignment)));
  }
  return places;
}

attnbench_tensor dense_tensor(void* data, std::int32_t dtype,
                              const std::vector<std::int64_t>& shape, DeviceKind device) {
  attnbench_tensor tensor{};
  tensor.data = data;
  tensor.device = static_cast<std::int32_t>(device);
  tensor.dtype = dtype;
  tensor.rank = static_cast<std::int32_t>(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    tensor.shape[d] = shape[d];
    tensor.stride[d] = stride;
    stride *= shape[d];
  }
  return tensor;
}

attnbench_tensor tensor_of(const IndexArray& array, std::byte* data, DeviceKind device) {
  constexpr std::array kDtypes{ATTNBENCH_I64, ATTNBENCH_U8, ATTNBENCH_I32, ATTNBENCH_I64};
  return dense_tensor(array.is_number() ? nullptr : data, kDtypes[array.values.index()],
                      array.shape, device);
}

void tell(char* message, std::size_t size, std::string_view text) {
  if (message == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.begin(), length, message);
  message[length] = '\0';
}

}  // namespace

PluginIndices::Call::Call(PluginIndices& indices, const ForwardBatch& batch, Stream* stream)
    : indices_(indices) {
  indices.batch_ = &batch;
  indices.stream_ = stream;
  for (auto& [name, built] : indices.formats_) built.is_current = false;
}

int PluginIndices::build(void* self, const char* format, const attnbench_index** first,
                         char* message, std::size_t message_size) {
  try {
    const Built& built = static_cast<PluginIndices*>(self)->built(format == nullptr ? "" : format);
    if (!built.indices.why_not.empty()) {
      tell(message, message_size, built.indices.why_not);
      return ATTNBENCH_UNSUPPORTED;
    }
    *first = built.list.data();
    return ATTNBENCH_OK;
  } catch (const std::exception& error) {
    tell(message, message_size, error.what());
    return ATTNBENCH_ERROR;
  }
}

const PluginIndices::Built& PluginIndices::built(std::string_view name) {
  if (batch_ == nullptr) {
    throw std::runtime_error("index arrays are built in plan() and update() alone");
  }
  const IndexFormat& format = index_format(name);
  const std::string key(name);
  if (const IndexOutputs* const outputs = batch_->index_outputs; outputs != nullptr) {
    return outputs_as(formats_[key], *outputs, format);
  }
  if (stream_ != nullptr && !formats_.contains(key)) {
    throw std::runtime_error(
        fmt::format("update() asks for the index arrays of '{}', for which plan() has not asked: "
                    "there is no memory for them",
                    name));
  }
  Built& built = formats_[key];
  if (!built.is_current) build_of_step(format, built);
  return built;
}

const PluginIndices::Built& PluginIndices::outputs_as(Built& built, const IndexOutputs& outputs,
                                                      const IndexFormat& format) {
  const std::string_view form = to_string(outputs.form);
  built.indices = {&format, {}, {}};
  const bool builds_arrays = batch_->index_scores == nullptr && batch_->indexer == nullptr;
  if (!builds_arrays || format.name != form) {
    built.indices.why_not = builds_arrays
                                ? fmt::format("a step that builds {} has no other arrays", form)
                                : "a step that scores or selects keys has no index arrays";
    return built;
  }
  built.list.assign(outputs.arrays.size(), {});
  for (std::size_t i = 0; i < outputs.arrays.size(); ++i) {
    const IndexOutput& each = outputs.arrays[i];
    attnbench_index& to = built.list[i];
    to.struct_size = sizeof to;
    to.next = i + 1 < outputs.arrays.size() ? &built.list[i + 1] : nullptr;
    to.name = each.name;
    to.tensor = dense_tensor(each.data, ATTNBENCH_I32, each.shape, memory_->device().info().kind);
  }
  return built;
}

void PluginIndices::build_of_step(const IndexFormat& format, Built& built) {
  const DeviceInfo& device = memory_->device().info();
  const KvPool* const pool = batch_->token_to_kv_pool;
  IndexStep step{*batch_, *batch_->problem, pool == nullptr ? 0 : pool->num_pages};
  if (device.kind == DeviceKind::kCuda) step.multiprocessors = device.units;
  built.indices = build_indices(format, step);
  built.is_current = true;
  if (!built.indices.why_not.empty()) return;
  std::vector<std::size_t> places = places_of(built.indices.arrays);
  if (stream_ == nullptr) {
    built.memory = memory_->reserve_indices(format.name, places.back());
    built.places = std::move(places);
  } else if (places != built.places) {
    throw std::runtime_error(
        fmt::format("the index arrays of '{}' outgrow the room that plan() made", format.name));
  }
  copy(built);
  link(built);
}

void PluginIndices::copy(const Built& built) {
  for (std::size_t i = 0; i < built.indices.arrays.size(); ++i) {
    const auto bytes = built.indices.arrays[i].bytes();
    std::byte* const to = built.memory + built.places[i];
    if (stream_ == nullptr) {
      memory_->device().copy_from_host(to, bytes.data(), bytes.size());
    } else {
      memory_->device().enqueue_copy_from_host(*stream_, to, bytes.data(), bytes.size());
    }
  }
}

void PluginIndices::link(Built& built) {
  const IndexArrays& arrays = built.indices.arrays;
  built.list.assign(arrays.size(), {});
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    attnbench_index& to = built.list[i];
    to.struct_size = sizeof to;
    to.next = i + 1 < arrays.size() ? &built.list[i + 1] : nullptr;
    to.name = arrays[i].name;
    to.tensor = tensor_of(arrays[i], built.memory + built.places[i], memory_->device().info().kind);
    to.host = arrays[i].is_number() ? nullptr : arrays[i].bytes().data();
    if (arrays[i].is_number()) to.number = std::get<std::int64_t>(arrays[i].values);
  }
}

}  // namespace attnbench
