"""The scorer: how much of a target's wording an answer has."""

from collections.abc import Sequence

from concord_text.measures import phrases_of


def grade_phrases(answer: str, targets: Sequence[str], words: int = 2) -> tuple[float, str]:
    """The share of a target's phrases of `words` words that the answer has too; of several targets the best.

    The recall of ROUGE-N (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"); each phrase counts once.
    """
    said = phrases_of(answer, words)
    shares = [len(wanted & said) / len(wanted) for target in targets if (wanted := phrases_of(target, words))]
    if not shares:
        raise ValueError("no target has a word")
    return max(shares), f"has {max(shares):.0%} of a target's phrases of {words} words"
