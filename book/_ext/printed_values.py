"""The printed values of a paper beside ours, folded, for the scorecard: the tables that the pages show, taken from their outputs."""

import json
import re
from functools import cache
from html import escape, unescape

from record_text import ROOT

from companion import evidence, plotting

TABLE = re.compile(r'<figure class="rfcore-table".*?</figure>', re.S)
CAPTION = re.compile(r"<figcaption>(.*?)</figcaption>", re.S)
LABEL = re.compile(r"^\((\S+)\)=$", re.M)
NAMES = {"favor_plus": "FAVOR+", "favor_plus_plus": "FAVOR++", "favor_sharp": "FAVOR#", "elu": "ELU", "relu": "ReLU"}
PRINTED = "<small>paper "  # so companion.plotting.table writes what a paper prints


def fold(row):
    """A fold with the printed values of an entry beside ours; nothing where neither a table of numbers nor its page has any."""
    table, found = values_of(row.entry), beside_ours(row)
    if found:
        return folded("Every printed value beside ours" if table else "Printed values beside ours", found)
    without = "none of ours is of the same task" if row.notebook else "ours are to come"
    return folded(f"Every printed value; {without}", [alone(row)]) if table else ""


def folded(head, tables):
    text = "\n".join([f'<details class="printed"><summary>{head}</summary>', *tables, "</details>"])
    return f"```{{raw}} html\n{text}\n```"


def values_of(entry):
    """The printed table of an entry, as a name in ``data/paper``; empty for all else."""
    place = re.fullmatch(r"Table (\d+)", entry.place.partition(", ")[0])
    name = f"{entry.paper}_table{place[1]}" if place else ""
    return name if (ROOT / "data" / "paper" / f"{name}.csv").exists() else ""


def beside_ours(row):
    """The tables of a page that show printed values of an entry.

    Of a table of a paper, those whose caption names it; of anything else that a paper prints, those of its section.
    """
    if row.entry.extra or not row.notebook:
        return []
    tables = tables_of(row.notebook)
    if values_of(row.entry):
        place = row.entry.place.partition(", ")[0]
        return [table for _, table in tables if is_of(table, place)]
    return [table for label, table in tables if label == row.anchor]


def is_of(table, place):
    """Whether a caption names a place: "Re-run: Table 3. ..." or "Re-run: Table 3, RFFs. ..."."""
    return re.match(rf"Re-run: {re.escape(place)}[.,]", caption(table)) is not None


def caption(table):
    return unescape(CAPTION.search(table)[1])


@cache
def tables_of(notebook):
    """Tables with printed values in the committed outputs of a page, each with the label that the section has in the claims."""
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    anchors = {entry.anchor for entry in evidence.entries() if entry.notebook == notebook}
    found, label = [], None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if path.exists() else []:
        if cell["cell_type"] == "markdown":
            label = next((name for name in reversed(LABEL.findall("".join(cell["source"]))) if name in anchors), label)
        for output in cell.get("outputs", []):
            shown = "".join(output.get("data", {}).get("text/html", ""))
            found += [(label, table) for table in TABLE.findall(shown) if PRINTED in table]
    return tuple(found)


def alone(row):
    """A printed table that no page has re-run yet, in the form of ours: a column for each value of the last key."""
    printed = evidence.printed(values_of(row.entry))
    lines = [tuple(line.values()) for line in printed]
    n_keys = sum(not re.fullmatch(r"[\d.]+", text) for text in lines[0])
    split = max(n_keys - 1, 1)
    cells = {(line[:split], line[split:n_keys]): " ± ".join(line[n_keys:]) for line in lines}
    rows, columns = (dict.fromkeys(key[part] for key in cells) for part in (0, 1))
    body = [
        f'<tr><th scope="row">{named(r)}</th>'
        + "".join(f"<td>{escape(cells.get((r, c), '–'))}</td>" for c in columns)
        + "</tr>"
        for r in rows
    ]
    heads = "".join(f'<th scope="col">{named(c or list(printed[0])[n_keys:][:1])}</th>' for c in columns)
    return "\n".join([
        '<figure class="rfcore-table">',
        f"<figcaption>Paper's {row.entry.place.partition(', ')[0]}, as printed.</figcaption>",
        '<div style="overflow-x: auto; max-width: 100%">',
        f'<table class="rfcore-numbers"><thead><tr><th scope="col"></th>{heads}</tr></thead>',
        f"<tbody>{''.join(body)}</tbody></table>",
        "</div>",
        "</figure>",
    ])


def named(key):
    return escape(", ".join((plotting.LABELS | NAMES).get(name, name.replace("_", " ")) for name in key))
