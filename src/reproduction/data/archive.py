"""The one county table in a zip archive; nothing is unpacked to disk."""

from __future__ import annotations

import fnmatch
import io
import struct
import zipfile
import zlib
from pathlib import PurePosixPath

from isdp.errors import InputError
from isdp.io.counts import on_one_line, quoted

SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# what zipfile raises on archives that are damaged or made by other rules
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    OSError,
    ValueError,
    OverflowError,
)


def county_member(content: bytes, place: str, limit: int, mend: str) -> tuple[str, bytes]:
    """Name and content of the county table in an archive.

    Parameters
    ----------
    content : bytes
        The archive.
    place, mend : str
        What messages call it, and what they say to do.
    limit : int
        Bytes that its members may have together, unpacked.

    Raises
    ------
    InputError
        If the archive is damaged, encrypted or oddly packed, has not just one table whose name
        holds "county", or unpacks to more than `limit` bytes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            member = _only_county_table(members, place)
            if member.flag_bits & 0x1 or member.compress_type not in PACKINGS:
                name = quoted(member.filename)
                raise InputError(f"{place}: {name} is encrypted or packed oddly; {mend}")
            too_large = sum(each.file_size for each in members) > limit
            with archive.open(member) as file:
                # what the archive declares may be a lie
                table = b"" if too_large else file.read(limit + 1)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{place}: the zip archive is damaged or cut short ({on_one_line(str(error))}); {mend}"
        ) from error
    if too_large or len(table) > limit:
        raise InputError(f"{place}: unpacks to more than {limit:,} bytes; {mend}")
    return member.filename, table


def _only_county_table(members: list[zipfile.ZipInfo], place: str) -> zipfile.ZipInfo:
    found = []
    for member in members:
        name = PurePosixPath(member.filename).name.lower()
        # macOS puts a companion "._name" beside each file that it packs
        if fnmatch.fnmatchcase(name, "*county*.csv") and not name.startswith("._"):
            found.append(member)
    if len(found) != 1:
        listing = ", ".join(on_one_line(member.filename) for member in members[:10]) or "nothing"
        more = f" and {len(members) - 10} more" if len(members) > 10 else ""
        raise InputError(
            f"{place}: wanted one member like *county*.csv, found {len(found)}; there is "
            f"{listing}{more}; give the county file"
        )
    return found[0]
