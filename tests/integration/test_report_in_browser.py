"""The HTML report in a real browser: from disk, in light and dark, on desk and phone, printed, and without script."""

import base64
import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord_cli.commands.arguments import ReportArguments
from concord_cli.report.command import report
from concord_cli.report.index import write_index
from concord_cli.report.renderer import render
from tests.kit.browser import CHROMIUM, Browser, Tab, browser
from tests.kit.team_rows import (
    all_with_all,
    crowd,
    ground_truth,
    half_judged,
    mesh_of_five,
    row_of,
    silent_team,
    star_of_five,
    troubled_six,
    unjudged_and_unseen,
)
from tests.kit.team_task_rows import (
    clean_team,
    failure,
    flow_of,
    seat_names,
    team_by_calls,
    team_of_twenty,
    team_task,
    trial_with,
    withholding_team,
)
from tests.unit.cli.report.test_traces import recorded_rows

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        CHROMIUM is None and "REQUIRE_BROWSER" not in os.environ,
        reason="no chromium on PATH (on Debian: apt-get install chromium)",
    ),
]

DESK, PHONE = 1280, 375
HOSTILE = "<script>document.title='owned'</script><img src=http://127.0.0.1:9/x onerror=document.title='owned'>"

OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll(SELECTOR)].filter((each) => each.checkVisibility())
    .map((each) => each.getBoundingClientRect());
  const inside = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => inside(a, b))).length;
})()"""
"""The number of overlapping pairs among the visible elements of a selector."""

STICKING_OUT = """[...document.querySelectorAll("svg.graph text, svg.graph circle")].filter((each) => {
  const [inner, outer] = [each.getBoundingClientRect(), each.ownerSVGElement.getBoundingClientRect()];
  return inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom;
}).map((each) => each.textContent)"""

Opened = Callable[..., Tab]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture(scope="module")
def idle_tabs() -> list[Tab]:
    """The tabs of earlier tests. A tab that is used again needs no new process."""
    return []


@pytest.fixture
def opened(chromium: Browser, idle_tabs: list[Tab], tmp_path: Path) -> Iterator[Opened]:
    """Opens the report of a row in a tab that no other call of the test uses."""
    used: list[Tab] = []

    def open_page(row: ResultRow, *, width: int = DESK, dark: bool = False, script: bool = True) -> Tab:
        path = tmp_path / "report.html"
        path.write_text(render(row), encoding="utf-8")
        tab = idle_tabs.pop() if idle_tabs else chromium.tab()
        used.append(tab)
        tab.send("Emulation.setScriptExecutionDisabled", value=not script)
        tab.show(path, width=width, scheme="dark" if dark else "light")
        return tab

    yield open_page
    for tab in used:
        tab.blank()
    idle_tabs += used


def lines_of(png: bytes) -> list[bytes]:
    """The filtered pixel rows of a PNG picture with three or four bytes a pixel."""
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    data, at = b"", 8
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4]), png[at + 4 : at + 8]
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    pixels = zlib.decompress(data)
    size = len(pixels) // height
    assert size - 1 in (3 * width, 4 * width)
    return [pixels[i * size : (i + 1) * size] for i in range(height)]


@pytest.mark.parametrize(
    "team",
    [
        mesh_of_five,
        star_of_five,
        troubled_six,
        ground_truth,
        half_judged,
        unjudged_and_unseen,
        silent_team,
        crowd,
        withholding_team,
        team_by_calls,
        team_of_twenty,
    ],
)
def test_the_page_loads_without_console_errors_requests_or_overflow(
    team: Callable[[], ResultRow], opened: Opened
) -> None:
    tab = opened(team())
    looks: list[tuple[int, Literal["light", "dark"]]] = [(DESK, "light"), (DESK, "dark"), (PHONE, "light")]
    for width, scheme in looks:
        tab.resize(width, 900)
        tab.prefer(scheme)
        lines = lines_of(tab.screenshot())

        assert tab.run("document.documentElement.scrollWidth") == tab.run("innerWidth") == width
        assert len(lines) > 1000
        assert len(set(lines)) > len(lines) / 4
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith("file:")] == []
    assert len(tab.requests) == 1


@pytest.mark.parametrize(
    "team", [mesh_of_five, star_of_five, troubled_six, silent_team, crowd, lambda: all_with_all(12), team_of_twenty]
)
@pytest.mark.parametrize("width", [DESK, PHONE])
def test_nothing_in_a_drawing_overlaps_or_sticks_out(team: Callable[[], ResultRow], width: int, opened: Opened) -> None:
    tab = opened(team(), width=width)

    assert tab.run(STICKING_OUT) == []
    for selector in (
        ".graph:not(.wide) .node text, .graph .mark",
        ".names text",
        ".lanes .tick",
        ".routes .tick",
        ".lanes .bar rect",
    ):
        assert tab.run(OVERLAPS.replace("SELECTOR", repr(selector))) == 0, selector


def test_light_and_dark_have_different_backgrounds(opened: Opened) -> None:
    grounds = {
        opened(mesh_of_five(), dark=dark).run("getComputedStyle(document.body).backgroundColor") for dark in (0, 1)
    }

    assert len(grounds) == 2


def test_the_link_to_a_call_unfolds_it(opened: Opened) -> None:
    tab = opened(troubled_six())
    tab.run("document.querySelector('details.calls').open = false")
    shown = "document.querySelector('#call-1-3').checkVisibility({contentVisibilityAuto: true})"

    assert not tab.run(shown)
    tab.run("location.hash = 'call-1-3'; new Promise((done) => setTimeout(done))")
    assert tab.run(shown)
    assert tab.run("document.querySelector(':target').id") == "call-1-3"


def test_a_button_highlights_all_calls_of_a_cause_and_undoes_it(opened: Opened) -> None:
    tab = opened(troubled_six())
    calls = tab.run("document.querySelector('#verdict .steps:has(button)').querySelectorAll('a').length")
    press, lit = (
        "document.querySelector('#verdict .steps button').click()",
        "document.querySelectorAll('a.bar.lit').length",
    )
    tab.run(press)

    assert tab.run(lit) == calls
    tab.run(press)
    assert tab.run(lit) == 0


def test_without_script_all_text_is_readable_and_no_button_is_shown(opened: Opened) -> None:
    row = troubled_six()
    read = "document.body.innerText"
    plain = opened(row, script=False).run(read)

    assert isinstance(plain, str)
    for text in ("Error cascade", "researcher_2", "on the critical path", "Density", "the worker was killed"):
        assert text in plain
    assert "show all" not in plain
    assert "show all" in str(opened(row).run(read))


def test_hostile_text_neither_runs_nor_loads_nor_breaks_the_policy(opened: Opened) -> None:
    row = mesh_of_five()
    trial = row.detail.trials[0].model_copy(update={"answer": HOSTILE, "trial_id": HOSTILE})
    tab = opened(
        row.model_copy(update={"detail": row.detail.model_copy(update={"trials": [trial], "warnings": [HOSTILE]})})
    )

    assert tab.complaints == []
    assert len(tab.requests) == 1
    assert tab.run("document.title").startswith("Coordination report")  # type: ignore[union-attr]
    assert HOSTILE in str(tab.run("document.body.innerText"))


def test_the_content_security_policy_stops_injected_scripts_and_images(opened: Opened) -> None:
    tab = opened(mesh_of_five())
    tab.run(f"document.querySelector('main').innerHTML = {HOSTILE!r}")
    tab.run("document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.owned = 1'}))")

    assert tab.run("window.owned === undefined")
    assert str(tab.run("document.title")).startswith("Coordination report")
    assert any("Content Security Policy" in complaint for complaint in tab.complaints)
    assert tab.requests[1:] == ["http://127.0.0.1:9/x"]
    assert tab.refused == ["csp"]


def pages_of(tab: Tab) -> int:
    """The number of pages on paper (A4)."""
    printed = tab.send("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"])))


def of_six_seats() -> ResultRow:
    names = seat_names(6)
    tasks = ("maximum-6", "prefix-sums-6", "hidden-profile-6")
    record = team_task(flow_of(6), [failure("agent/2")])
    return row_of(names, *(trial_with(record, trial_id=task, task_id=task) for task in tasks))


@pytest.mark.parametrize(
    ("team", "most"),
    [
        (troubled_six, 6),
        (of_six_seats, 6),
        (lambda: crowd(30), 12),
        (lambda: all_with_all(30), 12),
    ],
)
def test_a_report_fits_few_pages_of_paper(team: Callable[[], ResultRow], most: int, opened: Opened) -> None:
    assert 1 < pages_of(opened(team())) <= most


def test_a_large_team_is_a_matrix_whose_drawing_is_folded(opened: Opened) -> None:
    small, large = opened(all_with_all(12)), opened(crowd(30))

    assert large.run("!!document.querySelector('svg.matrix')")
    assert not small.run("!!document.querySelector('svg.matrix')")
    assert not large.run("document.querySelector('svg.graph').checkVisibility({contentVisibilityAuto: true})")


def test_two_clicks_compare_two_runs_in_the_index(chromium: Browser, tmp_path: Path) -> None:
    for name, row in (("before.json", withholding_team()), ("after.json", clean_team())):
        named = row.model_copy(update={"detail": row.detail.model_copy(update={"warnings": [name]})})
        (tmp_path / name).write_text(ResultsDocument(participants={}, results=[named]).model_dump_json())
    page, _ = write_index(tmp_path, None)
    tab = chromium.tab()
    tab.show(page, width=DESK)
    hidden = "document.getElementById('comparison').hidden"

    assert tab.run(hidden)
    for place in (0, 1):
        tab.run(f"document.querySelectorAll('tr[data-run]')[{place}].click()")
    assert not tab.run(hidden)
    text = str(tab.run("document.getElementById('comparison').innerText"))
    assert "before.json" in text
    assert "agent/2 told nobody" in text
    assert (tab.complaints, len(tab.requests)) == ([], 1)


TRACES = 30
"""Of which every second one failed."""

SHOWN_ROWS = "[...document.querySelectorAll('#traces tbody tr')].filter((row) => row.checkVisibility()).length"
OPEN_GROUPS = "[...document.querySelectorAll('#traces details')].filter((fold) => fold.open).map((fold) => fold.id)"


@pytest.fixture
def many_traces(chromium: Browser, tmp_path: Path) -> Tab:
    recorded_rows(tmp_path / "rows.jsonl", TRACES)
    tab = chromium.tab()
    tab.show(report(ReportArguments(tmp_path / "rows.jsonl")), width=DESK)
    return tab


def search(tab: Tab, words: str, within: str) -> None:
    tab.run(
        f"(() => {{ const field = document.querySelector('{within} input[type=search]'); field.value = {words!r};"
        " field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_many_traces_begin_with_those_that_failed(many_traces: Tab) -> None:
    assert many_traces.run(OPEN_GROUPS) == ["group-1"]
    assert "<b>writer: gone" in str(many_traces.run("document.querySelector('#group-1 summary').innerText"))
    assert many_traces.run(SHOWN_ROWS) == TRACES / 2


def test_the_filter_leaves_the_traces_with_all_its_words_and_opens_their_groups(many_traces: Tab) -> None:
    search(many_traces, "TOLD <i>2", "#traces")  # in the title of a group, and in the id of a trace
    assert many_traces.run(OPEN_GROUPS) == ["group-2"]
    assert many_traces.run(SHOWN_ROWS) == len([2, 20, 22, 24, 26, 28])
    assert not many_traces.run("document.querySelector('#group-1').checkVisibility()")
    assert many_traces.run("document.querySelector('#traces output').value") == f"6 of {TRACES}"

    search(many_traces, "", "#traces")
    assert many_traces.run(OPEN_GROUPS) == ["group-1"]


def test_a_line_of_the_failures_leads_to_its_traces_whatever_is_filtered(many_traces: Tab) -> None:
    search(many_traces, "gone", "#traces")
    many_traces.run("location.hash = 'group-2'; new Promise((done) => setTimeout(done))")
    assert "group-2" in str(many_traces.run(OPEN_GROUPS))
    assert many_traces.run(SHOWN_ROWS) == TRACES


def test_a_trace_of_many_links_to_its_own_page(many_traces: Tab) -> None:
    link = many_traces.run("document.querySelector('#group-1 tbody a').href")
    assert isinstance(link, str)
    many_traces.show(Path(link.removeprefix("file://")), width=DESK)
    assert "<i>1" in str(many_traces.run("document.body.innerText"))
    assert "gone" in str(many_traces.run("document.body.innerText"))
    assert many_traces.complaints == []


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_many_traces_fit_desk_and_phone(many_traces: Tab, width: int) -> None:
    many_traces.resize(width, 900)
    assert many_traces.run("document.documentElement.scrollWidth <= innerWidth")
    assert many_traces.complaints == []


def test_the_page_of_a_thousand_agents_folds_them_and_finds_one(opened: Opened) -> None:
    tab = opened(crowd(1000))
    assert tab.run("document.documentElement.scrollHeight") < 15_000  # type: ignore[operator]

    tab.run("document.querySelector('.roster').open = true")
    search(tab, "analyst_777", ".roster")
    assert (
        tab.run("[...document.querySelectorAll('.roster tbody tr')].filter((row) => row.checkVisibility()).length") == 1
    )
    assert tab.complaints == []


def test_in_print_all_tables_are_unfolded_and_navigation_is_hidden(opened: Opened) -> None:
    tab = opened(troubled_six())
    tab.send("Emulation.setEmulatedMedia", media="print")

    assert tab.run("[...document.querySelectorAll('details table')].every((table) => table.offsetHeight > 20)")
    assert tab.run("document.querySelector('nav').offsetHeight") == 0
