//! `tollgate engine` as its parent sees it: a process that answers on a socket and goes with it.

#![expect(clippy::unwrap_used, reason = "tests end at the first surprise")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

fn start(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .arg("engine")
        .arg("--socket")
        .arg(folder.join("engine.sock"))
        .arg("--models-dir")
        .arg(folder)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Waits until the socket answers: the process makes it when it is ready.
fn connect(socket: &Path) -> UnixStream {
    let begun = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return stream,
            Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::yield_now();
    }
}

fn get(socket: &Path, path: &str) -> String {
    let mut stream = connect(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_answers_on_its_socket_and_ends_with_its_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = start(folder.path());
    let answer = get(&folder.path().join("engine.sock"), "/health");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.ends_with(r#"{"status":"ok","models":[]}"#), "{answer}");
    drop(engine.stdin.take());
    assert!(engine.wait().unwrap().success());
}

#[test]
fn a_socket_left_behind_by_a_killed_engine_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("engine.sock");
    let mut killed = start(folder.path());
    get(&socket, "/health");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(socket.exists());
    let mut next = start(folder.path());
    assert!(get(&socket, "/health").starts_with("HTTP/1.1 200 "));
    drop(next.stdin.take());
    assert!(next.wait().unwrap().success());
}
