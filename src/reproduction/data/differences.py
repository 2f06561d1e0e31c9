"""Notes for figure titles on differences between the data of a run and the papers' data.

The papers are *Integer Subspace Differential Privacy* (ISDP) and *Subspace Differential Privacy*
(SDP).
"""

PAPER_VINTAGE = "20201116"  # vintage of the demonstration data in ISDP and SDP
PAPER_STATE = "IL"  # a state that both papers name
PAPER_RULE = f"slope negative and significant at 0.01 in vintage {PAPER_VINTAGE}"
FROM_CONFIG = "named in the config"


def note_vintage(vintage: str) -> str:
    """Name the vintage of the errors of the Census DAS if it differs from the papers'."""
    if vintage in ("", PAPER_VINTAGE):
        return ""
    return f"errors of the Census DAS: vintage {vintage}, not the paper's vintage {PAPER_VINTAGE}"


def note_state(state: str, rule: str) -> str:
    """Describe the selection of a state if it may not be one of the papers' states."""
    if state == PAPER_STATE or rule == PAPER_RULE:
        return ""
    if rule == FROM_CONFIG:
        return f"{state} is named in the config, not by the paper's rule"
    return f"{state} is our choice: our text copy lacks the names of the paper's ten states"


def note_states(rule: str) -> str:
    """Describe the selection of a run's states if they may not be the papers' states."""
    if rule == PAPER_RULE:
        return ""
    return (
        f"states {FROM_CONFIG}"
        if rule == FROM_CONFIG
        else "other states than the paper's, except Illinois"
    )


def extend_title(title: str, *words: str) -> str:
    """Add a second line to a title with all notes that are not empty."""
    notes = "; ".join(filter(None, words))
    return f"{title}\n{notes}" if notes else title
