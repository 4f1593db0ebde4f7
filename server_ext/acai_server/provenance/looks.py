"""How drawings look: shapes, sizes and colours, once for all who show them."""

from __future__ import annotations

from acai_jupyter.contract.drawings import Look, ShapeKind

SIZES = {
    ShapeKind.FILE_SET: (152.0, 42.0),
    ShapeKind.JOB: (156.0, 42.0),
    ShapeKind.UPLOAD: (112.0, 42.0),
    ShapeKind.CREATION: (112.0, 42.0),
    ShapeKind.GROUP: (156.0, 42.0),
    ShapeKind.SOURCE: (16.0, 16.0),
}
ROOMS = {
    ShapeKind.FILE_SET: 142.0,
    ShapeKind.JOB: 128.0,
    ShapeKind.UPLOAD: 90.0,
    ShapeKind.CREATION: 98.0,
    ShapeKind.GROUP: 128.0,
}
"""How long a line in a shape can be, between its corners."""
EDGE = "edge"
MORE = "more"
FOCUS = "focus"
SELECTED = "selected"
FADED = "faded"
DELETED = "deleted"
PARTIAL = "partial"

LOOKS = [
    Look(
        "file-set",
        "#eaf2fd",
        "#2f6fc9",
        "#16283f",
        1.2,
        shape="rounded",
        dark_fill="#16283d",
        dark_line="#6ba4ef",
        dark_text="#e3edf9",
    ),
    Look(
        "job",
        "#fdf3e2",
        "#a8690f",
        "#38270a",
        1.2,
        shape="hexagon",
        dark_fill="#33260f",
        dark_line="#dfa64c",
        dark_text="#f8ecd7",
    ),
    Look(
        "group",
        "#fdf3e2",
        "#a8690f",
        "#38270a",
        1.2,
        shape="stack",
        dark_fill="#33260f",
        dark_line="#dfa64c",
        dark_text="#f8ecd7",
    ),
    Look(
        "upload",
        "#f1f3f5",
        "#66707c",
        "#262b31",
        1.2,
        shape="ellipse",
        dark_fill="#24292f",
        dark_line="#98a3b0",
        dark_text="#e6e9ed",
    ),
    Look(
        "creation",
        "#eaf6ee",
        "#2f7d4f",
        "#12301f",
        1.2,
        shape="cut",
        dark_fill="#14301f",
        dark_line="#66b98a",
        dark_text="#def2e6",
    ),
    Look(
        "source",
        "#66707c",
        "#66707c",
        "#66707c",
        1.2,
        shape="circle",
        dark_fill="#98a3b0",
        dark_line="#98a3b0",
        dark_text="#98a3b0",
    ),
    Look(EDGE, "", "#8792a0", "", 1.3, dark_line="#7d8794"),
    Look(MORE, text="#4c545e", dark_text="#c3cad3"),
    Look(PARTIAL, dashed=True),
    Look("active", "", "#2f6fc9", "", 1.8, dark_line="#6ba4ef"),
    Look(
        "failed",
        "#fcebea",
        "#b3261e",
        "#46110e",
        1.5,
        dashed=True,
        dark_fill="#3a1513",
        dark_line="#f2837b",
        dark_text="#fce4e2",
    ),
    Look(
        DELETED,
        "#f6f7f8",
        "#8792a0",
        "#4c545e",
        1.2,
        dashed=True,
        dark_fill="#1c2024",
        dark_line="#7d8794",
        dark_text="#b4bcc6",
    ),
    Look(FOCUS, line_width=2.4),
    Look(SELECTED, line_width=3.2),
    Look(FADED, faded=True),
]
"""Texts stand out from their fill by 7 to 1 at least, lines from the paper by 3 to 1."""
