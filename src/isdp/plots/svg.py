"""The same SVG in a third of the bytes: matplotlib writes for generality, not for size."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from collections import Counter

SVG, LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+")
_STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")


def lighten(text: str) -> str:
    """Rewrite an SVG of matplotlib with less text, to look the same.

    Coordinates are rounded to a tenth of a point (a 720th of an inch; shapes that are used again
    and again to a hundredth), groups that only carry a name are unwrapped, and
    styles that come again are named once. The names are made of the styles, so that figures which
    stand in one page do not take each other's.

    Parameters
    ----------
    text : str
        As `matplotlib` writes it.

    Returns
    -------
    str
    """
    ET.register_namespace("", SVG)
    root = ET.fromstring(text)
    _unwrap(root)
    styles = Counter(element.get("style") for element in root.iter())
    names = {
        style: "s" + hashlib.sha256(style.encode()).hexdigest()[:6]
        for style, uses in styles.items()
        if style and uses > 2
    }
    shapes = {id(path) for defs in root.iter(f"{{{SVG}}}defs") for path in defs}
    for element in root.iter():
        if LINK in element.attrib:
            element.set("href", element.attrib.pop(LINK))
        style = element.get("style")
        if style in names:
            del element.attrib["style"]
            element.set("class", names[style])
        if "d" in element.attrib:
            element.set("d", _short(_rounded(element.get("d"), 2 if id(element) in shapes else 1)))
        for key in ("x", "y", "transform"):
            if key in element.attrib and "scale" not in element.get(key):
                element.set(key, _rounded(element.get(key), 1))
    for group in root.iter(f"{{{SVG}}}g"):
        shared = {child.get("class") for child in group}
        if len(shared) == 1 and None not in shared and "class" not in group.attrib:
            group.set("class", shared.pop())
            for child in group:
                del child.attrib["class"]
    sheet = ET.Element(f"{{{SVG}}}style")
    sheet.text = "".join(f".{name}{{{style}}}" for style, name in names.items())
    root.insert(0, sheet)
    return ET.tostring(root, encoding="unicode") + "\n"


def _unwrap(parent: ET.Element) -> None:
    """Take out groups that only carry a name, metadata, and the space between the elements."""
    children: list[ET.Element] = []
    for child in parent:
        _unwrap(child)
        child.tail = None
        if child.tag == f"{{{SVG}}}metadata":
            continue
        plain = child.tag == f"{{{SVG}}}g" and not {*child.attrib} - {"id"}
        children += list(child) if plain else [child]
    if len(parent):
        parent.text = None
    parent[:] = children


def _rounded(text: str, decimals: int) -> str:
    def shorter(number: re.Match) -> str:
        return f"{float(number[0]):.{decimals}f}".rstrip("0").rstrip(".")

    return _NUMBER.sub(shorter, text)


def _short(path: str) -> str:
    """Write a path with one number for two where a stroke goes along an axis."""
    steps, x, y = [], "", ""
    for letter, numbers in _STEP.findall(path):
        values = numbers.split()
        if letter == "L" and values == [x, y]:
            continue  # a step that rounding has made none
        if letter == "L" and len(values) == 2 and values[0] == x:
            steps.append(f"V{values[1]}")
        elif letter == "L" and len(values) == 2 and values[1] == y:
            steps.append(f"H{values[0]}")
        else:
            steps.append(letter + " ".join(values))
        x, y = values[-2:] if len(values) >= 2 else ("", "")
    return "".join(steps)
