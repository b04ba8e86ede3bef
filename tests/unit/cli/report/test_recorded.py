"""The page on a trace from a file: the conversation, tools folded, what failed; and nothing in it can act."""

from concord_cli.report.renderer import render
from tests.unit.evaluator.recorded.planted import CONVENTIONS, Recorder, bad_team, crashed_run, gen_ai, right_pipeline

HOSTILE = "</pre><script>alert(1)</script>\x1b[2J\u202e"


def test_a_page_shows_what_was_said_and_folds_the_tools() -> None:
    for said in CONVENTIONS.values():
        page = render(bad_team(said).row())
        assert "No: 3 May, not 5 May." in page
        assert "<summary><bdi>searcher: search 5 times; 5 failed</bdi></summary>" in page
        assert "The ferry costs 40 EUR." in page


def test_a_page_says_what_failed_and_how_often() -> None:
    page = render(bad_team(gen_ai).row())
    assert "<h4>What failed, as the trace tells</h4>" in page
    assert "booker, called by lead, failed, which was handled: connection refused</span>" in page
    assert '<span class="aside">3 times</span>' in page


def test_a_page_says_that_a_run_crashed() -> None:
    assert "lead&#39;s model gpt failed: RuntimeError: no model" in render(crashed_run(gen_ai).row())


def test_a_right_pipeline_is_not_headed_by_a_label_of_coordination() -> None:
    page = render(right_pipeline(gen_ai).row())
    head, _, shape = page.partition('<section id="shape"')
    assert "oordination" not in head.partition("<body")[2].replace("Coordination report", "")
    assert "Label: low" in shape
    assert "What failed" not in page


def test_texts_of_agents_are_escaped() -> None:
    team = Recorder(gen_ai)
    lead = team.span("agent", HOSTILE, HOSTILE, HOSTILE)
    team.span("tool", HOSTILE, HOSTILE, HOSTILE, parent=lead, error=HOSTILE)
    page = render(team.row())
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_a_long_text_is_folded() -> None:
    team = Recorder(gen_ai)
    lead = team.span("agent", "lead", "Go.", "Done.")
    team.span("tool", "read", "{}", "word " * 200, parent=lead)
    assert "<summary>result (999 characters)</summary>" in render(team.row())
