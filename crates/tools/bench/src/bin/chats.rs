//! Measures the cost of a chat through the service, compared with nginx as a bare proxy and with no
//! proxy.
//!
//! `cargo run --release -p bench --bin chats -- PATH_OF_THE_PROGRAM [REQUESTS [KIND CONNECTIONS]]`,
//! where KIND is plain, burst or paced and selects that row alone, for profiling. All are in front
//! of the same upstream and get the same chats; the service checks the key and the limits, holds,
//! and has the charge on disk before the last byte. CPU time is that of the process and its
//! children, user and kernel. Needs nginx.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use bench::chat::{BenchChatKind, EVENTS, PAUSE, answer_chat, build_chat_request};
use bench::http::HttpConnection;
use bench::load::{RouteMeasurement, UpstreamRoute, compare_routes};
use bench::nginx::NginxProxy;
use bench::service::ServiceProcess;
use bench::upstream::ScriptedUpstream;

const REQUESTS: u64 = 20_000;
const CONNECTIONS: [usize; 3] = [1, 16, 64];
const STREAM_CONNECTIONS: usize = 16;
/// Below the default limit of concurrent requests per provider.
const OPEN_STREAMS: u64 = 200;
/// The budget: the service may take this many times the CPU time of nginx.
const TIMES_MAX: u32 = 4;

/// The three routes to the same upstream.
struct BenchRoutes {
    upstream: ScriptedUpstream,
    nginx: NginxProxy,
    service: ServiceProcess,
    key: String,
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().expect("give the path of the program"));
    let requests = arguments.next().and_then(|it| it.parse().ok()).unwrap_or(REQUESTS);
    let ways = start_routes(&binary).await;
    if let (Some(kind), Some(connections)) = (arguments.next(), arguments.next()) {
        let connections = connections.parse().expect("the connections are a number");
        print_head();
        ways.compare_routes(
            connections,
            requests,
            BenchChatKind::from_name(&kind).expect("a kind is plain, burst or paced"),
        )
        .await
        .print_row(connections);
        return;
    }
    let idle = ways.service.program.resident_bytes();

    println!("plain chats; the budget is {TIMES_MAX} times nginx");
    ways.compare_routes(16, 500, BenchChatKind::Plain).await;
    print_head();
    for connections in CONNECTIONS {
        ways.compare_routes(connections, requests, BenchChatKind::Plain)
            .await
            .print_row(connections);
    }
    println!("\nstreams of {EVENTS} events, as fast as they come; CPU is of a whole stream");
    print_head();
    ways.compare_routes(STREAM_CONNECTIONS, requests / 5, BenchChatKind::Burst)
        .await
        .print_row(STREAM_CONNECTIONS);
    println!("\nstreams of {EVENTS} events, one in {PAUSE:?}; p50 is of the first event");
    print_head();
    ways.compare_routes(STREAM_CONNECTIONS, requests / 10, BenchChatKind::Paced)
        .await
        .print_row(STREAM_CONNECTIONS);

    let loaded = ways.service.program.resident_bytes();
    let per_stream = ways.bytes_per_open_stream().await;
    println!(
        "\nmemory: {} MiB after the start, {} MiB after the load, {} KiB for an open stream",
        idle >> 20,
        loaded >> 20,
        per_stream >> 10
    );
}

/// Starts the service first, so that its start is timed while nothing else runs.
async fn start_routes(binary: &std::path::Path) -> BenchRoutes {
    let upstream = ScriptedUpstream::start(answer_chat).await;
    let config = format!(
        "[[provider]]\nid = \"bench\"\nkind = \"openai\"\nbase_url = \"http://{}/v1\"\n\
         [[model]]\nid = \"small\"\ntype = \"text\"\nprovider = \"bench\"\ntier = \"XS\"\n\
         context_tokens = 32768\n\
         price = {{ input_usd_per_million = \"0.10\", output_usd_per_million = \"0.40\" }}\n",
        upstream.address
    );
    drop(ServiceProcess::start(binary, &config));
    let started = Instant::now();
    let service = ServiceProcess::start(binary, &config);
    let listening = started.elapsed();
    let key = service.funded_key();
    let nginx = NginxProxy::start(upstream.address);
    println!("start to listening, with a new database: {listening:.0?}\n");
    BenchRoutes { upstream, nginx, service, key }
}

struct RouteComparison {
    direct: RouteMeasurement,
    nginx: RouteMeasurement,
    ours: RouteMeasurement,
    kind: BenchChatKind,
}

impl BenchRoutes {
    async fn compare_routes(
        &self,
        connections: usize,
        requests: u64,
        kind: BenchChatKind,
    ) -> RouteComparison {
        let bare = build_chat_request("/v1/chat/completions", "", kind);
        let paid = build_chat_request("/api/v1/chat/completions", &self.key, kind);
        let (nginx, service) = (&self.nginx, &self.service);
        let ways = [
            // The upstream is a part of this process: its CPU time is not counted.
            UpstreamRoute {
                program: &nginx.program,
                address: self.upstream.address,
                request: Arc::clone(&bare),
            },
            UpstreamRoute { program: &nginx.program, address: nginx.address, request: bare },
            UpstreamRoute { program: &service.program, address: service.address, request: paid },
        ];
        let [direct, nginx, ours] = compare_routes(ways, connections, requests).await;
        RouteComparison { direct, nginx, ours, kind }
    }

    async fn bytes_per_open_stream(&self) -> u64 {
        let request =
            build_chat_request("/api/v1/chat/completions", &self.key, BenchChatKind::Open);
        let before = self.service.program.resident_bytes();
        let mut open = Vec::new();
        for number in 0..OPEN_STREAMS {
            let mut connection =
                HttpConnection::open(self.service.address).await.expect("it should be there");
            connection.send(&request(number)).await.expect("it should listen");
            connection.receive_start().await.expect("it should answer");
            open.push(connection);
        }
        let after = self.service.program.resident_bytes();
        after.saturating_sub(before) / OPEN_STREAMS
    }
}

fn print_head() {
    println!(
        "{:>11} {:>10} {:>10} {:>6} {:>8} {:>11} {:>10} {:>9} {:>9}",
        "connections",
        "nginx CPU",
        "ours CPU",
        "times",
        "ours/s",
        "direct p50",
        "nginx p50",
        "ours p50",
        "ours p99"
    );
}

impl RouteComparison {
    fn print_row(mut self, connections: usize) {
        let times = self.ours.cpu_ratio(&self.nginx);
        let is_paced = self.kind == BenchChatKind::Paced;
        let time = |it: &mut RouteMeasurement, permille| {
            if is_paced { it.first.permille(permille) } else { it.latency.permille(permille) }
        };
        let [direct, bare] = [&mut self.direct, &mut self.nginx].map(|it| time(it, 500));
        let (half, most) = (time(&mut self.ours, 500), time(&mut self.ours, 990));
        println!(
            "{connections:>11} {:>10.1?} {:>10.1?} {times:>6.1} {:>8.0} {direct:>11.2?} \
             {bare:>10.2?} {half:>9.2?} {most:>9.2?}",
            self.nginx.cpu_per_request(),
            self.ours.cpu_per_request(),
            self.ours.requests_per_second(),
        );
        if !matches!(self.kind, BenchChatKind::Plain) {
            let each = |it: &RouteMeasurement| it.cpu_per_request() / EVENTS;
            println!(
                "{:>11} {:>10.1?} {:>10.1?}   for each event",
                "",
                each(&self.nginx),
                each(&self.ours)
            );
        }
    }
}
