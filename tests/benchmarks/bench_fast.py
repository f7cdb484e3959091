"""Products with fast frequencies against the dense product: faster from d = 512 on, four times at d = 4096.

Exit status 1 if a goal is missed.
"""

import sys

import jax
from timing import conditions, interleaved, judged

from rfcore.couplings import fast

N, ROUNDS = 4096, 9
GOALS = {512: 1.0, 1024: 1.0, 2048: 1.0, 4096: 4.0}


@jax.jit
def dense(x, omega):
    """What a matrix of frequencies costs."""
    return x @ omega.T


def main():
    """Measure, print and judge."""
    print(conditions())
    print(f"float32, {N} points, m = d, least of {ROUNDS} rounds; the goal is for both ratios\n")
    print("    d   dense ms   orthogonal ms   simplex ms   dense/orthogonal   dense/simplex   goal")
    missed = []
    for d in (64, 128, 256, *GOALS):
        key_x, key_omega, key_fast = jax.random.split(jax.random.key(d), 3)
        x, omega = jax.random.normal(key_x, (N, d)), jax.random.normal(key_omega, (d, d))
        orthogonal, simplex = (fast.draw(key_fast, d, d, name) for name in fast.COUPLINGS)
        seconds = interleaved(
            {
                "dense": lambda x=x, omega=omega: dense(x, omega),
                "orthogonal": lambda x=x, frequencies=orthogonal: frequencies.project(x),
                "simplex": lambda x=x, frequencies=simplex: frequencies.project(x),
            },
            ROUNDS,
        )
        ms = {name: 1e3 * times.min() for name, times in seconds.items()}
        ratios = [ms["dense"] / ms[name] for name in ("orthogonal", "simplex")]
        goal = GOALS.get(d, 0.0)
        print(
            f"{d:5d} {ms['dense']:10.1f} {ms['orthogonal']:15.1f} {ms['simplex']:12.1f} "
            f"{ratios[0]:18.2f} {ratios[1]:15.2f}   {goal or ''}"
        )
        if min(ratios) < goal:
            missed.append(f"{goal:g} times faster than dense at d = {d}")
    return judged(missed)


if __name__ == "__main__":
    sys.exit(main())
