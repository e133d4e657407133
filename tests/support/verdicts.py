"""What an experiment makes of results."""

from io import BytesIO


def verdicts(experiment, results):
    """Of each of its claims, in their order."""
    return [claim.verdict for claim in experiment.claims(results)]


def drawn(figure):
    """Whether a figure can be drawn at all."""
    page = BytesIO()
    figure.savefig(page, format="png", dpi=40)
    return page.getvalue().startswith(b"\x89PNG") and page.tell() > 1000
