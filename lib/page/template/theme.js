/* Light and dark, and a colour and a mark for each series. The hues are those of Okabe and Ito,
   which people with any common kind of colour vision tell apart, lighter for a dark page; marks
   tell them apart without colour. */

const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');
let chosenTheme = null;
const themeListeners = [];

function isDark() {
  return chosenTheme === null ? systemIsDark.matches : chosenTheme === 'dark';
}

function themeChanged() {
  document.documentElement.style.colorScheme = chosenTheme ?? 'light dark';
  const button = document.getElementById('theme');
  button.textContent = isDark() ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `Show the page ${isDark() ? 'light' : 'dark'}`);
  themeListeners.forEach((listener) => listener());
}

systemIsDark.addEventListener('change', themeChanged);
document.getElementById('theme').addEventListener('click', () => {
  chosenTheme = isDark() ? 'light' : 'dark';
  themeChanged();
});

const hues = [
  {light: '#0072b2', dark: '#56b4e9'},
  {light: '#d55e00', dark: '#ff8c42'},
  {light: '#007a5a', dark: '#2fc79b'},
  {light: '#b0508a', dark: '#e59ac6'},
  {light: '#8a6d00', dark: '#f0c94a'},
  {light: '#5b4bb7', dark: '#a79bf0'},
  {light: '#5f6770', dark: '#b4bcc5'},
];
const marks = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'crossRot', 'rectRounded'];
// For the legend: filled, and hollow.
const markTexts = {
  circle: '●○',
  triangle: '▲△',
  rect: '■□',
  rectRot: '◆◇',
  star: '✳✳',
  crossRot: '✕✕',
  rectRounded: '▣▢'
};

const backendOrder = distinct(report.rows, 'backend');

/**
 * A backend has one hue and one mark wherever it is shown; a further file has another dash and
 * hollow marks.
 */
function seriesStyle(row) {
  const backend = backendOrder.indexOf(row.backend);
  const hue = hues[backend % hues.length];
  const mark = marks[(backend + Math.floor(backend / hues.length)) % marks.length];
  return {
    colour: isDark() ? hue.dark : hue.light,
    mark,
    markText: markTexts[mark][row.file > 0 ? 1 : 0],
    hollow: row.file > 0,
    dash: row.file === 0 ? [] : [2 + 3 * row.file, 3]
  };
}
