/* Everything is registered: the list of sections, the theme, the first rows. */

for (const section of document.querySelectorAll('main > section:not([hidden])')) {
  document.getElementById('sections').append(element('li', {}, element('a', {
                                                       href: `#${section.id}`,
                                                       text: section.querySelector('h2').textContent
                                                     })));
}
themeChanged();
applyFilters();
// A link to a section was followed before there was anything above it.
document.getElementById(location.hash.slice(1))?.scrollIntoView({behavior: 'instant'});
