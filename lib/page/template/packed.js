/* The columns of a table as lib/page/packed_column.h writes them. */

const valueOfDigit = (() => {
  const values = new Uint8Array(128);
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  for (let i = 0; i < 64; ++i) values[digits.charCodeAt(i)] = i;
  return values;
})();

/** The numbers of a text, each of `width` digits of base 64. */
function numbersIn(text, width) {
  const numbers = new Uint32Array(text.length / width);
  for (let i = 0, at = 0; i < numbers.length; ++i) {
    for (let digit = 0; digit < width; ++digit)
      numbers[i] = numbers[i] << 6 | valueOfDigit[text.charCodeAt(at++)];
  }
  return numbers;
}

/** null, 0, or a mantissa of five digits and a power of ten from -93 on. */
function figureOf(code) {
  if (code < 2) return code === 0 ? null : 0;
  const mantissa = 10000 + (code - 2) % 90000, exponent = Math.floor((code - 2) / 90000) - 93;
  // Division by a power of ten gives the double nearest to the decimal; a product would not.
  if (exponent < 0 && exponent >= -22) return mantissa / 10 ** -exponent;
  return Number(`${mantissa}e${exponent}`);
}

/** All values of a column, one for each row. */
function unpackedColumn({values, at, lengths, figures}) {
  if (figures !== undefined) return Array.from(numbersIn(figures, 4), figureOf);
  let width = 1;
  while (values.length > 64 ** width) ++width;
  const which = numbersIn(at, width);
  if (!lengths) return Array.from(which, (index) => values[index]);
  return lengths.flatMap((length, run) => new Array(length).fill(values[which[run]]));
}

/**
 * `count` rows of a table. A row reads its values from the columns: 50,000 rows with 60 values
 * each would take seconds to be copied together. `computed`: functions of a row, by the key of
 * a column that has no values.
 */
function rowsOf(count, columns, computed = {}) {
  class Row {
    constructor(index) {
      this.index = index;
    }
  }
  for (const column of columns) {
    const {key} = column;
    const values = key in computed ? null : unpackedColumn(column);
    Object.defineProperty(Row.prototype, key, {
      get() {
        return values ? values[this.index] : computed[key](this);
      }
    });
  }
  return Array.from({length: count}, (_, index) => new Row(index));
}
