"""Sphinx settings of the site; `pages/build.py` collects its pages."""

from pathlib import Path

from ftensor import __version__

project = "ftensor"
version = release = __version__
copyright = "the ftensor authors, Apache-2.0"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 4
highlight_language = "text"
html_theme = "furo"
html_title = "ftensor"
html_static_path = ["_static"]
html_css_files = ["own.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "default", "github-dark"
# Names of pictures and texts of links are checked like everything else: a warning fails the build.
nitpicky = True
