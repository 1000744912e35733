/* One cell with all that the page knows of it, and the line that runs it again. */

const cellDialog = document.getElementById('cell');

const unitTexts = {
  us: timeText,
  bytes: (value) => siText(value, 'B')
};
const units = new Map(report.columns.map((column) => [column.key, column.unit]));
const notListed = new Set([
  'file', 'outcome', 'fate', 'claims', 'vs_best', 'vs_best_text', 'is_best', 'repro', 'reason',
  'case', 'backend', 'declared/text'
]);

function figureText(key, value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  const unit = units.get(key);
  if (unitTexts[unit]) return unitTexts[unit](value);
  if (key === 'roofline') return percentText(value);
  if (Number.isInteger(value)) return countText(value);
  return unit ? `${threeDigits(value)} ${unit}` : threeDigits(value);
}

/** The line as it can be pasted, with a button that copies it. */
function reproLine(line) {
  const code = element('code', {text: line, tabindex: '0'});
  const copy = element('button', {type: 'button', text: 'Copy'});
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(line);
      copy.textContent = 'Copied';
    } catch {  // not every browser lets a local file write there
      getSelection().selectAllChildren(code);
      copy.textContent = 'Selected';
    }
    announce(copy.textContent);
  });
  return element('div', {class: 'repro'}, element('pre', {}, code), copy);
}

function showDialog(title, ...content) {
  const close = element(
      'button',
      {type: 'button', class: 'quiet', text: 'Close', on: {click: () => cellDialog.close()}});
  cellDialog.replaceChildren(
      element('div', {class: 'dialog-head'}, element('h2', {id: 'cell-title', text: title}), close),
      ...content);
  if (cellDialog.open)
    close.focus();  // a dialog led to another
  else
    cellDialog.showModal();
  cellDialog.scrollTop = 0;
}

cellDialog.addEventListener('click', (event) => {
  if (event.target === cellDialog) cellDialog.close();  // beside it
});

/** Opens the dialog of a row. */
function showCell(row) {
  const facts = [row.modeText];
  if (severalFiles) facts.push(row.fileLabel);
  const figures =
      report.columns.filter(({key}) => !notListed.has(key) && row[key] !== null && row[key] !== '')
          .map(
              ({key}) => element(
                  'div', {},
                  element('dt', {text: key.replace('/', '.'), title: report.about.get(key)}),
                  element('dd', {text: figureText(key, row[key])})));
  const parts = [element('p', {}, outcomeMark(row), ` ${facts.join(' · ')}`)];
  if (row.claims) {
    parts.push(element(
        'p', {class: 'lead'}, element('strong', {text: timeText(row['time_us/median'])}),
        ` ± ${halfWidthText(row)} · ${siText(row.gb_per_s * 1e9, 'B/s')} · ${
            siText(row.tflop_per_s * 1e12, 'FLOP/s')} · ` +
            `${percentText(row.roofline)} of the roofline`));
  }
  if (row.reason) parts.push(element('p', {class: 'reason', text: row.reason}));
  if (row['declared/text']) {
    parts.push(element('p', {class: 'dim', text: `Declared roundings: ${row['declared/text']}`}));
  }
  if (row.repro) parts.push(element('h3', {text: 'Run it again'}), reproLine(reproOf(row)));
  parts.push(element('h3', {text: 'Figures'}), element('dl', {class: 'figures'}, ...figures));
  showDialog(`${row.label} · ${row.backend}`, ...parts);
}

const fateMarks = {
  failed: '✕',
  doubtful: '?',
  noisy: '~',
  fine: '✓',
  'not run': '–'
};

/** The outcome as a word with a mark; colour only repeats it. */
function outcomeMark(row) {
  const word = row.fate === 'noisy' ? row.status : row.outcome;
  return element(
      'span', {class: `fate ${row.fate.replace(' ', '-')}`},
      element('span', {'aria-hidden': 'true', text: `${fateMarks[row.fate]}\u00a0`}), word);
}

/** "0.3 %", with a star where it is wider than asked for. */
function halfWidth(row) {
  const {'time_us/lo': lo, 'time_us/hi': hi, 'time_us/median': median} = row;
  return row.claims && lo !== null && hi !== null ? (hi - lo) / 2 / median : null;
}

function halfWidthText(row) {
  return percentText(halfWidth(row)) + (row.fate === 'noisy' ? ' *' : '');
}
