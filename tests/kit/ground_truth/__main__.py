"""`python -m tests.kit.ground_truth`: writes the data set anew, and prints how the evaluator classifies it."""

from tests.kit.ground_truth.classification import classified, table
from tests.kit.ground_truth.dataset import PATH, dataset, written
from tests.kit.ground_truth.offline import evaluate

if __name__ == "__main__":
    PATH.write_text(written())
    scenarios = dataset()["scenarios"]
    records = evaluate(scenarios)
    print(table(classified(scenario, records[scenario["id"]]) for scenario in scenarios))  # noqa: T201
