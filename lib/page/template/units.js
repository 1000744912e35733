/* Numbers for people: three significant digits, units by size. */

const absent = '–';

function threeDigits(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 99999.5 || size < 0.001)
    return value.toExponential(1).replace(/e([+-])(\d)$/, 'e$10$2');
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.0995) return value.toFixed(2);
  return value.toFixed(3);
}

function numberText(value) {
  return value === null ? absent : threeDigits(value);
}

function timeText(us) {
  if (us === null) return absent;
  if (us < 0.9995) return `${threeDigits(us * 1e3)} ns`;
  if (us < 999.5) return `${threeDigits(us)} µs`;
  if (us < 999.5e3) return `${threeDigits(us / 1e3)} ms`;
  return `${threeDigits(us / 1e6)} s`;
}

function siText(value, unit) {
  if (value === null) return absent;
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  let prefix = 0;
  while (Math.abs(value) >= 999.5 && prefix + 1 < prefixes.length) {
    value /= 1000;
    ++prefix;
  }
  const whole = prefix === 0 && Number.isInteger(value);
  return `${whole ? value : threeDigits(value)} ${prefixes[prefix]}${unit}`.trim();
}

/** 8192 is "8k", as scenarios write lengths. */
function lengthText(tokens) {
  if (tokens === null) return absent;
  if (tokens >= 1024 && tokens % 1024 === 0) return `${tokens / 1024}k`;
  return tokens >= 1024 ? `${threeDigits(tokens / 1024)}k` : String(Math.round(tokens));
}

function percentText(fraction) {
  if (fraction === null) return absent;
  const percent = fraction * 100;
  return `${Math.abs(percent) < 9.95 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/** "+6.2 %" of a ratio of 1.062. */
function changeText(ratio) {
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;
}

function countText(count) {
  return count.toLocaleString('en');
}
