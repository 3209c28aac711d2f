//! Tests of the command line itself: help, usage, and commands that need no service.

use crate::harness::TestHome;

#[test]
fn wrong_usage_exits_with_2() {
    let home = TestHome::new();
    home.fails(&["frobnicate"], 2, &["unrecognized subcommand"]);
    home.fails(&["keys", "create"], 2, &["--type"]);
    home.fails(&["keys", "create", "--type", "root"], 2, &["inference, admin"]);
    home.fails(&["keys", "revoke", "not-an-id"], 2, &["invalid value"]);
    let help = home.ok(&["--help"]);
    for command in ["serve", "init", "keys", "accounts", "models", "ledger", "config", "doctor"] {
        assert!(help.contains(command), "{help}");
    }
}

#[test]
fn a_build_without_an_engine_says_so() {
    let engine = ["engine", "--socket", "engine.sock", "--models-dir", "models"];
    TestHome::new().fails(&engine, 1, &["this build has no engine", "`tollgate`"]);
}

#[test]
fn the_document_is_printed_as_json() {
    let document = TestHome::new().json(&["openapi"]);
    assert_eq!(document["openapi"], "3.1.0");
    assert!(document["paths"].as_object().is_some_and(|paths| !paths.is_empty()));
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = TestHome::new().ok(&["completions", shell]);
        assert!(script.contains("accounts"), "{shell}");
    }
}

#[test]
fn output_to_a_pipe_has_no_colours() {
    let outcome = TestHome::new().run(&["doctor"]);
    assert!(!outcome.stdout.contains('\u{1b}'), "{}", outcome.stdout);
}

/// Compares both lists, because the config crate does not depend on the proxy.
#[test]
fn configured_networks_are_those_of_the_proxy() {
    let mut known: Vec<&str> =
        rpc::networks::RpcNetwork::all().map(|network| network.slug()).collect();
    known.sort_unstable();
    assert_eq!(config::sections::rpc::NETWORKS, known);
}

/// Compares both lists, because the config crate does not depend on the engines.
#[test]
fn configured_dialects_are_those_of_the_engines() {
    let known = config::sections::provider::OpenAiDialect::NAMES;
    assert_eq!(known, engine_upstream::ServerQuirks::NAMES);
}
