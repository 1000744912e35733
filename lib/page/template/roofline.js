/* Arithmetic intensity against what was reached, under the ceilings of each device. */

(() => {
  const host = bodyOf('roofline');
  const columns = [
    {title: 'Case', key: 'label'},
    {title: 'Backend', key: 'series'},
    {title: 'Mode', key: 'modeText', whole: true, minor: true},
    {
      title: 'FLOP/byte',
      key: 'intensity',
      numeric: true,
      about: report.about.get('intensity'),
      cell: (row) => numberText(row.intensity)
    },
    {
      title: 'TFLOP/s',
      key: 'tflop_per_s',
      numeric: true,
      about: report.about.get('tflop_per_s'),
      cell: (row) => numberText(row.tflop_per_s)
    },
    {
      title: 'Roof',
      key: 'roofline',
      numeric: true,
      about: report.about.get('roofline'),
      cell: (row) => percentText(row.roofline)
    },
  ];
  const panel = new PlotPanel(host, {label: 'Roofline', columns});

  /** The devices that the rows ran on, each file with its own ceilings. */
  function roofsOf(rows) {
    return [...groupedBy(rows, (row) => JSON.stringify([row.file, row.device])).values()]
        .map(([{file, device}]) => {
          const {devices, ceilings, label} = report.files[file];
          const rates = devices.find((each) => each.name === device)?.ceilings ?? ceilings;
          return {
            name: severalFiles ? `${device} (${label})` : device,
            file,
            read: rates.read_bytes_per_s,
            flop: rates.flop_per_s
          };
        })
        .filter(({read, flop}) => read > 0 && flop > 0);
  }

  function roofDataset({read, flop, file}, {min: from, max: to}) {
    const ridge = flop / read;
    const xs = [from, ...(ridge > from && ridge < to ? [ridge] : []), to];
    const ink = chartInk();
    return {
      type: 'line',
      data: xs.map((x) => ({x, y: Math.min(x * read, flop) / 1e12})),
      borderColor: ink.text,
      borderWidth: 1.5,
      borderDash: file === 0 ? [] : [2 + 3 * file, 3],
      pointRadius: 0,
      pointHitRadius: 0,
      tension: 0,
      order: 1
    };
  }

  panel.plot = (series) => {
    const roofs = roofsOf(panel.rows);
    const ridges = roofs.map(({read, flop}) => flop / read);
    const xs = [...panel.rows.map((row) => row.intensity), ...ridges];
    const across = roomAround(xs);
    const up = roomAround(
        [...roofs.map(({flop}) => flop / 1e12), ...panel.rows.map((row) => row.tflop_per_s)]);
    const points = [...series.values()].map(
        (rows) => panel.pointDataset(rows, (row) => ({x: row.intensity, y: row.tflop_per_s, row})));
    const plain = decimalTicks((value) => String(Number(value.toPrecision(3))));
    return {
      datasets: [...points, ...roofs.map((roof) => roofDataset(roof, across))],
      scales: {x: logAxis('FLOP per byte', plain, across), y: logAxis('TFLOP/s', plain, up)},
    };
  };
  panel.tooltip = (row) =>
      [`${row.series} · ${row.modeText}`,
       `${siText(row.tflop_per_s * 1e12, 'FLOP/s')} at ${threeDigits(row.intensity)} FLOP/byte`,
       `${percentText(row.roofline)} of the roof`];

  onFilter((rows) => {
    const shown = rows.filter((row) => row.claims && row.intensity !== null && row.tflop_per_s > 0);
    const left = rows.filter((row) => row.claims).length - shown.length;
    panel.about.textContent = [
      ...roofsOf(shown).map(
          ({name, read, flop}) =>
              `${name}: reads ${siText(read, 'B/s')}, computes ${siText(flop, 'FLOP/s')}`),
      ...(left > 0 ? [`${countText(left)} cells that compute nothing are left out`] : [])
    ].join(' · ');
    panel.show(shown);
  });
})();
