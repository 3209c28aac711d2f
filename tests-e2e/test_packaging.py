"""Checks the files in packaging/, as far as possible without the programs that use them."""

import configparser
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import yaml

PACKAGING = pathlib.Path(__file__).parent.parent / "packaging"
CHART = PACKAGING / "helm/tollgate"


class Packaging(unittest.TestCase):
    def test_the_image_runs_without_privileges(self):
        lines = (PACKAGING / "Dockerfile").read_text(encoding="utf-8").splitlines()
        stages = [line for line in lines if line.startswith("FROM ")]
        self.assertEqual(len(stages), 2)
        for stage in stages:
            self.assertRegex(stage, r"^FROM [a-z]+:[\w.-]+", "an image has a fixed version")
        last = lines[len(lines) - 1 - lines[::-1].index(stages[-1]) :]
        user = next(line for line in last if line.startswith("USER "))
        self.assertNotIn(user.split()[1], ("0", "root"))
        self.assertTrue(any(line.startswith('ENTRYPOINT ["tollgate"]') for line in last))

    def test_compose_reads_and_drops_everything(self):
        content = yaml.safe_load((PACKAGING / "compose.yaml").read_text(encoding="utf-8"))
        service = content["services"]["tollgate"]
        self.assertEqual(service["cap_drop"], ["ALL"])
        self.assertTrue(service["read_only"])
        self.assertTrue((PACKAGING / service["build"]["context"] / service["build"]["dockerfile"]).is_file())
        self.assertTrue(all(port.startswith("127.0.0.1:") for port in service["ports"]))

    def test_compose_runs_three_nodes_that_differ(self):
        content = yaml.safe_load((PACKAGING / "compose-nodes.yaml").read_text(encoding="utf-8"))
        environments = [it.get("environment", {}) for it in content["services"].values()]
        nodes = [it for it in environments if "TOLLGATE__CLUSTER__NODE" in it]
        names = {it["TOLLGATE__CLUSTER__NODE"] for it in nodes}
        self.assertEqual(len(names), 3)
        self.assertEqual({it["TOLLGATE__CLUSTER__ADDRESS"] for it in nodes}, {f"http://{name}:8090" for name in names})
        proxy = (PACKAGING / "nginx.conf").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"server (\w+):8080", proxy)), names)

    def test_the_unit_is_a_unit(self):
        unit = configparser.RawConfigParser(strict=False, allow_no_value=False)
        unit.optionxform = str
        unit.read(PACKAGING / "tollgate.service", encoding="utf-8")
        self.assertEqual(unit["Service"]["NoNewPrivileges"], "yes")
        self.assertEqual(unit["Service"]["ProtectSystem"], "strict")
        self.assertEqual(unit["Install"]["WantedBy"], "multi-user.target")
        # ProtectClock= denies all devices that are not listed, as PrivateDevices= hides them.
        self.assertEqual(unit["Service"]["DevicePolicy"], "closed")
        self.assertNotIn("PrivateDevices", unit["Service"])
        text = (PACKAGING / "tollgate.service").read_text(encoding="utf-8")
        allowed = set(re.findall(r"^DeviceAllow=(\S+) rw$", text, re.M))
        self.assertEqual(allowed, {"char-nvidia*", "char-drm", "char-kfd"}, "GPUs are seen")

    def test_the_chart_asks_for_values_that_are_there(self):
        values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
        self.assertEqual(yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["name"], "tollgate")
        for template in sorted((CHART / "templates").iterdir()):
            text = template.read_text(encoding="utf-8")
            opened = len(re.findall(r"\{\{-? *(?:if|range|with) ", text))
            self.assertEqual(opened, len(re.findall(r"\{\{-? *end *-?\}\}", text)), template.name)
            for path in re.findall(r"\.Values\.([\w.]+)", text):
                found = values
                for name in path.split("."):
                    self.assertIn(name, found, f"{template.name}: {path}")
                    found = found[name]

    def test_dashboard_and_alerts_name_metrics_that_the_docs_tell_of(self):
        told = set(re.findall(r"`([a-z_]+)`", (PACKAGING.parent / "docs/operating.md").read_text(encoding="utf-8")))
        dashboard = json.loads((PACKAGING / "grafana-dashboard.json").read_text(encoding="utf-8"))
        asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        alerts = yaml.safe_load((PACKAGING / "alerts.yaml").read_text(encoding="utf-8"))
        asked += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
        for expression in asked:
            named = re.findall(r"\b((?:http|ledger|limits|reconcile|store|settle|engine)_[a-z_]+)", expression)
            self.assertTrue(named, expression)
            for name in named:
                self.assertIn(name.removesuffix("_bucket"), told, expression)

    @unittest.skipUnless(shutil.which("helm"), "helm is not on this machine")
    def test_helm_lints_the_chart(self):
        run = subprocess.run(["helm", "lint", str(CHART)], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
