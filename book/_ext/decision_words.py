"""Decisions on the pages of notebooks: an output names the claims, their words come from ``data/claims``.

So a claim put in other words shows them on its page without a run; verdicts and numbers are those of the page's ledger.
"""

import json

from record_text import ROOT, typeset

from companion import evidence
from companion.evidence.ledger import Decisions
from companion.evidence.pages import claims_shown
from companion.evidence.standing import told


def put_in(app, docname, source):
    """Into outputs that show decisions, what readers meet in place of ids and numbers."""
    if not docname.startswith("notebooks/"):
        return
    notebook = json.loads(source[0])
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", []) if claims_shown(output)]
    if outputs:
        decisions = evidence.decisions("paper")
        for output in outputs:
            shown = Decisions({name: told(decisions[name]) for name in claims_shown(output)})
            output["data"]["text/markdown"] = typeset(shown.markdown())
        source[0] = json.dumps(notebook)
        for path in (*ROOT.glob("data/claims/*.toml"), ROOT / f"data/results/paper/{docname.removeprefix('notebooks/')}.json"):
            app.env.note_dependency(str(path))


def setup(app):
    app.connect("source-read", put_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
