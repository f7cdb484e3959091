"""Pages about claims: the front page's counts, the scorecard, deviations and errata, changed rules."""

import math
import tomllib
from functools import cache
from itertools import groupby

from landscape import BEYOND, beyond, printed_pairs
from printed_values import fold
from record_text import (
    CITATIONS,
    ROOT,
    TITLES,
    badge,
    bar,
    dropdown,
    in_words,
    led,
    name_of,
    plain,
    quiet,
    section_link,
    tally,
    terms,
    whose,
)

from companion import evidence
from companion.evidence import Verdict
from companion.evidence.standing import loosely_tested, told
from companion.evidence.verdicts import ERRATA, with_error


@cache
def wrong_as_printed():
    """What is wrong, in words, by the id of the claim that says so."""
    papers = tomllib.loads((ROOT / "book" / "wrong_as_printed.toml").read_text(encoding="utf-8"))
    return {f"{paper}/{claim}": words for paper, claims in papers.items() for claim, words in claims.items()}


def what_is_wrong(row, *verdicts):
    """Of a place of a paper, what has one of these verdicts: all else that is printed there may be right."""
    return "; ".join(wrong_as_printed()[claim.id] for claim, decision in row.claims if decision and decision.verdict in verdicts)


def glance():
    """Front page: how many places have a verdict, and a bar and the counts for each paper."""
    verdicts = [row.verdict for row in evidence.scorecard("paper") if not row.entry.extra]
    things, open_ones = len(verdicts) - verdicts.count(Verdict.NOTHING), verdicts.count(Verdict.NOT_YET)
    have = f"{things - open_ones} of the" if open_ones else "All"
    said = f"{have} {things} figures, tables and numbered statements of the papers have one."
    if not any(not row.entry.extra and Verdict.NOT_REPRODUCED in row.verdicts for row in evidence.scorecard("paper")):
        _, n, n_far = far_off()
        said += (
            f" {n_far} of {n} printed numbers differ from ours by more than a factor of two. Each depends on a setting that the paper does not "
            "give, so that none is called *not reproduced*: {ref}`which they are <disagreements>`."
        )
    lines = [said, "", "| paper | verdicts on its figures, tables and theorems |", "|---|---|"]
    for paper, counts in evidence.headline("paper").items():
        chapter = f"[{TITLES[paper]}]({paper}.md)" if (ROOT / "book" / f"{paper}.md").exists() else TITLES[paper]
        lines.append(f"| {chapter} | {bar(counts)} {tally(counts)} [every claim](#scorecard-{paper}) |")
    return "\n".join(lines)


def scorecard():
    """Every entry of the five papers, with its claims and their verdicts."""
    rows = evidence.scorecard("paper")
    parts = []
    for paper in TITLES:
        printed = [row for row in rows if row.entry.paper == paper and not row.entry.extra]
        extras = [row for row in rows if row.entry.paper == paper and row.entry.extra]
        counts = evidence.headline("paper")[paper]
        parts += [
            f"(scorecard-{paper})=",
            f"## {TITLES[paper]}",
            f"{{cite:t}}`{CITATIONS[paper]}`. {bar(counts)} {tally(counts)}",
            *map(entry, printed),
        ]
        if extras:
            parts += ["Found on the way, stated by no paper:", *map(entry, extras)]
    return "\n\n".join(parts)


def entry(row):
    """One entry of the scorecard: a line that opens to its claims."""
    place, _, section = row.entry.place.partition(", ")
    lines = [f"{plain(row.entry.statement)} {quiet(section)}", ""]
    if row.entry.schematic:
        lines.append(f"Nothing to reproduce: {plain(row.entry.schematic)}")
    if row.entry.plan:
        lines += [f"Planned: {plain(row.entry.plan)}", ""]
    if row.claims:
        lines += ["| claim, and what decides it | what was found | verdict |", "|---|---|---|"]
        lines += [claim_row(claim, decision) for claim, decision in row.claims]
        lines += ["", f"Decided in {section_link(row, f'{name_of(row.entry)}, {row.notebook}')}. {quiet(row.entry.id)}"]
    lines += ["", fold(row)]
    badges = " ".join(badge(verdict, badge_text(row, verdict), extra=row.entry.extra) for verdict in row.verdicts)
    wrong = "" if row.entry.extra else what_is_wrong(row, *ERRATA)
    head = f"[{plain(row.entry.title)}]{{.title}} {badges} {quiet(wrong)}".rstrip()
    name = f"scorecard-{row.entry.id}".replace("/", "-").replace(".", "-").lower()
    if row.notebook:
        page = row.notebook.partition("_")[0].replace("/", "/\N{ZERO WIDTH SPACE}")  # where it may break on a phone
        lead = section_link(row, page if row.entry.extra else place)
        return led(lead, dropdown(head, "\n".join(lines), name))
    return dropdown(f"[{place}]{{.place}} {head}", "\n".join(lines), name)


def badge_text(row, verdict):
    """The word of a verdict on an entry, and of how many of its claims it holds where it does not hold of all."""
    word = verdict.word(row.entry.extra)
    same = sum(decision is not None and decision.verdict is verdict for _, decision in row.claims)
    return f"{word}, {same} of {len(row.claims)}" if 0 < same < len(row.claims) else word


def claim_row(claim, decision):
    """A claim, what decides it, what was found, and the verdict: a row."""
    notes = [
        claim.printed and f"The paper: {plain(claim.printed)}",
        quiet(f"Decided by: {claim.rule}"),
        claim.unprinted and f"Not printed: {plain(claim.unprinted)}",
        claim.changed and f"*Changed since it was first written.* {plain(claim.changed)}",
        claim.why and f"Why it fails: {plain(claim.why)}",
    ]
    said = plain(f"{whose(decision) if decision else ''} {claim.statement}".lstrip())
    sentence = "<br>".join([said, *filter(None, notes)])
    if decision is None:
        return f"| {sentence} | – | {badge(Verdict.NOT_YET)} |"
    decision = told(decision)
    found = [plain(decision.finding), plain(decision.reason), quiet(decision.detail)]
    return f"| {sentence} | {'<br>'.join(filter(None, found))} | {badge(decision.verdict, extra=claim.extra)} |"


def decided(*verdicts):
    """Row, claim and decision of every claim with one of these verdicts, in the order of the papers."""
    return [
        (row, claim, decision)
        for row in evidence.scorecard("paper")
        for claim, decision in row.claims
        if decision and decision.verdict in verdicts
    ]


def errata():
    """At how many places a paper is wrong as printed, by the kind of erratum, and each claim that says so."""
    parts, counts = [], evidence.headline("paper")
    for verdict in reversed(ERRATA):
        counted = [f"{in_words(counts[paper][verdict])} in *{TITLES[paper]}*" for paper in TITLES if counts[paper][verdict]]
        places = f"Figures, tables and numbered statements of this kind so far: {', '.join(counted) or 'none'}."
        parts += [f"### {verdict.value.capitalize()}", places, by_paper(decided(verdict))]
    return "\n\n".join(parts)


def disagreements():
    """Claims of papers that came out otherwise, and those that hang on a setting which is not printed."""
    undecided = [one for one in decided(Verdict.INCONCLUSIVE) if one[1].unprinted]
    in_direction, words = decided(Verdict.IN_DIRECTION), loosely_tested()
    of_papers = {
        "Not reproduced": decided(Verdict.NOT_REPRODUCED),
        "Reproduced in direction: the numbers differ": [one for one in in_direction if one[1].id not in words],
        "Reproduced in direction: a word, and no number": [one for one in in_direction if one[1].id in words],
        "Scaled": decided(Verdict.SCALED),
        **{
            f"Inconclusive: {because}": [one for one in undecided if one[2].open_because == because]
            for because in sorted({one[2].open_because for one in undecided})
        },
    }
    parts = []
    for title, found in of_papers.items():
        found = [one for one in found if not one[1].extra]
        none = "None." if found or title != "Not reproduced" else why_none()
        parts += [f"### {title}", by_paper(found, folded=True) or none]
    return "\n\n".join(parts)


def far_off():
    """Where printed numbers are far from ours, on what they depend, and how many there are, compared and far."""
    lines, n, n_far = [], 0, 0
    for row in evidence.scorecard("paper"):
        pairs = [] if row.entry.extra or not row.notebook else printed_pairs(row)[0]
        far = sorted(pair.ratio for pair in pairs if abs(math.log(pair.ratio)) > math.log(2))
        n, n_far = n + len(pairs), n_far + len(far)
        if far:
            settings = {claim.unprinted for claim, decision in row.claims if decision and decision.rule == "value"} - {None}
            if not settings:
                raise ValueError(f"{row.entry.id}: ours is far from what is printed, and no claim names a setting that is not")
            place = section_link(row, f"{TITLES[row.entry.paper]}, {row.entry.place.partition(', ')[0]}")
            spread = f"{far[0]:.2g} of it" if len(far) == 1 else f"{far[0]:.2g} to {far[-1]:.2g} of them"
            lines.append(f"- {place}: {len(far)} of {len(pairs)} numbers, ours {spread}. Not printed: {'; '.join(sorted(settings))}.")
    return lines, n, n_far


def why_none():
    """Why nothing is "not reproduced", and what a sceptic wants to look at."""
    lines, n, n_far = far_off()
    said = (
        f"None, because each of the {n_far} printed numbers (of {n}) from which ours are further away than a factor of two depends on a "
        "setting that the paper does not print. We cannot tell whether ours or theirs is the better choice, and say so in place of a verdict. "
        "A sceptic will want to look at them first:"
    )
    return "\n".join([said, "", *lines])


def refuted():
    """Findings of our own that our own test refuted."""
    of_papers = by_paper((one for one in decided(Verdict.NOT_REPRODUCED) if one[1].extra), folded=True)
    others = [
        finding(page_link(notebook, title), "", claim, decision)
        for claim, decision, notebook, _, title in beyond()
        if decision and decision.verdict is Verdict.NOT_REPRODUCED
    ]
    parts = [of_papers] if of_papers else []
    if others:
        parts.append(dropdown(f"[{BEYOND}]{{.title}} {quiet(str(len(others)))}", "\n\n".join(others), fence=":::::"))
    return "\n\n".join(parts) or "None so far."


def by_paper(found, folded=False):
    """Findings under the name of their paper, or in a fold of that name."""
    parts = []
    for paper, members in groupby(found, key=lambda one: one[0].entry.paper):
        lines = [
            finding(section_link(row, name_of(row.entry)), row.entry.statement, claim, decision) for row, claim, decision in members
        ]
        head = f"[{TITLES[paper]}]{{.title}} {quiet(str(len(lines)))}"
        parts += [dropdown(head, "\n\n".join(lines), fence=":::::")] if folded else [f"**{TITLES[paper]}**", *lines]
    return "\n\n".join(parts)


def finding(place, statement, claim, decision):
    """A line that opens: one claim beside what was found, what the paper prints, ours, what was allowed, and why."""
    decision = told(decision)
    sentence = plain(claim.statement)
    head = f"[{sentence}]{{.title}} {badge(decision.verdict, extra=claim.extra)}"
    ours, _, allowed = decision.finding.partition("; ")
    if decision.rule == "value":
        ours, allowed = decision.finding, decision.detail
    allowed = allowed or decision.detail
    printed = decision.paper is not None and with_error(decision.paper, decision.paper_se, decision.unit)
    printed = claim.printed or printed or (claim.extra and "nothing: a finding of ours")
    fields = {
        "The paper" if printed else "The paper, in our words": plain(printed or statement),
        "Found": plain(ours),
        "Threshold": plain(allowed or "–"),
        "Why": plain(claim.why or decision.reason),
    }
    return led(place, dropdown(head, terms(fields), classes="entry finding"))


def unprinted():
    """Settings that a paper does not print and on which claims hang, each once."""
    return bullets(lambda claim: claim.unprinted and f"{claim.unprinted.rstrip('.')}.") or "None so far."


def to_ask():
    """What a line from the authors would settle: the settings on which open claims hang, each once."""
    hang = [one for one in decided(Verdict.INCONCLUSIVE) if one[2].by_choice]
    lines = [f"- *{TITLES[row.entry.paper]}*, {section_link(row, name_of(row.entry))}: {plain(claim.unprinted.rstrip('.'))}." for row, claim, _ in hang]
    return "\n".join(dict.fromkeys(lines)) or "Nothing."


def changes():
    """Every rule that changed after a first run."""
    claims = [*(claim for entry in evidence.entries() for claim in entry.claims), *(claim for claim, *_ in beyond())]
    changed = [claim for claim in claims if claim.changed]
    reviewed = sum("review" in claim.changed or " reading" in claim.changed for claim in changed)
    counted = f"{len(changed) - reviewed} after a first look at a run and {reviewed} in a later review"
    said = f"Of {len(claims)} claims, {len(changed)} note a change, in the rule, the repeats or the wording: {counted}."
    return f"{said} Claims of one place that share a note share a line.\n\n{bullets(lambda claim: claim.changed, True)}"


def bullets(note, quoted=False):
    """What `note` says of claims, in a fold for each paper: once for the claims of an entry that share it."""
    parts = []
    for paper, members in groupby(evidence.scorecard("paper"), key=lambda row: row.entry.paper):
        lines = []
        for row in members:
            of_note = {}
            for claim, decision in row.claims:
                if note(claim):
                    of_note.setdefault(note(claim), []).append((claim, decision))
            lines += [noted(section_link(row, name_of(row.entry)), text, claims, quoted) for text, claims in of_note.items()]
        if lines:
            parts.append(dropdown(f"[{TITLES[paper]}]{{.title}} {quiet(str(len(lines)))}", "\n".join(lines)))
    others = [
        noted(page_link(notebook, title), note(claim), [(claim, decision)], quoted)
        for claim, decision, notebook, _, title in beyond()
        if note(claim)
    ]
    if others:
        parts.append(dropdown(f"[{BEYOND}]{{.title}} {quiet(str(len(others)))}", "\n".join(others)))
    return "\n\n".join(parts)


def noted(place, text, claims, quoted):
    """A note, after the sentences of its claims if they are quoted, and before their verdicts."""
    badges = " ".join(badge(d.verdict if d else Verdict.NOT_YET, extra=c.extra) for c, d in claims)
    said = " ".join(plain(claim.statement) for claim, _ in claims) + "<br>" if quoted else ""
    return f"- {place}: {said}{plain(text)} {badges}"


def page_link(notebook, title):
    """A link to a page whose claims are no paper's."""
    return f"{{doc}}`{title} </notebooks/{notebook}>`"


def error_rates():
    """How often the whole book may be wrong by chance."""
    rates = evidence.error_rates("paper")
    counted = sum(rule.decisions for rule in rates.by_rule.values())
    said = [f"Of {rates.decided} decisions {rates.without_noise} compare numbers without noise: chance cannot fool them."]
    if rates.unknown:
        said.append(f"{rates.unknown} come from runs that did not record their levels yet, and are not counted here.")
    if counted:
        said.append(
            f"Of the other {counted}: if every claim were true, the chance that at least one of them is called false would be at "
            f"most **{100 * rates.false_red:.2g} %**. If every green claim failed by just as much as its rule is made to notice, "
            f"**{rates.false_green:.2g}** of them would on average still be green, at most."
        )
    if rates.few_repeats:
        said.append(f"{rates.few_repeats} rest on fewer than 30 repeats, for which this holds if their errors are normal.")
    lines = ["| rule | decisions | false red, at most | false green, at most |", "|---|--:|--:|--:|"]
    lines += [
        f"| {name} | {rule.decisions} | {rule.false_red:.2g} | {rule.false_green:.2g} |" for name, rule in rates.by_rule.items()
    ]
    return "\n\n".join([" ".join(said), *(["\n".join(lines)] if counted else [])])


def places_of(paper):
    """For a chapter: a link to the section of every figure, table and statement that a notebook decides."""
    rows = (row for row in evidence.scorecard("paper") if row.entry.paper == paper and row.notebook)
    links = ", ".join(section_link(row, name_of(row.entry)) for row in rows if not row.entry.extra)
    return f"Straight to {links}." if links else "No notebook has reached this paper yet."


def errata_of(paper):
    """For a chapter: where the paper is wrong as printed, by the kind of erratum."""
    rows = [row for row in evidence.scorecard("paper") if row.entry.paper == paper and not row.entry.extra]
    found = {v: [section_link(row, what_is_wrong(row, v)) for row in rows if v in row.verdicts] for v in reversed(ERRATA)}
    parts = [f"- {badge(v, v.counted(len(links)))} {', '.join(links)}" for v, links in found.items() if links]
    if not parts:
        return "No statement of this paper was found to be wrong as printed."
    lines = "\n".join(parts)
    return f"Wrong as printed:\n\n{lines}\n\nWhat is printed and what was found is side by side on [](deviations.md)."
