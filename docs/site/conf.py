"""Sphinx's configuration of the site; `make docs` calls it."""

import gradspec

project, author = "gradspec", "the gradspec developers"
release = version = gradspec.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header", "toc.not_included"]
numpydoc_show_class_members = False
autodoc_typehints = "none"
root_doc = "index"
html_theme = "pydata_sphinx_theme"
html_title = "gradspec"
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_depth": 2,
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "operators/*": []}  # the index has them
