"""What nginx itself makes of a request to a service without tokens, and to one with some."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

import httpx
import pytest

NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="needs nginx")

PLAIN = ""
KEPT_OPEN = 'proxy_http_version 1.1; proxy_set_header Connection "";'
FORWARDED = f"{KEPT_OPEN} proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"
NAMED = f"{KEPT_OPEN} proxy_set_header Host $host;"
AS_ON_THE_PAGE = f"{FORWARDED} proxy_set_header Host $host; proxy_read_timeout 1h;"


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
    except OSError:
        return False
    return True


@contextmanager
def proxied(folder, served, settings):
    """An nginx of this very user before the service, as far as that is possible; a client that talks to it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    user = "user root;" if os.getuid() == 0 else ""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"""{user} daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;
        events {{}}
        http {{
            access_log off; {folders}
            server {{
                listen 127.0.0.1:{port};
                location / {{ proxy_pass http://127.0.0.1:{served.client.base_url.port}; {settings} }}
            }}
        }}"""
    )
    process = subprocess.Popen([NGINX, "-c", folder / "nginx.conf", "-e", folder / "log"])
    try:
        deadline = time.monotonic() + 30
        while not answers(port):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize(
    ("settings", "authority"),
    [
        (PLAIN, "127.0.0.1"),
        (PLAIN, "plant.example"),
        (FORWARDED, "127.0.0.1"),
        (NAMED, "plant.example"),
        (AS_ON_THE_PAGE, "plant.example"),
    ],
)
def test_without_tokens_nothing_is_served_through_it(shared, tmp_path, settings, authority):
    asked = [("GET", "/v1/studies"), ("GET", "/metrics"), ("POST", "/v1/studies/plant/ask")]
    with proxied(tmp_path, shared, settings) as client:
        client.headers["Host"] = authority
        for method, path in asked:
            answer = client.request(method, path)
            assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden"), answer.text
        assert client.get("/health").status_code == 200


@pytest.mark.parametrize("settings", [PLAIN, AS_ON_THE_PAGE])
def test_with_a_token_the_token_decides(served, tmp_path, settings):
    token = {"Authorization": f"Bearer {served.database.tokens.add('plant')}"}
    with proxied(tmp_path, served, settings) as client:
        assert client.get("/v1/studies").status_code == 401
        assert client.get("/v1/studies", headers={"Authorization": "Bearer wv_wrong"}).status_code == 401
        body = {"name": "plant", "space": {"box": [[0, 1]]}}
        assert client.post("/v1/studies", json=body, headers=token).status_code == 201
        trial = client.post("/v1/studies/plant/ask", json={}, headers=token).json()
        told = {"trial": trial["number"], "y": 0.5}
        assert client.post("/v1/studies/plant/tell", json=told, headers=token).status_code == 201
        with client.stream("GET", "/v1/studies/plant/stream", headers=token) as stream:
            lines = stream.iter_lines()
            kinds = [line for line in (next(lines) for _ in range(9)) if line.startswith("event")]
    assert kinds == ["event: asked", "event: told"]
