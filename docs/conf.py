"""The documentation as a site. `make docs` builds it into `app/manual`, and the server offers it as `/manual/`."""

project = "Nextbatch"
author = "the Nextbatch authors"
html_title = "Nextbatch"
html_theme = "furo"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

smartquotes = False  # examples are copied
extensions = ["myst_parser"]
myst_heading_anchors = 3
