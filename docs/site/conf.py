"""Sphinx's configuration of the site; `make docs` calls it."""

import os
import sys
from pathlib import Path

import gradspec

sys.path.insert(0, str(Path(__file__).parent))
os.environ["TQDM_DISABLE"] = "1"  # a page shows what an example prints, and no bars

project, author = "gradspec", "the gradspec developers"
release = version = gradspec.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_gallery.gen_gallery", "formulas"]
html_math_renderer = "mathml"
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header", "toc.not_included"]
numpydoc_show_class_members = False
autodoc_typehints = "none"
sphinx_gallery_conf = {
    "examples_dirs": [str(Path(__file__).resolve().parents[2] / "examples/gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "/",  # every script is run
    "copyfile_regex": "",
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "first_notebook_cell": "%matplotlib inline",
    "show_signature": False,
    "write_computation_times": False,  # two pages that nothing links to, with scripts from another server
}
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
