/* Latency over the length of a request, one workload and one mode at a time. */

(() => {
  const host = bodyOf('latency');
  const columns = [
    {title: 'Case', key: 'label'},
    {title: 'Backend', key: 'series'},
    {
      title: 'Keys',
      key: 'kv_len',
      numeric: true,
      about: report.about.get('kv_len'),
      cell: (row) => lengthText(row.kv_len)
    },
    {
      title: 'Median',
      key: 'time_us/median',
      numeric: true,
      cell: (row) => timeText(row['time_us/median'])
    },
    {
      title: '95 % interval',
      key: 'time_us/lo',
      numeric: true,
      minor: true,
      cell: (row) =>
          (row['time_us/lo'] === null ?
               absent :
               `${timeText(row['time_us/lo'])} … ${timeText(row['time_us/hi'])}`)
    },
  ];
  const panel = new PlotPanel(host, {label: 'Latency by length', columns});
  const every = '';
  let rows = [];

  function redraw() {
    const shown = shownRows();
    panel.about.textContent =
        shown.length > 0 ? '' : 'No cell of this workload was timed in this mode.';
    panel.show(shown);
  }
  const workload = labelledSelect('Workload', [], redraw);
  const mode = labelledSelect('Mode', [], redraw);
  panel.controls.append(workload.field, mode.field);

  const nameOf = (row) => (severalScenarios ? `${row.scenario}: ${row.workload}` : row.workload);
  const lengthsOf = (group) => new Set(group.map((row) => row.kv_len)).size;

  function shownRows() {
    return rows.filter(
        (row) => (workload.select.value === every || nameOf(row) === workload.select.value) &&
            row.modeText === mode.select.value);
  }

  /** Those with most lengths first; behind them all workloads at once, as points. */
  function setChoices() {
    const groups =
        [...groupedBy(rows, nameOf)].map(([name, group]) => ({name, lengths: lengthsOf(group)}));
    const curves = groups.filter(({lengths}) => lengths > 1).sort((a, b) => b.lengths - a.lengths);
    setOptions(workload.select, [
      ...curves.map(({name, lengths}) => [name, `${name} (${lengths} lengths)`]),
      [every, 'all, as points']
    ]);
    const modes =
        [...groupedBy(rows, (row) => row.modeText)].sort((a, b) => b[1].length - a[1].length);
    setOptions(mode.select, modes.map(([name]) => [name, name]));
  }

  const point = (row) => (
      {x: row.kv_len, y: row['time_us/median'], lo: row['time_us/lo'], hi: row['time_us/hi'], row});

  /** The points of a curve and, under it, the band of its intervals. */
  function curve(group) {
    const sorted = [...group].sort((a, b) => a.kv_len - b.kv_len);
    const line =
        {...panel.pointDataset(sorted, point), showLine: true, tension: 0, intervals: true};
    const edge = (key, fill) => ({
      data: sorted.map((row) => ({x: row.kv_len, y: row[key] ?? row['time_us/median']})),
      showLine: true,
      pointRadius: 0,
      pointHitRadius: 0,
      borderWidth: 0,
      tension: 0,
      fill,
      backgroundColor: `${seriesStyle(group[0]).colour}33`
    });
    return [line, edge('time_us/lo', '+1'), edge('time_us/hi', false)];
  }

  panel.plot = (series) => {
    const isCurve = workload.select.value !== every;
    const datasets = [...series.values()].flatMap(
        (group) =>
            (isCurve ? curve(group) : [{...panel.pointDataset(group, point), intervals: true}]));
    const powersOfTwo = (axis) => {
      const ticks = [];
      for (let power = Math.ceil(Math.log2(axis.min)); 2 ** power <= axis.max * 1.0001; ++power)
        ticks.push({value: 2 ** power});
      const step = Math.ceil(ticks.length / 9);
      axis.ticks = ticks.filter((tick, i) => i % step === 0);
    };
    const shown = [...series.values()].flat();
    return {
      datasets,
      scales: {
        x: logAxis(
            'keys of a request (mean)', (value) => lengthText(value),
            {afterBuildTicks: powersOfTwo, ...roomAround(shown.map((row) => row.kv_len))}),
        y: logAxis(
            'median time', decimalTicks((us) => timeText(us).replace(/\.0+ /, ' ')),
            roomAround(shown.map((row) => row['time_us/median'])))
      }
    };
  };
  panel.tooltip = (row) =>
      [`${row.series} · ${row.modeText}`,
       `${timeText(row['time_us/median'])} ± ${halfWidthText(row)}`,
       `${lengthText(row.kv_len)} keys · ${countText(row.requests)} request${
           row.requests === 1 ? '' : 's'}`];

  onFilter((filtered) => {
    rows = filtered.filter((row) => row.claims && row.kv_len > 0);
    setChoices();
    redraw();
  });
})();
