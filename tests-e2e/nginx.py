"""Starts nginx in front of some nodes, with the configuration of docs/operating.md."""

import contextlib
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse

START_SECONDS_MAX = 10

CONFIG = """
daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/bodies;
  proxy_temp_path {folder}/proxied;
  fastcgi_temp_path {folder}/1;
  uwsgi_temp_path {folder}/2;
  scgi_temp_path {folder}/3;
  map $http_authorization $caller {{
    default $http_authorization;
    ""      $remote_addr;
  }}
  upstream tollgate {{
    hash $caller consistent;
{servers}
  }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://tollgate;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_next_upstream error timeout http_503;
    }}
  }}
}}
"""


def free_port():
    """A port that no outgoing connection takes before it is listened on: those have numbers from 32768."""
    while True:
        port = 15_000 + secrets.randbelow(17_000)
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


class Nginx:
    """Use it in a `with` statement so that it always ends."""

    def __init__(self, urls):
        self.addresses = [urllib.parse.urlparse(url).netloc for url in urls]
        self.port = free_port()
        self.api = f"http://127.0.0.1:{self.port}/api/v1"

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="tollgate-nginx-")
        servers = "\n".join(f"    server {address} max_fails=0;" for address in self.addresses)
        config = f"{self.folder}/nginx.conf"
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(folder=self.folder, servers=servers, port=self.port))
        # Debian installs it outside of a user's PATH.
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-p", self.folder, "-c", config])
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                if deadline < time.monotonic():
                    raise
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
