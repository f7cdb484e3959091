"""The tests, and the ten quickest pages, that reach a file changed since a commit: ``make near [BASE=commit]``."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from companion.evidence.pages import made, name_of, notebooks, page_of  # noqa: E402
from companion.evidence.reach import reached  # noqa: E402

base, *slow = sys.argv[1:]
listed = [["git", "diff", "--name-only", base], ["git", "ls-files", "--others", "--exclude-standard"]]
changed = {Path(name) for command in listed for name in subprocess.check_output(command, cwd=ROOT, text=True).split()}
modules = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in changed if path.suffix == ".py"}


def reach(path):
    return path.relative_to(ROOT) in changed or modules & set(reached(path))


tests = [f"tests/{t.name}" for t in sorted(ROOT.glob("tests/test_*.py")) if reach(t) and (t.relative_to(ROOT) in changed or t.stem[5:] not in slow)]
pages = sorted(filter(reach, notebooks()), key=lambda page: made(page_of(page, "paper")).get("processor_seconds", 0))[:10]
print(*([*tests, *map(name_of, pages)] or ["nothing is reached"]), sep="\n")
runs = [[sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", *tests]] if tests else []
runs += [["make", "pages", f"PAGES={' or '.join(map(name_of, pages))}"]] if pages else []
sys.exit(any(subprocess.run(run, cwd=ROOT, check=False).returncode for run in runs))
