/* A table that sorts by its titles and shows a page of rows at a time, so that 10,000 rows cost as
   much as 50.

   columns: {title, about, key, value(row), cell(row), tint(row), numeric, whole, minor, wide}.
   `value` is what it sorts by, `cell` what it shows: text or a node; each defaults to row[key].
   `tint` gives a cell further classes. A whole column has no line breaks. A narrow screen leaves
   out minor columns and, of a stacked table, shows the first one on a line of its own and gives
   more room to wide ones. `open`: called with the row that is clicked, or chosen with Enter; then
   the arrow keys walk over the rows, and Tab leaves them at once. */

class DataTable {
  constructor(host, {
    label,
    columns,
    open = null,
    pageSize = 50,
    group = null,
    stacked = false,
    empty = 'Nothing matches the filters.'
  }) {
    Object.assign(this, {columns, open, pageSize, group, label});
    this.rows = [];
    this.sorted = [];
    this.order = null;  // {column, descending}
    this.page = 0;
    this.head = element('tr', {role: 'row'});
    this.body = element('tbody', {role: 'rowgroup', on: {keydown: (event) => this.walk(event)}});
    const kinds = [open && 'opens', stacked && 'stacked'].filter(Boolean).join(' ');
    // Roles are spelt out, since a stacked table is none for CSS.
    const table = element(
        'table', {class: kinds || undefined, role: 'table'},
        element('caption', {class: 'unseen', text: label}),
        element('thead', {role: 'rowgroup'}, this.head), this.body);
    this.scroller = element('div', {class: 'scroller', role: 'region', 'aria-label': label}, table);
    this.empty = element('p', {class: 'note', text: empty, hidden: true});
    this.place = element('span', {class: 'place'});
    this.back =
        element('button', {type: 'button', text: 'Previous', on: {click: () => this.turn(-1)}});
    this.next = element('button', {type: 'button', text: 'Next', on: {click: () => this.turn(1)}});
    this.pager = element(
        'nav', {class: 'pager', 'aria-label': `Pages of ${label}`}, this.back, this.place,
        this.next);
    host.append(this.scroller, this.empty, this.pager);
    this.drawHead();
  }

  show(rows) {
    this.rows = rows;
    this.page = 0;
    this.sort();
    this.draw();
  }

  /** Other columns from the next show() on. */
  setColumns(columns) {
    this.columns = columns;
    if (!columns.includes(this.order?.column)) this.order = null;
    this.drawHead();
  }

  valueOf(column, row) {
    return column.value ? column.value(row) : row[column.key];
  }

  sort() {
    if (this.order === null) {
      this.sorted = this.rows;
      return;
    }
    const {column, descending} = this.order;
    const sign = descending ? -1 : 1;
    const keyed = this.rows.map((row) => ({row, value: this.valueOf(column, row)}));
    keyed.sort((a, b) => {
      if (a.value === b.value) return 0;
      if (a.value === null || a.value === undefined)
        return 1;  // what was not measured comes last, either way
      if (b.value === null || b.value === undefined) return -1;
      return (a.value < b.value ? -1 : 1) * sign;
    });
    this.sorted = keyed.map((each) => each.row);
  }

  /** Up, down, and back to the order of the file. */
  sortBy(column) {
    if (this.order?.column !== column)
      this.order = {column, descending: false};
    else
      this.order = this.order.descending ? null : {column, descending: true};
    this.page = 0;
    this.sort();
    this.markOrder();
    this.draw();
    const how = this.order === null ?
        'in the order of the file' :
        `by ${column.title}, ${this.order.descending ? 'descending' : 'ascending'}`;
    announce(`${this.label}: ${countText(this.rows.length)} rows ${how}`);
  }

  drawHead() {
    this.head.replaceChildren(...this.columns.map((column) => {
      const sorter = element('button', {
        type: 'button',
        class: 'sorter',
        text: column.title,
        title: column.about,
        on: {click: () => this.sortBy(column)}
      });
      return element(
          'th', {scope: 'col', role: 'columnheader', class: this.classOf(column)}, sorter);
    }));
    this.markOrder();
  }

  markOrder() {
    this.columns.forEach((column, i) => {
      const isOrder = this.order?.column === column;
      this.head.children[i].setAttribute(
          'aria-sort',
          !isOrder                  ? 'none' :
              this.order.descending ? 'descending' :
                                      'ascending');
    });
  }

  classOf(column) {
    const classes = {numeric: 'number', minor: 'minor', whole: 'whole', wide: 'wide'};
    const own = Object.keys(classes).filter((kind) => column[kind]);
    return own.map((kind) => classes[kind]).join(' ') || undefined;
  }

  turn(pages) {
    this.page += pages;
    this.draw();
    this.scroller.scrollIntoView({block: 'nearest'});
    announce(`${this.label}: ${this.place.textContent}`);
  }

  draw() {
    const first = this.page * this.pageSize;
    const shown = this.sorted.slice(first, first + this.pageSize);
    const last = first + shown.length;
    this.body.replaceChildren(...shown.map((row, i) => this.rowElement(row, shown[i - 1])));
    this.place.textContent =
        `${countText(first + 1)}–${countText(last)} of ${countText(this.sorted.length)}`;
    this.back.disabled = first === 0;
    this.next.disabled = last >= this.sorted.length;
    this.pager.hidden = this.sorted.length <= this.pageSize;
    this.scroller.hidden = shown.length === 0;
    this.empty.hidden = shown.length > 0;
    this.makeReachable(this.openers()[0]);
  }

  rowElement(row, above) {
    const cells = this.columns.map((column, i) => {
      const content = column.cell ? column.cell(row) : row[column.key] ?? '';
      if (i > 0) {
        const classes = [this.classOf(column), column.tint?.(row)].filter(Boolean).join(' ');
        return element('td', {role: 'cell', class: classes || undefined}, content);
      }
      const name = this.open ?
          element('button', {type: 'button', class: 'opener', tabindex: '-1'}, content) :
          content;
      return element('th', {scope: 'row', role: 'rowheader', class: this.classOf(column)}, name);
    });
    const made = element('tr', {role: 'row'}, ...cells);
    // Rows of one case stand together as long as nobody sorts them.
    if (this.group && this.order === null && above && this.group(above) === this.group(row))
      made.className = 'continued';
    if (this.open) made.addEventListener('click', () => this.open(row));
    return made;
  }

  openers() {
    return [...this.body.querySelectorAll('.opener')];
  }

  /** Tab comes to one row only. */
  makeReachable(opener) {
    if (!opener) return;
    this.body.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1');
    opener.setAttribute('tabindex', '0');
  }

  walk(event) {
    const openers = this.openers();
    const at = openers.indexOf(document.activeElement);
    const steps = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: openers.length - 1};
    const to = steps[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    if (to >= openers.length && !this.next.disabled) {
      this.turn(1);
      this.focusOn(this.openers()[0]);
    } else if (to < 0 && !this.back.disabled) {
      this.turn(-1);
      this.focusOn(this.openers().at(-1));
    } else {
      this.focusOn(openers[to]);
    }
  }

  focusOn(opener) {
    if (!opener) return;
    this.makeReachable(opener);
    opener.focus();
  }
}
