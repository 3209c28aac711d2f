"""Tests of scraping with the built service: static pages, and one that needs a browser."""

import functools
import http.server
import json
import os
import shutil
import threading
import time
import unittest
import urllib.error
import urllib.request

from server import Server

CONFIG = """
[scrape]
allow_private_addresses = true
"""

ARTICLE = """<html><head><title>Ferries</title></head><body><nav>Shop</nav><article><h1>Ferries</h1>
<p>The ferry leaves the harbour at seven, crosses the strait in an hour, and brings flour and letters.</p>
<p>It returns at nine, with the children who go to school on the other side of the strait.</p>
</article><footer>Imprint</footer></body></html>"""
SHELL = '<html><head><title>App</title><script src="/app.js"></script></head><body><div id="root"></div></body></html>'
SCRIPT = """fetch('/data').then((it) => it.text()).then((text) => {
  document.getElementById('root').innerHTML = '<h1>Built</h1><p>' + text + '</p>';
});"""
COUNTED = """<html><head><title>Café</title><script async src="/counter.js"></script></head>
<body><h1>Café</h1><p>Open from nine to five.</p></body></html>"""
LOOP = '<html><head><title>App</title></head><body><div id="root"></div><script>for (;;) {}</script></body></html>'
PAGES = {
    "/loop": ("text/html", LOOP),
    "/article": ("text/html", ARTICLE),
    "/counted": ("text/html", COUNTED),
    "/app": ("text/html", SHELL),
    "/app.js": ("text/javascript", SCRIPT),
    "/data": ("text/plain", "Fetched by a script."),
}


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, body = PAGES.get(self.path, (None, ""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class ScrapeCase(unittest.TestCase):
    config = CONFIG

    @classmethod
    def setUpClass(cls):
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        cls.addClassCleanup(site.server_close)
        cls.addClassCleanup(site.shutdown)
        threading.Thread(target=functools.partial(site.serve_forever, 0.1), daemon=True).start()
        cls.site = f"http://127.0.0.1:{site.server_port}"
        cls.server = cls.enterClassContext(Server(config=cls.config))
        cls.key = cls.server.create_key("inference")

    def get(self, path):
        headers = {"Authorization": f"Bearer {self.server.create_key('admin')}"}
        request = urllib.request.Request(self.server.api + path, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def scrape(self, path):
        body = json.dumps({"url": self.site + path}).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.server.api + "/augment/scrape", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


class Scrape(ScrapeCase):
    def test_an_article_is_told_without_its_frame(self):
        status, page = self.scrape("/article")
        self.assertEqual((status, page["format"]), (200, "markdown"))
        self.assertIn("leaves the harbour at seven", page["content"])
        self.assertNotIn("Imprint", page["content"])

    def test_a_page_that_scripts_build_is_built(self):
        self.assertIsNotNone(shutil.which("chromium") or shutil.which("google-chrome"), "no browser is installed")
        status, page = self.scrape("/app")
        self.assertEqual(status, 200, page)
        self.assertIn("Fetched by a script.", page["content"])

    def test_browsers_end_with_a_service_that_is_killed(self):
        with Server(config=CONFIG) as server:
            key = server.create_key("inference")
            body = json.dumps({"url": self.site + "/loop"}).encode()
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            request = urllib.request.Request(server.api + "/augment/scrape", body, headers)

            def ask():
                try:
                    urllib.request.urlopen(request, timeout=60).close()
                except OSError:
                    pass

            asking = threading.Thread(target=ask)
            asking.start()
            wait_until(lambda: any("--type=renderer" in it for it in below(server.process.pid).values()))
            started = below(server.process.pid)
            os.kill(server.process.pid, 9)
            server.process.wait()
            asking.join()
            wait_until(lambda: not any(command_of(it) == started[it] for it in started))

    def test_the_characters_that_come_with_the_service_are_there(self):
        headers = {"Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(self.server.api + "/characters?limit=100", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            self.assertEqual(len(json.load(answer)["data"]), 24)
        listed = json.loads(self.server.command("characters", "list", "--json"))
        self.assertEqual(len(listed), 24)
        card = json.loads(self.server.command("characters", "export", "marta-vektor"))
        self.assertEqual((card["spec"], card["data"]["name"]), ("chara_card_v2", "Marta Vektor"))


class WithoutBrowser(ScrapeCase):
    # A browser that cannot be started is treated like none.
    config = CONFIG + 'chromium = "/bin/false"\n'

    def test_a_page_that_needs_a_browser_is_an_error_and_free(self):
        status, refusal = self.scrape("/app")
        self.assertEqual(status, 502, refusal)
        self.assertIn("needs scripts", json.dumps(refusal))
        self.assertEqual(self.get("/billing/usage")["data"], [])
        self.assertEqual(self.scrape("/article")[0], 200)
        status, page = self.scrape("/counted")
        self.assertEqual(status, 200, page)
        self.assertIn("Open from nine to five.", page["content"])


def command_of(process):
    try:
        with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def below(process):
    """All descendants of a process, with their command lines."""
    found, unseen = {}, [process]
    while unseen:
        parent = unseen.pop()
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", encoding="utf-8") as file:
                    for child in file.read().split():
                        found[child] = command_of(child)
                        unseen.append(child)
        except OSError:
            pass
    return {child: command for child, command in found.items() if command}


def wait_until(is_so, seconds_max=60):
    deadline = time.monotonic() + seconds_max
    while not is_so():
        if deadline < time.monotonic():
            raise AssertionError("that did not come about")
        time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
