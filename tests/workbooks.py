"""Workbooks and archives for tests, made by hand."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SPREADSHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zip_up(path: str | Path, members: Mapping[str, str]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, kind)
    return str(path)


def make_xlsx(
    path: str | Path,
    sheets: Mapping[str, Mapping[str, Any]],
) -> str:
    """Make a workbook of sheets, each the cells by place; styles 1 and 2 are a date and a time."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        for number, name in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="s{number}.xml"/>'
        for number in range(1, len(sheets) + 1)
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{OFFICE}"><sheets>{listed}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{related}'
        f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/>'
        "</Relationships>",
        "xl/styles.xml": f'<styleSheet xmlns="{SPREADSHEET}"><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>',
    }
    merged = "".join(f'<mergeCell ref="{ref}"/>' for ref in ("C3:D3", "A8:A9", "Z2:Z99"))
    for number, cells in enumerate(sheets.values(), 1):
        rows: dict[str, list[str]] = {}
        for place, cell in cells.items():
            rows.setdefault(place[1:], []).append(write_cell(place, cell))
        data = "".join(f'<row r="{row}">{"".join(found)}</row>' for row, found in rows.items())
        members[f"xl/s{number}.xml"] = (
            f'<worksheet xmlns="{SPREADSHEET}"><sheetData>{data}</sheetData>'
            f"<mergeCells>{merged}</mergeCells></worksheet>"
        )
    return zip_up(path, members)


def write_cell(place: str, cell: Any) -> str:
    if isinstance(cell, tuple):
        number, style = cell
        return f'<c r="{place}" s="{style}"><v>{number}</v></c>'
    if isinstance(cell, bool):
        return f'<c r="{place}" t="b"><v>{cell:d}</v></c>'
    if isinstance(cell, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>'
    return f'<c r="{place}"><v>{cell}</v></c>'
