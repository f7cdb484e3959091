"""The verdicts that notebooks print in bold wear the colours of the scorecard."""

from docutils import nodes

from rfcore.evidence import Verdict

CLASSES = {verdict.value: verdict.value.replace(" ", "-") for verdict in Verdict}


def colour(app, doctree):
    for output in doctree.findall(nodes.container):
        if output.get("nb_element") == "cell_code_output":
            for bold in output.findall(nodes.strong):
                if bold.astext() in CLASSES:
                    bold["classes"] = ["verdict", CLASSES[bold.astext()]]


def setup(app):
    app.connect("doctree-read", colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
