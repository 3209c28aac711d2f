//! Tests of the precedence of layers (default < file < environment < flags) and of origins.

use std::path::Path;
use std::time::Duration;

use expect_test::expect;
use money::Nano;

use super::ConfigFixture;
use crate::data_dir;
use crate::environment::ProcessEnvironment;
use crate::origin::SettingOrigin;
use crate::sections::engine::LocalEngineMode;
use crate::sections::provider::ProviderKind;
use crate::sections::store::StoreLocation;

#[test]
fn without_a_file_every_key_has_its_documented_default() {
    let config = ConfigFixture::empty().config();
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(config.server.admin_listen.to_string(), "127.0.0.1:8081");
    assert_eq!(config.server.domains, ["localhost:8080"]);
    assert_eq!(config.store.location, StoreLocation::Sqlite("tollgate.db".into()));
    assert!(config.development.enabled);
    assert_eq!(config.development.starting_credit, Nano::from_units(10));
    assert_eq!(config.engine.local, LocalEngineMode::Auto);
    assert_eq!(config.engine.idle_unload, Some(Duration::from_secs(900)));
    assert_eq!(config.rpc.price_nano_usd_per_credit, 625);
    assert_eq!(config.x402.minimum, Nano::from_units(5));
    assert_eq!(config.x402.evm.chain_id, 8453);
    assert!(config.warnings.is_empty());
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let scene = ConfigFixture::with_config("[server]\nlisten = \"127.0.0.1:1\"\n");
    check_listen(&scene, "127.0.0.1:1", ":2");
    let scene = scene.variable("TOLLGATE__SERVER__LISTEN", "127.0.0.1:2");
    check_listen(&scene, "127.0.0.1:2", "environment TOLLGATE__SERVER__LISTEN");
    let scene = scene.listen_flag("127.0.0.1:3");
    check_listen(&scene, "127.0.0.1:3", "flag --listen");
    check_listen(&ConfigFixture::empty(), "127.0.0.1:8080", "default");
}

#[track_caller]
fn check_listen(scene: &ConfigFixture, value: &str, origin_end: &str) {
    assert_eq!(scene.config().server.listen.to_string(), value);
    let settings = scene.sources().list_settings();
    let listen = settings.iter().find(|setting| setting.name == "server.listen").unwrap();
    let origin = listen.origin.to_string();
    assert!(origin.ends_with(origin_end), "{origin}");
}

#[test]
fn a_variable_takes_the_type_of_its_key() {
    let config = ConfigFixture::empty()
        .variable("TOLLGATE__DEVELOPMENT__ENABLED", "false")
        .variable("TOLLGATE__DEVELOPMENT__STARTING_CREDIT_USD", "0.5")
        .variable("TOLLGATE__SERVER__DOMAINS", "a.example, b.example,")
        .variable("TOLLGATE__SERVER__SHUTDOWN_GRACE_S", "5")
        .variable("TOLLGATE__RPC__NETWORKS__BASE_MAINNET__URLS", "http://a,http://b")
        .variable("TOLLGATE_DATA_DIR", "/elsewhere")
        .config();
    assert!(!config.development.enabled);
    assert_eq!(config.development.starting_credit.to_string(), "0.5");
    assert_eq!(config.server.domains, ["a.example", "b.example"]);
    assert_eq!(config.server.shutdown_grace, Duration::from_secs(5));
    assert_eq!(config.rpc.networks[0].slug, "base-mainnet");
    let urls: Vec<&str> = config.rpc.networks[0].urls.iter().map(|url| url.expose()).collect();
    assert_eq!(urls, ["http://a", "http://b"]);
}

#[test]
fn a_wrong_variable_is_reported_by_its_name() {
    ConfigFixture::empty()
        .variable("TOLLGATE__SERVER__LISEN", "x")
        .variable("TOLLGATE__SERVR__LISTEN", "x")
        .variable("TOLLGATE__ENGINE__THREADS", "many")
        .variable("TOLLGATE__PROVIDER__ID", "x")
        .variable("TOLLGATE__RPC__NETWORKS", "x")
        .variable("TOLLGATE__A__B__C__D__E", "x")
        .check_faults(&expect![[r#"
            environment TOLLGATE__A__B__C__D__E: no setting has this name; write TOLLGATE__SECTION__KEY
            environment TOLLGATE__PROVIDER__ID: [[provider]] is a list and can only be set in a file
            environment TOLLGATE__RPC__NETWORKS: `networks` is a table and can only be set in a file
            environment TOLLGATE__SERVER__LISEN: unknown key `lisen` in [server]; did you mean `listen`?
            environment TOLLGATE__SERVR__LISTEN: unknown section `servr`; did you mean `server`?
            environment TOLLGATE__ENGINE__THREADS: `threads` in [engine] must be a whole number from 0 to 1024, not "many"
        "#]]);
}

#[test]
fn included_files_add_providers_in_alphabetical_order() {
    let provider = |id: &str| {
        format!("[[provider]]\nid = \"{id}\"\nkind = \"anthropic\"\nbase_url = \"http://x/\"\n")
    };
    let config = ConfigFixture::with_config(&format!(
        "include = [\"more/*.toml\", \"more/b.toml\"]\n{}",
        provider("own")
    ))
    .file("more/b.toml", &provider("b"))
    .file("more/a.toml", &provider("a"))
    .file("more/ignored.txt", "not = [toml")
    .config();
    let ids: Vec<&str> = config.providers.iter().map(|provider| provider.id.as_str()).collect();
    assert_eq!(ids, ["own", "a", "b"]);
    assert_eq!(config.providers[1].kind, ProviderKind::Anthropic);
    assert_eq!(config.providers[1].base_url.as_deref(), Some("http://x"));
}

#[test]
fn faults_of_included_files_name_those_files() {
    ConfigFixture::with_config("include = [\"a.toml\", \"missing.toml\", \"*/x.toml\", 7]\n")
        .file(
            "a.toml",
            "\n[server]\nlisten = \"x\"\n[[provider]]\nid = \"p\"\nkind = \"local\"\nfoo = 1\n",
        )
        .check_faults(&expect![[r#"
            a.toml:2: `server` in an included file; only [[model]] and [[provider]] go there
            a.toml:7: unknown key `foo` in [[provider]]
            tollgate.toml:1: `include`: "*/x.toml": `*` may stand in the file's name only
            tollgate.toml:1: cannot read missing.toml: No such file or directory (os error 2)
            tollgate.toml:1: `include` in the file must be text in quotes, not 7
        "#]]);
}

#[test]
fn the_data_directory_has_an_order_of_places() {
    let environment = |pairs: &[(&str, &str)]| -> ProcessEnvironment {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let all = [("TOLLGATE_DATA_DIR", "/t"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
    let chosen = |flag: Option<&str>, pairs: &[(&str, &str)]| {
        data_dir::choose_data_dir(flag.map(Path::new), &environment(pairs))
            .path
            .display()
            .to_string()
    };
    assert_eq!(chosen(Some("/f"), &all), "/f");
    assert_eq!(chosen(None, &all), "/t");
    assert_eq!(chosen(None, &all[1..]), "/x/tollgate");
    assert_eq!(chosen(None, &all[2..]), "/h/.local/share/tollgate");
    assert_eq!(chosen(None, &[("HOME", "")]), "/var/lib/tollgate");
    assert_eq!(data_dir::choose_data_dir(None, &environment(&[])).origin, SettingOrigin::Default);
}

#[test]
fn the_ground_can_be_read_while_other_sections_are_wrong() {
    let scene = ConfigFixture::with_config(
        "[store]\nurl = \"sqlite:other.db\"\n[search]\nprovider = \"brave\"\napi_key = \"env:UNSET\"\n",
    );
    assert!(scene.read().is_err());
    let ground = scene.sources().read_database_config().unwrap();
    assert_eq!(ground.store.location, StoreLocation::Sqlite("other.db".into()));
}
