/* Elements of the page. Text goes in as text: no function here takes markup. */

/**
 * A new element. `properties`: class, text, on (listeners by event); any other one is an
 * attribute.
 */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'class')
      made.className = value;
    else if (name === 'text')
      made.textContent = value;
    else if (name === 'on')
      Object.entries(value).forEach(([event, listener]) => made.addEventListener(event, listener));
    else
      made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

/** The part of a section that scripts fill. */
function bodyOf(id) {
  return document.querySelector(`#${id} > .body`);
}

/** A <select> behind its label. `options`: [value, text]. */
function labelledSelect(label, options, onChange) {
  const select = element('select', {on: {change: () => onChange(select.value)}});
  setOptions(select, options);
  return {
    select,
    field: element('label', {class: 'field'}, element('span', {text: label}), select)
  };
}

/** Keeps the chosen value where it is still there; else the first one is chosen. */
function setOptions(select, options) {
  const chosen = select.options.length > 0 ? select.value : null;
  select.replaceChildren(...options.map(([value, text]) => element('option', {value, text})));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
}

/** Says it to a screen reader. */
function announce(text) {
  document.getElementById('status').textContent = text;
}
