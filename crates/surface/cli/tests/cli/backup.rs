//! Tests of `backup` and `restore`.

use serde_json::Value;

use crate::harness::TestHome;

fn balances(home: &TestHome, extra: &[&str]) -> Value {
    let line = [&["accounts", "show", "default", "--json"], extra].concat();
    home.json(&line)["balances"].clone()
}

#[test]
fn a_backup_of_a_running_service_is_restored_elsewhere_as_it_was() {
    let home = TestHome::new();
    let running = home.serve();
    home.ok(&["accounts", "credit", "default", "5"]);
    let then = balances(&home, &[]);
    let told = home.ok(&["backup", "today"]);
    assert!(told.contains("bytes, as of "), "{told}");
    home.ok(&["accounts", "credit", "default", "7"]);
    home.fails(&["backup", "today"], 1, &["is there already"]);
    home.fails(&["restore", "today"], 1, &["a service is running"]);
    let there = ["--data-dir", "there"];
    let told = home.ok(&["restore", "today", "--data-dir", "there"]);
    assert!(told.contains("every balance is right"), "{told}");
    assert_eq!(balances(&home, &there), then);
    assert_ne!(balances(&home, &[]), then);
    drop(running);
    home.fails(&["restore", "today"], 1, &["is there already", "--replace"]);
    let told = home.ok(&["restore", "today", "--replace"]);
    assert!(told.contains("kept the previous database as"), "{told}");
    assert_eq!(balances(&home, &[]), then);
    let trail = home.ok(&["ledger", "audit"]);
    assert!(trail.contains("accounts credit") && trail.contains("restore"), "{trail}");
    assert!(!trail.contains("7 USD"), "what came after the backup is not in it: {trail}");
}

#[test]
fn a_file_that_is_no_backup_or_a_damaged_one_changes_nothing() {
    let home = TestHome::new();
    home.ok(&["accounts", "credit", "default", "5"]);
    let before = balances(&home, &[]);
    home.write("text", "no backup");
    home.fails(&["restore", "text", "--replace"], 1, &["was not written by `tollgate backup`"]);
    home.fails(&["restore", "nothing", "--replace"], 1, &["there is no file"]);
    home.ok(&["backup", "good"]);
    let database = rusqlite::Connection::open(home.path().join("good")).unwrap();
    let sql = "UPDATE account SET credits = credits + 1 WHERE owner IS NOT NULL";
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    drop(database);
    home.fails(
        &["restore", "good", "--replace"],
        1,
        &["failed verification, so nothing was changed"],
    );
    assert_eq!(balances(&home, &[]), before);
}

#[test]
fn operators_see_payments_and_are_told_what_only_a_running_service_can_do() {
    let home = TestHome::new();
    home.ok(&["accounts", "credit", "default", "5"]);
    assert_eq!(home.json(&["payments", "list", "--json"]), serde_json::json!([]));
    let payment = "pay_0707070707070707070707070707070707070707";
    home.fails(&["payments", "show", payment], 1, &["there is no payment"]);
    home.fails(&["payments", "recheck", payment], 3, &["no service runs"]);
    home.fails(&["payments", "write-off", payment], 2, &["--reason"]);
    let nobody = "00000000-0000-0000-0000-000000000099";
    home.fails(&["ledger", "refund", nobody, "--reason", "slow"], 1, &["charge"]);
    let trail = home.json(&["ledger", "audit", "--json"]);
    assert_eq!(trail.as_array().unwrap().len(), 1, "only the credit moved money: {trail}");
    assert!(trail[0]["detail"].as_str().unwrap().starts_with("5 USD"), "{trail}");
}
