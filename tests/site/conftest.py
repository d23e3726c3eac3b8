"""Servers that stand where the network is: real HTTP on this machine, which cuts off or lies."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app.site import environment


@dataclass
class Net:
    """A server's content: by path, bytes; `cut` paths stop half-way."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def net() -> Iterator[Net]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            content.asked.append(path)
            body = content.files.get(path)
            self.send_response(404 if body is None else 200)
            body = body or b""
            self.send_header("Content-Length", str(len(body)))
            kind = "text/html" if path.endswith("/") else "application/octet-stream"
            self.send_header("Content-Type", kind)
            self.end_headers()
            if path in content.cut:
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
            else:
                self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    content = Net(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield content
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def nowhere() -> str:
    """An address at which nobody answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = server.server_address[1]
    server.server_close()
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def pip_from(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make pip ask one index and nobody else, with nothing cached."""

    def choose(address: str) -> None:
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple/")
        monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
            monkeypatch.delenv(name, raising=False)

    return choose


@pytest.fixture
def npm_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Make npm ask one registry and nobody else, with nothing cached and no second try."""

    def choose(address: str) -> None:
        monkeypatch.setenv("npm_config_registry", f"{address}/")
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "no-npmrc"))

    return choose


def wheel(name: str, version: str, files: dict[str, bytes]) -> bytes:
    """A wheel that pip installs."""
    info = f"{name}-{version}.dist-info"
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*content, f"{info}/RECORD"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in {**content, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(path, data)
    return buffer.getvalue()


@pytest.fixture
def index(net: Net, pip_from: Callable[[str], None]) -> Callable[..., str]:
    """Put a wheel into a package index that pip asks; returns its path there."""

    def add(name: str, version: str, files: dict[str, bytes]) -> str:
        file = f"{name}-{version}-py3-none-any.whl"
        net.files[f"/files/{file}"] = wheel(name, version, files)
        net.files[f"/simple/{name.replace('_', '-')}/"] = (
            f'<a href="/files/{file}">{file}</a>'.encode()
        )
        return f"/files/{file}"

    pip_from(net.address)
    return add


@pytest.fixture
def registry(net: Net, npm_from: Callable[[str], None]) -> Callable[..., str]:
    """Put a package into an npm registry; returns its path there."""

    def add(name: str, version: str, files: dict[str, bytes]) -> str:
        buffer = io.BytesIO()
        description = json.dumps({"name": name, "version": version}).encode()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for path, data in {"package.json": description, **files}.items():
                member = tarfile.TarInfo(f"package/{path}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        path = f"/{name}/-/{name}-{version}.tgz"
        net.files[path] = buffer.getvalue()
        digest = base64.b64encode(hashlib.sha512(buffer.getvalue()).digest()).decode()
        about = {
            "name": name, "version": version,
            "dist": {"tarball": net.address + path, "integrity": f"sha512-{digest}"},
        }  # fmt: skip
        packument = {"name": name, "dist-tags": {"latest": version}, "versions": {version: about}}
        net.files[f"/{name}"] = json.dumps(packument).encode()
        return path

    npm_from(net.address)
    return add


@pytest.fixture(scope="session")
def bare_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an empty virtual environment."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return environment.venv_python(folder)
