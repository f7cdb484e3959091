"""The navigation beside the pages, made once and marked for each page.

The theme makes it anew for each page, out of all headings of all pages, which took a quarter of the build.
"""

import re
from functools import cache

from pydata_sphinx_theme import toctree
from sphinx.util.osutil import relative_uri

add_toctree_functions = toctree.add_toctree_functions
NOWHERE = "search"  # a page in the root folder that the navigation does not list


def bare(app, options):
    """The theme's navigation without a current page, and its links by address."""
    if options["collapse"]:
        raise NotImplementedError("a collapsed navigation lists other entries on each page")
    context = {"toctree": lambda **limits: app.builder._get_local_toctree(NOWHERE, **limits)}
    add_toctree_functions(app, NOWHERE, "page.html", context, None)
    soup = context["generate_toctree_html"](**options)
    return soup, {link["href"]: link for link in soup("a")}


def marked(soup, link):
    """The navigation as text, the way to ``link`` opened and marked as Sphinx and the theme do; ``soup`` stays as it was."""
    way = [tag for tag in (link, *link.parents) if tag.name in ("a", "li", "ul")]
    way += [fold for tag in way if tag.name == "li" for fold in tag("details", recursive=False)]
    before = [(tag, tag.attrs) for tag in way]
    for tag, attributes in before:
        classes, tag.attrs = attributes.get("class", []), dict(attributes)
        if tag.name == "details":
            tag["open"] = "open"
        elif tag.name == "li":
            tag["class"] = [classes[0], "current", "active", *classes[1:]]
        else:
            tag["class"] = ["current", *classes]
    text = str(soup)
    for tag, attributes in before:
        tag.attrs = attributes
    return text


def add_functions(app, pagename, templatename, context, doctree):
    """The theme's functions for its templates, the one for the navigation replaced."""
    add_toctree_functions(app, pagename, templatename, context, doctree)

    def navigation(**options):
        if not hasattr(app, "rfcore_navigation"):
            app.rfcore_navigation = bare(app, options)
        (soup, links), here = app.rfcore_navigation, app.builder.get_target_uri(pagename)
        text = marked(soup, links[here]) if here in links else str(soup)
        return re.sub('href="([^"]*)"', lambda found: f'href="{relative_uri(here, found[1]) or "#"}"', text)

    assert "generate_toctree_html" in context, "the theme makes its navigation otherwise"
    context["generate_toctree_html"] = cache(navigation)  # each page asks twice


def setup(app):
    assert "pydata_sphinx_theme" not in app.extensions, "it has connected its own function already"
    toctree.add_toctree_functions = add_functions
    return {"parallel_read_safe": True, "parallel_write_safe": True}
