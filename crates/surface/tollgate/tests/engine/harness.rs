//! Starts an engine process and sends requests to it.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(crate) const PATIENCE: Duration = Duration::from_secs(180);
pub(crate) const TEXT_MODEL: &str = "smollm2-135m";

/// An engine process with a socket in its own folder.
pub(crate) struct EngineProcess {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) process: Child,
}

impl EngineProcess {
    pub(crate) fn start(models_dir: &Path) -> EngineProcess {
        EngineProcess::start_with(models_dir, &[])
    }

    pub(crate) fn start_with(models_dir: &Path, options: &[&str]) -> EngineProcess {
        let folder = tempfile::tempdir().unwrap();
        let process = EngineProcess::spawn(folder.path(), models_dir, options);
        EngineProcess { folder, process }
    }

    pub(crate) fn spawn(folder: &Path, models_dir: &Path, options: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["engine", "--threads", "1", "--socket"])
            .arg(folder.join("engine.sock"))
            .arg("--models-dir")
            .arg(models_dir)
            .args(options)
            .env("TOLLGATE_DATA_DIR", folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("engine.sock")
    }

    /// Connects, and waits until the socket exists: the process creates it when it is ready.
    pub(crate) fn connect(&self) -> UnixStream {
        let begun = Instant::now();
        let stream = loop {
            match UnixStream::connect(self.socket()) {
                Ok(stream) => break stream,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            std::thread::yield_now();
        };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request without waiting for the response.
    pub(crate) fn send(&self, head: &str, body: &[u8]) -> UnixStream {
        let mut stream = self.connect();
        let length = body.len();
        let head =
            format!("{head}\r\nHost: engine\r\nConnection: close\r\nContent-Length: {length}");
        stream.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
        match stream.write_all(body) {
            // A body that is too large is refused before it is sent completely.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => panic!("{error}"),
            _ => {}
        }
        stream
    }

    /// Sends a request, and returns the status and the body as text.
    pub(crate) fn ask(&self, head: &str, body: &[u8]) -> (u16, String) {
        let mut answer = Vec::new();
        let mut stream = self.send(head, body);
        // If the server did not read the whole body, one connection reset precedes the response.
        if let Err(error) = stream.read_to_end(&mut answer) {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
            stream.read_to_end(&mut answer).unwrap();
        }
        // Distinguishes a crashed process from a closed connection.
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        assert!(!answer.is_empty(), "no answer; the process: {stat:?}");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask(&format!("GET {path} HTTP/1.1"), b"");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, String) {
        self.ask(&format!("POST {path} HTTP/1.1"), body.to_string().as_bytes())
    }

    pub(crate) fn post_ok(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.post(path, body);
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Sends a request, and returns the status and the error code.
    pub(crate) fn refusal(&self, path: &str, body: &Value) -> (u16, String) {
        let (status, answer) = self.post(path, body);
        (status, code(&answer))
    }

    /// Sends an audio file, and returns the status and the body.
    pub(crate) fn transcribe(&self, fields: &[(&str, &str)], sound: &[u8]) -> (u16, String) {
        let head = "POST /v1/audio/transcriptions HTTP/1.1\r\n\
                    Content-Type: multipart/form-data; boundary=x";
        self.ask(head, &form(fields, sound))
    }

    /// Returns the state of a model, and the memory that it reports.
    pub(crate) fn standing(&self, id: &str) -> (String, u64) {
        let health = self.get("/health");
        let models = health["models"].as_array().unwrap();
        let model = models.iter().find(|it| it["id"] == id).unwrap_or(&Value::Null);
        let state = model["state"].as_str().unwrap_or("absent");
        (state.to_owned(), model["memory_bytes"].as_u64().unwrap_or(0))
    }

    pub(crate) fn until_it_stands(&self, id: &str, expected: &str) {
        let begun = Instant::now();
        loop {
            let (state, _) = self.standing(id);
            if state == expected {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{id} is still {state}");
        }
    }

    /// Returns a memory field of the process: current (`VmRSS`) or peak (`VmHWM`).
    pub(crate) fn memory_bytes(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        let kilobytes = line.trim_start_matches(':').trim().trim_end_matches("kB").trim();
        kilobytes.parse::<u64>().unwrap() * 1024
    }

    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Like [`takes_no_more_than_it_says`], with two uses: a runtime may allocate more memory when an
/// input is repeated.
#[track_caller]
pub(crate) fn never_takes_more_than_it_says(model: &str, use_it: impl Fn(&EngineProcess)) {
    takes_no_more_than_it_says(model, |engine| (0..2).for_each(|_| use_it(engine)));
}

/// Checks that the process does not grow by more than the memory that the model reports while it is
/// loaded and used. The memory limit relies on the reported value.
#[track_caller]
pub(crate) fn takes_no_more_than_it_says(model: &str, use_it: impl FnOnce(&EngineProcess)) {
    let engine = EngineProcess::start(&models_dir());
    engine.get("/health");
    let before = engine.memory_bytes("VmRSS");
    use_it(&engine);
    let (state, said) = engine.standing(model);
    assert_eq!(state, "loaded", "{model}");
    let grown = engine.memory_bytes("VmHWM").saturating_sub(before);
    assert!(grown <= said, "{model} takes {grown} bytes, and says {said}");
    assert!(said < grown * 3, "{model} takes {grown} bytes, and says {said}");
    engine.end();
}

/// Returns the code of an error in OpenAI's format.
pub(crate) fn code(answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["error"]["code"].as_str().unwrap().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "tests are told where the weights are")]
pub(crate) fn models_dir() -> PathBuf {
    let message = "set TOLLGATE_TEST_MODELS to a folder with the default models; scripts/test.sh \
                   fetches them";
    PathBuf::from(std::env::var("TOLLGATE_TEST_MODELS").expect(message))
}

/// Returns the file of the small text model.
pub(crate) fn gguf() -> PathBuf {
    let folder = models_dir().join(TEXT_MODEL);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.into_iter().find(|path| path.extension() == Some(OsStr::new("gguf"))).unwrap()
}

/// Returns a models folder with the library, and the small text model under these names.
pub(crate) fn with_copies(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let library = "llama-cpp";
    std::os::unix::fs::symlink(models_dir().join(library), folder.path().join(library)).unwrap();
    for name in names {
        let link = folder.path().join(format!("{name}.gguf"));
        std::os::unix::fs::symlink(gguf(), link).unwrap();
    }
    folder
}

pub(crate) fn chat(content: &str) -> Value {
    chat_with(TEXT_MODEL, content)
}

pub(crate) fn chat_with(model: &str, content: &str) -> Value {
    let messages = json!([{"role": "user", "content": content}]);
    json!({"model": model, "messages": messages, "temperature": 0, "max_tokens": 24})
}

pub(crate) fn form(fields: &[(&str, &str)], sound: &[u8]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        form.extend(part.as_bytes());
    }
    let file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n";
    form.extend(file.as_bytes());
    form.extend(sound);
    form.extend(b"\r\n--x--\r\n");
    form
}
