//! Tests of `keys`: create, list and revoke.

use crate::harness::TestHome;

#[test]
fn a_key_made_while_stopped_works_once_the_service_runs() {
    let home = TestHome::new();
    let create = ["keys", "create", "--type", "admin", "--description", "ci", "--json"];
    let key = home.json(&create);
    let secret = key["apiKey"].as_str().unwrap();
    assert!(secret.starts_with("SERVICE_ADMIN_KEY_"));
    let running = home.serve();
    assert_eq!(running.get("/api/v1/api_keys", secret).0, 200);
}

#[test]
fn a_key_is_revoked_from_the_next_request_on() {
    let home = TestHome::new();
    let running = home.serve();
    let key = home.json(&["keys", "create", "--type", "admin", "--json"]);
    let (id, secret) = (key["id"].as_str().unwrap(), key["apiKey"].as_str().unwrap());
    assert_eq!(running.get("/api/v1/api_keys", secret).0, 200);
    assert!(home.ok(&["keys", "revoke", id]).contains("revoked"));
    assert_eq!(running.get("/api/v1/api_keys", secret).0, 401);
    home.fails(&["keys", "revoke", id], 1, &["is already revoked"]);
    let nobody = "00000000-0000-0000-0000-000000000000";
    home.fails(&["keys", "revoke", nobody], 1, &["there is no key", "keys list"]);
}

#[test]
fn a_listing_shows_limits_and_never_a_secret() {
    let home = TestHome::new();
    home.ok(&["accounts", "create", "acme"]);
    let created = home.json(&[
        "keys",
        "create",
        "--type",
        "inference",
        "--account",
        "acme",
        "--limit-usd",
        "2.5",
        "--period",
        "month",
        "--expires",
        "2999-01-01",
        "--json",
    ]);
    let secret = created["apiKey"].as_str().unwrap();
    let keys = home.json(&["keys", "list", "--json"]);
    assert_eq!(keys.as_array().unwrap().len(), 1);
    let key = &keys[0];
    assert_eq!(key["id"], created["id"]);
    assert_eq!(key["account"], "acme");
    assert_eq!(key["apiKeyType"], "INFERENCE");
    assert_eq!(key["consumptionLimits"]["usd"], "2.5");
    assert_eq!(key["limitPeriod"], "MONTH");
    assert_eq!(key["expiresAt"], "2999-01-01T00:00:00.000Z");
    assert_eq!(key["last6Chars"], secret[secret.len() - 6..]);
    let table = home.ok(&["keys", "list", "--account", "acme"]);
    assert!(table.contains("2.5 USD per MONTH"), "{table}");
    assert!(!table.contains(secret));
    assert_eq!(home.ok(&["keys", "list", "--account", "default", "--json"]), "[]\n");
}

#[test]
fn wrong_keys_are_refused_before_anything_is_made() {
    let home = TestHome::new();
    let long = "x".repeat(65);
    let create = ["keys", "create", "--type", "admin"];
    let with = |extra: &[&'static str]| [&create[..], extra].concat();
    home.fails(&with(&["--account", "nobody"]), 1, &["there is no account `nobody`"]);
    home.fails(&with(&["--expires", "2001-01-01"]), 1, &["in the past"]);
    home.fails(&with(&["--expires", "soon"]), 2, &["2027-01-31"]);
    home.fails(&[&create[..], &["--description", &long]].concat(), 2, &["at most 64 characters"]);
    assert_eq!(home.ok(&["keys", "list", "--json"]), "[]\n");
}
