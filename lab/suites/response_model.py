"""A logistic item response model: how hard and how telling items are, and how able teams are, on one scale.

The two-parameter model (A. Birnbaum in Lord and Novick, Statistical Theories of Mental Test Scores, 1968): a team of
ability t is expected to reach 1 / (1 + exp(-a (t - b))) of an item of difficulty b and discrimination a. Outcomes may
lie between 0 and 1, by the quasi-likelihood of fractions (Papke and Wooldridge, J. Appl. Econometrics 11, 1996). Their
variance is that of a coin times a dispersion of the item, which the residuals show (McCullagh and Nelder, Generalized
Linear Models, 1989): a task of many parts tells more than one of which all is right or wrong. Priors keep items that
all or no teams do within bounds: abilities are standard normal, which sets the scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SPREAD_OF_LOG_DISCRIMINATION: Final = 0.5
SPREAD_OF_DIFFICULTY: Final = 2.0
"""Standard deviations of the priors of an item, which are normal around 1 and 0."""

PRIOR_RESIDUALS: Final = 5
"""Squared residuals of a coin that count beside an item's own, so that few residuals make no item look exact."""


@dataclass(frozen=True, slots=True)
class ResponseModel:
    """The abilities of the teams, and the difficulty and discrimination of each item."""

    abilities: Floats
    difficulties: Floats
    discriminations: Floats
    dispersions: Floats
    """Of each item: the variance of outcomes around what is expected, as a share of that of a coin."""
    converged: bool

    def expected(self, abilities: Floats) -> Floats:
        """The expected outcome of teams (rows) in items (columns)."""
        return _logistic(self.discriminations * (abilities[:, None] - self.difficulties))

    def information(self, abilities: Floats) -> Floats:
        """Fisher's information of each item (columns) at abilities (rows): the inverse of a variance."""
        expected = self.expected(abilities)
        return self.discriminations**2 * expected * (1 - expected) / self.dispersions


def fitted(outcomes: Sequence[Sequence[float]]) -> ResponseModel:
    """The most likely model of outcomes in [0, 1], by item and team, given the priors."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    given = np.asarray(outcomes, dtype=np.float64).T
    teams, items = given.shape
    found = minimize(
        _loss, np.zeros(teams + 2 * items), args=(given,), jac=True, method="L-BFGS-B", options={"maxiter": 2_000}
    )
    abilities, difficulties, logs = _split(found.x, teams, items)
    expected = _logistic(np.exp(logs) * (abilities[:, None] - difficulties))
    residuals = ((given - expected) ** 2 / np.maximum(expected * (1 - expected), 1e-9)).sum(axis=0)
    dispersions = (residuals + PRIOR_RESIDUALS) / (teams + PRIOR_RESIDUALS)
    return ResponseModel(abilities, difficulties, np.exp(logs), dispersions, bool(found.success))


def _split(values: Floats, teams: int, items: int) -> tuple[Floats, Floats, Floats]:
    return values[:teams], values[teams : teams + items], values[teams + items :]


def _loss(values: Floats, given: Floats) -> tuple[float, Floats]:
    """The negative log posterior, and its gradient."""
    abilities, difficulties, logs = _split(values, *given.shape)
    slopes = np.exp(logs)
    apart = abilities[:, None] - difficulties
    margin = slopes * apart
    likelihood = given * margin - np.logaddexp(0.0, margin)
    error = given - _logistic(margin)
    prior = (
        (abilities**2).sum()
        + ((difficulties / SPREAD_OF_DIFFICULTY) ** 2).sum()
        + ((logs / SPREAD_OF_LOG_DISCRIMINATION) ** 2).sum()
    ) / 2
    gradient = np.concatenate(
        [
            abilities - (error * slopes).sum(axis=1),
            difficulties / SPREAD_OF_DIFFICULTY**2 + (error * slopes).sum(axis=0),
            logs / SPREAD_OF_LOG_DISCRIMINATION**2 - (error * margin).sum(axis=0),
        ]
    )
    return float(prior - likelihood.sum()), gradient


def _logistic(values: Any) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -500, 500))), dtype=np.float64)
