//! Measures the cost of `/messages` and `/responses`, translated and passed through, compared with
//! the same chat through `/chat/completions`.
//!
//! `cargo run --release -p bench --bin protocols -- PATH_OF_THE_PROGRAM [REQUESTS [CONNECTIONS]]`.
//! All requests go through one service and have the same question and answer; the upstream speaks
//! the caller's protocol where the request is passed through, and chat where it is translated. CPU
//! time is that of the service, user and kernel.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::PathBuf;

use bench::chat::{BenchChatKind, answer_chat};
use bench::load::{RouteMeasurement, UpstreamRoute, compare_routes};
use bench::protocols::{CallerProtocol, answer_messages, answer_responses, build_protocol_request};
use bench::service::ServiceProcess;
use bench::upstream::ScriptedUpstream;

const REQUESTS: u64 = 20_000;
const CONNECTIONS: usize = 16;
/// The budgets: CPU time of a request, as a multiple of the same chat's.
const TRANSLATED_MAX: f64 = 1.3;
const PASSED_MAX: f64 = 1.1;

/// A kind of request that is measured.
struct MeasuredWay {
    name: &'static str,
    protocol: CallerProtocol,
    model: &'static str,
    /// None for the chat that the others are compared with.
    budget: Option<f64>,
}

const WAYS: [MeasuredWay; 5] = [
    MeasuredWay { name: "chat", protocol: CallerProtocol::Chat, model: "small", budget: None },
    MeasuredWay {
        name: "messages, translated",
        protocol: CallerProtocol::Messages,
        model: "small",
        budget: Some(TRANSLATED_MAX),
    },
    MeasuredWay {
        name: "messages, passed through",
        protocol: CallerProtocol::Messages,
        model: "small-messages",
        budget: Some(PASSED_MAX),
    },
    MeasuredWay {
        name: "responses, translated",
        protocol: CallerProtocol::Responses,
        model: "small",
        budget: Some(TRANSLATED_MAX),
    },
    MeasuredWay {
        name: "responses, passed through",
        protocol: CallerProtocol::Responses,
        model: "small-responses",
        budget: Some(PASSED_MAX),
    },
];

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().expect("give the path of the program"));
    let mut number =
        |usual: u64| arguments.next().map_or(usual, |it| it.parse().expect("a number"));
    let requests = number(REQUESTS);
    let connections = number(u64::try_from(CONNECTIONS).unwrap_or(1));
    let connections = usize::try_from(connections).unwrap_or(CONNECTIONS);
    let upstreams = [
        ScriptedUpstream::start(answer_chat).await,
        ScriptedUpstream::start(answer_messages).await,
        ScriptedUpstream::start(answer_responses).await,
    ];
    let service = ServiceProcess::start(&binary, &build_config(&upstreams));
    let key = service.funded_key();
    for kind in [BenchChatKind::Plain, BenchChatKind::Burst] {
        let requests = if kind == BenchChatKind::Plain { requests } else { requests.div_ceil(5) };
        // Warm-up: the first requests open connections and fill caches.
        compare_routes(list_routes(&service, &key, kind), connections, requests / 10).await;
        let measured = compare_routes(list_routes(&service, &key, kind), connections, requests);
        println!("{} answers, {connections} connections", kind.name());
        print_table(measured.await);
        println!();
    }
}

fn build_config(upstreams: &[ScriptedUpstream; 3]) -> String {
    let kinds = [
        ("chat", "small", "kind = \"openai\""),
        ("messages", "small-messages", "kind = \"anthropic\""),
        ("responses", "small-responses", "kind = \"openai\"\napi = \"responses\""),
    ];
    let entries = kinds.iter().zip(upstreams).map(|((provider, model, kind), upstream)| {
        format!(
            "[[provider]]\nid = \"{provider}\"\n{kind}\nbase_url = \"http://{}/v1\"\n\
             [[model]]\nid = \"{model}\"\ntype = \"text\"\nprovider = \"{provider}\"\n\
             tier = \"XS\"\ncontext_tokens = 32768\n\
             price = {{ input_usd_per_million = \"0.10\", output_usd_per_million = \"0.40\" }}\n",
            upstream.address
        )
    });
    entries.collect()
}

fn list_routes<'bench>(
    service: &'bench ServiceProcess,
    key: &str,
    kind: BenchChatKind,
) -> [UpstreamRoute<'bench>; 5] {
    WAYS.map(|way| UpstreamRoute {
        program: &service.program,
        address: service.address,
        request: build_protocol_request(way.protocol, way.model, key, kind),
    })
}

fn print_table(mut measured: [RouteMeasurement; 5]) {
    println!(
        "{:>25} {:>10} {:>6} {:>7} {:>9} {:>9} {:>9}",
        "request", "CPU", "times", "budget", "each/s", "p50", "p99"
    );
    let ratios: Vec<f64> = measured.iter().map(|it| it.cpu_ratio(&measured[0])).collect();
    for ((way, measured), times) in WAYS.iter().zip(&mut measured).zip(ratios) {
        let budget = match way.budget {
            None => String::new(),
            Some(most) if times <= most => format!("{most:.1}"),
            Some(most) => format!("{most:.1} !"),
        };
        println!(
            "{:>25} {:>10.1?} {times:>6.2} {budget:>7} {:>9.0} {:>9.2?} {:>9.2?}",
            way.name,
            measured.cpu_per_request(),
            measured.requests_per_second(),
            measured.latency.permille(500),
            measured.latency.permille(990),
        );
    }
}
