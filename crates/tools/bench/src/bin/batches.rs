//! Measures how much a running batch slows down interactive chats.
//!
//! `cargo run --release -p bench --bin batches -- PATH_OF_THE_PROGRAM [REQUESTS [CONNECTIONS]]`.
//! Chats of one account are sent with and without a batch of another account by turns, to the same
//! service and the same upstream. The lines of the batch are the same chats. The batch is still
//! running when its turn ends, and is cancelled then.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use bench::chat::{BenchChatKind, answer_chat, build_chat_request};
use bench::http::HttpConnection;
use bench::load::{RequestFactory, UpstreamRoute, compare_routes};
use bench::samples::DurationSamples;
use bench::service::ServiceProcess;
use bench::upstream::ScriptedUpstream;
use serde_json::Value;

const CONNECTIONS: [usize; 3] = [1, 4, 16];
const REQUESTS: u64 = 20_000;
const ROUNDS: u64 = 4;
/// Takes longer than any turn.
const BATCH_LINES: usize = 50_000;
/// The budget: the p99 of chats beside a batch, as a multiple of the one without.
const TIMES_MAX: f64 = 1.2;
const POLL: Duration = Duration::from_millis(20);

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().expect("give the path of the program"));
    let requests = arguments.next().and_then(|it| it.parse().ok()).unwrap_or(REQUESTS);
    let upstream = ScriptedUpstream::start(answer_chat).await;
    let service = ServiceProcess::start(&binary, &build_config(&upstream));
    let chat_key = service.funded_key();
    service.create_account("batches");
    let batch_key = service.funded_key_of("batches");
    let chat = build_chat_request("/v1/chat/completions", &chat_key, BenchChatKind::Plain);
    let mut client = BatchClient::open(&service, batch_key).await;
    let file = client.upload_lines().await;
    println!(
        "{:>11} {:>10} {:>10} {:>10} {:>10} {:>6} {:>9}",
        "connections", "alone p50", "beside p50", "alone p99", "beside p99", "times", "lines/s"
    );
    // Warm-up: the first calls open connections, fill caches and create the day's counters.
    send_chats(&service, &chat, 16, 1_000).await;
    let only = arguments.next().map(|it| it.parse().expect("connections are a number"));
    for connections in only.map_or(CONNECTIONS.to_vec(), |only| vec![only]) {
        let (mut alone, mut beside) = (DurationSamples::default(), DurationSamples::default());
        let (mut lines, mut seconds) = (0, 0.0);
        for _ in 0..ROUNDS {
            let requests = requests / ROUNDS;
            alone.merge(send_chats(&service, &chat, connections, requests).await);
            let batch = client.start_batch(&file).await;
            let (before, started) = (client.count_done(&batch).await, std::time::Instant::now());
            beside.merge(send_chats(&service, &chat, connections, requests).await);
            seconds += started.elapsed().as_secs_f64();
            lines += client.count_done(&batch).await - before;
            client.cancel_batch(&batch).await;
        }
        let (short, long) = (alone.permille(990), beside.permille(990));
        println!(
            "{connections:>11} {:>10.2?} {:>10.2?} {short:>10.2?} {long:>10.2?} {:>6.2} {:>9.0}",
            alone.permille(500),
            beside.permille(500),
            long.as_secs_f64() / short.as_secs_f64(),
            lines as f64 / seconds,
        );
    }
    println!("the budget is {TIMES_MAX:.1} times the p99 without a batch");
}

fn build_config(upstream: &ScriptedUpstream) -> String {
    format!(
        "[[provider]]\nid = \"chat\"\nkind = \"openai\"\nbase_url = \"http://{}/v1\"\n\
         [[model]]\nid = \"small\"\ntype = \"text\"\nprovider = \"chat\"\ntier = \"XS\"\n\
         context_tokens = 32768\n\
         price = {{ input_usd_per_million = \"0.10\", output_usd_per_million = \"0.40\" }}\n",
        upstream.address
    )
}

async fn send_chats(
    service: &ServiceProcess,
    chat: &RequestFactory,
    connections: usize,
    requests: u64,
) -> DurationSamples {
    let route = UpstreamRoute {
        program: &service.program,
        address: service.address,
        request: RequestFactory::clone(chat),
    };
    let [measured] = compare_routes([route], connections, requests).await;
    measured.latency
}

/// Sends the calls of one account about its batches.
struct BatchClient {
    connection: HttpConnection,
    key: String,
}

impl BatchClient {
    async fn open(service: &ServiceProcess, key: String) -> BatchClient {
        let connection = HttpConnection::open(service.address).await;
        BatchClient { connection: connection.expect("it should be there"), key }
    }

    /// Uploads the lines, and returns the id of the file.
    async fn upload_lines(&mut self) -> String {
        let question = "why is the sky blue, and the grass green? ".repeat(5);
        let mut body = String::from(
            "--x\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\n\
             content-disposition: form-data; name=\"file\"; filename=\"l.jsonl\"\r\n\r\n",
        );
        for number in 0..BATCH_LINES {
            let line = serde_json::json!({
                "custom_id": number.to_string(),
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "small", "max_tokens": 100,
                    "messages": [{"role": "user",
                        "content": format!("A plain answer to question {number}: {question}")}]},
            });
            writeln!(body, "{line}").expect("a string can be written");
        }
        body.push_str("\r\n--x--\r\n");
        let file = self.call("POST", "/files", "multipart/form-data; boundary=x", &body).await;
        file["id"].as_str().expect("a file has an id").to_owned()
    }

    /// Starts a batch, and returns its id once lines of it have run.
    async fn start_batch(&mut self, file: &str) -> String {
        let order = serde_json::json!({"input_file_id": file, "completion_window": "24h",
            "endpoint": "/v1/chat/completions"});
        let batch = self.call("POST", "/batches", "application/json", &order.to_string()).await;
        let batch = batch["id"].as_str().expect("a batch has an id").to_owned();
        while self.count_done(&batch).await == 0 {
            tokio::time::sleep(POLL).await;
        }
        batch
    }

    /// The number of lines that have run, of a batch that must not have ended.
    async fn count_done(&mut self, batch: &str) -> u64 {
        let batch = self.call("GET", &format!("/batches/{batch}"), "application/json", "").await;
        let status = batch["status"].as_str().unwrap_or_default();
        let is_running = matches!(status, "validating" | "in_progress");
        assert!(is_running, "the batch should still run: {batch}");
        let counts = &batch["request_counts"];
        assert_eq!(counts["failed"], 0, "{batch}");
        counts["completed"].as_u64().unwrap_or_default()
    }

    async fn cancel_batch(&mut self, batch: &str) {
        let path = format!("/batches/{batch}");
        self.call("POST", &format!("{path}/cancel"), "application/json", "").await;
        while self.call("GET", &path, "application/json", "").await["status"] != "cancelled" {
            tokio::time::sleep(POLL).await;
        }
    }

    async fn call(&mut self, method: &str, path: &str, kind: &str, body: &str) -> Value {
        let request = format!(
            "{method} /v1{path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            self.key,
            body.len(),
        );
        self.connection.send(request.as_bytes()).await.expect("it should listen");
        let answer = self.connection.receive_message().await.expect("it should answer");
        let answer = answer.expect("the connection should stay open");
        let text = String::from_utf8_lossy(answer.body);
        assert!(answer.first_line.starts_with("HTTP/1.1 200"), "{}: {text}", answer.first_line);
        serde_json::from_slice(answer.body).expect("it should be JSON")
    }
}
