"""What a drawing of matplotlib's says in numbers: in its words, and where dots, bars and lines stand by the ticks of their axes."""

import re

import numpy as np

ITEM = re.compile(
    r'<path d="M (?P<left>[\d.]+) (?P<bottom>[\d.]+) (?:L [\d.]+ [\d.]+ ){3}L (?P=left) (?P=bottom) z " style="fill: none"'
    r'|<use href="[^"]*\bm[0-9a-f]+" x="(?P<x>[-\d.]+)" y="(?P<y>[-\d.]+)"'
    r'|(?P<letters>(?:<use href="[^"]*DejaVuSans[^>]*/>)+)'
    r'|<path d="(?P<line>M [^"]*)" clip-path'
)
LETTER = re.compile(r'-([0-9a-f]+)"(?:[^>]*(scale\(0\.7\)))?')
TICK = re.compile(r"(−?)(?:([\d.]+)×)?(\d+)\^(−?\d+)|(−?)(\d+\.?\d*)")
MANY = 12  # points of a line, of which its ends and extremes are what a reader sees


def word(letters):
    """The letters, which matplotlib names by their place in DejaVu Sans: ASCII in order. A caret stands before a power."""
    text, raised = "", ""
    for place, above in LETTER.findall(letters):
        text += "^" if above and not raised else ""
        text += {0xC9C: "−", 0x79: "×"}.get(int(place, 16)) or chr(min(int(place, 16), 97) + 29)
        raised = above
    return text


def value(text):
    """The number at a tick; None for a word."""
    if not (found := TICK.fullmatch(text.replace(",", ""))):
        return None
    minus, times, base, power, sign, plain = found.groups()
    size = float(plain) if plain else float(times or 1) * float(base) ** int(power.replace("−", "-"))
    return -size if minus or sign else size


def scale(ticks):
    """The function from places to numbers, on a linear or a logarithmic axis; None if the ticks are on neither."""
    if len({place for place, _ in ticks}) < 2:
        return None
    places, words = zip(*ticks, strict=True)
    shown = np.array([value(word) for word in words])
    for log in (True, False) if any("^" in word for word in words) else (False, True):
        if not log or (shown > 0).all():
            level = np.log(shown) if log else shown
            line = np.polyfit(places, level, 1)
            if np.abs(np.polyval(line, places) - level).max() < 0.01 * np.ptp(level):
                return lambda place: np.exp(np.polyval(line, place)) if log else np.polyval(line, place)
    return None


def numbers(svg):
    """Words of a drawing as it stands in a page, and coordinates of what is drawn in its axes."""
    words, axes, mark = [], [], None
    for item in ITEM.finditer(re.sub(r"<defs>.*?</defs>", "", svg)):
        if item["left"]:
            axes.append(((float(item["left"]), float(item["bottom"])), ([], []), []))
        elif item["x"]:
            mark = float(item["x"]), float(item["y"])
            if axes:
                axes[-1][2].append(mark)
        elif item["letters"]:
            words.append(word(item["letters"]))
            if axes and mark and value(words[-1]) is not None:
                (left, bottom), ticks, _ = axes[-1]
                if mark[1] == bottom and not (mark[0] == left and ticks[0]):  # in the corner x comes first
                    ticks[0].append((mark[0], words[-1]))
                elif mark[0] == left:
                    ticks[1].append((mark[1], words[-1]))
            mark = None
        elif axes:
            line = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+) (?=[A-Za-z]|$)", item["line"])]
            ends = [end(line, key=lambda p, k=k: p[k]) for end in (min, max) for k in (0, 1)] if line else []
            axes[-1][2].extend(line if len(line) < MANY else [line[0], line[-1], *ends])
    shown, last = [], [None, None]
    for _, ticks, points in axes:
        for along in (0, 1):
            last[along] = scale(ticks[along]) or last[along]  # panels may share an axis, and one of them its ticks
            if last[along] and points:
                shown += last[along](np.array(points)[:, along]).tolist()
    return words, shown
