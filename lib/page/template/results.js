/* The table of all cells, that of their errors, and the medians of several files side by side. */

/** A share of 1 as text over a bar. */
function shareBar(fraction) {
  if (fraction === null) return absent;
  const bar = element('span', {class: 'share', text: percentText(fraction)});
  bar.style.setProperty('--share', `${Math.min(100, Math.max(0, fraction * 100))}%`);
  return bar;
}

/** The mark of the outcome and, where something is not as it should be, why. */
function outcomeCell(row) {
  const cell = element('span', {}, outcomeMark(row));
  if (row.reason && ['failed', 'doubtful', 'not run'].includes(row.fate))
    cell.append(element('span', {class: 'why', text: row.reason}));
  return cell;
}

/** A median that claims nothing is none. A narrow screen has no column for its interval. */
function medianCell(row) {
  if (!row.claims) return absent;
  return element(
      'span', {}, timeText(row['time_us/median']),
      element('span', {class: 'why narrow', text: `±\u00a0${halfWidthText(row)}`}));
}

/** A narrow screen has no column for the mode. */
function backendCell(row) {
  return element(
      'span', {}, row.backend, element('span', {class: 'why narrow', text: row.modeText}));
}

// What the table of a terminal says of its ranks.
document.getElementById('standing-legend').textContent = report.about.get('vs_best_text');

const fileColumn = severalFiles ? [{title: 'File', key: 'fileLabel'}] : [];
const caseColumns = [
  {title: 'Case', key: 'label', about: report.about.get('case')},
  {title: 'Backend', key: 'backend', about: report.about.get('backend'), cell: backendCell},
  ...fileColumn,
  {title: 'Mode', key: 'modeText', whole: true, minor: true, about: report.about.get('cache')}
];
const outcomeColumn = {
  title: 'Outcome',
  key: 'outcome',
  about: report.about.get('outcome'),
  wide: true,
  cell: outcomeCell
};
const caseGroup = (row) => `${row.file} ${row.scenario} ${row.case}`;

(() => {
  const of = (key, title, cell, extra = {}) =>
      ({title, key, numeric: true, about: report.about.get(key), cell, ...extra});
  const table = new DataTable(bodyOf('results'), {
    label: 'Results',
    open: showCell,
    stacked: true,
    group: caseGroup,
    columns: [
      ...caseColumns, of('time_us/median', 'Median', medianCell), {
        title: '±',
        numeric: true,
        minor: true,
        about: 'Half-width of the 95 % interval over the median; *: wider than asked for',
        value: halfWidth,
        cell: (row) => (row.claims ? halfWidthText(row) : '')
      },
      of('vs_best', 'vs best',
         (row) =>
             element('span', {class: row.is_best ? 'best' : undefined, text: row.vs_best_text})),
      of('gb_per_s', 'GB/s', (row) => numberText(row.gb_per_s), {minor: true}),
      of('tflop_per_s', 'TFLOP/s', (row) => numberText(row.tflop_per_s), {minor: true}),
      of('roofline', 'Roof', (row) => shareBar(row.roofline), {minor: true}),
      of('plan_us', 'Plan', (row) => timeText(row.plan_us), {minor: true}), outcomeColumn
    ]
  });
  onFilter((rows) => table.show(rows));
})();

(() => {
  const of = (key, title, extra = {}) => ({
    title,
    key,
    numeric: true,
    about: report.about.get(key),
    // What has no number here is infinite or no number: the worst of all.
    value: (row) => row[key] ?? Infinity,
    cell: (row) => (row[key] === null ? '∞ or NaN' : threeDigits(row[key])),
    ...extra
  });
  const columns = [
    ...caseColumns, of('error/bound_ratio', 'error/bound'),
    of('error/rms_ratio', 'RMS ratio', {minor: true}), of('error/nmse', 'NMSE', {minor: true}), {
      ...of('error/lse_bound_ratio', 'LSE/bound', {minor: true}),
      value: (row) => row['error/lse_bound_ratio'],
      cell: (row) => numberText(row['error/lse_bound_ratio'])
    },
    of('error/max_abs', 'max |error|', {minor: true}),
    {title: 'Data set', key: 'error/fill', minor: true, about: report.about.get('error/fill')},
    outcomeColumn
  ];
  const table = new DataTable(
      bodyOf('errors'),
      {label: 'Errors', open: showCell, stacked: true, columns, empty: 'Nothing was compared.'});
  table.order = {
    column: columns.find((column) => column.key === 'error/bound_ratio'),
    descending: true
  };
  table.markOrder();
  onFilter((rows) => table.show(rows.filter((row) => row['error/rows'] > 0)));
})();

(() => {
  if (!severalFiles) return;
  document.getElementById('files').hidden = false;
  const timeIn = (file) => (cell) => cell.rows[file]?.['time_us/median'] ?? null;
  function cellIn(file) {
    return (cell) => {
      const row = cell.rows[file];
      if (!row) return '';
      if (!row.claims) return outcomeMark(row);
      const first = cell.rows.find((each) => each?.claims);
      const ratio = first === row ? null : row['time_us/median'] / first['time_us/median'];
      return element(
          'span', {}, timeText(row['time_us/median']),
          ...(ratio === null ? [] :
                               [element('span', {class: 'why', text: `× ${threeDigits(ratio)}`})]));
    };
  }
  const show = (cell) => showCell(cell.rows.find((row) => row));
  const table = new DataTable(bodyOf('files'), {
    label: 'Files side by side',
    open: show,
    stacked: true,
    group: (cell) => cell.label,
    columns: [
      {title: 'Case', key: 'label'}, {title: 'Backend', key: 'backend', cell: backendCell},
      {title: 'Mode', key: 'modeText', whole: true, minor: true},
      ...report.files.map(
          (file, i) => ({title: file.label, numeric: true, value: timeIn(i), cell: cellIn(i)}))
    ]
  });
  onFilter((rows) => table.show([...groupedBy(rows, cellKey).values()].map((group) => {
    const rowsOf = report.files.map((file, i) => group.find((row) => row.file === i));
    const {label, backend, modeText} = group[0];
    return {label, backend, modeText, rows: rowsOf};
  })));
})();
