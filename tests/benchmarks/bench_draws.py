"""Draws of tight frames against draws of orthogonal blocks: at most three times as long.

Compiled, float32. A frame is an orthogonal draw, moved four times by the inverse of a small factor, and
turned. Both grow like m d^2, with other constants. Exit status 1 if a goal is missed.
"""

import sys

import jax
from timing import conditions, interleaved, judged

from rfcore import couplings

ROUNDS, GOAL = 9, 3.0
SIZES = ((64, 4), (512, 8), (96, 64), (256, 64), (1024, 64), (64, 256), (4096, 256), (1024, 784))


def main():
    """Measure, print and judge."""
    print(conditions())
    print(f"float32, compiled, least of {ROUNDS} rounds\n")
    print("    m     d   orthogonal ms   tight ms   tight/orthogonal")
    missed, key = [], jax.random.key(0)
    for m, d in SIZES:
        draws = {name: jax.jit(lambda key, name=name, m=m, d=d: couplings.COUPLINGS[name](key, m, d)) for name in ("orthogonal", "tight")}
        seconds = interleaved({name: lambda draw=draw: draw(key) for name, draw in draws.items()}, ROUNDS)
        ms = {name: 1e3 * times.min() for name, times in seconds.items()}
        ratio = ms["tight"] / ms["orthogonal"]
        print(f"{m:5d} {d:5d} {ms['orthogonal']:15.2f} {ms['tight']:10.2f} {ratio:18.2f}")
        if ratio > GOAL:
            missed.append(f"at most {GOAL:g} times an orthogonal draw at m = {m}, d = {d}")
    return judged(missed)


if __name__ == "__main__":
    sys.exit(main())
