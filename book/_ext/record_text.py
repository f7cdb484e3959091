"""How a record reads in Markdown: badges, bars, numbers in words, links to sections."""

import math
import re
from dataclasses import replace
from pathlib import Path

from companion.evidence import Verdict, verdicts
from companion.evidence.claims import papers
from companion.evidence.verdicts import ERRATA, with_error

ROOT = Path(__file__).resolve().parents[2]

TITLES = {paper.name: paper.title for paper in papers()}
CITATIONS = {paper.name: paper.citation for paper in papers()}
POWER = re.compile(r"(?<=[\w)|])\^(?:\((-\w|-?[\w./]{2,})\)|(\(\w\)|-?\w[\w.]*\w|-?\w))")
FLOAT = r"(\d[\d.]*)e([+-]\d+)"
SMALL = re.compile(rf"(?<![\w.`])(-?)(?:(\d[\d.]*)(?:e([+-]\d+))? ± {FLOAT}|{FLOAT})(?!\w)")
WRITTEN = "alpha beta gamma delta epsilon theta kappa lambda mu nu rho sigma phi psi omega Gamma Phi Psi Omega"
GREEK = dict(zip(re.findall(r"\w+", WRITTEN), "αβγδεθκλμνρσφψωΓΦΨΩ", strict=True))
LETTER = re.compile(rf"(?<![\w`.])({'|'.join(GREEK)})(?![A-Za-z`])")
SIGNS = {r"\\?(?:<|&lt;)=": "≤", r"\\?(?:>|&gt;)=": "≥", r" -\\?(?:>|&gt;) ": " → ", r"\bsqrt\((\w)\)": r"√\1"}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def typeset(text):
    """Powers and indices above the line, and what is written ``p_halt`` as its formula: records are plain text.

    >>> typeset("d^2, v^(2k), t^(-d), B^(1), f_1, p_halt")
    'd<sup>2</sup>, v<sup>2k</sup>, t<sup>-d</sup>, B<sup>(1)</sup>, f<sub>1</sub>, <i>p</i><sub>halt</sub>'
    >>> typeset("at most 1e-09, 5.936e-06 ± 1.8e-06, -0.0001054 ± 3.1e-06")
    'at most 10<sup>-9</sup>, (5.9 ± 1.8) × 10<sup>-6</sup>, (−1.054 ± 0.031) × 10<sup>-4</sup>'
    >>> typeset("sigma-coupled, omega_1 <= 1 / sqrt(d), (&quot;p^k&quot;)")
    'σ-coupled, ω<sub>1</sub> ≤ 1 / √d, (“p<sup>k</sup>”)'
    """
    text = re.sub(r"(^|[\s([]|<p>)&quot;", r"\1“", text).replace("&quot;", "”")
    text = LETTER.sub(lambda found: GREEK[found[1]], text)
    for typed, sign in SIGNS.items():
        text = re.sub(typed, sign, text)
    text = POWER.sub(r"<sup>\1\2</sup>", text)
    text = re.sub(r"(?<![^ ([])-(?=\d)", "\N{MINUS SIGN}", SMALL.sub(_in_powers, text))
    return re.sub(r"\b([A-Za-zα-ωΓ-Ω])\\?_(\d|halt|crit|eps)(?!\w)", _below, text)


def _below(found):
    letter, index = found.groups()
    return f"{letter if index.isdigit() else f'<i>{letter}</i>'}<sub>{index}</sub>"


def _in_powers(found):
    sign, number, power, error, power_of_error, alone, power_alone = found.groups()
    if alone:
        return f"{sign}{'' if alone == '1' else f'{alone} × '}10<sup>{int(power_alone)}</sup>"
    written, number, error = number, float(f"{number}e{power or 0}"), float(f"{error}e{power_of_error}")
    scale = math.floor(math.log10(max(number, error)))
    decimals = max(0, 1 + scale - math.floor(math.log10(error)))
    if decimals > 6:  # an error of rounding
        return f"{sign}{written} ± 10<sup>{math.ceil(math.log10(error))}</sup>"
    return f"({sign}{number / 10.0**scale:.{decimals}f} ± {error / 10.0**scale:.{decimals}f}) × 10<sup>{scale}</sup>"


def plain(text):
    """Text of a record as Markdown that shows it, on one line."""
    return typeset(verdicts.plain(text))


def headed(decision):
    """Of a sentence that is wrong, whose it is; two numbers that are written alike are left out."""
    claim, pair = decision.claim, decision.pair or ()
    if len(pair) == 2 and len({with_error(number, None, decision.unit) for number in pair}) == 1:
        decision = replace(decision, pair=None, ours=None)
    return replace(decision, claim=replace(claim, statement=f"{whose(decision)} {claim.statement}".lstrip()))


def whose(decision):
    """What stands before a sentence that was found to be wrong, lest it be read as true."""
    if decision.verdict in ERRATA:
        return "As printed:"
    return {True: "We had expected:", False: "The paper says:"}[decision.claim.extra] if decision.verdict is Verdict.NOT_REPRODUCED else ""


def badge(verdict, text=None, extra=False):
    """The verdict in its colours; a finding of ours (`extra`) is shown or refuted."""
    word = verdict.word(extra)
    return f"[{text or word}]{{.verdict .{slug(word)}}}"


def bar(counts):
    """Stacked bar of verdict counts. The words beside it say the same, so that screen readers skip it."""
    pieces = (f'<i class="{slug(v.value)}" style="flex-grow:{counts[v]}"></i>' for v in shown(counts))
    return f'<span class="bar" aria-hidden="true">{"".join(pieces)}</span>'


def tally(counts, extra=False):
    """``3 reproduced``, ``2 false``, ... as badges; of findings of ours ``3 shown``."""
    words = {verdict: verdict.word(extra) for verdict in shown(counts)}
    return " ".join(badge(v, f"{counts[v]} {word}" if word != v else v.counted(counts[v]), extra) for v, word in words.items())


def shown(counts):
    """The verdicts that occur, from best to worst."""
    return [verdict for verdict in Verdict if counts[verdict] and verdict is not Verdict.NOTHING]


def slug(word):
    """Name of a word's class in the style sheet."""
    return word.replace(",", "").replace(" ", "-")


def quiet(text):
    """What is there for those who look for it."""
    return f"[{plain(text)}]{{.quiet}}" if text else ""


def in_words(number):
    """``three``; figures from thirteen on."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def name_of(entry):
    """Where an entry stands in its paper, in short; the title of a finding of ours."""
    return entry.title if entry.extra else entry.place.partition(", ")[0]


def section_link(row, text):
    """The section of the notebook that decides an entry; before the notebook is written, its name."""
    if (ROOT / "notebooks" / f"{row.notebook}.ipynb").exists():
        return f"{{ref}}`{text} <{row.anchor}>`"
    return f"`{row.notebook}`, to come"


def dropdown(head, body, name=None, classes="entry", fence=":::"):
    """A line that opens; with a name, other pages can point at it. Around others it takes a longer fence."""
    named = f":name: {name}\n" if name else ""
    return f"{fence}{{dropdown}} {head}\n:class-container: {classes}\n{named}\n{body}\n{fence}"


def led(link, fold):
    """A link before a line that opens: within it the link would be a control within a control, which not every reader can use."""
    return f"::::{{div}} entry-row\n[{link}]{{.leads}}\n\n{fold}\n::::"


def terms(of):
    """A list of definitions; what is empty is left out."""
    return "\n\n".join(f"{term}\n: {text}" for term, text in of.items() if text)
