"""The landscape of results: every claim a dot, and every number that a paper prints against ours.

All of it comes from claims, ledgers and the tables of committed outputs. Dots are links with their words in an attribute,
which style sheets show to mouse and keyboard and the search does not read; what lies behind the dots is SVG.
"""

import math
import re
from collections import Counter
from html import escape, unescape

from docutils.nodes import make_id
from printed_values import is_of, tables_of
from record_text import ROOT, TITLES, name_of, slug, tally

from companion import evidence
from companion.evidence import Verdict
from companion.evidence.standing import told

BEYOND = "Beyond the papers"
WIDEST = 16  # ours over printed, either way, that the plot shows; beyond that a dot stands at its edge
STEP, MARGIN = 5, 7  # pixels from one number to the next, and above and below them
NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e-?\d+)?")
ROW = re.compile(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', re.S)
CELL = re.compile(r"<td>(.*?)</td>", re.S)
HEAD = re.compile(r'<th scope="col">(.*?)</th>', re.S)


def landscape():
    """Every claim of a paper and of ours as a dot in the colour of its verdict, by paper; then the printed numbers."""
    rows, groups = evidence.scorecard("paper"), {}
    for paper, title in TITLES.items():
        of = [row for row in rows if row.entry.paper == paper]
        groups[title] = {
            "stated by the paper": [dot(*one) for one in claims_of(of, extra=False)],
            "found on the way": [dot(*one) for one in claims_of(of, extra=True)],
        }
    groups[BEYOND] = {"ours": [dot(*one) for one in beyond()]}
    printed, ours = counts(extra=False), counts(extra=True)
    n = printed.total() + ours.total()
    said = (
        f"{n} claims. Point at a dot, or reach it with the Tab key, to read its sentence and its number; it leads to where it is "
        "decided. Discs hold, in full or in part; rings are undecided; squares do not hold as stated."
    )
    strips = [strip(title, parts) for title, parts in groups.items()]
    head = "## Every printed number against ours"
    tallies = f"Stated by the papers: {tally(printed)}\n\nFound beside them: {tally(ours, extra=True)}"
    return "\n\n".join(["## Every claim", said, tallies, *strips, "(landscape-numbers)=", head, numbers(rows)])


def claims_of(rows, extra):
    """What :func:`dot` needs of the claims of some rows, those of the paper or our own."""
    of = [(row, claim, decision) for row in rows for claim, decision in row.claims if claim.extra is extra]
    return [(claim, decision, row.notebook, row.anchor, name_of(row.entry)) for row, claim, decision in of]


def beyond():
    """Claims of pages whose folder is no paper's."""
    decided = evidence.decisions("paper")
    for path in sorted(ROOT.glob("notebooks/*/[0-9][0-9]_*.ipynb")):
        name = f"{path.parent.name}/{path.stem}"
        if path.parent.name not in (*TITLES, "template"):
            own = [claim for claim in evidence.claims_of(name).values() if claim.id.partition("/")[0] not in TITLES]
            yield from ((claim, decided.get(claim.id), name, None, title_of(path)) for claim in own)


def title_of(path):
    return re.search(r"^# # (.*)$", path.with_suffix(".py").read_text(encoding="utf-8"), re.M)[1]


def counts(extra):
    """How often which verdict: over claims of the papers, or over our own."""
    found = evidence.decisions("paper").values()
    return Counter(decision.verdict for decision in found if bool(decision.claim and decision.claim.extra) is extra)


def dot(claim, decision, notebook, anchor, place):
    """A claim as a link whose words say place, sentence, verdict and number."""
    verdict = decision.verdict if decision else Verdict.NOT_YET
    word, found = verdict.word(claim.extra), told(decision).finding if decision else ""
    words = f"{place}: {claim.statement.rstrip('.')}. {word.capitalize()}: {found}" if found else f"{place}: {claim.statement}"
    return link(slug(word), address(notebook, anchor), words)


def address(notebook, anchor):
    return f"../notebooks/{notebook}.html" + (f"#{make_id(anchor)}" if anchor else "")


def link(classes, target, words, style=""):
    style = f' style="{style}"' if style else ""
    return f'<a class="dot {classes}" href="{target}"{style} aria-label="{escape(" ".join(words.split()))}"></a>'


def strip(title, parts):
    """The dots of a paper, in the order of the paper, and a way past them for the keyboard."""
    after = f"after-{make_id(title)}"
    lines = [f'<div class="dots"><h3>{escape(title)}</h3><a class="past" href="#{after}">Past these dots</a>']
    lines += [f"<p><span>{name}, {len(dots)}</span>{''.join(dots)}</p>" for name, dots in parts.items() if dots]
    return raw([*lines, f'<span id="{after}"></span></div>'])


def numbers(rows):
    """Tables, and claims on single numbers, each a band of one plot: ours over printed, sorted."""
    bands, left_out = [], 0
    for row in rows:
        if row.entry.extra or not row.notebook:
            continue
        pairs, few = printed_pairs(row)
        left_out += few
        pairs.sort(key=lambda pair: pair.ratio)
        if pairs:
            bands.append((row, pairs))
    everything = [pair for _, pairs in bands for pair in pairs]
    within = sum(abs(math.log(pair.ratio)) <= math.log(1.1) for pair in everything)
    apart = sum(abs(math.log(pair.ratio)) > math.log(2) for pair in everything)
    said = (
        f"{len(everything)} numbers: ours over the printed one, on a logarithmic axis, in the colour of the verdict on the numbers "
        f"of their table or figure; bars are two standard errors of both together, where both are known. {within} are within a tenth of what is "
        f"printed, {apart} further away than a factor of two. Left out are sizes, what is 1 by definition, and {left_out} differences "
        "that two printed standard errors do not tell from zero: ratios of those mean nothing."
    )
    body = ['<div class="against">', axis(), *(band(*one) for one in bands), axis(), "</div>"]
    return f"{said}\n\n{raw(body)}"


class Pair:
    """Ours and a printed number, with their errors and what they are."""

    def __init__(self, ours, printed, what):
        (self.ours, self.se), (self.printed, self.printed_se), self.what = ours, printed, what

    @property
    def ratio(self):
        """Ours over printed."""
        return self.ours / self.printed

    @property
    def bar(self):
        """Two standard errors of the logarithm."""
        return 2 * math.hypot(self.se / self.ours, self.printed_se / self.printed)


def printed_pairs(row):
    """Pairs of an entry: of its printed tables, else of its claims on values; and how many were left out."""
    place = row.entry.place.partition(", ")[0]
    tables = [table for _, table in tables_of(row.notebook) if is_of(table, place)]
    found = [pair for table in tables for pair in of_table(table, place)]
    if not found:
        found = [
            Pair((d.ours, d.se or 0.0), (d.paper, d.paper_se or 0.0), f"{place}: {claim.statement.rstrip('.')}")
            for claim, d in row.claims
            if d and d.rule == "value" and d.paper is not None and not tables
        ]
    told_apart = [pair for pair in found if abs(pair.printed) > 2 * pair.printed_se and pair.ours * pair.printed > 0]
    return told_apart, len(found) - len(told_apart)


def of_table(table, place):
    heads = [plain(head) for head in HEAD.findall(table)][1:]
    for name, line in ROW.findall(table):
        for head, cell in zip(heads, CELL.findall(line), strict=True):
            ours, _, printed = cell.partition("<br><small>paper ")
            printed = printed.removesuffix("</small>")
            if "." not in printed or (ours == "1" and number(printed)[0] == 1):
                continue
            yield Pair(number(ours), number(printed), f"{place}, {plain(name)}, {head}")


def number(text):
    """Value and error of ``0.61 ± 0.02`` or ``(1.2 ± 0.1) × 10<sup>-5</sup>``."""
    text, _, power = text.partition("× 10<sup>")
    found = [float(one.replace(",", "")) for one in NUMBER.findall(text.replace("\N{MINUS SIGN}", "-"))]
    value, error = (*found, 0.0)[:2]
    scale = 10.0 ** int(power.removesuffix("</sup>")) if power else 1.0
    return value * scale, error * scale


def plain(text):
    text = re.sub(r"\\[()]", "", re.sub(r"<[^>]*>", "", text))
    return unescape(text).replace("\\", "").strip()


def verdict_on_values(row):
    """The worst verdict on the printed numbers of an entry: on many at once where there is such a claim, or else on one."""
    found = [d for _, d in row.claims if d and d.rule == "value" and d.paper is not None]
    of_many = [d for d in found if (d.comparisons or 1) > 1]
    return max((d.verdict for d in of_many or found), key=lambda verdict: verdict.badness, default=row.verdict)


def band(row, pairs):
    """The numbers of one table or figure, from the least ratio to the greatest."""
    verdict = slug(verdict_on_values(row).value)
    height, lines, dots = 2 * MARGIN + STEP * (len(pairs) - 1), [], []
    for k, pair in enumerate(pairs):
        y, x = MARGIN + STEP * k, across(pair.ratio)
        ends = [across(pair.ratio * math.exp(sign * pair.bar)) for sign in (-1, 1)]
        lines.append(f'<line x1="{ends[0]:.2f}%" x2="{ends[1]:.2f}%" y1="{y}" y2="{y}"/>')
        words = f"{pair.what}: ours {short(pair.ours, pair.se)}, printed {short(pair.printed, pair.printed_se)}, {pair.ratio:.3g} of it"
        beyond_edge = " beyond" if abs(math.log(pair.ratio)) > math.log(WIDEST) else ""
        dots.append(link(verdict + beyond_edge, address(row.notebook, row.anchor), words, f"left:{x:.2f}%;top:{y}px"))
    grid = "".join(f'<line class="grid" x1="{across(r):.2f}%" x2="{across(r):.2f}%" y1="0" y2="{height}"/>' for r in TICKS)
    label = f"{TITLES[row.entry.paper]}, {row.entry.place.partition(', ')[0]}"
    after = f"after-{make_id(row.entry.id)}"
    return (
        f'<div class="band {verdict}"><span>{escape(label)}, {len(pairs)}</span>'
        f'<a class="past" href="#{after}">Past these numbers</a>'
        f'<div class="track" style="height:{height}px"><svg aria-hidden="true">{grid}{"".join(lines)}</svg>{"".join(dots)}</div>'
        f'<span id="{after}"></span></div>'
    )


TICKS = {1 / 16: "1/16", 1 / 4: "1/4", 1 / 2: "1/2", 1: "1", 2: "2", 4: "4", 16: "16"}


def axis():
    """What the ratios are, above and below all bands."""
    marks = "".join(f'<text x="{across(r):.2f}%" y="14">{text}</text>' for r, text in TICKS.items())
    return f'<div class="band axis"><span>ours / printed</span><div class="track"><svg aria-hidden="true">{marks}</svg></div></div>'


def across(ratio):
    """Per cent of the width, ends of the axis for what lies beyond."""
    part = (math.log(ratio) / math.log(WIDEST) + 1) / 2
    return 100 * min(max(part, 0.0), 1.0)


def short(value, se):
    return f"{value:.4g} ± {se:.2g}" if se else f"{value:.4g}"


def raw(lines):
    return "\n".join(["```{raw} html", *lines, "```"])
