"""Two frequencies in the plane at a given angle: the error of positive features, which the primer draws."""

import numpy as np
from scipy.special import i0

from rfcore import checks

__all__ = ["squared_error_at_angle"]

NODES, LONGEST = 80, 12.0  # of the rule, and a norm beyond which lies e^-72 of the law


def squared_error_at_angle(x, y, angle):
    """Mean squared error of two positive features whose frequencies enclose an angle, Gaussian kernel, d = 2.

    ::

        (E z^2 + E z_1 z_2) / 2 - k(x, y)^2,     v = x + y,   c = exp(-|x|^2 - |y|^2)
        E z^2 = c^2 exp(2 |v|^2),   E z_1 z_2 = c^2 E I_0(|v| (w_1^2 + w_2^2 + 2 w_1 w_2 cos angle)^(1/2))

    Norms w_1 and w_2 are independent, those of normal frequencies, and the pair is rotated at random. A
    Gauss-Legendre rule takes the mean over them, to 12 digits where ``|v|`` is below 2.

    Args:
        x, y: points, (2,).
        angle: radians, of any shape.

    Returns:
        float64 array of the shape of the angles.

    Source: Simplex Random Features, Eq. 10, before the mean over angles.
    """
    x, y = (np.asarray(checks.vector(point, name, 2, of="axis")) for point, name in ((x, "x"), (y, "y")))
    angle = np.asarray(checks.numbers(angle, "angle"))
    at, weights = np.polynomial.legendre.leggauss(NODES)
    w, v = LONGEST * (at + 1) / 2, np.linalg.norm(x + y)
    weights = weights * LONGEST / 2 * w * np.exp(-(w**2) / 2)
    lengths = w[:, None] ** 2 + w**2 + 2 * np.cos(angle)[..., None, None] * w[:, None] * w
    product = np.einsum("i,j,...ij->...", weights, weights, i0(v * np.sqrt(np.maximum(lengths, 0))))
    scale = np.exp(-2 * (x @ x + y @ y))
    return scale * (np.exp(2 * v**2) + product) / 2 - np.exp(-((x - y) @ (x - y)))
