"""Build the site of `make docs`, which is read from a folder without a network."""

import pkgutil
import re
from inspect import getmodule, ismodule
from pathlib import Path
from typing import get_type_hints

from sphinx.errors import ExtensionError
from sphinx.util.nodes import make_refnode

import isdp

project = "isdp"
author = "isdp contributors"
version = release = isdp.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["site", "templates"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # links to headings of other pages
# the reference: one page per package, with the names in its `__all__`, written into docs/reference
templates_path = ["templates"]
autosummary_ignore_module_all = False
# names of `isdp` whose entry is on the page of the package that defines them
packages = [member for member in vars(isdp).values() if ismodule(member)]
offered = [getattr(package, n) for package in packages for n in getattr(package, "__all__", ())]
top = {name: getattr(isdp, name) for name in isdp.__all__}
autosummary_context = {
    "elsewhere": [name for name, member in top.items() if any(member is each for each in offered)]
}
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_ivar = True  # else attributes of dataclasses appear twice
napoleon_use_param = napoleon_use_rtype = False  # types are prose: "int array, shape (cells,)"
highlight_language = "bash"  # a fence without a language holds commands
default_role = "py:obj"  # what docstrings set in single backticks
html_theme = "furo"
html_title = f"isdp {release}"
html_show_copyright = html_show_sphinx = html_show_sourcelink = html_copy_source = False

LOADED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc\s*=\s*["']?(?:https?:)?//[^"'\s>]+"""
    r"""|<link\b[^>]*\bhref\s*=\s*["']?(?:https?:)?//[^"'\s>]+"""
    r"""|(?:@import\s+|url\()\s*["']?(?:https?:)?//[^"')\s]+"""
)


def home(name: str) -> str | None:
    """Find the full name of a class or function where it is defined; None for other objects."""
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return None
    if not hasattr(found, "__qualname__") or not (module := getmodule(found)):
        return None
    return f"{module.__name__}.{found.__qualname__}"


def resolve_named_tuples(module) -> None:
    """Turn the annotations of named tuples into types, because autodoc sees them as texts."""
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            kind.__new__.__annotations__ = get_type_hints(kind)


def leave_out_fields(app, what, name, obj, skip, options) -> bool | None:
    """Leave out a named tuple's "alias for field number 0"; its docstring has the fields."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None


def adapt_docstring(app, what, name, obj, options, lines) -> None:
    """Read docstrings as prose: a vertical bar is a norm, and types of attributes are texts."""
    # the first word before a blank would be taken for the type of the next one
    lines[:] = [re.sub(r"(``.*?``)|\|", lambda bar: bar[1] or r"\|", line) for line in lines]
    lines[:] = [
        re.sub(r"^:(?:ivar|vartype) [^:]+:", lambda names: names[0].replace(", ", ","), line)
        for line in lines
    ]
    lines[:] = [re.sub(r"^(:vartype [^:]+:) (.+)$", r"\1 *\2*", line) for line in lines]
    if what == "module":
        resolve_named_tuples(obj)


def link_names(app, env, node, contnode):
    """Link the other names of an object to its entry."""
    full = home(node.get("reftarget", ""))
    found = env.get_domain("py").objects.get(full)
    if found:
        return make_refnode(
            app.builder, node["refdoc"], found.docname, found.node_id, contnode, full
        )
    return None


def refuse_what_needs_a_network(app, exception) -> None:
    """Fail where a page or a style sheet loads anything from elsewhere; links may lead there."""
    if exception:
        return
    pages = [p for p in Path(app.outdir).rglob("*") if p.suffix in {".html", ".css"}]
    found = {
        (str(page.relative_to(app.outdir)), loaded)
        for page in pages
        for loaded in LOADED.findall(page.read_text(encoding="utf-8"))
    }
    if found:
        raise ExtensionError(f"the site would load from a network: {sorted(found)}")


def setup(app) -> None:
    """Connect the functions above to the events of Sphinx."""
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("autodoc-process-docstring", adapt_docstring)
    app.connect("missing-reference", link_names)
    app.connect("build-finished", refuse_what_needs_a_network)
