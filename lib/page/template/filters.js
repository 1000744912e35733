/* One row of filters for the whole page. Sections register what they do with the rows that are
 * left. */

const filterListeners = [];
const chosen = {
  text: '',
  backend: '',
  mode: '',
  file: '',
  fate: 'ran'
};

const fates = [
  ['ran', 'that ran'], ['', 'all'], ['failed', 'failed'], ['doubtful', 'doubtful'],
  ['noisy', 'noisy'], ['not run', 'not run']
];

/** Whether a cell has all the words, the backend and the mode that are asked for. */
function cellFilter() {
  const words = chosen.text.toLowerCase().split(/\s+/).filter(Boolean);
  return (cell) => (chosen.backend === '' || cell.backend === chosen.backend) &&
      (chosen.mode === '' || cell.modeText === chosen.mode) &&
      words.every((word) => cell.haystack.includes(word));
}

/** All rows but for their outcome, which tables of support and reasons ignore. */
function matchingRows() {
  const file = chosen.file === '' ? null : Number(chosen.file);
  return report.rows.filter(cellFilter()).filter((row) => file === null || row.file === file);
}

function hasChosenFate(row) {
  if (chosen.fate === '') return true;
  return chosen.fate === 'ran' ? row.fate !== 'not run' : row.fate === chosen.fate;
}

/** `listener(rows, all)`: rows with the chosen outcome, and those with any. */
function onFilter(listener) {
  filterListeners.push(listener);
}

function applyFilters() {
  const all = matchingRows();
  const rows = all.filter(hasChosenFate);
  filterListeners.forEach((listener) => listener(rows, all));
  const text = `${countText(rows.length)} of ${countText(report.rows.length)} cells`;
  document.getElementById('count').textContent = text;
  announce(text);
}

(() => {
  const form = document.getElementById('filters');
  const text = element('input', {
    type: 'search',
    placeholder: 'words: case, backend, reason …',
    autocomplete: 'off',
    spellcheck: 'false'
  });
  text.addEventListener('input', () => {
    chosen.text = text.value;
    applyFilters();
  });
  form.append(element('label', {class: 'field wide'}, element('span', {text: 'Find'}), text));
  const add = (key, label, options) => {
    if (options.length <= 1) return;
    const {select, field} = labelledSelect(label, options, (value) => {
      chosen[key] = value;
      applyFilters();
    });
    select.value = chosen[key];
    form.append(field);
  };
  const any = (values) => (values.length > 1 ? [['', 'all'], ...values] : []);
  add('backend', 'Backend', any(backendOrder.map((name) => [name, name])));
  add('mode', 'Mode', any(distinct(report.rows, 'modeText').map((mode) => [mode, mode])));
  add('file', 'File', any(report.files.map((file, i) => [String(i), file.label])));
  add('fate', 'Cells', fates);
  form.append(element('output', {id: 'count', class: 'dim'}));
  form.addEventListener('submit', (event) => event.preventDefault());
})();
