"""The same SVG in a third of the bytes: matplotlib writes for generality, not for size."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import groupby

SVG, LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+")
_STEP = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_UPRIGHT = re.compile(r"translate\((\S+) (\S+)\) rotate\(-90\)")
_FEWEST = 3  # labels that are worth a group


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
            element.set("d", _short(element.get("d"), 2 if id(element) in shapes else 1))
        for key in ("x", "y", "transform"):
            if key in element.attrib and "scale" not in element.get(key):
                element.set(key, _rounded(element.get(key), 1))
    _turn_together(root)
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


def _turn_together(parent: ET.Element) -> None:
    """Put labels that follow each other, and are all turned upright, into one group that is turned.

    Turned by -90 degrees, a point (x, y) is (y, -x): a label at (a, b) stands at (-b, a) within.
    """
    for child in parent:
        _turn_together(child)
    children: list[ET.Element] = []
    for upright, run in groupby(parent, key=_is_upright):
        labels = list(run)
        if not upright or len(labels) < _FEWEST:
            children += labels
            continue
        group = ET.Element(f"{{{SVG}}}g", {"transform": "rotate(-90)"})
        for label in labels:
            a, b = _UPRIGHT.fullmatch(label.attrib.pop("transform")).groups()
            label.set("x", b.removeprefix("-") if b.startswith("-") else f"-{b}")
            label.set("y", a)
            group.append(label)
        children.append(group)
    parent[:] = children


def _is_upright(element: ET.Element) -> bool:
    plain = element.tag == f"{{{SVG}}}text" and not {"x", "y"} & {*element.attrib}
    return plain and _UPRIGHT.fullmatch(element.get("transform", "")) is not None


def _rounded(text: str, decimals: int) -> str:
    def shorter(number: re.Match) -> str:
        return f"{float(number[0]):.{decimals}f}".rstrip("0").rstrip(".")

    return _NUMBER.sub(shorter, text)


def _short(path: str, decimals: int) -> str:
    """Write a path in fewer letters: rounded, each step from the last point where that is shorter.

    Points are counted in whole units of the last decimal, so that steps add up to what was rounded.
    """
    parts: list[str] = []
    at = start = (0, 0)
    before = None  # where the last step began, if it was a straight one
    for letter, text in _STEP.findall(path):
        if letter in "zZ":
            parts.append("z")
            at, before = start, None
            continue
        values = [round(float(value) * 10**decimals) for value in text.split()]
        points = list(zip(values[::2], values[1::2], strict=True))
        if letter == "L" and points == [at]:
            continue  # a step that rounding has made none
        if letter == "L" and before is not None and _straight(before, at, points[0]):
            parts.pop()  # two steps along an axis are one
            at = before
        parts.append(_step(letter, points, at, decimals))
        before = at if letter == "L" else None
        at = points[-1]
        if letter == "M":
            start = at
    return "".join(parts)


def _straight(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    """Whether c is reached from a through b along one axis, without turning back."""
    same = [i for i in (0, 1) if a[i] == b[i] == c[i]]
    return (
        len(same) == 1 and (b[1 - same[0]] - a[1 - same[0]]) * (c[1 - same[0]] - b[1 - same[0]]) > 0
    )


def _step(letter: str, points: list[tuple[int, int]], at: tuple[int, int], decimals: int) -> str:
    """Write one step of a path from a point on, absolute or relative; one number along an axis."""
    keep = [0, 1]
    if letter == "L" and at[0] == points[0][0]:
        letter, keep = "V", [1]
    elif letter == "L" and at[1] == points[0][1]:
        letter, keep = "H", [0]
    absolute = [_decimal(point[i], decimals) for point in points for i in keep]
    relative = [_decimal(point[i] - at[i], decimals) for point in points for i in keep]
    return min(letter + _joined(absolute), letter.lower() + _joined(relative), key=len)


def _joined(numbers: list[str]) -> str:
    """Put numbers behind each other, apart where a sign does not part them."""
    return "".join(
        number if not i or number.startswith("-") else f" {number}"
        for i, number in enumerate(numbers)
    )


def _decimal(units: int, decimals: int) -> str:
    """Write a whole number of units of the last decimal as a number, without needless zeros."""
    whole, rest = divmod(abs(units), 10**decimals)
    ending = f".{rest:0{decimals}d}".rstrip("0") if rest else ""
    digits = f"{whole or ''}{ending}" or "0"
    return f"-{digits}" if units < 0 else digits
