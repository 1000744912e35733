// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <string>

#include "lib/result/answer.h"
#include "lib/result/model_step.h"
#include "lib/result/record_json.h"
#include "lib/result/run_json.h"
#include "lib/result/sinks.h"

namespace attnbench {

void write_json(const RunResult& run, std::ostream& out) {
  // A record a line: two files differ in the lines of the cells that differ.
  Json header = run_json(run);
  header["answer"] = answer_text(run);
  header["model_steps"] = model_steps_json(run);
  std::string root = header.dump(2, ' ', false, Json::error_handler_t::replace);
  root.resize(root.rfind("\n}"));
  out << root << ",\n  \"records\": [";
  const char* separator = "\n    ";
  for (const Record& record : run.records) {
    out << separator << json_line(record_json(record));
    separator = ",\n    ";
  }
  out << (run.records.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace attnbench
