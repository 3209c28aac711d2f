//! `tollgate engine` as its parent sees it: a process that answers on a socket and goes with it.

#![expect(clippy::unwrap_used, reason = "tests end at the first surprise")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(120);
const TEXT_MODEL: &str = "smollm2-135m";

/// An engine's process with a socket in a folder of its own.
struct Engine {
    folder: tempfile::TempDir,
    process: Child,
}

impl Engine {
    fn start(models_dir: &Path) -> Engine {
        let folder = tempfile::tempdir().unwrap();
        let process = Engine::spawn(folder.path(), models_dir);
        Engine { folder, process }
    }

    fn spawn(folder: &Path, models_dir: &Path) -> Child {
        Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["engine", "--threads", "1", "--socket"])
            .arg(folder.join("engine.sock"))
            .arg("--models-dir")
            .arg(models_dir)
            .env("TOLLGATE_DATA_DIR", folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("engine.sock")
    }

    /// Waits until the socket answers: the process makes it when it is ready.
    fn connect(&self) -> UnixStream {
        let begun = Instant::now();
        loop {
            match UnixStream::connect(self.socket()) {
                Ok(stream) => return stream,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            std::thread::yield_now();
        }
    }

    /// The status and the body, as far as they are text.
    fn ask(&self, head: &str, body: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let head =
            format!("{head}\r\nHost: engine\r\nConnection: close\r\nContent-Length: {length}");
        stream.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask(&format!("GET {path} HTTP/1.1"), b"");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        self.ask(&format!("POST {path} HTTP/1.1"), body.to_string().as_bytes())
    }

    fn post_ok(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.post(path, body);
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// The code of the error that a request gets, and its status.
    fn refusal(&self, path: &str, body: &Value) -> (u16, String) {
        let (status, answer) = self.post(path, body);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        (status, answer["error"]["code"].as_str().unwrap().to_owned())
    }

    fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Ended already is as good as killed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "tests are told where the weights are")]
fn models_dir() -> PathBuf {
    let message = "set TOLLGATE_TEST_MODELS to a folder with the default models; scripts/test.sh \
                   fetches them";
    PathBuf::from(std::env::var("TOLLGATE_TEST_MODELS").expect(message))
}

fn chat(content: &str) -> Value {
    let messages = json!([{"role": "user", "content": content}]);
    json!({"model": TEXT_MODEL, "messages": messages, "temperature": 0, "max_tokens": 24})
}

#[test]
fn it_answers_on_its_socket_and_ends_with_its_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::start(folder.path());
    assert_eq!(engine.get("/health"), json!({"status": "ok", "models": []}));
    engine.end();
}

#[test]
fn a_socket_left_behind_by_a_killed_engine_is_taken_over() {
    let models = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(models.path());
    engine.get("/health");
    engine.process.kill().unwrap();
    engine.process.wait().unwrap();
    assert!(engine.socket().exists());
    engine.process = Engine::spawn(engine.folder.path(), models.path());
    engine.get("/health");
    engine.end();
}

#[test]
fn what_cannot_be_answered_is_refused_in_openais_shape() {
    let engine = Engine::start(&models_dir());
    let unknown = json!({"model": "gpt-17", "messages": [{"role": "user", "content": "Hi"}]});
    let refusal = |status: u16, code: &str| (status, code.to_owned());
    let path = "/v1/chat/completions";
    assert_eq!(engine.refusal(path, &unknown), refusal(404, "model_not_found"));
    assert_eq!(engine.refusal(path, &json!({})), refusal(400, "invalid_request"));
    let long = chat(&"word ".repeat(20_000));
    assert_eq!(engine.refusal(path, &long), refusal(400, "context_length_exceeded"));
    let other = json!({"model": "all-minilm-l6-v2", "messages": [{"role": "user", "content": ""}]});
    assert_eq!(engine.refusal(path, &other), refusal(400, "invalid_request"));
    engine.end();
}

#[test]
fn a_chat_is_answered_whole_and_streamed() {
    let engine = Engine::start(&models_dir());
    let question = chat("What is the capital of France? Answer in one sentence.");
    let whole = engine.post_ok("/v1/chat/completions", &question);
    let text = whole["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(text.contains("Paris"), "{whole}");
    let mut streamed = question;
    streamed["stream"] = true.into();
    let (status, events) = engine.post("/v1/chat/completions", &streamed);
    assert_eq!(status, 200, "{events}");
    let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
    let chunks: Vec<Value> = data.filter_map(|it| serde_json::from_str(it).ok()).collect();
    let told = chunks.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    assert_eq!(told.collect::<String>(), text);
    assert!(events.contains("data: [DONE]"), "{events}");
    let (whole, streamed) = (&whole["usage"], &chunks.last().unwrap()["usage"]);
    assert_eq!(streamed["total_tokens"], whole["total_tokens"]);
    let cached = streamed["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
    assert_eq!(Some(cached + 1), streamed["prompt_tokens"].as_u64(), "the prompt was read before");
    let health = engine.get("/health");
    let models = health["models"].as_array().unwrap();
    let model = models.iter().find(|it| it["id"] == TEXT_MODEL).unwrap();
    assert_eq!(model["state"], "loaded");
    assert!(98_000_000 < model["memory_bytes"].as_u64().unwrap(), "{model}");
    engine.end();
}

#[test]
fn texts_are_embedded() {
    let engine = Engine::start(&models_dir());
    let body = json!({"model": "all-minilm-l6-v2", "input": ["A cat sits.", "A cat is sitting."]});
    let answer = engine.post_ok("/v1/embeddings", &body);
    let vector = |index: usize| -> Vec<f64> {
        serde_json::from_value(answer["data"][index]["embedding"].clone()).unwrap()
    };
    let likeness: f64 = vector(0).iter().zip(vector(1)).map(|(a, b)| a * b).sum();
    assert_eq!(vector(0).len(), 384);
    assert!(0.8 < likeness && likeness < 1.0, "{likeness}");
    assert!(0 < answer["usage"]["total_tokens"].as_u64().unwrap());
    engine.end();
}

/// Speaks a sentence and hears it again, in two formats.
#[test]
fn what_is_spoken_is_understood() {
    let engine = Engine::start(&models_dir());
    let spoken = json!({
        "model": "tts-hibari",
        "input": "The quick brown fox jumps over the lazy dog.",
        "response_format": "wav",
    });
    let mut stream = engine.connect();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = spoken.to_string();
    // Without chunks the body is the sound itself.
    let head = format!("POST /v1/audio/speech HTTP/1.0\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap() + 4;
    assert!(answer.starts_with(b"HTTP/1.0 200"), "{}", String::from_utf8_lossy(&answer));
    let sound = answer.split_off(end);
    let mut form = Vec::new();
    for (name, value) in [("model", "moonshine-tiny"), ("response_format", "json")] {
        let part =
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        form.extend(part.as_bytes());
    }
    form.extend(
        b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n",
    );
    form.extend(&sound);
    form.extend(b"\r\n--x--\r\n");
    let head =
        "POST /v1/audio/transcriptions HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x";
    let (status, heard) = engine.ask(head, &form);
    assert_eq!(status, 200, "{heard}");
    let heard = heard.to_lowercase();
    assert!(heard.contains("brown fox") && heard.contains("lazy dog"), "{heard}");
    let voice = json!({"model": "tts-hibari", "input": "Hello.", "voice": "nobody"});
    assert_eq!(engine.refusal("/v1/audio/speech", &voice), (400, "invalid_request".to_owned()));
    engine.end();
}
