/* What both charts share: the canvas with its text alternative, a legend of buttons, axes, marks
 * that open a cell. */

const hasCharts = typeof Chart !== 'undefined';

if (hasCharts) {
  Chart.defaults.animation = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
}

/** Colours of text and lines as the theme has them now. */
function chartInk() {
  const probe = element('span', {class: 'ink'});
  document.body.append(probe);
  const {color, borderTopColor, backgroundColor} = getComputedStyle(probe);
  probe.remove();
  return {text: color, grid: borderTopColor, panel: backgroundColor};
}

function logAxis(title, tickText, extra = {}) {
  const ink = chartInk();
  return {
    type: 'logarithmic',
    title: {display: true, text: title, color: ink.text},
    grid: {color: ink.grid, borderColor: ink.grid},
    ticks: {color: ink.text, maxRotation: 0, callback: tickText},
    ...extra
  };
}

/**
 * Ticks of a logarithmic axis at 1, 2 and 5 times the powers of ten, or at those of ten where
 * these are many.
 */
function decimalTicks(text) {
  return function label(value, index, ticks) {
    const decades = Math.log10(this.max / this.min);
    const leading = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    const near = (wanted) => Math.abs(leading - wanted) < 0.01;
    return near(1) || (decades < 3 && (near(2) || near(5))) ? text(value) : null;
  };
}

/** Ends of a logarithmic axis with room around all values. */
function roomAround(values) {
  return values.length === 0 ? {} :
                               {min: Math.min(...values) / 1.5, max: Math.max(...values) * 1.5};
}

/** Draws the interval of a point as a line with two ends. Points carry {lo, hi}. */
const intervalPlugin = {
  id: 'intervals',
  afterDatasetDraw(chart, {index, meta}) {
    const dataset = chart.data.datasets[index];
    if (!dataset.intervals || meta.hidden) return;
    const {ctx, scales: {y}} = chart;
    ctx.save();
    ctx.strokeStyle = dataset.borderColor;
    ctx.lineWidth = 1;
    ctx.beginPath();
    meta.data.forEach((mark, i) => {
      const {lo, hi} = dataset.data[i];
      if (lo === null || hi === null) return;
      const from = y.getPixelForValue(lo), to = y.getPixelForValue(hi);
      if (Math.abs(from - to) < 4) return;  // hidden by its mark
      ctx.moveTo(mark.x, from);
      ctx.lineTo(mark.x, to);
      for (const end of [from, to]) {
        ctx.moveTo(mark.x - 3, end);
        ctx.lineTo(mark.x + 3, end);
      }
    });
    ctx.stroke();
    ctx.restore();
  },
};

class PlotPanel {
  /** `columns`: of the table that says the same as the chart. */
  constructor(host, {label, columns}) {
    this.label = label;
    this.hidden = new Set();  // series that the legend turned off
    this.rows = [];
    this.controls = element('div', {class: 'controls'});
    this.legend =
        element('div', {class: 'legend', role: 'group', 'aria-label': `Series of ${label}`});
    this.about = element('p', {class: 'dim'});
    host.append(this.controls);
    if (hasCharts) {
      this.canvas = element(
          'canvas',
          {role: 'img', 'aria-label': `${label}. The table below it has the same points.`});
      host.append(this.legend, element('div', {class: 'canvas'}, this.canvas));
    } else {
      host.append(element('p', {
        class: 'note no-charts',
        text: 'No charts: this attnbench was built without Chart.js. Build it again after ' +
            'apt-get install libjs-chart.js'
      }));
    }
    host.append(this.about);
    const details =
        element('details', {}, element('summary', {text: `${label}: the points as a table`}));
    host.append(details);
    this.table =
        new DataTable(details, {label: `Points: ${label}`, columns, open: showCell, stacked: true});
    details.addEventListener('toggle', () => this.showTable());
    this.details = details;
    themeListeners.push(() => {
      if (this.chart) this.draw();
    });
  }

  show(rows) {
    this.rows = rows;
    this.showTable();
    this.drawSoon();
  }

  showTable() {
    if (this.details.open) this.table.show(this.rows);
  }

  /**
   * A chart of 10,000 points takes a while: once it stands, what is typed or clicked comes first.
   */
  drawSoon() {
    clearTimeout(this.pending);
    if (this.chart) {
      this.pending = setTimeout(() => this.draw(), 120);
    } else {
      this.draw();
    }
  }

  draw() {
    if (!hasCharts) return;
    const series = groupedBy(this.rows, (row) => row.series);
    this.drawLegend(series);
    for (const name of this.hidden) series.delete(name);
    const {datasets, scales} = this.plot(series);
    if (!this.chart) {
      this.chart = new Chart(this.canvas, {
        type: 'scatter',
        data: {datasets},
        plugins: [intervalPlugin],
        options: this.options(scales)
      });
      return;
    }
    this.chart.data.datasets = datasets;
    this.chart.options = this.options(scales);
    this.chart.update('none');
  }

  options(scales) {
    const ink = chartInk();
    return {
      animation: false,
      maintainAspectRatio: false,
      parsing: false,  // points come as {x, y}
      scales,
      interaction: {mode: 'nearest', intersect: true},
      onClick: (event, items) => {
        const row = items.length > 0 &&
            this.chart.data.datasets[items[0].datasetIndex].data[items[0].index].row;
        if (row) showCell(row);
      },
      onHover: (event, items) => {
        event.native.target.style.cursor = items.length > 0 ? 'pointer' : 'default';
      },
      plugins: {
        legend: {display: false},
        tooltip: {
          backgroundColor: ink.panel,
          titleColor: ink.text,
          bodyColor: ink.text,
          borderColor: ink.grid,
          borderWidth: 1,
          displayColors: false,
          filter: (item) => item.raw.row !== undefined,
          callbacks: {
            title: (items) => (items.length > 0 ? items[0].raw.row.label : ''),
            label: (item) => this.tooltip(item.raw.row),
          },
        },
      },
    };
  }

  /** Buttons: the legend of a canvas could not be reached with a keyboard. */
  drawLegend(series) {
    const had = document.activeElement?.parentElement === this.legend ?
        document.activeElement.dataset.series :
        null;
    this.legend.replaceChildren(...[...series].map(([name, rows]) => {
      const style = seriesStyle(rows[0]);
      const mark = element('span', {class: 'mark', 'aria-hidden': 'true', text: style.markText});
      mark.style.color = style.colour;
      const button = element(
          'button', {
            type: 'button',
            'aria-pressed': String(!this.hidden.has(name)),
            'data-series': name,
            on: {click: () => this.toggle(name)}
          },
          mark, name);
      return button;
    }));
    if (had !== null)
      [...this.legend.children].find((button) => button.dataset.series === had)?.focus();
  }

  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.draw();
  }

  pointDataset(rows, point) {
    const style = seriesStyle(rows[0]);
    const many = this.rows.length > 2000;
    return {
      label: rows[0].series,
      data: rows.map(point),
      borderColor: style.colour,
      borderDash: style.dash,
      borderWidth: 1.5,
      // Marks lie upon each other where two backends are alike: each lets those below show.
      backgroundColor: style.hollow ? 'transparent' : `${style.colour}66`,
      pointBorderColor: style.colour,
      pointStyle: style.mark,
      pointRadius: many ? 2.5 : 5,
      pointHoverRadius: many ? 4 : 7,
      pointBorderWidth: 1.5,
      pointHitRadius: 6,
    };
  }
}
