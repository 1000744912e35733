#!/usr/bin/env python3
"""The page of `attnbench report`, used as people use it, in a headless Chromium. Exits with 77 where there is none.

usage: page_test.py <attnbench binary>
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "lib/page/testing"))
from browser import Browser, find_chromium  # noqa: E402

BINARY = os.path.abspath(sys.argv.pop(1))

# Each would set window.broken if any of it ran.
EVIL = ['</script><script>window.broken=1</script>', '"><img src=x onerror="window.broken=1">', "' onclick='window.broken=1'",
        '<!--<script>window.broken=1//', '\u2028window.broken=1\u2029', '{{script}}${window.broken=1}', '<svg/onload=window.broken=1>']


def sample():
    with open(os.path.join(SOURCE, "lib/summary/testdata/sample.json")) as file:
        return json.load(file)


def record(case, backend, us, **changes):
    """A cell that passed and converged."""
    made = copy.deepcopy(sample()["records"][0])
    time_us = dict(made["time_us"], median=us, lo=us * 0.998, hi=us * 1.002, min=us * 0.98, max=us * 1.5)
    made.update(case=case, mix=case.split("/")[0], backend=backend, time_us=time_us, sweep={},
                repro=f"attnbench run s.yaml --case '{case}' --backend {backend}")
    made.update(changes)
    return made


def result(records):
    made = sample()
    made.update(records=records, interrupted=False)
    return made


def some_cells():
    """Two backends over three lengths; one wrong, one that does not do it."""
    cells = []
    for length, us in ((1024, 300.0), (2048, 500.0), (4096, 900.0)):
        for backend, factor in (("splitkv", 1.0), ("paged_fa", 0.9)):
            cells.append(record(f"decode/kv_len{length}", backend, us * factor, mix="decode", requests=8, kv_tokens=8 * length,
                                sweep={"batch[0].kv_len": str(length)}))
    wrong = record("tree", "splitkv", 50.0, verdict="INCORRECT", reason="3 NaN, the first at request 3")
    refused = next(each for each in sample()["records"] if each["verdict"] == "unsupported")
    return [*cells, wrong, dict(copy.deepcopy(refused), case="tree", mix="tree", backend="mla", reason="no trees")]


def contrast(one, other):
    """Of two colours "rgb(1, 2, 3)" (WCAG 2.1)."""
    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(Browser(find_chromium()))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.browser.size(1280, 900)
        self.browser.theme("light")

    def page(self, *results, options=(), names=("a.json", "b.json", "c.json")):
        """Writes the page of these results and opens it."""
        paths = [os.path.join(self.folder, name) for name in names[:len(results)]]
        for path, each in zip(paths, results):
            with open(path, "w") as file:
                json.dump(each, file)
        page = os.path.join(self.folder, "report.html")
        done = subprocess.run([BINARY, "report", *paths, *options, "-o", page], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.open(page)
        return page

    def open(self, page):
        self.browser.open(page)
        self.assertEqual(self.browser.complaints(), [])

    def column(self, section, number):
        """The texts of a column of the first table of a section."""
        return self.browser.run(f"[...document.querySelector('#{section} table').tBodies[0].rows]"
                                f".map((row) => row.cells[{number}].innerText)")

    def choose(self, label, value):
        self.browser.run(f"""(() => {{
          const field = [...document.querySelectorAll('label')].find((label) => label.firstChild.textContent === '{label}');
          const input = field.querySelector('select, input');
          input.value = {json.dumps(value)};
          input.dispatchEvent(new Event(input.tagName === 'SELECT' ? 'change' : 'input'));
        }})()""")

    def click_title(self, section, title):
        self.browser.run(f"[...document.querySelectorAll('#{section} .sorter')].find((each) => each.textContent === '{title}').click()")

    def test_it_asks_for_nothing_and_shows_what_ran(self):
        self.page(result(some_cells()))
        self.assertEqual(self.browser.requests(), [])
        self.assertIn("or other programs were busy", self.text_of("#results .note"))
        self.assertEqual(len(self.column("results", 0)), 7)
        self.assertEqual(self.browser.run("document.getElementById('count').textContent"), "7 of 8 cells")
        self.assertIn("1 failed", self.browser.run("document.getElementById('tally').innerText"))
        self.assertIn("3 NaN, the first at request 3", self.browser.run("document.querySelector('#results table').innerText"))

    def text_of(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def test_it_begins_with_the_sentence_that_answers(self):
        made = result(some_cells())
        self.page(made)
        path = os.path.join(self.folder, "a.json")
        markdown = os.path.join(self.folder, "a.md")
        subprocess.run([BINARY, "merge", path, "-o", markdown], check=True, stdout=subprocess.DEVNULL)
        answer = self.text_of("#answer .lead")
        self.assertTrue(answer.startswith("paged_fa is fastest in 3 of 3 cases, 1.00 of the best"), answer)
        with open(markdown) as file:
            self.assertIn(answer + "\n", file.read())
        top = "document.querySelector('{}').getBoundingClientRect().top"
        self.assertLess(self.browser.run(top.format("#answer .lead")), self.browser.run(top.format("#tally")))
        self.page(made, made)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#answer .lead')].map((each) => each.innerText)"),
                         [f"a.json: {answer}", f"b.json: {answer}"])

    def matrix(self):
        """The titles and the rows of the matrix, as they are read."""
        return self.browser.run("""(() => {
          const texts = (row) => [...row.cells].map((cell) => cell.innerText.trim());
          const table = document.querySelector('#matrix table');
          return [texts(table.tHead.rows[0]), [...table.tBodies[0].rows].map(texts)];
        })()""")

    def test_a_matrix_of_cases_and_backends_follows_the_sentence(self):
        cells = [*some_cells(), record("tree", "paged_fa", 70.0), record("tie", "splitkv", 100.0), record("tie", "paged_fa", 100.1),
                 record("open", "splitkv", 100.0), record("open", "paged_fa", 100.1, status="not converged"),
                 record("doubt", "splitkv", 9.0, verdict="MISTRUSTED", reason="zeros would pass")]
        self.page(result(cells))
        titles, rows = self.matrix()
        self.assertEqual(titles, ["Case", "Fastest here", "paged_fa", "splitkv"], "splitkv failed in a case; mla never ran")
        self.assertEqual(rows, [
            ["decode/kv_len1024", "paged_fa 270 µs", "1.00", "1.11"],
            ["decode/kv_len2048", "paged_fa 450 µs", "1.00", "1.11"],
            ["decode/kv_len4096", "paged_fa 810 µs", "1.00", "1.11"],
            ["tree", "only paged_fa 70.0 µs", "1.00", "✕\xa0INCORRECT"],
            ["tie", "splitkv = paged_fa 100 µs", "1.00 =", "1.00 ="],
            ["open", "splitkv ? 100 µs", "1.00 ?", "1.00 ?"],
            ["doubt", "none is right", "", "?\xa0MISTRUSTED"]])
        top = "document.querySelector('{}').getBoundingClientRect().top"
        places = [self.browser.run(top.format(each)) for each in ("#answer .lead", "#matrix", "#backends", "#roofline")]
        self.assertEqual(places, sorted(places))
        self.assertIn("(=: a tie, the intervals overlap; ?: open", self.text_of("#matrix-legend"))

    def test_the_matrix_says_what_the_markdown_says(self):
        self.page(result([record("tie", "splitkv", 100.0), record("tie", "paged_fa", 100.1), *some_cells()]))
        markdown = os.path.join(self.folder, "a.md")
        subprocess.run([BINARY, "merge", os.path.join(self.folder, "a.json"), "-o", markdown], check=True, stdout=subprocess.DEVNULL)
        with open(markdown) as file:
            lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("|")]
        titles, said = lines[0], {(line[0], line[1]): line for line in lines[2:]}
        column = titles.index("vs best")
        shown, rows = self.matrix()
        for case, _, *cells in rows[:4]:
            for backend, text in zip(shown[2:], cells):
                self.assertEqual(text, said[case, backend][column], (case, backend))

    def test_a_wrong_cell_of_the_matrix_is_crossed(self):
        self.page(result(some_cells()))
        crossed = "[...document.querySelectorAll('#matrix td')].filter((each) => getComputedStyle(each).backgroundImage !== 'none')"
        self.assertEqual(self.browser.run(f"{crossed}.map((each) => each.innerText)"), ["✕\xa0INCORRECT"])

    def test_the_matrix_has_a_row_for_each_mode_and_file(self):
        cells = [record("decode", backend, us, cache=cache) for backend, us in (("splitkv", 100.0), ("paged_fa", 90.0))
                 for cache in ("cold", "warm")]
        self.page(result(cells), result(cells))
        self.assertEqual([row[:3] for row in self.matrix()[1]],
                         [["decode", "a.json", "cold"], ["decode", "a.json", "warm"], ["decode", "b.json", "cold"], ["decode", "b.json", "warm"]])

    def test_filters_leave_rows_and_columns_of_the_matrix(self):
        self.page(result([*some_cells(), record("tree", "paged_fa", 70.0)]))
        self.choose("Backend", "splitkv")
        titles, rows = self.matrix()
        self.assertEqual(titles, ["Case", "Fastest here", "splitkv"])
        self.assertEqual(rows[0], ["decode/kv_len1024", "paged_fa 270 µs", "1.11"], "the fastest of all, seen or not")
        self.choose("Backend", "")
        self.choose("Cells", "failed")
        self.assertEqual(self.matrix()[1], [["tree", "only paged_fa 70.0 µs", "1.00", "✕\xa0INCORRECT"]], "the whole row")
        self.choose("Cells", "ran")
        self.choose("Find", "LEN2048")
        self.assertEqual([row[0] for row in self.matrix()[1]], ["decode/kv_len2048"])
        self.choose("Find", "nothing like it")
        self.assertIn("Nothing matches", self.text_of("#matrix"))

    def test_a_row_of_the_matrix_leads_to_its_cells_by_keyboard(self):
        self.page(result(some_cells()))
        self.browser.run("document.querySelector('#matrix .opener').focus()")
        self.browser.press("ArrowDown", 40)
        self.browser.press("Enter", 13, "\r")
        self.assertEqual(self.text_of("#cell h2"), "decode/kv_len2048 · cold")
        backends = self.browser.run("[...document.querySelectorAll('#cell tbody tr')].map((row) => row.cells[0].innerText)")
        self.assertEqual(backends, ["paged_fa", "splitkv"], "the fastest first")
        self.browser.run("document.querySelector('#cell .opener').focus()")
        self.browser.press("Enter", 13, "\r")
        self.assertEqual(self.text_of("#cell h2"), "decode/kv_len2048 · paged_fa")
        self.assertTrue(self.browser.run("document.getElementById('cell').contains(document.activeElement)"))
        self.browser.press("Escape", 27)
        self.browser.until("!document.getElementById('cell').open")
        self.assertEqual(self.focused(), "decode/kv_len2048")

    def test_one_backend_has_no_matrix(self):
        self.page(result([record("a", "splitkv", 9.0), record("b", "splitkv", 9.0)]))
        self.assertTrue(self.browser.run("document.getElementById('matrix').hidden"))
        self.assertNotIn("Fastest by case", self.text_of("#sections"))

    def test_what_speaks_against_the_figures_stands_below_it(self):
        cells = some_cells()
        cells[0].update(verdict="MISTRUSTED", reason="zeros would pass")
        cells[2].update(status="throttled")
        self.page(dict(result(cells), others={"busy_processors": 1.4, "processors": 2}))
        self.assertEqual(self.text_of(".doubts").split("\n"),
                         ["other programs kept 1.4 of 2 processors busy", "1 figure is of a device that slowed down (throttled)",
                          "1 cell is MISTRUSTED: zeros would pass"])
        self.assertIn("kept 1.4 of 2 processors busy", self.text_of("#environment"))
        self.assertIn("zeros would pass", self.text_of("#results tbody tr"))
        self.page(dict(result(some_cells()), others=None))
        self.assertIsNone(self.browser.run("document.querySelector('.doubts')"))

    def test_a_backend_that_failed_is_red_and_has_no_rank(self):
        cells = [record(f"c{i}", backend, us) for i in range(3) for backend, us in (("good", 100.0), ("wrong", 50.0))]
        cells[1].update(verdict="INCORRECT", reason="3 NaN")
        self.page(result(cells))
        self.assertEqual(self.column("backends", 0), ["good", "wrong"])
        self.assertEqual(self.column("backends", 1)[1], "–")
        colour = "getComputedStyle(document.querySelectorAll('#backends tbody tr')[{}].cells[{}].firstChild).color"
        red = self.browser.run("getComputedStyle(document.querySelector('#results .fate.failed')).color")
        for column in (0, 4):
            self.assertEqual(self.browser.run(colour.format(1, column)), red)
        self.assertNotEqual(self.browser.run(colour.format(0, 0)), red)
        self.assertEqual(self.column("results", 3)[1], "–", "a time that claims nothing")
        self.assertEqual(self.column("results", 5)[1], "", "no rank")

    def test_a_backend_that_ran_one_cell_of_four_does_not_stand_first(self):
        cells = [record(f"c{i}", backend, us) for i in range(4) for backend, us in (("quick", 100.0), ("slow", 900.0))]
        self.page(result([record("c0", "special", 50.0), *cells]))
        self.assertEqual(self.column("backends", 0), ["quick", "slow", "special"])
        self.assertEqual(self.column("backends", 3), ["4 of 4", "4 of 4", "1 of 4"])
        self.assertIn("order: most right cells first", self.text_of("#backends .note"))

    def test_a_cell_says_which_roundings_it_was_judged_by(self):
        cells = some_cells()
        cells[0]["declared"].update(p="e4m3")
        self.page(result(cells))
        self.browser.run("document.querySelector('#results tbody tr').click()")
        self.assertIn("Declared roundings: ", self.text_of("#cell"))
        self.assertIn("p e4m3", self.text_of("#cell"))

    def test_a_phone_shows_the_words_of_caution(self):
        cells = some_cells()
        cells[0].update(status="not converged")
        self.page(result(cells))
        self.browser.size(420, 800, phone=True)
        self.browser.until("innerWidth === 420")
        self.assertIn("± 0.2 % *", self.column("results", 3)[0].replace("\xa0", " "))
        seen = self.browser.run("[...document.querySelectorAll('#backends thead th')].filter((each) => each.offsetWidth > 0)"
                                ".map((each) => [each.innerText, each.getBoundingClientRect().right <= innerWidth])")
        self.assertIn(["Noisy", True], seen)
        self.assertIn(["Failed", True], seen)
        spilled = self.browser.run("[...document.querySelectorAll('.stacked thead th')].filter((each) => each.offsetWidth > 0)"
                                   ".filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerText)")
        self.assertEqual(spilled, [], "titles beyond their columns")
        lines = "[...new Set([...document.querySelector('{}').getClientRects()].map((each) => each.top))].length"
        self.assertEqual(self.browser.run(lines.format("#results .fate.failed")), 1, "INCORRECT in one line")

    def test_rates_are_those_of_the_result_file(self):
        cells = some_cells()
        path = os.path.join(self.folder, "rates.json")
        with open(path, "w") as file:
            json.dump(result(cells), file)
        again = os.path.join(self.folder, "again.json")
        subprocess.run([BINARY, "merge", path, "-o", again], check=True, stdout=subprocess.DEVNULL)
        with open(again) as file:
            records = json.load(file)["records"]
        self.page(result(cells))
        for column, key in ((6, "gb_per_s"), (7, "tflop_per_s")):
            wanted = ["–" if each[key] is None else f"{each[key]:.0f}" for each in records if each["verdict"] != "unsupported"]
            self.assertEqual(self.column("results", column), wanted, key)

    def test_a_result_without_cells_or_figures_opens(self):
        self.page(dict(result([]), others={"busy_processors": None, "processors": 2}))
        self.assertEqual(self.text_of("#count"), "0 of 0 cells")
        self.assertEqual(self.text_of("#answer"), "")

    def test_titles_sort(self):
        self.page(result(some_cells()))
        order = "[...document.querySelectorAll('#results th[aria-sort]')].map((each) => each.ariaSort).filter((each) => each !== 'none')"
        self.click_title("results", "Median")
        times = [float(text.split()[0]) for text in self.column("results", 3) if text != "–"]
        self.assertEqual(times, sorted(times))
        self.assertEqual(self.browser.run(order), ["ascending"])
        self.click_title("results", "Median")
        times = [float(text.split()[0]) for text in self.column("results", 3) if text != "–"]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertEqual(self.browser.run(order), ["descending"])
        self.click_title("results", "Median")
        self.assertEqual(self.browser.run(order), [])
        self.assertEqual(self.column("results", 0)[0], "decode/kv_len1024")

    def test_filters_leave_what_matches(self):
        self.page(result(some_cells()))
        self.choose("Backend", "paged_fa")
        self.assertEqual(set(self.column("results", 1)), {"paged_fa"})
        self.choose("Find", "LEN2048")
        self.assertEqual(self.column("results", 0), ["decode/kv_len2048"])
        self.choose("Find", "nothing like it")
        self.assertIn("Nothing matches", self.browser.run("document.querySelector('#results').innerText"))
        self.choose("Find", "")
        self.choose("Backend", "")
        self.choose("Cells", "not run")
        self.assertEqual(self.column("results", 1), ["mla"])
        self.choose("Cells", "failed")
        self.assertEqual(self.column("results", 0), ["tree"])

    def test_a_click_on_a_row_gives_the_line_that_runs_it_again(self):
        self.page(result(some_cells()))
        self.browser.run("document.querySelectorAll('#results tbody tr')[2].click()")
        self.assertTrue(self.browser.run("document.getElementById('cell').open"))
        self.assertEqual(self.browser.run("document.querySelector('#cell code').textContent"),
                         "attnbench run s.yaml --case 'decode/kv_len2048' --backend splitkv")
        self.browser.run("[...document.querySelectorAll('#cell button')].find((each) => each.textContent === 'Copy').click()")
        self.browser.until("['Copied', 'Selected'].includes(document.querySelector('#cell .repro button').textContent)")

    def test_the_support_matrix_gives_reasons(self):
        self.page(result(some_cells()))
        cells = self.browser.run("[...document.querySelectorAll('#support tbody tr')].map((row) => row.innerText)")
        self.assertTrue(any("INCORRECT" in row and "no" in row for row in cells), cells)
        self.assertTrue(any(row.startswith("2") and "no trees" in row for row in cells), cells)

    def test_model_steps_stand_beside_their_layers(self):
        def layer(kind, backend, us, **changes):
            return record(f"chat/{kind}", backend, us, mix="chat", plan_us=2.0, update_us=None, sweep={"layer": kind},
                          model_layers={"kind": kind, "layers": 12, "of_step": 24, "left_out": ""}, **changes)
        cells = [layer("full", "splitkv", 100.0), layer("sliding", "splitkv", 30.0), layer("full", "paged_fa", 90.0),
                 layer("sliding", "paged_fa", 9.0, verdict="INCORRECT", reason="3 NaN")]
        self.page(result(cells))
        self.assertIn("Model steps", self.browser.run("document.getElementById('sections').innerText"))
        self.assertEqual(self.column("model-steps", 2), ["splitkv", "paged_fa", "best of each kind"])
        self.assertEqual(self.column("model-steps", 3), ["1.56 ms", "–", "1.44 ms"])
        texts = self.column("model-steps", 6)
        self.assertEqual(texts[0], "12 full × 100 µs + 2.00 µs, 12 sliding × 30.0 µs + 2.00 µs")
        self.assertIn("3 NaN", texts[1])
        self.assertTrue(texts[2].startswith("paged_fa: 12 full × 90.0 µs"), texts[2])
        chosen = dict(cells[0]["layer"], selection_topk=2048, selection_unit=1, selection_tail="counted",
                      selection_groups="one", selection_pattern="uniform", selection_padding="end",
                      selection_score="sum", selection_index_heads=64, selection_window_keys=0, selection_fusion=False,
                      selection_window_heads=0, selection_softmax="keys", selection_landmarks=False,
                      selection_stale=0)
        self.page(result([layer("full", "splitkv", 100.0, layer=chosen), layer("sliding", "splitkv", 30.0),
                          layer("full", "mine", 5.0, layer=chosen, step="indexer")]))
        self.assertEqual(self.column("model-steps", 6)[0],
                         "12 full × 100 µs + 2.00 µs, 12 sliding × 30.0 µs + 2.00 µs, mine: 12 full (indexer) × 5.00 µs "
                         "+ 2.00 µs, without all that chooses keys")
        self.page(result(some_cells()))
        self.assertTrue(self.browser.run("document.getElementById('model-steps').hidden"))
        self.assertNotIn("Model steps", self.browser.run("document.getElementById('sections').innerText"))

    def test_errors_are_sorted_by_harm(self):
        cells = [record("a", "x", 9.0), record("b", "x", 9.0)]
        cells[1]["error"].update(bound_ratio=0.9)
        wrong = record("c", "x", 9.0, verdict="INCORRECT", reason="NaN")
        wrong["error"].update(bound_ratio=None)
        self.page(result([*cells, wrong]))
        self.assertEqual(self.column("errors", 0), ["c", "b", "a"])

    def test_charts_show_every_point_and_tables_say_the_same(self):
        self.page(result(some_cells()))
        for section in ("roofline", "latency"):
            drawn = f"""(() => {{
              const canvas = document.querySelector('#{section} canvas');
              const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
              return new Set(new Uint32Array(pixels.buffer)).size;
            }})()"""
            self.assertGreater(self.browser.run(drawn), 20)
            self.browser.run(f"document.querySelector('#{section} details').open = true")
            self.browser.until(f"document.querySelectorAll('#{section} tbody tr').length === 6")
        marks = "document.querySelector('#latency .legend').children"
        self.assertEqual(self.browser.run(f"[...{marks}].map((each) => each.textContent.slice(1))"), ["splitkv", "paged_fa"])
        before = self.browser.run("document.querySelector('#latency canvas').toDataURL()")
        self.browser.run(f"{marks}[0].click()")
        self.assertEqual(self.browser.run(f"{marks}[0].ariaPressed"), "false")
        self.assertNotEqual(self.browser.run("document.querySelector('#latency canvas').toDataURL()"), before)

    def test_without_the_chart_library_a_line_says_what_to_install(self):
        page = self.page(result(some_cells()))
        with open(page) as file:
            text = file.read()
        with open(page, "w") as file:
            file.write(re.sub(r"<script>/\*!.*?</script>", lambda _: "<script></script>", text, count=1, flags=re.S))
        self.browser.open(page)
        self.assertIn("apt-get install libjs-chart.js", self.browser.run("document.querySelector('#roofline').innerText"))
        self.assertEqual(len(self.column("results", 0)), 7)

    def evil_result(self):
        cells = [dict(record(text, f"backend {text}", 9.0 + i), mix=text, model=text, scenario=text, reason=text, repro=text,
                      device=text, sweep={text: text}) for i, text in enumerate(EVIL)]
        cells += [dict(record(text, "wrong", 9.0), verdict="INCORRECT", reason=text) for text in EVIL]
        made = result(cells)
        made["scenarios"] = [dict(made["scenarios"][0], name=text, path=text, options=text) for text in EVIL]
        made["environment"].update(git_sha=EVIL[0], compiler=EVIL[1], os=EVIL[6])
        made["devices"][0]["name"] = made["environment"]["device"]["name"] = EVIL[0]
        return made

    def test_no_name_runs_as_a_script(self):
        made = self.evil_result()
        self.page(made, made, names=('"><img src=x onerror="window.broken=1">.json', "<script>window.broken=1<|script>.json"))
        self.browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        self.choose("Cells", "")
        self.browser.run("""(async () => {
          for (const row of document.querySelectorAll('tbody tr')) {
            row.click();
            document.getElementById('cell').close();
          }
          for (const button of document.querySelectorAll('.sorter, .legend button')) button.click();
        })()""")
        self.browser.run("new Promise((done) => setTimeout(done, 200))")
        self.assertIsNone(self.browser.run("window.broken ?? null"))
        self.assertEqual(self.browser.run("document.querySelectorAll('img, iframe, main script, [onclick], [onerror], [onload]').length"), 0)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])
        shown = self.browser.run("document.querySelector('#results').textContent")
        for text in EVIL:
            self.assertIn(text, shown)

    def test_a_foreign_script_in_the_page_does_not_run(self):
        self.page(result(some_cells()))
        self.browser.run("""(() => {
          const script = document.createElement('script');
          try { script.textContent = 'window.broken = 1'; } catch {}
          script.append(document.createTextNode('window.broken = 2'));
          document.body.append(script);
          const image = document.createElement('img');
          try { image.setAttribute('onerror', 'window.broken = 3'); } catch {}
          image.src = 'x';
          document.body.append(image);
          try { document.body.insertAdjacentHTML('beforeend', '<svg onload="window.broken = 4">'); } catch {}
        })()""")
        self.browser.run("new Promise((done) => setTimeout(done, 200))")
        self.assertIsNone(self.browser.run("window.broken ?? null"))

    def test_light_and_dark_can_be_read(self):
        slower = [record("slower", f"at {factor}", 100 * factor) for factor in (1.0, 1.05, 1.3, 1.8, 3.0)]
        page = self.page(result([*some_cells(), *slower]))
        backgrounds = set()
        for theme in ("light", "dark"):
            self.browser.theme(theme)
            self.open(page)
            background = self.browser.run("getComputedStyle(document.body).backgroundColor")
            backgrounds.add(background)
            for what in ("body", ".note", "a[href='#results']", ".fate.fine", ".fate.failed", ".fate.not-run", "thead th", ".legend .mark"):
                colour = self.browser.run(f"getComputedStyle(document.querySelector({json.dumps(what)})).color")
                self.assertGreaterEqual(contrast(colour, background), 4.5, f"{theme}: {what}")
            filled = self.browser.run("""[...document.querySelectorAll('#matrix td.heat')].map((cell) =>
              [getComputedStyle(cell.firstChild).color, getComputedStyle(cell).backgroundColor])""")
            filled = [pair for pair in filled if pair[1] != "rgba(0, 0, 0, 0)"]
            self.assertEqual(len({fill for _, fill in filled}), 5, "a colour for each range of vs best")
            for colour, fill in filled:
                self.assertGreaterEqual(contrast(colour, fill), 4.5, f"{theme}: {fill}")
            self.browser.run("document.getElementById('theme').click()")
            self.assertNotEqual(self.browser.run("getComputedStyle(document.body).backgroundColor"), background)
        self.assertEqual(len(backgrounds), 2)

    def test_nothing_stands_out_of_a_narrow_page(self):
        long = "a" * 120
        self.page(result([*some_cells(), record(long, long, 5.0, reason=long)]), result(some_cells()))
        for width in (1280, 390, 320):
            self.browser.size(width, 800, phone=width < 500)
            self.browser.until(f"innerWidth === {width}")
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)
            self.browser.run("document.querySelector('#results tbody tr').click()")
            box = self.browser.run("(() => { const {left, right} = document.getElementById('cell').getBoundingClientRect(); return [left, right]; })()")
            self.assertTrue(0 <= box[0] and box[1] <= width, box)
            self.browser.run("document.getElementById('cell').close()")

    def test_a_wide_matrix_scrolls_alone(self):
        names = [f"backend_{number}" for number in range(40)]
        refused = [dict(some_cells()[-1], backend=name) for name in names]  # their reasons are there for screen readers
        self.page(result([*(record("decode", name, 5.0 + number) for number, name in enumerate(names)), *refused,
                          record("tree", "mla", 7.0)]))
        for width in (1280, 390):
            self.browser.size(width, 800, phone=width < 500)
            self.browser.until(f"innerWidth === {width}")
            self.assertGreater(self.browser.run("document.querySelector('#matrix table').offsetWidth"), width)
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width)

    def test_a_link_to_a_section_shows_it(self):
        page = self.page(result(some_cells()))
        os.rename(page, page + ".html")  # another page: a browser does not load the same one for a fragment
        self.browser.open(page + ".html", "#results")
        self.browser.until("Math.abs(document.getElementById('results').getBoundingClientRect().top) < 100")

    def focused(self):
        return self.browser.run("(document.activeElement.innerText || document.activeElement.tagName).trim()")

    def test_the_keyboard_reaches_everything_in_order(self):
        self.page(result(some_cells()))
        stops = []
        for _ in range(120):
            self.browser.press("Tab", 9)
            stops.append(self.browser.run("""(() => {
              const at = document.activeElement;
              return [at.closest('section, header, form')?.id || at.className || at.tagName, at.className, at.innerText];
            })()"""))
            if stops[-1][0] == "BODY":
                break
        self.assertEqual(stops[0][0], "skip")
        order = list(dict.fromkeys(where for where, _, _ in stops))
        places = ["filters", "matrix", "roofline", "latency", "results", "errors", "support"]
        self.assertEqual([place for place in order if place in places], places)
        # A table is one stop behind its titles.
        self.assertEqual(sum(1 for where, what, _ in stops if where == "results" and what == "opener"), 1)

    def test_the_arrows_walk_over_rows_and_enter_opens_one(self):
        self.page(result(some_cells()))
        self.browser.run("document.querySelector('#results .opener').focus()")
        self.browser.press("ArrowDown", 40)
        self.browser.press("ArrowDown", 40)
        self.assertEqual(self.focused(), "decode/kv_len2048")
        self.browser.press("End", 35)
        self.assertEqual(self.focused(), "tree")
        self.browser.press("Enter", 13, "\r")
        self.assertTrue(self.browser.run("document.getElementById('cell').open"))
        self.assertTrue(self.browser.run("document.getElementById('cell').contains(document.activeElement)"))
        self.browser.press("Escape", 27)
        self.browser.until("!document.getElementById('cell').open")
        self.assertEqual(self.focused(), "tree")

    def test_a_screen_reader_finds_names_and_roles(self):
        self.page(result(some_cells()), result(some_cells()))
        self.browser.call("Accessibility.enable")
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", ""))
                 for node in self.browser.call("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
        roles = {role for role, _ in nodes}
        for role in ("main", "banner", "navigation", "search", "table", "columnheader", "rowheader", "status", "region"):
            self.assertIn(role, roles)
        for role, name in nodes:
            if role in ("button", "link", "combobox", "searchbox", "image", "table", "region", "dialog"):
                self.assertNotEqual(name.strip(), "", role)
        headings = [name for role, name in nodes if role == "heading"]
        for section in ("Roofline", "Latency by length", "Results", "Errors", "Support", "Environment", "A against B", "Files side by side"):
            self.assertIn(section, headings)
        self.assertEqual(self.browser.run("document.documentElement.lang"), "en")

    def test_two_files_are_compared_with_the_verdicts_of_the_gate(self):
        now = result(some_cells())
        for each in now["records"]:
            if each["backend"] == "paged_fa":
                for key in ("median", "lo", "hi", "min", "max"):
                    each["time_us"][key] *= 1.2
        self.page(result(some_cells()), now, options=["--trust-sequential"])
        self.assertEqual(set(self.column("comparison", 3)), {"✕\xa0INCORRECT", "✕\xa0REGRESSED"})
        self.choose("Verdicts", "REGRESSED")
        self.assertEqual(set(self.column("comparison", 5)), {"+20.0 %"})
        self.choose("Verdicts", "")
        self.assertEqual(len(self.column("comparison", 0)), 8)
        self.browser.run("document.querySelector('#comparison tbody tr').click()")
        self.assertIn("attnbench run s.yaml", self.browser.run("document.querySelector('#cell code').textContent"))
        self.assertIn("1.20", " ".join(self.column("files", 4)))

    def test_two_backends_of_one_file_are_compared(self):
        self.page(result(some_cells()), options=["--base", "splitkv", "--new", "paged_fa"])
        self.assertIn("paged_fa against splitkv", self.browser.run("document.querySelector('#comparison').innerText"))
        self.assertIn("−10.0 %", self.column("comparison", 5))

    def test_three_files_stand_side_by_side(self):
        self.page(*[result(some_cells()) for _ in range(3)])
        self.assertTrue(self.browser.run("document.getElementById('comparison').hidden"))
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#files th.number')].map((each) => each.textContent)"),
                         ["a.json", "b.json", "c.json"])

    def test_ten_thousand_rows_stay_fluid(self):
        cells = [record(f"decode/count{1 + i // 40},kv_len{64 * (1 + i // 4)}", f"backend{i % 4}", 10.0 + (i * 7919) % 10007,
                        mix="decode", kv_tokens=64 * (1 + i // 4), requests=1, flops=10 ** 9 + i * 10 ** 7) for i in range(10000)]
        began = time.monotonic()
        page = self.page(result(cells))
        figures = {"written and loaded": 1000 * (time.monotonic() - began), "page, MB": os.path.getsize(page) / 1e6}

        def timed(name, script):
            figures[name] = self.browser.run(f"""(async () => {{
              const begin = performance.now();
              {script};
              document.body.offsetHeight;
              await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
              return performance.now() - begin;
            }})()""")

        title = "[...document.querySelectorAll('#results .sorter')].find((each) => each.textContent === 'Median').click()"
        find = "const find = document.querySelector('input[type=search]'); find.value = '{}'; find.dispatchEvent(new Event('input'))"
        figures["load event"] = self.browser.run("performance.timing.loadEventEnd - performance.timing.navigationStart")
        timed("sort", title)
        timed("filter to 1 of 4", find.format("backend1"))
        timed("filter to few", find.format("kv_len64 "))
        self.browser.run("new Promise((done) => setTimeout(done, 500))")
        timed("no filter", find.format(""))
        timed("next page", "[...document.querySelectorAll('#results .pager button')][1].click()")
        self.assertIn("51–100 of 10,000", self.browser.run("document.querySelector('#results .pager').innerText"))
        figures["both charts drawn"] = self.browser.run("""new Promise((done) => {
          const begin = performance.now();
          document.getElementById('theme').click();
          done(performance.now() - begin);
        })""")
        print("\n10,000 rows, ms:", ", ".join(f"{name} {value:.0f}" for name, value in figures.items()), file=sys.stderr)
        self.assertEqual(self.browser.run("document.querySelectorAll('#matrix tbody tr').length"), 25)
        self.assertIn("1–25 of 2,500", self.text_of("#matrix .pager"))
        self.assertLess(figures["page, MB"], 2)
        self.assertLess(figures["load event"], 10000)
        for name in ("sort", "filter to 1 of 4", "filter to few", "no filter", "next page"):
            self.assertLess(figures[name], 5000, name)


if __name__ == "__main__":
    if find_chromium() is None:
        print("skipped: there is no Chromium (apt-get install chromium)")
        sys.exit(77)
    unittest.main(verbosity=2)
