//! Tests of `accounts`: the results are the same whether or not the service runs.

use serde_json::json;

use crate::harness::TestHome;

#[test]
fn the_first_account_is_there_with_its_starting_credit() {
    let home = TestHome::new();
    let account = home.json(&["accounts", "show", "default", "--json"]);
    assert_eq!(account["balances"]["USD"], "10");
    assert_eq!(account["keys"], 0);
    // The credit is given only once, whichever command comes next.
    let account = home.json(&["accounts", "show", "default", "--json"]);
    assert_eq!(account["balances"]["USD"], "10");
}

#[test]
fn without_development_mode_there_is_no_starting_credit() {
    let home = TestHome::with_config("[development]\nenabled = false\n");
    let account = home.json(&["accounts", "show", "default", "--json"]);
    assert_eq!(account["balances"]["USD"], "0");
}

#[test]
fn credit_is_exact_and_adds_up() {
    let home = TestHome::new();
    home.ok(&["accounts", "create", "acme"]);
    home.ok(&["accounts", "credit", "acme", "0.000000001"]);
    home.ok(&["accounts", "credit", "acme", "5"]);
    home.ok(&["accounts", "credit", "acme", "2", "--currency", "diem"]);
    home.ok(&["accounts", "credit", "acme", "3", "--currency", "bundled"]);
    let account = home.json(&["accounts", "credit", "acme", "1.5", "--currency", "vcu", "--json"]);
    let expected =
        json!({ "USD": "5.000000001", "DIEM": "2", "BUNDLED_CREDITS": "3", "VCU": "1.5" });
    assert_eq!(account["balances"], expected);
    assert_eq!(account["allowances"], json!({ "diemPerDay": "2", "bundledPerMonth": "3" }));
    // An allowance is set, not added to, and 0 ends it.
    let account = home.json(&["accounts", "credit", "acme", "0", "--currency", "diem", "--json"]);
    assert_eq!(account["balances"]["DIEM"], "0");
}

#[test]
fn wrong_amounts_are_refused_with_what_to_write() {
    let home = TestHome::new();
    let cases = [
        ("-5", "without a sign"),
        ("0", "above zero"),
        ("0.00", "above zero"),
        ("0.0000000001", "at most 9 digits after the point"),
        ("99999999999999999999", "too large"),
        ("1e5", "plain decimal"),
        ("NaN", "plain decimal"),
        ("", "plain decimal"),
    ];
    for (amount, saying) in cases {
        home.fails(&["accounts", "credit", "default", amount], 2, &[saying]);
    }
    home.fails(&["accounts", "credit", "default", "9000000000"], 1, &["error:"]);
    home.fails(&["keys", "create", "--type", "admin", "--limit-usd", "-1"], 2, &["without a sign"]);
    let account = home.json(&["accounts", "show", "default", "--json"]);
    assert_eq!(account["balances"]["USD"], "10");
}

#[test]
fn unknown_taken_and_impossible_names_are_refused() {
    let home = TestHome::new();
    home.ok(&["accounts", "create", "acme"]);
    home.fails(&["accounts", "create", "acme"], 1, &["already exists"]);
    home.fails(&["accounts", "show", "acne"], 1, &["there is no account `acne`", "accounts list"]);
    home.fails(&["accounts", "create", "a b"], 1, &["letters, digits"]);
    home.fails(&["accounts", "create", ""], 1, &["letters, digits"]);
}

#[test]
fn a_running_service_gives_the_same_answers() {
    let home = TestHome::new();
    home.ok(&["accounts", "create", "acme"]);
    home.ok(&["accounts", "credit", "acme", "7"]);
    let questions: [&[&str]; 4] = [
        &["accounts", "list", "--json"],
        &["accounts", "list"],
        &["accounts", "show", "acme", "--json"],
        &["accounts", "show", "acme"],
    ];
    let stopped = questions.map(|question| home.ok(question));
    let running = home.serve();
    let served = questions.map(|question| home.ok(question));
    assert_eq!(served, stopped);
    home.ok(&["accounts", "credit", "acme", "1"]);
    assert!(running.stop().success());
    let account = home.json(&["accounts", "show", "acme", "--json"]);
    assert_eq!(account["balances"]["USD"], "8");
}

#[test]
fn an_account_is_put_under_other_limits() {
    let home = TestHome::new();
    let account = home.json(&["accounts", "tier", "default", "staff", "--json"]);
    assert_eq!(account["tier"], "staff");
    home.fails(&["accounts", "tier", "default", "royal"], 1, &["default, partner, staff"]);
}

#[test]
fn an_account_is_put_under_limits_of_the_operators_own() {
    let home = TestHome::with_config(
        "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\n\
         [[tier]]\nid = \"gold\"\ngeneral_requests = 0\n",
    );
    let account = home.json(&["accounts", "tier", "default", "gold", "--json"]);
    assert_eq!(account["tier"], "gold");
    let running = home.serve();
    let key = running.first_key().unwrap();
    let (status, body) = running.get("/api/v1/api_keys", &key);
    assert_eq!(status, 429, "{body}");
    home.ok(&["accounts", "tier", "default", "default"]);
    assert_eq!(running.get("/api/v1/api_keys", &key).0, 200);
    home.fails(&["accounts", "tier", "default", "royal"], 1, &["gold"]);
    assert!(running.stop().success());
}

#[test]
fn a_wallet_is_linked_to_one_account() {
    let home = TestHome::new();
    let wallet = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B";
    let account = home.json(&["accounts", "link", "default", wallet, "--json"]);
    assert_eq!(account["balances"]["USD"], "10");
    home.ok(&["accounts", "create", "acme"]);
    home.fails(&["accounts", "link", "acme", &wallet.to_lowercase()], 1, &["linked already"]);
    home.fails(&["accounts", "link", "acme", "0x12"], 1, &["not a wallet address"]);
    home.fails(&["accounts", "link", "nobody", wallet], 1, &["there is no account `nobody`"]);
}
