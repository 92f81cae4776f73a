"""Look the pinned versions up among known advisories: ``python packaging/audit.py``."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def audit(lock: Path) -> tuple[list[str], int, int]:
    """List known weaknesses, and count the packages that were looked up and that could not be."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--format", "json"]
    flags = ["--no-deps", "--disable-pip", "--progress-spinner", "off"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True)
    if "requests.exceptions" in done.stderr:
        print(f"{lock.name} was not checked: {done.stderr.strip().splitlines()[-1]}")
        sys.exit()
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{lock.name} was not checked:\n{done.stderr}")
    packages = json.loads(done.stdout)["dependencies"]
    told = [package for package in packages if "skip_reason" not in package]
    weak = [
        f"{package['name']} {package['version']}: {found['id']}, mended in "
        f"{', '.join(found['fix_versions']) or 'no version'}"
        for package in told
        for found in package["vulns"]
    ]
    return weak, len(told), len(packages) - len(told)


if __name__ == "__main__":
    name = "requirements-dev.lock"  # which has what the others have
    weak, told, untold = audit(ROOT / name)
    print("\n".join([f"{name}: {told} packages checked, {len(weak)} advisories", *weak]))
    if untold:
        print(f"{untold} could not be checked: the package index tells no advisories.")
    sys.exit(bool(weak))
