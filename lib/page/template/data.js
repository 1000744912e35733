/* The results: read once, never changed. Every text of it may hold anything and is shown as text
 * only. */

/** Columns that follow from others: a rate, where a cell claims one. */
const rate = (work, perMicrosecond) => (row) =>
    (row.claims && row['time_us/median'] > 0 ? row[work] / row['time_us/median'] / perMicrosecond :
                                               null);
const computed = {
  tflop_per_s: rate('flops', 1e6),
  gb_per_s: rate('bytes_unique', 1e3)
};

const report = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  data.rows = rowsOf(data.row_count, data.columns, computed);
  data.about = new Map(data.columns.map((column) => [column.key, column.about]));
  return data;
})();

const severalFiles = report.files.length > 1;
const severalScenarios = new Set(report.rows.map((row) => row.scenario)).size > 1;

/**
 * What a record and a verdict of the gate have in common: names for people, and what is searched.
 */
function describe(cell, ...searched) {
  cell.label = severalScenarios ? `${cell.scenario}/${cell.case}` : cell.case;
  const graph = cell.launch === 'graph' ? ' · graph' : '';
  cell.modeText = cell.cache + graph + (cell.step === 'attention' ? '' : ` · ${cell.step}`);
  cell.haystack = [cell.label, cell.backend, cell.modeText, ...searched].join('\n').toLowerCase();
}

for (const row of report.rows) {
  row.fileLabel = report.files[row.file].label;
  row.series = severalFiles ? `${row.backend} · ${row.fileLabel}` : row.backend;
  describe(
      row, row.workload, row.model, row.mode, row.dtype, row.kv_dtype, row.outcome, row.status,
      row.reason, row.fileLabel);
}

/** The line that runs a cell again; \u0001 and \u0002 stand for its own case and backend. */
function reproOf(cell) {
  return cell.repro.replace(
      /[\u0001\u0002]/g, (mark) => (mark === '\u0001' ? cell.case : cell.backend));
}

/** Distinct values in the order in which they first come. */
function distinct(rows, key) {
  return [...new Set(rows.map((row) => row[key]))];
}

/** Rows by the value of `keyOf`, in the order in which the values first come. */
function groupedBy(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group)
      group.push(row);
    else
      groups.set(key, [row]);
  }
  return groups;
}

/** Which cell a row is of, whatever file it is in. */
function cellKey(row) {
  return JSON.stringify([row.scenario, row.case, row.backend, row.step, row.cache, row.launch]);
}
