//! Tests that secrets are resolved from references and never shown.

use expect_test::expect;

use super::ConfigFixture;
use crate::sections::server::AddressRange;

const PROVIDER: &str = "[[provider]]\nid = \"p\"\nkind = \"openai\"\nbase_url = \"http://x\"\n";

#[track_caller]
fn check(written: &str, expected: &str) {
    let config = ConfigFixture::with_config(&format!("{PROVIDER}api_key = \"{written}\"\n"))
        .variable("THE_KEY", "from the environment")
        .file("key.txt", "from a file\n")
        .config();
    let secret = config.providers[0].api_key.as_ref().unwrap();
    assert_eq!(secret.expose(), expected);
    assert!(!format!("{config:?} {secret}").contains(expected));
}

#[test]
fn a_secret_is_resolved_from_where_it_is_said_to_be() {
    check("env:THE_KEY", "from the environment");
    check("file:key.txt", "from a file");
    check("sk-literal", "sk-literal");
}

#[test]
fn a_reference_that_leads_nowhere_is_a_fault() {
    ConfigFixture::with_config(&format!(
        "{PROVIDER}api_key = \"env:UNSET\"\nheaders = {{ a = \"file:gone\", b = 1, host = \"x\" }}\n"
    ))
    .variable("UNSET", "")
    .check_faults(&expect![[r#"
        tollgate.toml:5: `api_key`: the environment variable UNSET is not set
        tollgate.toml:6: `headers.a`: cannot read gone: No such file or directory (os error 2)
        tollgate.toml:6: `headers.b` must be text
        tollgate.toml:6: `headers` in [[provider]]: "host" cannot be set
    "#]]);
}

#[test]
fn an_empty_secret_file_is_a_fault() {
    ConfigFixture::with_config(&format!("{PROVIDER}api_key = \"file:empty\"\n"))
        .file("empty", "\n")
        .check_faults(&expect![[r#"
            tollgate.toml:5: `api_key`: empty is empty
        "#]]);
}

#[test]
fn a_literal_secret_works_with_a_warning() {
    let scene = ConfigFixture::with_config(&format!("{PROVIDER}api_key = \"sk-literal\"\n"));
    let warnings = scene.config().warnings;
    assert_eq!(warnings.len(), 1);
    let warning = warnings[0].to_string();
    assert!(warning.contains("tollgate.toml:5: `api_key` holds the secret itself"), "{warning}");
    assert!(!warning.contains("sk-literal"));
}

#[test]
fn the_listing_of_settings_shows_no_secret() {
    let settings = ConfigFixture::with_config(&format!(
        "{PROVIDER}api_key = \"sk-literal\"\nheaders = {{ x-token = \"hunter2\", y = \"env:Y\" }}\n\
         [store]\nurl = \"postgres://me:hunter2@db/x\"\n\
         [search]\nprovider = \"brave\"\napi_key = \"env:BRAVE\"\n"
    ))
    .variable("BRAVE", "hunter2")
    .sources()
    .list_settings();
    let shown: Vec<String> = settings
        .iter()
        .filter(|setting| setting.name.starts_with("provider.") || setting.name.ends_with("url"))
        .filter_map(|setting| Some(format!("{} = {}", setting.name, setting.value.as_ref()?)))
        .collect();
    expect![[r#"
        store.url = "postgres://me:***@db/x"
        limits.url = "memory:"
        media.url = "file:media"
        provider.p.id = "p"
        provider.p.kind = "openai"
        provider.p.base_url = "http://x"
        provider.p.api_key = ***
        provider.p.dialect = "vllm"
        provider.p.api = "chat"
        provider.p.thinking = "budget"
        provider.p.cache_system_prompt = true
        provider.p.timeout_s = 600
        provider.p.stream_timeout_s = 120
        provider.p.connect_timeout_s = 5
        provider.p.max_concurrency = 256
        provider.p.bills_after_hangup = false
        provider.p.headers = { x-token = ***, y = "env:Y" }"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn an_address_range_holds_its_own_addresses_only() {
    let holds = |range: &str, address: &str| {
        AddressRange::parse(range).unwrap().contains(address.parse().unwrap())
    };
    assert!(holds("10.0.0.0/8", "10.200.3.4"));
    assert!(holds("10.0.0.0/8", "::ffff:10.200.3.4"));
    assert!(!holds("10.0.0.0/8", "11.0.0.1"));
    assert!(holds("0.0.0.0/0", "203.0.113.9"));
    assert!(holds("192.0.2.1", "192.0.2.1"));
    assert!(!holds("192.0.2.1", "192.0.2.2"));
    assert!(holds("fd00::/8", "fd12::1"));
    assert!(!holds("fd00::/8", "192.0.2.1"));
    for wrong in ["", "10.0.0.0/", "10.0.0.0/33", "10.0.0/8", "::/129", "10.0.0.0/-1"] {
        assert_eq!(AddressRange::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn the_url_of_a_node_may_hold_a_key_and_is_treated_so() {
    let scene = ConfigFixture::with_config(
        "[rpc.networks.base-mainnet]\nurls = [\"https://node.example/v2/hunter2\", \"env:NODE\"]\n\
         [x402]\nevm_rpc_url = \"http://127.0.0.1:8545\"\n",
    )
    .variable("NODE", "https://other.example/hunter2");
    let config = scene.config();
    assert_eq!(config.rpc.networks[0].urls[1].expose(), "https://other.example/hunter2");
    assert!(config.warnings.is_empty());
    let settings = scene.sources().list_settings();
    let shown = format!("{config:?} {settings:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("https://node.example/***"), "{shown}");
    ConfigFixture::with_config("[rpc.networks.base-mainnet]\nurls = [\"htps://x/hunter2\", 7]\n")
        .check_faults(&expect![[r#"
            tollgate.toml:2: `urls`: it must be a URL that starts with http:// or https://
            tollgate.toml:2: `urls`: it must be a URL in quotes, not a whole number
        "#]]);
}
