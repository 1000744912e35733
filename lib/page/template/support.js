/* Case by backend: what ran, and the reasons of what did not. */

(() => {
  const host = bodyOf('support');
  const series = distinct(report.rows, 'series');
  const matrixHost = element('div'), reasonsHost = element('div');
  host.append(matrixHost, element('h3', {text: 'Reasons'}), reasonsHost);

  // Numbered over all rows, so that a number means the same whatever is filtered.
  const reasons = new Map();
  for (const row of report.rows) {
    if (row.fate !== 'not run' && row.fate !== 'failed') continue;
    const text = row.reason || row.outcome;
    if (!reasons.has(text)) reasons.set(text, {number: reasons.size + 1, text});
  }
  const reasonOf = (row) => reasons.get(row.reason || row.outcome);

  /** "eager" where the launch alone decides what ran, else the modes that did. */
  function wordsOf(ran, rows) {
    const launches = distinct(ran, 'launch');
    const decides = rows.every((row) => launches.includes(row.launch) === ran.includes(row));
    return (decides ? launches : distinct(ran, 'modeText')).join(', ');
  }

  /** What happened to one case on one backend, over its modes. */
  function fateOf(rows) {
    if (!rows) return {text: '', fate: ''};
    const worst = ['failed', 'not run'].find((fate) => rows.some((row) => row.fate === fate));
    const stopped = rows.filter((row) => row.fate === 'failed' || row.fate === 'not run');
    const numbers = [...new Set(stopped.map((row) => reasonOf(row).number))].join(', ');
    const ran = rows.filter((row) => row.fate !== 'not run');
    if (worst === 'failed') {
      const {outcome} = stopped.find((row) => row.fate === 'failed');
      return {text: `✕ ${outcome}`, numbers, fate: 'failed'};
    }
    if (worst === undefined) return {text: '✓ ran', numbers: '', fate: 'fine'};
    if (ran.length === 0) return {text: '– no', numbers, fate: 'not-run'};
    return {text: `✓ ${wordsOf(ran, rows)} only`, numbers, fate: 'partly'};
  }

  const order = {'': 0, failed: 1, 'not-run': 2, partly: 3, fine: 4};
  function column(name) {
    return {
      title: name,
      value: (each) => order[fateOf(each.bySeries.get(name)).fate],
      cell: (each) => {
        const {text, numbers, fate} = fateOf(each.bySeries.get(name));
        return element(
            'span', {class: `fate ${fate}`}, text,
            ...(numbers ? [element('sup', {text: ` ${numbers}`})] : []));
      }
    };
  }

  function showCase(each) {
    const items = [...each.bySeries].map(
        ([name, rows]) => element(
            'div', {}, element('dt', {text: name}),
            ...rows.map(
                (row) => element(
                    'dd', {}, `${row.modeText}: `, outcomeMark(row),
                    row.fate !== 'fine' && row.reason ? ` ${row.reason}` : ''))));
    showDialog(each.label, element('dl', {class: 'fates'}, ...items));
  }

  const matrix = new DataTable(matrixHost, {
    label: 'Support',
    open: showCase,
    pageSize: 25,
    columns: [{title: 'Case', key: 'label'}, ...series.map(column)]
  });
  const list = new DataTable(reasonsHost, {
    label: 'Reasons',
    pageSize: 25,
    empty: 'Every backend ran every case.',
    columns: [
      {title: 'No.', key: 'number', cell: (each) => String(each.number)},
      {title: 'Reason', key: 'text'}, {title: 'Backends', key: 'backends'},
      {title: 'Cells', key: 'cells', numeric: true, cell: (each) => countText(each.cells)}
    ]
  });

  onFilter((rows, all) => {
    matrix.show([...groupedBy(all, (row) => row.label).values()].map(
        (group) => ({label: group[0].label, bySeries: groupedBy(group, (row) => row.series)})));
    const stopped = all.filter((row) => row.fate === 'not run' || row.fate === 'failed');
    list.show([...groupedBy(stopped, reasonOf)].map(
        ([reason, group]) =>
            ({...reason, backends: distinct(group, 'backend').join(', '), cells: group.length})));
  });
})();
