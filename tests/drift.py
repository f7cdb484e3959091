"""Whether what a claim came to at quick and at paper can be one thing: its verdicts and its numbers."""

from companion.evidence.verdicts import Verdict

APART = 6.0


def drift(quick, paper):
    """What speaks against two recorded decisions on one claim, made at the two profiles, being of one thing.

    ::

        |ours_quick - ours_paper|  <=  6 (se_quick + se_paper)

    Numbers with standard errors are compared so. Were both right, with errors from ten repeats, they would
    lie further apart at most once in 5000 times (Student's t with nine degrees of freedom, all noise on one
    side). Seeds are fixed, so that a check that passed passes again, but for a change of code. Numbers
    without noise must agree to four digits, or to the rounding that the decisions say they carry; a number
    that is rounding and nothing else is not recorded, and its bound decides. Of medians over repeats only the
    verdicts are compared, and so they are over unequally many conditions: the worst of five is not the worst
    of fifty.

    Args:
        quick, paper: as :meth:`~companion.evidence.verdicts.Decision.as_dict` gives them.

    Returns:
        A sentence, empty if nothing speaks against it.
    """
    if _side(quick) * _side(paper) < 0:
        return f"{quick['verdict']} at quick, {paper['verdict']} at paper"
    ours = [decision.get("ours") for decision in (quick, paper)]
    counts = [decision.get("comparisons") for decision in (quick, paper)]
    if None in ours or None in counts or counts[0] != counts[1]:
        return ""
    errors, distance = [decision.get("se") for decision in (quick, paper)], abs(ours[0] - ours[1])
    if None not in errors:
        allowed = APART * sum(errors)
    elif errors == [None, None] and quick.get("level") == paper.get("level") == 0 and "repeats" not in quick:
        allowed = max(1e-4 * max(map(abs, ours)), *(decision.get("rounding", 0.0) for decision in (quick, paper)))
    else:
        return ""
    if distance <= allowed:
        return ""
    return f"{ours[0]:.6g} at quick, {ours[1]:.6g} at paper: {distance:.2g} apart, {allowed:.2g} allowed"


def _side(decision):
    """+1 if the verdict says that the claim holds, -1 that it fails, 0 nothing."""
    verdict = Verdict(decision["verdict"])
    return 1 if verdict.green else -1 if verdict in (Verdict.NOT_REPRODUCED, Verdict.ERRATUM) else 0


def apart(quick, paper):
    """What speaks against arrays kept at the two profiles being of one thing: their shapes, never their numbers.

    A profile changes sizes: quick may have fewer numbers along an axis, and some of its words; arrays and axes are the same.

    Args:
        quick, paper: ``kept`` of the two records.

    Returns:
        A sentence, empty if nothing speaks against it.
    """
    for name in sorted({*quick, *paper}):
        if name not in quick or name not in paper:
            return f"{name!r} is kept at {'paper' if name in paper else 'quick'} alone"
        ours, theirs = dict(quick[name]["axes"]), dict(paper[name]["axes"])
        if list(ours) != list(theirs):
            return f"{name!r} has the axes {list(ours)} at quick, {list(theirs)} at paper"
        for axis, labels in ours.items():
            if new := sorted({label for label in labels if isinstance(label, str)} - set(theirs[axis])):
                return f"{name!r} has {new} along {axis!r} at quick alone"
    return ""
