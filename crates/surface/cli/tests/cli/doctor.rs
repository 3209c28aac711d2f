//! Tests of `doctor`: findings and their remedies.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::harness::TestHome;
use crate::provider::TestProvider;

/// Port 0, because a fixed port may be in use on the machine.
const FREE_PORTS: &str = "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n";

#[track_caller]
fn verdict(home: &TestHome, check: &str) -> String {
    let outcome = home.run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = findings.as_array().unwrap().iter().find(|finding| finding["check"] == check);
    let found = found.unwrap_or_else(|| panic!("{check} is checked: {findings:#}"));
    found["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_fresh_machine_passes_and_nothing_is_made() {
    let home = TestHome::with_config(FREE_PORTS);
    let report = home.ok(&["doctor"]);
    assert!(report.contains("made on the first start"), "{report}");
    assert!(!home.data_dir().exists());
}

#[test]
fn a_running_service_passes_and_is_recognised() {
    let home = TestHome::with_config(FREE_PORTS);
    let _running = home.serve();
    let report = home.ok(&["doctor"]);
    assert!(report.contains("running since"), "{report}");
    assert!(report.contains("every balance is right"), "{report}");
}

#[test]
fn what_is_wrong_fails_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let home = TestHome::with_config(&format!(
        "[server]\nlisten = \"{address}\"\nadmin_listen = \"127.0.0.1:0\"\n\
         [[provider]]\nid = \"up\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         api_key = \"sk-literal\"\n"
    ));
    home.fails(&["doctor"], 1, &["stop what uses it", "start it, or correct `base_url`"]);
    assert_eq!(verdict(&home, "server.listen"), "failed");
    assert_eq!(verdict(&home, "server.admin_listen"), "ok");
    assert_eq!(verdict(&home, "provider up"), "failed");
    assert_eq!(verdict(&home, "secrets"), "warning");
    assert!(!home.run(&["doctor"]).stdout.contains("sk-literal"));
}

#[test]
fn proxies_without_an_https_url_are_a_warning_here_and_at_the_start() {
    let proxies = format!("{FREE_PORTS}trusted_proxies = [\"10.0.0.0/8\"]\n");
    let told = "trusted_proxies are set and public_url is not https";
    // The start ends at an address that is in use, after its warnings.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let start = ["serve", "--listen", address.as_str()];
    let home = TestHome::with_config(&proxies);
    assert_eq!(verdict(&home, "server.public_url"), "warning");
    assert!(home.run(&start).stderr.contains(told));
    let secure = format!("{proxies}public_url = \"https://api.example.com\"\n");
    let home = TestHome::with_config(&secure);
    assert!(!home.run(&["doctor"]).stdout.contains("server.public_url"));
    assert!(!home.run(&start).stderr.contains(told));
}

#[test]
fn a_wrong_configuration_fails_with_its_place() {
    let home = TestHome::with_config("[servr]\n");
    home.fails(&["doctor"], 1, &["tollgate.toml:1: unknown section `servr`"]);
    assert_eq!(verdict(&home, "configuration"), "failed");
}

#[test]
fn a_provider_is_proved_by_one_call_of_one_token() {
    let provider = TestProvider::healthy();
    let home = TestHome::with_config(&provider.config("m", "1"));
    let report = home.ok(&["doctor"]);
    assert!(report.contains("answers; context 4096"), "{report}");
    let calls = provider.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((&calls[0]["model"], &calls[0]["max_tokens"]), (&json!("m"), &json!(1)));
}

#[test]
fn a_provider_of_the_responses_api_is_proved_through_it() {
    let provider = TestProvider::start(|asked, _| match asked {
        "GET /v1/models" => (200, json!({"data": [{"id": "m"}]})),
        "POST /v1/responses" => (200, json!({"status": "incomplete", "output": []})),
        _ => (404, json!({"error": {"message": "no such path"}})),
    });
    let config = provider.config("m", "1");
    let config = config.replace("kind = \"openai\"", "kind = \"openai\"\napi = \"responses\"");
    let home = TestHome::with_config(&config);
    assert_eq!(verdict(&home, "model own at up"), "ok");
    let body = json!({"model": "m", "input": "Hi", "max_output_tokens": 16, "store": false});
    assert_eq!(provider.calls(), [body]);
}

#[test]
fn a_provider_that_does_not_work_fails() {
    for (status, remedy) in [(404, "base_url"), (401, "api_key"), (500, "log")] {
        let provider = TestProvider::start(move |_, _| (status, json!({})));
        let home = TestHome::with_config(&provider.config("m", "1"));
        home.fails(&["doctor"], 1, &[&format!("answers {status}"), remedy]);
        assert_eq!(verdict(&home, "provider up"), "failed");
        assert!(provider.calls().is_empty(), "nothing is called at a provider that does not work");
    }
    let page = TestProvider::start(|_, _| (200, json!("a page of something else")));
    let home = TestHome::with_config(&page.config("m", "1"));
    home.fails(&["doctor"], 1, &["not with a list of models"]);
}

#[test]
fn a_model_that_is_missing_or_does_not_run_fails() {
    let provider = TestProvider::healthy();
    let home = TestHome::with_config(&provider.config("other", "1"));
    home.fails(&["doctor"], 1, &["has no model `other`", "upstream_id"]);
    assert!(provider.calls().is_empty());
    for status in [400, 401, 404, 500] {
        let provider = TestProvider::start(move |asked, _| match asked {
            "GET /v1/models" => (200, json!({"data": [{"id": "m"}]})),
            _ => (status, json!({"error": {"message": "out of memory"}})),
        });
        let home = TestHome::with_config(&provider.config("m", "1"));
        home.fails(&["doctor"], 1, &[&format!("answers {status}"), "out of memory"]);
        assert_eq!(verdict(&home, "provider up"), "ok");
        assert_eq!(verdict(&home, "model own at up"), "failed");
    }
}

#[test]
fn a_model_that_is_known_by_another_name_too_is_no_missing_one() {
    let provider = TestProvider::start(|asked, _| match asked {
        "GET /v1/models" => (200, json!({"data": [{"id": "m-2026-01-01"}]})),
        "GET /v1/models/m" => (200, json!({"id": "m-2026-01-01"})),
        _ => (200, json!({"choices": []})),
    });
    let home = TestHome::with_config(&provider.config("m", "1"));
    assert_eq!(verdict(&home, "model own at up"), "ok");
}

#[test]
fn a_price_of_nothing_and_a_context_that_is_not_there_are_warnings() {
    let provider = TestProvider::start(|asked, _| match asked {
        "GET /v1/models" => (200, json!({"data": [{"id": "m", "max_model_len": 2048}]})),
        _ => (200, json!({"choices": []})),
    });
    let home = TestHome::with_config(&provider.config("m", "0"));
    let report = home.ok(&["doctor"]);
    assert!(report.contains("its context has 2048 tokens, not 4096"), "{report}");
    assert_eq!(verdict(&home, "price of own"), "warning");
    let home = TestHome::with_config(&provider.config("m", "0.1"));
    assert!(!home.ok(&["doctor"]).contains("price of own"));
}
