"""Formulas of docstrings, typeset: a block after ``::`` that parses by formula_grammar.py becomes TeX, others stay as they are."""

import re

from formula_grammar import Line, Unread

WIDEST = 84  # letters of a row; longer ones break where spaces part them


def typeset(lines):
    """The TeX of a block of lines, or None where one of them is no formula."""
    parted = r"(?<=[,;:.)])  +|   +|  +(?=for |where |in |of )"
    for between in (parted, "  +"):
        cells = [re.split(between, line.strip()) if line.strip() else [] for line in lines]
        widths = {len(row) for row in cells if row}
        columns = zip(*cells, strict=True) if len(widths) == 1 and all(cells) else ()
        if table := len(cells) > 1 and max(widths) > 1 and 0 < sum(max(map(len, column)) for column in columns) < WIDEST:
            break
    else:
        cells = []
        for line in lines:
            row = re.split(parted, re.sub(r" +(?=\(Eq)", " ", line.strip())) if line.strip() else []
            cells += [[cell] for cell in row] if len("  ".join(row)) > WIDEST else [row]
    try:
        rows = [[rf"\displaystyle {Line(cell).whole()}" for cell in row] for row in cells]
    except Unread:
        return None
    drawn = r" \\[0.4em] ".join((" & " if table else r" \qquad ").join(row) for row in rows)
    return rf"\begin{{array}}{{{'l' * (max(widths) if table else 1)}}} {drawn} \end{{array}}"


def formulas(app, what, name, obj, options, lines):
    """Turn each block after ``::`` that is a formula into a directive."""
    text = "\n".join(lines)
    lines[:] = BLOCK.sub(directive, f"{text}\n").split("\n")


# A line that ends in two colons, and the lines below it that stand further in.
BLOCK = re.compile(r"^(?P<indent> *)(?P<said>(?!\.\. )\S.*?)?::\n(?P<lines>(?:(?:(?P=indent) +\S.*)?\n)+)", re.M)


def directive(block):
    tex = typeset(block["lines"].strip("\n").split("\n")) if block["lines"].strip() else None
    if tex is None:
        return block[0]
    said = (block["said"] or "").rstrip()
    said = f"{said}{'' if said.endswith(':') or said != block['said'] else ':'}\n\n" if said else ""
    return f"{block['indent']}{said}{block['indent']}.. math::\n{block['indent']}   :nowrap:\n\n{block['indent']}   \\[{tex}\\]\n\n"


def setup(app):
    app.connect("autodoc-process-docstring", formulas, priority=410)  # after the bars of plain_docstrings, before napoleon's 500
    return {"parallel_read_safe": True, "parallel_write_safe": True}
