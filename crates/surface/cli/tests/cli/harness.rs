//! A home folder for commands, and services that end with the test.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Far longer than any operation takes; reached only if something hangs.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct TestHome {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

/// The result of a finished command.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestHome {
    pub(crate) fn new() -> TestHome {
        TestHome { folder: TempDir::new().unwrap(), environment: Vec::new() }
    }

    pub(crate) fn with_config(text: &str) -> TestHome {
        let home = TestHome::new();
        home.write("tollgate.toml", text);
        home
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> TestHome {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.path().join("data")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        let output = self.command(arguments).output().unwrap();
        CommandOutput {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        outcome.stdout
    }

    /// Like `ok`, for JSON output.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(arguments)).unwrap()
    }

    /// Runs a command that must fail with this exit code and print all of `sayings`.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: &[&str], code: i32, sayings: &[&str]) {
        let outcome = self.run(arguments);
        let said = outcome.stdout + &outcome.stderr;
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {said}");
        for saying in sayings {
            assert!(said.contains(saying), "{arguments:?} should say {saying:?}: {said}");
        }
    }

    /// Starts a service on free ports and waits until it is ready.
    #[track_caller]
    pub(crate) fn serve(&self) -> RunningService {
        let listen = ["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        let mut child =
            self.command(&listen).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = lines_of(child.stderr.take().unwrap());
        let output = lines_of(child.stdout.take().unwrap());
        let mut running = RunningService {
            child,
            log,
            greeting: Vec::new(),
            api: String::new(),
            admin: String::new(),
        };
        running.admin = running.address_in_log("health and metrics on http://");
        loop {
            let line = output.recv_timeout(PATIENCE).expect("the service gets ready");
            running.greeting.push(line.clone());
            if let Some(address) = line.strip_prefix("listening on http://") {
                running.api = address.to_owned();
                return running;
            }
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("TOLLGATE_DATA_DIR", self.data_dir())
            .envs(self.environment.iter().cloned());
        command
    }
}

pub(crate) struct RunningService {
    child: Child,
    log: Receiver<String>,
    /// The lines it printed until it was ready.
    pub(crate) greeting: Vec<String>,
    pub(crate) api: String,
    pub(crate) admin: String,
}

impl RunningService {
    /// Returns the first ADMIN key, if this start created it.
    pub(crate) fn first_key(&self) -> Option<String> {
        let line =
            self.greeting.iter().find_map(|it| it.strip_prefix("ADMIN key, shown only now: "));
        line.map(str::to_owned)
    }

    /// Sends a GET request to the API with this key, and returns the status and the body.
    pub(crate) fn get(&self, path: &str, key: &str) -> (u16, String) {
        http_get(&self.api, path, &format!("Authorization: Bearer {key}\r\n"))
    }

    /// Sends a POST request with a JSON body, and returns the status and the body.
    pub(crate) fn post(&self, path: &str, key: &str, body: &str) -> (u16, String) {
        let key =
            if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\r\n") };
        let head =
            format!("{key}Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        http(&self.api, "POST", path, &head, body)
    }

    pub(crate) fn get_admin(&self, path: &str) -> (u16, String) {
        http_get(&self.admin, path, "")
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for a log line that contains `saying`.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, saying: &str) -> String {
        loop {
            let line = self.log.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the log should say {saying:?}"));
            if line.contains(saying) {
                return line;
            }
        }
    }

    /// Waits until the log has contained all of `sayings`, in any order.
    #[track_caller]
    pub(crate) fn wait_for_all_in_log(&self, mut sayings: Vec<String>) {
        while !sayings.is_empty() {
            let line = self.log.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("the log should say {sayings:?}"));
            sayings.retain(|saying| !line.contains(saying));
        }
    }

    /// Polls the metrics until they contain `line`, and returns all of them.
    #[track_caller]
    pub(crate) fn wait_for_metric(&self, line: &str) -> String {
        let begun = Instant::now();
        loop {
            let (_, metrics) = self.get_admin("/metrics");
            if metrics.lines().any(|it| it == line) {
                return metrics;
            }
            assert!(begun.elapsed() < PATIENCE, "metrics should have {line:?}: {metrics}");
            std::thread::yield_now();
        }
    }

    /// Sends SIGTERM and waits for the exit.
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.signal("TERM");
        self.child.wait().unwrap()
    }

    #[track_caller]
    fn address_in_log(&self, before: &str) -> String {
        let line = self.wait_for_log(before);
        let rest = line.split(before).nth(1).unwrap_or_default();
        rest.chars()
            .take_while(|letter| letter.is_ascii_digit() || ".:".contains(*letter))
            .collect()
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn http_get(address: &str, path: &str, headers: &str) -> (u16, String) {
    http(address, "GET", path, headers, "")
}

fn http(address: &str, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n");
    let request = head + body;
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, body.to_owned())
}
