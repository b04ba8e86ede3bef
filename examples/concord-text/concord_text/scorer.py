"""The scorer: the share of a target's wording that an answer contains."""

from collections.abc import Sequence

from concord_text.measures import phrases_of


def grade_phrases(answer: str, targets: Sequence[str], words: int = 2) -> tuple[float, str]:
    """The share of a target's phrases of `words` words that occur in the answer; the best of several targets.

    The recall of ROUGE-N (Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries"); each phrase counts once.
    """
    said = phrases_of(answer, words)
    shares = [len(wanted & said) / len(wanted) for target in targets if (wanted := phrases_of(target, words))]
    if not shares:
        raise ValueError("no target has a word")
    return max(shares), f"contains {max(shares):.0%} of a target's phrases of {words} words"
