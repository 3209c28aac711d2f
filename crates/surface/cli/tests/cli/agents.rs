//! Tests of `agents`: the lines for a coding agent, with the address, key and model of the service.

use serde_json::json;

use crate::harness::TestHome;

const CONFIG: &str = r#"
[[provider]]
id = "far"
kind = "openai"
base_url = "http://127.0.0.1:9/v1"

[[model]]
id = "house-model"
type = "text"
provider = "far"
tier = "S"
context_tokens = 8192
traits = ["default"]
price = { input_usd_per_million = "1", output_usd_per_million = "1" }
"#;

#[test]
fn the_lines_have_the_address_of_the_running_service_and_its_default_model() {
    let home = TestHome::with_config(CONFIG);
    let running = home.serve();
    let lines = home.ok(&["agents", "claude-code", "--key", "SERVICE_INFERENCE_KEY_x"]);
    let site = format!("export ANTHROPIC_BASE_URL=http://{}\n", running.api);
    assert!(lines.starts_with("In a shell:\n\n"), "{lines}");
    assert!(lines.contains(&site), "{lines}");
    assert!(lines.contains("export ANTHROPIC_AUTH_TOKEN=SERVICE_INFERENCE_KEY_x\n"), "{lines}");
    assert!(lines.contains("export ANTHROPIC_MODEL=house-model\n"), "{lines}");
}

#[test]
fn a_stopped_service_is_described_by_its_configuration() {
    let home = TestHome::with_config(&format!(
        "[server]\npublic_url = \"https://api.example.com\"\n{CONFIG}"
    ));
    let told = home.json(&["agents", "codex", "--json"]);
    assert_eq!(told["steps"][0]["into"], json!("~/.codex/config.toml"));
    let lines = told["steps"][0]["lines"].to_string();
    assert!(lines.contains("https://api.example.com/v1"), "{lines}");
    let other = ["agents", "codex", "--model", "other", "--url", "https://b.example/v1", "--json"];
    let lines = home.json(&other)["steps"][0]["lines"].to_string();
    assert!(lines.contains("https://b.example/v1") && lines.contains("other"), "{lines}");
}

#[test]
fn agents_are_listed_and_mistakes_are_explained() {
    let home = TestHome::with_config(CONFIG);
    let listed = home.ok(&["agents"]);
    assert!(listed.contains("claude-code") && listed.contains("zed"), "{listed}");
    home.fails(&["agents", "emacs"], 2, &["possible values", "claude-code"]);
    home.fails(&["agents", "codex", "--key", "a b"], 2, &["--key", "cannot be in it"]);
    home.fails(&["agents", "codex", "--url", "b.example"], 2, &["http://"]);
}
