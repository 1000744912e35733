/* The answer, case by case: a row for each comparison, a column for each backend, coloured by how
   far it is behind the fastest right one. The numbers and marks say the same without colour. */

(() => {
  const section = document.getElementById('matrix');
  const ran = (row) => row.fate !== 'not run';
  if (distinct(report.rows.filter(ran), 'backend').length < 2) return;
  section.hidden = false;
  document.getElementById('matrix-legend').textContent = report.about.get('vs_best_text');

  /** Cells whose times are compared: one case in one mode, of one file. */
  const comparisons = [
    ...groupedBy(report.rows, ({file, scenario, case: id, step, cache, launch}) => JSON.stringify([
      file, scenario, id, step, cache, launch
    ])).values()
  ].map((rows) => {
    const {label, modeText, file, fileLabel} = rows[0];
    return {
      label,
      modeText,
      file,
      fileLabel,
      rows,
      of: new Map(rows.map((row) => [row.backend, row]))
    };
  });
  for (const comparison of comparisons) {
    for (const row of comparison.rows) row.comparison = comparison;
  }

  /** The upper ends of the colours of those that are not the best. */
  const steps = [1.1, 1.5, 2, Infinity];
  function tintOf(row) {
    if (!row) return '';
    if (row.fate === 'failed') return 'heat crossed';
    if (row.vs_best === null) return 'heat';
    return `heat heat-${row.is_best ? 0 : 1 + steps.findIndex((end) => row.vs_best <= end)}`;
  }

  function contentOf(row) {
    if (!row) return '';
    if (row.fate === 'not run') {
      return element(
          'span', {class: 'fate not-run'}, element('span', {'aria-hidden': 'true', text: '–'}),
          element('span', {class: 'unseen', text: row.outcome}));
    }
    if (row.vs_best === null) return outcomeMark(row);
    return element('span', {class: row.is_best ? 'best' : undefined, text: row.vs_best_text});
  }

  /** Those that are right by their times, then those that ran, then the others. */
  function byRatio(one, other) {
    const rank = (row) => row.vs_best ?? (ran(row) ? 1e300 : 2e300);
    return rank(one) - rank(other);
  }

  /** Who is fastest, in words. */
  function fastestOf({rows}) {
    const right = rows.filter((row) => row.vs_best !== null).sort(byRatio);
    if (right.length === 0) return {text: rows.some(ran) ? 'none is right' : 'none ran'};
    const [first] = right, time = timeText(first['time_us/median']);
    if (right.length === 1) return {text: `only ${first.backend}`, time};
    if (!first.is_best) return {text: `${first.backend} ?`, time};
    const tied = right.filter((row) => row.is_best).map((row) => row.backend);
    const more = tied.length > 3 ? ` and ${tied.length - 2} more` : '';
    return {text: tied.slice(0, more ? 2 : 3).join(' = ') + more, time};
  }

  /** All cells of a comparison, the fastest first. */
  function showComparison({label, modeText, fileLabel, rows}) {
    const host = element('div');
    showDialog([label, modeText, ...(severalFiles ? [fileLabel] : [])].join(' · '), host);
    const table = new DataTable(host, {
      label: 'Cells',
      open: showCell,
      columns: [
        {title: 'Backend', key: 'backend'}, {
          title: 'Median',
          key: 'time_us/median',
          numeric: true,
          cell: (row) => (row.claims ? timeText(row['time_us/median']) : absent)
        },
        {
          title: '±',
          numeric: true,
          value: halfWidth,
          cell: (row) => (row.claims ? halfWidthText(row) : '')
        },
        {title: 'vs best', key: 'vs_best', numeric: true, cell: contentOf}, outcomeColumn
      ]
    });
    table.show([...rows].sort(byRatio));
  }

  // In the order of the ranking, in which those that failed come last.
  const ranked = report.files.flatMap((file) => file.summaries.map((each) => each.backend));
  const columns = [...new Set([...ranked, ...backendOrder])].map(
      (name) => ({
        title: name,
        name,
        numeric: true,
        value: ({of}) => of.get(name)?.vs_best ?? null,
        cell: ({of}) => contentOf(of.get(name)),
        tint: ({of}) => tintOf(of.get(name))
      }));
  const severalModes = distinct(report.rows, 'modeText').length > 1;
  const leading = [
    {title: 'Case', key: 'label'}, ...fileColumn,
    ...(severalModes ? [{title: 'Mode', key: 'modeText', whole: true}] : []), {
      title: 'Fastest here',
      about: 'Of all backends, also of those that the filters leave out',
      value: (comparison) => fastestOf(comparison).text,
      cell(comparison) {
        const {text, time} = fastestOf(comparison);
        if (!time) return text;
        return element('span', {}, `${text} `, element('span', {class: 'time', text: time}));
      }
    }
  ];
  const table = new DataTable(bodyOf('matrix'), {
    label: 'vs best by case',
    open: showComparison,
    pageSize: 25,
    group: ({file, label}) => `${file} ${label}`,
    columns: leading
  });
  // A row is whole, but for the backends that the filters leave out of all rows.
  onFilter((rows, all) => {
    const shown = new Set(rows.map((row) => row.comparison));
    const names = new Set(
        all.filter((row) => ran(row) && shown.has(row.comparison)).map((row) => row.backend));
    table.setColumns([...leading, ...columns.filter(({name}) => names.has(name))]);
    table.show([...shown]);
  });
})();
