/* The gate's verdicts: what changed between base and new, the most harmful first. */

(() => {
  const {comparison} = report;
  if (!comparison) return;
  const section = document.getElementById('comparison');
  section.hidden = false;
  const host = bodyOf('comparison');
  host.append(
      element(
          'p', {class: 'lead'}, element('strong', {text: comparison.new}), ' against ',
          element('strong', {text: comparison.base})),
      element('p', {text: comparison.summary.join(' · ')}),
      ...(comparison.remarks.length === 0 ? [] : [
        element('ul', {class: 'note'}, ...comparison.remarks.map((text) => element('li', {text})))
      ]));

  comparison.cells = rowsOf(comparison.row_count, comparison.columns);
  /** Both times and the interval of their ratio; null where a side has no time. */
  function speedOf(cell) {
    if (cell['speed/base_us'] === null) return null;
    const [median, lo, hi] = ['median', 'lo', 'hi'].map((end) => cell[`speed/ratio/${end}`]);
    return {
      base_us: cell['speed/base_us'],
      new_us: cell['speed/new_us'],
      ratio: {median, lo, hi},
      allowed_change: cell['speed/allowed_change'],
      pairs: cell['speed/pairs']
    };
  }
  for (const cell of comparison.cells) {
    cell.speed = speedOf(cell);
    describe(cell, cell.mix, cell.verdict_text, cell.why);
    cell.change = cell.speed ? cell.speed.ratio.median : null;
  }

  // All plots share one scale, so that their lengths compare. What goes beyond 50 % ends at its
  // edge.
  let widest = 0.02;
  for (const {speed} of comparison.cells) {
    if (speed)
      widest = Math.max(widest, Math.abs(speed.ratio.lo - 1), Math.abs(speed.ratio.hi - 1));
  }
  const reach = 1.1 * Math.min(0.1, widest);

  function svg(tag, attributes) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  }

  /**
   * The interval of the change, the mark at its median, over the change that is allowed. The text
   * beside it says the same.
   */
  function intervalPlot(cell) {
    if (!cell.speed) return '';
    const {ratio, allowed_change: allowed} = cell.speed;
    const x = (change) => 60 + 56 * Math.max(-1, Math.min(1, (change - 1) / reach));
    const plot = svg('svg', {
      viewBox: '0 0 120 14',
      width: 120,
      height: 14,
      class: `interval ${kindOf(cell)}`,
      'aria-hidden': 'true'
    });
    const left = x(1 / (1 + allowed)), right = x(1 + allowed);
    plot.append(
        svg('rect', {x: left, y: 1, width: right - left, height: 12, class: 'allowed'}),
        svg('line', {x1: 60, x2: 60, y1: 0, y2: 14, class: 'zero'}),
        svg('line', {x1: x(ratio.lo), x2: x(ratio.hi), y1: 7, y2: 7, class: 'range'}),
        svg('circle', {cx: x(ratio.median), cy: 7, r: 3, class: 'median'}));
    return plot;
  }

  function kindOf(cell) {
    if (cell.verdict === 'IMPROVED') return 'good';
    if (!cell.is_harm) return 'plain';
    return cell.verdict === 'INCORRECT' || cell.verdict === 'REGRESSED' ? 'bad' : 'doubtful';
  }
  const kindMarks = {good: '▼', bad: '✕', doubtful: '?', plain: '='};
  const verdictMark = (cell) => element(
      'span', {class: `verdict ${kindOf(cell)}`}, element('span', {
        'aria-hidden': 'true',
        text: `${cell.verdict === 'NEW' ? '+' : kindMarks[kindOf(cell)]}\u00a0`
      }),
      cell.verdict_text.replace('(', '\u200b('));
  const timesText = ({speed}) =>
      (speed ? `${timeText(speed.base_us)} → ${timeText(speed.new_us)}` : '');
  const intervalText = ({speed}) =>
      (speed ? `${changeText(speed.ratio.lo)} … ${changeText(speed.ratio.hi)}` : '');

  function show(cell) {
    const parts = [element('p', {}, verdictMark(cell), ` ${cell.modeText}`)];
    if (cell.speed) {
      const {speed} = cell;
      parts.push(element(
          'p', {class: 'lead'}, timesText(cell), ' · ',
          element('strong', {text: changeText(cell.change)}),
          ` (${intervalText(cell)}) · allowed ${percentText(speed.allowed_change)}` +
              (speed.pairs === null ? '' : ` · ${speed.pairs} pairs`)));
    }
    if (cell.why) parts.push(element('p', {class: 'reason', text: cell.why}));
    if (cell.repro) parts.push(element('h3', {text: 'Run it again'}), reproLine(reproOf(cell)));
    showDialog(`${cell.label} · ${cell.backend}`, ...parts);
  }

  let kind = 'listed';
  let latest = comparison.cells;
  const kinds = distinct(comparison.cells, 'verdict');
  const choice = labelledSelect(
      'Verdicts',
      [['listed', 'what changed or is open'], ['', 'all'], ...kinds.map((each) => [each, each])],
      (value) => {
        kind = value;
        draw();
      });
  host.append(element('div', {class: 'controls'}, choice.field));
  const rank = new Map(kinds.map((each, i) => [each, i]));
  const table = new DataTable(host, {
    label: 'Comparison',
    open: show,
    stacked: true,
    pageSize: 25,
    empty: 'No cell of these filters changed.',
    columns: [
      {title: 'Case', key: 'label'}, {title: 'Backend', key: 'backend', cell: backendCell},
      {title: 'Mode', key: 'modeText', whole: true, minor: true},
      {title: 'Verdict', value: (cell) => rank.get(cell.verdict), cell: verdictMark}, {
        title: 'Base → new',
        minor: true,
        numeric: true,
        value: (cell) => cell.speed?.base_us ?? null,
        cell: timesText
      },
      {
        title: 'Change',
        key: 'change',
        numeric: true,
        cell: (cell) => (cell.change === null ? '' : changeText(cell.change))
      },
      {
        title: 'Interval',
        minor: true,
        value: (cell) => cell.change,
        about: `Interval of the change, from −${percentText(reach)} to +${
            percentText(reach)}; shaded: what is allowed`,
        cell: intervalPlot
      },
      {
        title: 'Why',
        key: 'why',
        minor: true,
        cell: (cell) => element('span', {class: 'why', text: cell.why})
      }
    ]
  });

  function draw() {
    table.show(latest.filter(
        (cell) => (kind === 'listed' ? cell.is_listed : kind === '' || cell.verdict === kind)));
  }
  onFilter(() => {
    latest = comparison.cells.filter(cellFilter());
    draw();
  });
})();
