"""Pictures of attention: an SVG for any browser, and blocks of shade for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from torch import Tensor

CELL = 34
FONT = (
    "font-family=\"'Noto Sans','Noto Sans KR','Apple SD Gothic Neo',sans-serif\" font-size=\"14\""
)
COLOURS = ["#1c5cab", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0e7490", "#a16207", "#475569"]
BLOCKS = " ░▒▓█"


def _visible(piece: str) -> str:
    return piece.replace("▁", " ").strip() or "␣"


def _width(text: str) -> float:
    """Estimate the width of a text in pixels: a Hangul syllable is about two Latin letters wide."""
    return sum(14.0 if ord(c) > 0x2E80 else 8.0 for c in text)


def _text(attributes: str, text: str) -> str:
    return f"<text {attributes} {FONT}>{escape(text)}</text>"


def heat_map(
    rows: Sequence[str], columns: Sequence[str], weights: Tensor, title: str
) -> tuple[str, float, float]:
    """Draw weights as squares, one row for each query; give the SVG group and its size."""
    rows, columns = [_visible(r) for r in rows], [_visible(c) for c in columns]
    left = max(map(_width, rows)) + 18
    top = 44 + max(map(_width, columns)) * 0.72 + 14
    out = [_text('x="4" y="20" font-weight="bold"', title)]
    for j, name in enumerate(columns):
        x, y = left + (j + 0.6) * CELL, top - 8
        out.append(_text(f'transform="translate({x:.0f} {y:.0f}) rotate(-45)"', name))
    for i, name in enumerate(rows):
        y = top + i * CELL
        out.append(_text(f'x="{left - 8:.0f}" y="{y + 22:.0f}" text-anchor="end"', name))
        for j in range(len(columns)):
            share = float(weights[i, j])
            out.append(
                f'<rect x="{left + j * CELL:.0f}" y="{y:.0f}" width="{CELL - 2}" '
                f'height="{CELL - 2}" '
                f'rx="3" fill="#1c5cab" fill-opacity="{max(0.03, share):.3f}">'
                f"<title>{escape(name)} → {escape(columns[j])}: share {share:.3f}</title></rect>"
            )
    # The last slanted name leans out to the right of its column.
    width = left + len(columns) * CELL + _width(columns[-1]) * 0.72
    return "\n".join(out), max(width, _width(title) + 20), top + len(rows) * CELL + 8


def lines_between(
    words: Sequence[str], query: int, heads: Tensor, title: str
) -> tuple[str, float, float]:
    """Draw lines from one word to all words: a colour for each head, the share as thickness."""
    words = [_visible(w) for w in words]
    gap, top = 28, 48
    left = max(map(_width, words)) + 12
    right = left + 230
    out = [_text('x="4" y="20" font-weight="bold"', title)]
    for i, word in enumerate(words):
        y = top + i * gap
        weight = 'font-weight="bold"' if i == query else 'fill-opacity="0.55"'
        out.append(_text(f'x="{left - 8}" y="{y + 5}" text-anchor="end" {weight}', word))
        out.append(_text(f'x="{right + 8}" y="{y + 5}"', word))
    for h in range(heads.size(0)):
        for j in range(len(words)):
            share = float(heads[h, j])
            if share < 0.02:
                continue
            out.append(
                f'<line x1="{left}" y1="{top + query * gap}" x2="{right}" y2="{top + j * gap}" '
                f'stroke="{COLOURS[h % len(COLOURS)]}" stroke-width="{1 + 5 * share:.1f}" '
                f'stroke-opacity="{min(1.0, 0.15 + share):.2f}" stroke-linecap="round">'
                f"<title>head {h + 1}: share {share:.3f}</title></line>"
            )
    width = right + max(map(_width, words)) + 20
    return "\n".join(out), max(width, _width(title) + 20), top + len(words) * gap


def page_of(groups: Sequence[tuple[str, float, float]]) -> str:
    """Put drawings on one white page, two side by side."""
    margin, y, out, widest = 24.0, 24.0, [], 0.0
    for start in range(0, len(groups), 2):
        row, x = groups[start : start + 2], margin
        for body, width, _ in row:
            out.append(f'<g transform="translate({x:.0f} {y:.0f})">\n{body}\n</g>')
            x += width + margin
        widest = max(widest, x)
        y += max(height for _, _, height in row) + margin
    size = f'width="{widest:.0f}" height="{y:.0f}" viewBox="0 0 {widest:.0f} {y:.0f}"'
    body = "\n".join(out)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def shades(rows: Sequence[str], columns: Sequence[str], weights: Tensor) -> list[str]:
    """Draw weights in a terminal: darker is more; columns are numbered, and named below."""
    names = [_visible(r) for r in rows]
    widths = [len(n) + sum(ord(c) > 0x2E80 for c in n) for n in names]
    room = max(widths)
    out = [" " * room + " " + "".join(f"{j + 1:>3}" for j in range(len(columns)))]
    for name, width, row in zip(names, widths, weights.tolist(), strict=True):
        cells = "".join(f" {BLOCKS[min(4, int(share * 5))] * 2}" for share in row)
        out.append(" " * (room - width) + name + " " + cells)
    out.append("  ".join(f"{j + 1} {_visible(c)}" for j, c in enumerate(columns)))
    return out
