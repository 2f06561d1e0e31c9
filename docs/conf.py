"""The site of `make docs`: pages that are read from a folder, without a network."""

import pkgutil
import re
from inspect import getmodule
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
    "sphinx.ext.apidoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["site", "reference/modules.rst"]
myst_enable_extensions = ["colon_fence"]
# the reference: a page a package, written into docs/reference at every build
apidoc_modules = [
    {
        "path": "../src/isdp",
        "destination": "reference",
        "exclude_patterns": ["../src/isdp/__main__.py"],
        "module_first": True,
    }
]
apidoc_max_depth = 1
apidoc_automodule_options = {"members"}
autodoc_default_options = {"ignore-module-all": True}  # everything once, where it is defined
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
napoleon_use_ivar = True  # else attributes of dataclasses stand there twice
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
    """Full name of a class or function where it is defined; None for what is neither."""
    try:
        found = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return None
    if not hasattr(found, "__qualname__") or not (module := getmodule(found)):
        return None
    return f"{module.__name__}.{found.__qualname__}"


def resolve_named_tuples(module) -> None:
    """Turn the annotations of named tuples into types; from outside they are words."""
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
            kind.__new__.__annotations__ = get_type_hints(kind)


def leave_out_fields(app, what, name, obj, skip, options) -> bool | None:
    """Leave out a named tuple's "alias for field number 0"; its docstring has the fields."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None


def tell_names(app, what, name, obj, options, lines) -> None:
    """Take docstrings as prose; list what a package offers, which is described at its home."""
    # a bar is a norm; the first word before a blank would be taken for the type of what follows;
    # and the type of an attribute is words, none of which is the name of a class
    lines[:] = [re.sub(r"(``.*?``)|\|", lambda bar: bar[1] or r"\|", line) for line in lines]
    lines[:] = [
        re.sub(r"^:(?:ivar|vartype) [^:]+:", lambda names: names[0].replace(", ", ","), line)
        for line in lines
    ]
    lines[:] = [re.sub(r"^(:vartype [^:]+:) (.+)$", r"\1 *\2*", line) for line in lines]
    if what == "module":
        resolve_named_tuples(obj)
        homes = {short: home(f"{name}.{short}") for short in getattr(obj, "__all__", ())}
        if any(homes.values()):
            lines += ["", "Names to use from here:", ""]
            lines += [f"* `{name}.{short} <{full}>`" for short, full in homes.items() if full]


def link_names(app, env, node, contnode):
    """Lead from the name under which a package offers something to its description."""
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
    """Have docstrings and links mended, and the finished site looked at."""
    app.connect("autodoc-skip-member", leave_out_fields)
    app.connect("autodoc-process-docstring", tell_names)
    app.connect("missing-reference", link_names)
    app.connect("build-finished", refuse_what_needs_a_network)
