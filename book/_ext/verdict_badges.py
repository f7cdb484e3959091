"""The verdicts that notebooks print in bold wear the colours of the scorecard."""

from docutils import nodes
from record_text import slug

from rfcore.evidence import Verdict

CLASSES = {word: slug(word) for verdict in Verdict for word in (verdict.word(), verdict.word(extra=True))}


def colour(app, doctree):
    for output in doctree.findall(nodes.container):
        if output.get("nb_element") == "cell_code_output":
            for bold in output.findall(nodes.strong):
                if bold.astext() in CLASSES:
                    bold["classes"] = ["verdict", CLASSES[bold.astext()]]


def setup(app):
    app.connect("doctree-read", colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
