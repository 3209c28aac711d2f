//! Tests of `ledger`: verify and export.

use rusqlite::Connection;

use crate::harness::TestHome;

#[test]
fn a_sound_ledger_verifies_running_or_stopped() {
    let home = TestHome::new();
    home.ok(&["accounts", "credit", "default", "5"]);
    assert!(home.ok(&["ledger", "verify"]).contains("2 transfers: every balance is right"));
    let stopped = home.json(&["ledger", "verify", "--json"]);
    let _running = home.serve();
    assert_eq!(home.json(&["ledger", "verify", "--json"]), stopped);
}

#[test]
fn a_journal_that_was_tampered_with_fails_with_the_difference() {
    let home = TestHome::new();
    home.ok(&["accounts", "credit", "default", "5"]);
    let database = Connection::open(home.data_dir().join("tollgate.db")).unwrap();
    tamper(&database);
    drop(database);
    home.fails(&["ledger", "verify"], 1, &["difference"]);
}

/// Changes an amount after dropping the triggers that protect the journal.
fn tamper(database: &Connection) {
    let mut triggers = database
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'transfer'")
        .unwrap();
    let names: Vec<String> =
        triggers.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for name in names {
        database.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    let changed = database.execute("UPDATE transfer SET amount = amount + 1 WHERE seq = 1", []);
    assert_eq!(changed.unwrap(), 1);
}

#[test]
fn the_journal_is_exported_as_csv_or_json_lines() {
    let home = TestHome::new();
    home.ok(&["accounts", "credit", "default", "5"]);
    let csv = home.ok(&["ledger", "export"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[2].contains("grant") && lines[2].contains("USD"), "{csv}");
    let json = home.ok(&["ledger", "export", "--format", "json"]);
    for line in json.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(entry.is_object(), "{line}");
    }
    assert_eq!(json.lines().count(), 2);
    let _running = home.serve();
    assert_eq!(home.ok(&["ledger", "export"]), csv);
}
