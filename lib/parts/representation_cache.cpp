// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/representation_cache.h"

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/batch/indexer_inputs.h"
#include "lib/contents/label_rows.h"
#include "lib/contents/unit_rows.h"

namespace attnbench {
namespace {

/// How often the page of a unit in the cache was written. Small, as of a pool that is young.
std::int32_t version_of(std::int64_t page, std::int64_t row) {
  const std::uint64_t bits =
      combine(static_cast<std::uint64_t>(page), static_cast<std::uint64_t>(row));
  return static_cast<std::int32_t>(mix64(bits) % 1000 + 1);
}

/// A stale representation is of the version before; so is what lies where nobody has a unit.
void write_versions(const Contents& contents, const Case& c, const BatchLayout& layout,
                    bool of_rows, Device& device, std::byte* to) {
  const std::int64_t rows = c.layer.selection.complete_pools(c.kv_cache.page_size);
  std::vector<std::int32_t> versions;
  const std::vector<PageOwner> owners = page_owners(c, layout);
  for (std::int64_t page = 0; page < std::ssize(owners); ++page) {
    const PageOwner& owner = owners[to_size(page)];
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool fresh =
          owner.request >= 0 && !is_stale(contents, owner.request, owner.page * rows + row);
      versions.push_back(version_of(page, row) - (of_rows && !fresh ? 1 : 0));
    }
  }
  device.copy_from_host(to, versions.data(), std::span(versions).size_bytes());
}

std::byte* store_bf16(float number, std::byte* to) {
  store(DType::kBF16, to, number);
  return to + size_bytes(DType::kBF16);
}

void store_label(const Contents& contents, const Case& c, std::int64_t request, std::int64_t key,
                 std::byte* to) {
  for (int kv_head = 0; kv_head < c.layer.heads_kv; ++kv_head) {
    const LabelledKey elements = labelled_key(contents, request, key, kv_head);
    for (int i = 0; i < c.layer.selection.channels; ++i) {
      to = store_bf16(elements[to_size(heavy_channel(contents, kv_head, i))], to);
    }
  }
}

void write_channels(const Contents& contents, const Case& c, Device& device, std::byte* to) {
  std::vector<std::int32_t> channels;
  for (int kv_head = 0; kv_head < c.layer.heads_kv; ++kv_head) {
    for (int i = 0; i < c.layer.selection.channels; ++i) {
      channels.push_back(heavy_channel(contents, kv_head, i));
    }
  }
  device.copy_from_host(to, channels.data(), std::span(channels).size_bytes());
}

}  // namespace

std::vector<PageOwner> page_owners(const Case& c, const BatchLayout& layout) {
  const std::int64_t page_size = c.kv_cache.page_size;
  std::vector<PageOwner> owners(to_size(layout.num_pages));
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    const auto slots = layout.req_to_token_pool.row(layout.batch.req_pool_indices[to_size(r)]);
    for (std::int64_t page = 0; page * page_size < c.requests[to_size(r)].kv_len; ++page) {
      PageOwner& owner = owners[to_size(slots[to_size(page * page_size)] / page_size)];
      const bool has_more = owner.request < 0 || c.requests[to_size(r)].kv_len >
                                                     c.requests[to_size(owner.request)].kv_len;
      if (has_more) owner = {r, page};  // of those that share it
    }
  }
  return owners;
}

std::int64_t representation_bytes(const Case& c) {
  if (c.layer.selection.scores_labels()) {
    return std::int64_t{c.layer.heads_kv} * c.layer.selection.channels * size_bytes(DType::kBF16);
  }
  return c.layer.selection_groups() * c.layer.selection.rows_of_unit() * IndexerInputs::kDim *
         size_bytes(DType::kBF16);
}

void store_representation(const Contents& contents, const Case& c, std::int64_t request,
                          std::int64_t unit, std::byte* to) {
  if (c.layer.selection.scores_labels()) return store_label(contents, c, request, unit, to);
  for (std::int64_t group = 0; group < c.layer.selection_groups(); ++group) {
    const UnitRows rows = unit_rows(contents, request, unit, group);
    for (std::int64_t i = 0; i < c.layer.selection.rows_of_unit(); ++i) {
      for (const float number : rows[to_size(i)]) to = store_bf16(number, to);
    }
  }
}

PartInput channels_input(const Case& c) {
  return {.name = "index_channels",
          .bytes = std::int64_t{c.layer.heads_kv} * c.layer.selection.channels *
                   static_cast<std::int64_t>(sizeof(std::int32_t)),
          .is_parameter = true,
          .write = [&c](const Contents& contents, Device& device, std::byte* to) {
            write_channels(contents, c, device, to);
          }};
}

std::vector<PartInput> version_inputs(const Case& c, const BatchLayout& layout) {
  const std::int64_t rows = c.layer.selection.complete_pools(c.kv_cache.page_size);
  std::vector<PartInput> inputs;
  for (const bool of_rows : {false, true}) {
    inputs.push_back(
        {.name = of_rows ? "row_versions" : "unit_versions",
         .bytes = layout.num_pages * rows * static_cast<std::int64_t>(sizeof(std::int32_t)),
         .is_parameter = true,
         .write = [&c, &layout, of_rows](const Contents& contents, Device& device, std::byte* to) {
           write_versions(contents, c, layout, of_rows, device, to);
         }});
  }
  return inputs;
}

}  // namespace attnbench
