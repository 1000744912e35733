/* The attention of whole steps, of mixes with `layers`: one row for each backend, and for the best
   of each kind of layer. */

(() => {
  const steps = report.files.flatMap(
      (file) => file.model_steps.map((step) => ({...step, file: file.label})));
  if (steps.length === 0) return;
  document.getElementById('model-steps').hidden = false;

  /** "12 full × 98.2 µs + 3.10 µs", with the backend where it is not the step's own. */
  function partText(step, part) {
    const attends = part.step === 'attention';
    const whose = attends && part.backend === step.backend ? '' : `${part.backend}: `;
    const what = attends ? part.kind : `${part.kind} (${part.step})`;
    return `${whose}${part.layers} ${what} × ${timeText(part.layer_us)} + ${
        timeText(part.host_us)}`;
  }
  function partsText(step) {
    const texts = step.parts.map((part) => partText(step, part));
    if (step.lacks_choice) texts.push('without all that chooses keys');
    return texts.join(', ');
  }
  function halfWidth({model_step_us: us, lo_us: lo, hi_us: hi}) {
    return lo === null || us === 0 ? null : (hi - lo) / 2 / us;
  }
  const writeText = {true: 'in it', false: 'not in it', null: ''};
  const nameOf = (step) => {
    const name = severalScenarios ? `${step.scenario}/${step.step}` : step.step;
    const graph = step.launch === 'graph' ? ' · graph' : '';
    return `${name} · ${step.cache}${graph}`;
  };
  const table = new DataTable(bodyOf('model-steps'), {
    label: 'Model steps',
    columns: [
      {
        title: 'Step',
        value: nameOf,
        cell: (step) => element(
            'span', {}, nameOf(step),
            ...(step.left_out ?
                    [element('span', {class: 'why', text: `without its ${step.left_out} layers`})] :
                    []))
      },
      {title: 'Model', key: 'model', minor: true},
      ...(severalFiles ? [{title: 'File', key: 'file'}] : []), {
        title: 'Backend',
        value: (step) => step.backend ?? '',
        cell: (step) => step.backend ?? 'best of each kind'
      },
      {
        title: 'Time',
        key: 'model_step_us',
        numeric: true,
        whole: true,
        cell: (step) => timeText(step.model_step_us)
      },
      {
        title: '±',
        about: 'Half-widths of the layers\' intervals, added up as if all erred the same way',
        numeric: true,
        whole: true,
        value: halfWidth,
        cell: (step) => percentText(halfWidth(step))
      },
      {
        title: 'KV write',
        value: (step) => writeText[step.with_kv_write],
        cell: (step) => writeText[step.with_kv_write]
      },
      {
        title: 'Layers',
        value: (step) => step.reason,
        cell: (step) => step.reason || partsText(step)
      }
    ]
  });
  table.show(steps);
})();
