//! Measures the cost of a chain call through the service, compared with nginx as a bare proxy.
//!
//! `cargo run --release -p bench --bin relays -- PATH_OF_THE_PROGRAM [REQUESTS [CONNECTIONS]]`.
//! Both are in front of the same upstream and get the same calls, no two of them equal; the service
//! checks the key and the limits, holds, and has the charge on disk before it answers. CPU time is
//! that of the process and its children, user and kernel. Needs nginx.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::PathBuf;
use std::sync::Arc;

use bench::load::{RequestFactory, RouteMeasurement, UpstreamRoute, compare_routes};
use bench::nginx::NginxProxy;
use bench::service::ServiceProcess;
use bench::upstream::{ScriptedAnswer, ScriptedUpstream};

const CONNECTIONS: [usize; 4] = [1, 16, 64, 100];
const REQUESTS: u64 = 20_000;
/// The budget: the service may take this many times the CPU time of nginx.
const TIMES_MAX: f64 = 4.0;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().expect("give the path of the program"));
    let requests = arguments.next().and_then(|it| it.parse().ok()).unwrap_or(REQUESTS);
    let upstream = ScriptedUpstream::start(build_answer).await;
    let config =
        format!("[rpc.networks.base-mainnet]\nurls = [\"http://{}/\"]\n", upstream.address);
    let service = ServiceProcess::start(&binary, &config);
    let nginx = NginxProxy::start(upstream.address);
    let key = service.funded_key();
    let (bare, paid) = (build_request(String::new()), build_request(key));
    let ways = || {
        [
            UpstreamRoute {
                program: &nginx.program,
                address: nginx.address,
                request: Arc::clone(&bare),
            },
            UpstreamRoute {
                program: &service.program,
                address: service.address,
                request: Arc::clone(&paid),
            },
        ]
    };
    println!(
        "{:>11} {:>10} {:>10} {:>6} {:>9} {:>9} {:>11}",
        "connections", "nginx CPU", "ours CPU", "times", "nginx/s", "ours/s", "ours p99"
    );
    // Warm-up: the first calls open connections, fill caches and create the day's counters.
    compare_routes(ways(), 16, 1_000).await;
    let only = arguments.next().map(|it| it.parse().expect("connections are a number"));
    for connections in only.map_or(CONNECTIONS.to_vec(), |only| vec![only]) {
        print_row(connections, compare_routes(ways(), connections, requests).await);
    }
    println!("the budget is {TIMES_MAX:.0} times nginx");
}

fn print_row(connections: usize, [bare, mut ours]: [RouteMeasurement; 2]) {
    println!(
        "{connections:>11} {:>10.1?} {:>10.1?} {:>6.1} {:>9.0} {:>9.0} {:>11.1?}",
        bare.cpu_per_request(),
        ours.cpu_per_request(),
        ours.cpu_ratio(&bare),
        bare.requests_per_second(),
        ours.requests_per_second(),
        ours.latency.permille(990),
    );
}

/// Contract calls with different data, so that no call is deduplicated or cached.
fn build_request(key: String) -> RequestFactory {
    Arc::new(move |number| {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"eth_call\",\"params\":[{{\"to\":\
             \"0x00000000000000000000000000000000000000aa\",\"data\":\"0x{number:064x}\"}},\
             \"latest\"]}}"
        );
        let length = body.len();
        format!(
            "POST /api/v1/crypto/rpc/base-mainnet HTTP/1.1\r\nhost: localhost\r\n\
             authorization: Bearer {key}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    })
}

/// The chain id for the initial check, and 32 bytes for every other call.
fn build_answer(body: &[u8]) -> ScriptedAnswer {
    let asks_for_chain = body.windows(11).any(|part| part == b"eth_chainId");
    let result = if asks_for_chain { "0x2105".to_owned() } else { format!("0x{}", "0".repeat(64)) };
    ScriptedAnswer::Json(format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{result}"}}"#))
}
