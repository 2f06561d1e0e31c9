"""Notes for figure titles where the data of a run differ from the papers' data."""

PAPER_VINTAGE = "20201116"  # of the demonstration data in ISDP and SDP
PAPER_STATE = "IL"  # which both papers name
PAPER_RULE = f"slope negative and significant at 0.01 in vintage {PAPER_VINTAGE}"
FROM_CONFIG = "named in the config"


def note_vintage(vintage: str) -> str:
    """Name the vintage of the errors of the Census DAS if it differs from the papers'."""
    if vintage in ("", PAPER_VINTAGE):
        return ""
    return f"errors of the Census DAS: vintage {vintage}, not the paper's {PAPER_VINTAGE}"


def note_state(state: str, rule: str) -> str:
    """State that a state may not be one of the papers', by the rule that selected it."""
    if state == PAPER_STATE or rule == PAPER_RULE:
        return ""
    if rule == FROM_CONFIG:
        return f"{state} is named in the config, not by the paper's rule"
    return f"{state} is a substitute: the paper's ten states are not known here"


def note_states(rule: str) -> str:
    """State the same for all states of a run."""
    if rule == PAPER_RULE:
        return ""
    return (
        f"states {FROM_CONFIG}"
        if rule == FROM_CONFIG
        else "other states than the paper's, except Illinois"
    )


def extend_title(title: str, *words: str) -> str:
    """Append the notes that are not empty as a second line of a title."""
    return "\n".join([title, *filter(None, ["; ".join(filter(None, words))])])
