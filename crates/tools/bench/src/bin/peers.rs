//! Measures another gateway with the chats of `chats`, in front of the same upstream.
//!
//! `cargo run --release -p bench --bin peers -- URL COMMAND…`, where `{upstream}` in the command is
//! replaced by the address of the upstream and URL is the gateway's chat endpoint, such as
//! `http://127.0.0.1:9203/v1/chat/completions`. Needs nginx.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bench::chat::{self, BenchChatKind};
use bench::load::{UpstreamRoute, compare_routes};
use bench::nginx::NginxProxy;
use bench::process::MeasuredProgram;
use bench::upstream::ScriptedUpstream;

const REQUESTS: u64 = 10_000;
const START_MAX: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().expect("give the URL that takes chats");
    let (address, path) = split_url(&url);
    let upstream = ScriptedUpstream::start(chat::answer_chat).await;
    let with_upstream = |it: String| it.replace("{upstream}", &upstream.address.to_string());
    let command: Vec<String> = arguments.map(with_upstream).collect();
    let (name, rest) = command.split_first().expect("give the command that starts it");
    let mut starting = Command::new(name);
    let program =
        MeasuredProgram::start(starting.args(rest).stdout(Stdio::null()).stderr(Stdio::null()));
    wait_for(address);
    let nginx = NginxProxy::start(upstream.address);
    println!(
        "{:>6} {:>11} {:>10} {:>10} {:>6} {:>9} {:>9}",
        "", "connections", "nginx CPU", "its CPU", "times", "its/s", "its p50"
    );
    let rows = [
        (BenchChatKind::Plain, 1),
        (BenchChatKind::Plain, 16),
        (BenchChatKind::Plain, 64),
        (BenchChatKind::Burst, 16),
    ];
    for (kind, connections) in rows {
        let requests = if kind == BenchChatKind::Plain { REQUESTS } else { REQUESTS / 5 };
        let bare = chat::build_chat_request("/v1/chat/completions", "none", kind);
        let through = chat::build_chat_request(&path, "none", kind);
        let ways = || {
            [
                UpstreamRoute {
                    program: &nginx.program,
                    address: nginx.address,
                    request: bare.clone(),
                },
                UpstreamRoute { program: &program, address, request: through.clone() },
            ]
        };
        compare_routes(ways(), connections, 200).await;
        let [bare, mut its] = compare_routes(ways(), connections, requests).await;
        println!(
            "{:>6} {connections:>11} {:>10.1?} {:>10.1?} {:>6.1} {:>9.0} {:>9.2?}",
            kind.name(),
            bare.cpu_per_request(),
            its.cpu_per_request(),
            its.cpu_ratio(&bare),
            its.requests_per_second(),
            its.latency.permille(500),
        );
    }
}

fn split_url(url: &str) -> (SocketAddr, String) {
    let rest = url.strip_prefix("http://").expect("the URL begins with http://");
    let (address, path) = rest.split_once('/').expect("the URL has a path");
    (address.parse().expect("the URL has an address and a port"), format!("/{path}"))
}

fn wait_for(address: SocketAddr) {
    let begun = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begun.elapsed() < START_MAX, "the gateway should listen");
        std::thread::sleep(Duration::from_millis(50));
    }
}
