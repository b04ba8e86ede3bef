"""What `concord tasks estimate` says of detectable differences."""

from concord_cli.tasks.detectable import detectable_text


def test_one_run_of_the_standard_manifest_shows_less_than_six() -> None:
    text = detectable_text("standard-1", tasks=24, runs=1)
    assert "1 run(s) show differences of 15 to 27 points" in text
    assert "6 runs show differences of 6 to 11 points" in text
    assert "runs show" not in detectable_text("standard-1", tasks=24, runs=6).partition(";")[2]


def test_a_suite_that_nobody_measured_is_said_to_be_taken_for_another() -> None:
    assert "if they scatter as those of standard-1 do" in detectable_text("maximum", tasks=1, runs=1)
    assert "1 run(s) show no difference" in detectable_text("maximum", tasks=1, runs=1)
