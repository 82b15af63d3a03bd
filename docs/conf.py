"""How Sphinx builds these pages: `make docs`, offline, every warning an error."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from karatage import __version__

project = "karatage"
author = "The karatage authors"
copyright = "the karatage authors, Apache-2.0"  # noqa: A001 Sphinx calls it so
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "builder"]
exclude_patterns = ["builder", "pictures/*.py"]
nitpicky = True
default_role = "code"  # docstrings write code as Markdown does

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
napoleon_use_ivar = True

html_show_search_summary = False  # a page opened from a file may not be fetched
html_theme = "furo"
html_title = "karatage"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["karatage.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#8a6a00", "color-brand-content": "#0072b2"},
    "dark_css_variables": {"color-brand-primary": "#e0b93f", "color-brand-content": "#6cb8e6"},
}
