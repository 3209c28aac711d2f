//! Tests of money transfers whose responses are lost between the service and the command.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use crate::harness::TestHome;

/// Proxies the service's socket, and drops the first `swallowed` responses.
fn swallow_answers(data_dir: &Path, mut swallowed: usize) {
    let (socket, moved) = (data_dir.join("tollgate.sock"), data_dir.join("moved.sock"));
    fs::rename(&socket, &moved).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut command = BufReader::new(stream.unwrap());
            let mut operation = String::new();
            if command.read_line(&mut operation).unwrap_or(0) == 0 {
                continue;
            }
            let mut service = BufReader::new(UnixStream::connect(&moved).unwrap());
            service.get_mut().write_all(operation.as_bytes()).unwrap();
            let mut answer = String::new();
            service.read_line(&mut answer).unwrap();
            if 0 < swallowed {
                swallowed -= 1;
                continue;
            }
            let _ = command.get_mut().write_all(answer.as_bytes());
        }
    });
}

#[test]
fn after_a_lost_answer_the_outcome_is_asked_for_and_money_moves_once() {
    let home = TestHome::new();
    let running = home.serve();
    swallow_answers(&home.data_dir(), 1);
    let credited = home.run(&["accounts", "credit", "default", "7", "--json"]);
    assert_eq!(credited.code, Some(0), "{}", credited.stderr);
    assert!(credited.stderr.contains("querying the outcome"), "{}", credited.stderr);
    let account: serde_json::Value = serde_json::from_str(&credited.stdout).unwrap();
    assert_eq!(account["balances"]["USD"], "17");
    assert!(running.stop().success());
    home.ok(&["ledger", "verify"]);
}

#[test]
fn where_no_outcome_is_found_the_printed_command_is_safe_to_repeat() {
    let home = TestHome::new();
    let running = home.serve();
    swallow_answers(&home.data_dir(), usize::MAX);
    let lost = home.run(&["accounts", "debit", "default", "2", "--reason", "it's wrong"]);
    assert_eq!(lost.code, Some(3), "{}", lost.stderr);
    assert!(lost.stderr.contains("not known whether"), "{}", lost.stderr);
    assert!(lost.stderr.contains(r"--reason 'it'\''s wrong' --currency usd --entry-id "));
    let entry = lost.stderr.rsplit("--entry-id ").next().unwrap().trim().to_owned();
    assert!(running.stop().success());
    let repeat =
        ["accounts", "debit", "default", "2", "--reason", "it's wrong", "--entry-id", &entry];
    assert!(home.ok(&repeat).contains("8 USD"));
    home.fails(
        &["accounts", "credit", "default", "2", "--entry-id", &entry],
        1,
        &["another movement"],
    );
}
