"""Run the benchmarks one after the other and keep what they print, with date, commit and machine, in data/results/bench.json.

Each script says in its docstring what it compares and its goals, and exits with 1 where one is missed. The page of benchmarks is made
from the file when the book is built. Exit status 1 if a goal is missed.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

from companion.evidence.ledger import environment

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "data" / "results" / "bench.json"


def run(script):
    """One script's record; what it prints is seen while it prints."""
    title, _, about = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))).partition("\n\n")
    about = re.sub(r"\s*Exit status 1 if (a|the) goal is missed\.", "", about)  # for those who run it, not for readers
    print(f"\n{script.name}", flush=True)
    said = []
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line.rstrip())
    name = script.stem.removeprefix("bench_")
    return {"name": name, "title": title, "about": about, "printed": said, "goals_met": process.returncode == 0}


def main():
    """Run, print and keep."""
    where = environment()
    found = [run(script) for script in sorted(Path(__file__).parent.glob("bench_*.py"))]
    KEPT.write_text(f"{json.dumps({'provenance': where, 'benchmarks': found}, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
    print(f"\nkept in {KEPT.relative_to(ROOT)}")
    return not all(one["goals_met"] for one in found)


if __name__ == "__main__":
    sys.exit(main())
