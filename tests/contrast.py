"""Contrast of two colours as WCAG defines it, and the colours of the book's themes."""

import numpy as np
from matplotlib.colors import to_rgb

LIGHT, DARK = "#ffffff", "#121212"  # grounds
INKS = {LIGHT: "#48566b", DARK: "#9ca4af"}  # quiet text, in which figures are drawn; tests/test_book.py asks the browser


def contrast(a, b):
    """From 1, none, to 21, black on white."""

    def luminance(colour):
        rgb = np.array(to_rgb(colour))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    lighter, darker = sorted((luminance(a), luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
