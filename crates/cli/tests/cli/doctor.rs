//! `doctor`: what is right, what is not, and what to do about it.

use std::net::TcpListener;

use serde_json::Value;

use crate::harness::Home;

/// Ports that are free on most machines would make the tests depend on the rest.
const FREE_PORTS: &str = "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n";

#[track_caller]
fn verdict(home: &Home, check: &str) -> String {
    let outcome = home.run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = findings.as_array().unwrap().iter().find(|finding| finding["check"] == check);
    let found = found.unwrap_or_else(|| panic!("{check} is checked: {findings:#}"));
    found["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_fresh_machine_passes_and_nothing_is_made() {
    let home = Home::with_config(FREE_PORTS);
    let report = home.ok(&["doctor"]);
    assert!(report.contains("made on the first start"), "{report}");
    assert!(!home.data_dir().exists());
}

#[test]
fn a_running_service_passes_and_is_recognised() {
    let home = Home::with_config(FREE_PORTS);
    let _running = home.serve();
    let report = home.ok(&["doctor"]);
    assert!(report.contains("running since"), "{report}");
    assert!(report.contains("every balance right"), "{report}");
}

#[test]
fn what_is_wrong_fails_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let home = Home::with_config(&format!(
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
fn a_wrong_configuration_fails_with_its_place() {
    let home = Home::with_config("[servr]\n");
    home.fails(&["doctor"], 1, &["tollgate.toml:1: unknown section `servr`"]);
    assert_eq!(verdict(&home, "configuration"), "failed");
}
