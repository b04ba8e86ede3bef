"""Prices of models: how a name finds its price, and that what is not told is not priced."""

from pathlib import Path

import pytest

from concord.assessment.cost import ModelUse, PriceList, read_prices

PRICES = PriceList.model_validate(
    {
        "date": "2026-01-01",
        "currency": "EUR",
        "models": {"gpt-4o": {"input": 2, "output": 10}, "gpt-4o-mini": {"input": 1, "output": 1}},
    }
)


def use(model: str | None = "gpt-4o", **changes: object) -> ModelUse:
    told = {"calls": 2, "untold": 0, "unsplit": 0, "tokens": 1_500_000}
    return ModelUse(agent="a", model=model, input_tokens=1_000_000, output_tokens=500_000, **{**told, **changes})  # type: ignore[arg-type]


def test_the_shipped_prices_can_be_read_and_have_a_day() -> None:
    prices = read_prices()
    assert prices.models
    assert prices.day.year >= 2025
    assert PriceList.model_validate_json(prices.model_dump_json()).digest == prices.digest


@pytest.mark.parametrize(
    "name", ["gpt-4o", "openai/gpt-4o", "gpt-4o-2024-08-06", "openai/GPT-4o-20240806", "gpt-4o-latest"]
)
def test_a_model_is_found_without_its_provider_and_version(name: str) -> None:
    assert PRICES.of(name) == PRICES.models["gpt-4o"]


@pytest.mark.parametrize("name", ["gpt-4", "gpt-4o-audio", "gpt-4o-mini-audio", "", "o"])
def test_another_model_is_not_taken_for_it(name: str) -> None:
    assert PRICES.of(name) is None


def test_money_is_input_and_output_at_their_prices() -> None:
    assert PRICES.money(use()) == pytest.approx(2 + 5)


@pytest.mark.parametrize("unknown", [use("own-model"), use(None), use(untold=1), use(unsplit=1)])
def test_what_is_not_told_has_no_money(unknown: ModelUse) -> None:
    assert PRICES.money(unknown) is None


def test_a_file_of_ones_own_replaces_the_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('date = 2026-02-03\ncurrency = "EUR"\n[models]\n"m" = { input = 1, output = 2 }\n')
    assert read_prices(path).of("m") is not None
    assert read_prices(path).digest != read_prices().digest
    path.write_text('date = 2026-02-03\ncurrency = "EUR"\n[models]\n"m" = { input = -1, output = 2 }\n')
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        read_prices(path)
