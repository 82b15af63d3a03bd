"""What these pages need beyond Sphinx: the reference from the code, and the bibliography from `references.bib`."""

from __future__ import annotations

from sphinx.application import Sphinx

from . import citations, fences, interface


def setup(app: Sphinx) -> dict[str, bool]:
    """Join Sphinx."""
    app.connect("source-read", fences.fill)
    app.connect("autodoc-process-docstring", interface.describe_fields, priority=100)
    app.connect("autodoc-process-signature", interface.hide_constructor)
    app.connect("missing-reference", interface.find_public)
    app.add_transform(citations.LinkCitations)
    return {"parallel_read_safe": True}
