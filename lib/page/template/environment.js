/* Where and how each file was measured, beside each other; what differs is marked. */

(() => {
  function ceilingsText({name, ceilings, ceilings_utc: measured}) {
    const {read_bytes_per_s: read, copy_bytes_per_s: copy, flop_per_s: flop} = ceilings;
    return `${name}: read ${siText(read, 'B/s')}, copy ${siText(copy, 'B/s')}, ` +
        siText(flop, 'FLOP/s') + (measured ? `, measured ${measured}` : '');
  }

  /** What other programs took; nothing where nobody knows. */
  function othersText({others}) {
    if (!others || others.busy_processors === null) return '';
    const {busy_processors: busy, processors} = others;
    return `kept ${busy.toFixed(1)} of ${processors} processors busy`;
  }

  const hashText = (sha256) => `SHA-256 ${sha256.slice(0, 12)}…`;

  function scenarioText({name, path, seed, sha256, options}) {
    const facts = [`${name}: ${path}`, `seed ${seed}`, hashText(sha256), options];
    return facts.filter(Boolean).join(', ');
  }

  const secondsText = (seconds) => timeText(seconds === null ? null : seconds * 1e6);

  /** Title and text of each fact of a file, in this order. */
  function factsOf(file) {
    const {environment} = file, {device} = environment;
    const units = device.kind === 'cuda' ? 'SMs' : 'processors';
    return new Map([
      ['Path', file.path],
      ['Device', device.name],
      ['Architecture', `${device.arch}, ${device.units} ${units}`],
      ['Driver, CUDA', [device.driver, device.cuda_version].filter(Boolean).join(', ')],
      ['Memory', siText(device.memory_bytes, 'B')],
      ['Last-level cache', siText(device.last_level_cache_bytes, 'B')],
      ['Measured ceilings', file.devices.map(ceilingsText).join('\n')],
      ['attnbench', `${environment.version} (${environment.git_sha})`],
      ['Build', [environment.build_type, environment.compiler, environment.flags].join(', ')],
      ['System', environment.os],
      ['Host', environment.hostname_hash],
      ['Threads', String(environment.threads)],
      ['Begun', environment.started_utc],
      [
        'Took',
        `${secondsText(file.wall_s)}, measuring ${secondsText(file.measuring_s)}` +
            (file.interrupted ? ', interrupted' : '')
      ],
      ['Other programs', othersText(file)],
      ['Plug-ins', file.plugins.map((each) => `${each.path}, ${hashText(each.sha256)}`).join('\n')],
      ['Scenarios', file.scenarios.map(scenarioText).join('\n')],
    ]);
  }

  const mayDiffer = new Set(['Path', 'Begun', 'Took', 'Other programs']);
  const facts = report.files.map(factsOf);
  const body = element('tbody');
  for (const name of facts[0].keys()) {
    const texts = facts.map((each) => each.get(name));
    if (texts.every((text) => text === '')) continue;
    const title = element('th', {scope: 'row'}, name);
    if (new Set(texts).size > 1 && !mayDiffer.has(name))
      title.append(element('span', {class: 'why', text: 'differs'}));
    body.append(
        element('tr', {}, title, ...texts.map((text) => element('td', {class: 'lines', text}))));
  }
  const table = element(
      'table', {class: 'facts'}, element('caption', {class: 'unseen', text: 'Environment'}));
  if (severalFiles) {
    const names = report.files.map((file) => element('th', {scope: 'col', text: file.label}));
    table.append(element('thead', {}, element('tr', {}, element('td'), ...names)));
  }
  table.append(body);
  bodyOf('environment')
      .append(element(
          'div', {class: 'scroller', role: 'region', 'aria-label': 'Environment', tabindex: '0'},
          table));
})();
