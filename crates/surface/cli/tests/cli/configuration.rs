//! Tests of `init` and `config`.

use crate::harness::TestHome;

#[test]
fn init_writes_a_file_that_is_right_and_never_overwrites_one() {
    let home = TestHome::new();
    assert!(home.ok(&["init"]).contains("wrote tollgate.toml"));
    assert!(home.ok(&["config", "check"]).contains("tollgate.toml is right"));
    home.write("tollgate.toml", "[server]\n");
    home.fails(&["init"], 1, &["tollgate.toml already exists", "--force"]);
    assert_eq!(home.read("tollgate.toml"), "[server]\n");
    home.ok(&["init", "--force"]);
    assert!(home.read("tollgate.toml").contains("#listen = "));
    home.ok(&["init", "--config", "other.toml"]);
    assert!(home.read("other.toml").contains("#listen = "));
}

#[test]
fn mistakes_are_reported_with_file_line_and_nearest_name() {
    let home = TestHome::with_config("[server]\nlisen = \"127.0.0.1:1\"\n\n[store]\nurl = 7\n");
    let sayings = [
        "the configuration has 2 mistakes",
        "tollgate.toml:2: unknown key `lisen` in [server]; did you mean `listen`?",
        "tollgate.toml:5: `url` in [store] must be text in quotes, not 7",
    ];
    home.fails(&["config", "check"], 1, &sayings);
    home.fails(&["serve"], 1, &sayings);
    home.fails(
        &["config", "check", "--config", "gone.toml"],
        1,
        &["flag --config: cannot read gone.toml"],
    );
}

#[test]
fn settings_are_shown_with_their_origins_and_without_secrets() {
    let home = TestHome::with_config(
        "[server]\nlisten = \"127.0.0.1:1\"\n[search]\nprovider = \"brave\"\napi_key = \"hunter2\"\n",
    )
    .variable("TOLLGATE__SERVER__ADMIN_LISTEN", "127.0.0.1:2");
    let settings = home.json(&["config", "show", "--json"]);
    let find = |name: &str| {
        let found = settings.as_array().unwrap().iter().find(|setting| setting["name"] == name);
        let setting = found.unwrap_or_else(|| panic!("{name} is shown"));
        format!("{} from {}", setting["value"], setting["origin"])
    };
    assert_eq!(find("server.listen"), r#""\"127.0.0.1:1\"" from "tollgate.toml:2""#);
    let admin = r#""\"127.0.0.1:2\"" from "environment TOLLGATE__SERVER__ADMIN_LISTEN""#;
    assert_eq!(find("server.admin_listen"), admin);
    assert_eq!(find("limits.url"), r#""\"memory:\"" from "default""#);
    assert_eq!(find("search.api_key"), r#""***" from "tollgate.toml:5""#);
    let table = home.ok(&["config", "show", "--origin"]);
    assert!(table.contains("tollgate.toml:2"), "{table}");
    assert!(!table.contains("hunter2"), "{table}");
    assert!(home.ok(&["config", "check"]).contains("holds the secret itself"));
}

#[test]
fn the_reference_lists_every_section() {
    let reference = TestHome::new().ok(&["config", "reference"]);
    for section in ["[server]", "[[provider]]", "[[model]]", "[x402]", "[rpc.networks.<network>]"] {
        assert!(reference.contains(section), "{section}");
    }
}
