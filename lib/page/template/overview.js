/* What the page is about: its title, how many cells ended how, and how each backend did. */

(() => {
  const scenarios =
      [...new Set(report.files.flatMap((file) => file.scenarios.map((each) => each.name)))];
  const title = `${scenarios.join(', ')} · attnbench`;
  document.title = title;
  document.getElementById('title').textContent = scenarios.join(', ') || 'attnbench report';
  function facts({environment, label}) {
    const {device, started_utc: begun, git_sha: commit} = environment;
    return [severalFiles ? label : 'attnbench', device.name, begun.slice(0, 10), commit]
        .filter(Boolean)
        .join(' · ');
  }
  document.getElementById('subtitle')
      .append(...report.files.slice(0, 6).map(
          (file) => element('span', {class: 'file', text: facts(file)})));

  // What the closing line of a run says, and what speaks against it, file by file.
  for (const {answer, doubts, label} of report.files) {
    const ofFile = (text) => (severalFiles ? `${label}: ${text}` : text);
    const host = document.getElementById('answer');
    if (answer) host.append(element('p', {class: 'lead', text: ofFile(answer)}));
    if (doubts.length > 0) {
      const items = doubts.map((text) => element('li', {text: ofFile(text)}));
      host.append(element('ul', {class: 'doubts'}, ...items));
    }
  }

  const words = {
    fine: 'passed, converged',
    noisy: 'passed, not converged',
    doubtful: 'mistrusted or not verified',
    failed: 'failed',
    'not run': 'not run'
  };
  const tally = document.getElementById('tally');
  for (const fate of ['fine', 'noisy', 'doubtful', 'failed', 'not run']) {
    const count = report.rows.filter((row) => row.fate === fate).length;
    if (count === 0 && fate !== 'failed') continue;
    tally.append(element(
        'li', {class: `fate ${count === 0 ? 'fine' : fate.replace(' ', '-')}`},
        element('strong', {text: countText(count)}), ` ${words[fate]}`));
  }
})();

(() => {
  if (report.files.every((file) => file.summaries.length === 0)) return;
  document.getElementById('backends').hidden = false;
  // What the table of a terminal says of its order.
  document.getElementById('order-legend').textContent = report.order_legend;
  const rows =
      report.files.flatMap((file) => file.summaries.map((each) => ({...each, file: file.label})));
  const blankZero = (key) => (row) => (row[key] === 0 ? '' : String(row[key]));
  const table = new DataTable(bodyOf('backends'), {
    label: 'Backends',
    columns: [
      {
        title: 'Backend',
        key: 'backend',
        cell: (row) =>
            element('span', {class: row.failed > 0 ? 'fate failed' : undefined, text: row.backend})
      },
      ...(severalFiles ? [{title: 'File', key: 'file'}] : []), {
        title: 'vs best',
        key: 'geomean',
        numeric: true,
        about: 'Geometric mean of the time over that of the fastest correct backend',
        cell: (row) => numberText(row.geomean)
      },
      {
        title: 'Fastest in',
        key: 'fastest',
        numeric: true,
        about: 'Cells in which none was faster, ties among them',
        cell: (row) => String(row.fastest)
      },
      {
        title: 'Ran',
        key: 'ran',
        numeric: true,
        minor: true,
        about: 'Cells that were tried',
        cell: (row) => `${row.ran} of ${row.of}`
      },
      {
        title: 'Failed',
        key: 'failed',
        numeric: true,
        about: 'Wrong, crashed or impossible',
        cell: (row) =>
            (row.failed === 0 ? '' :
                                element('span', {class: 'fate failed', text: String(row.failed)}))
      },
      {
        title: 'Noisy',
        key: 'noisy',
        numeric: true,
        about: 'An interval wider than asked for, or none',
        cell: blankZero('noisy')
      }
    ]
  });
  table.show(rows);
})();
