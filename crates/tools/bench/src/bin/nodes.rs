//! Measures the throughput of several nodes on one Postgres, compared with one node; each node has
//! the same share of a processor.
//!
//! `cargo run --release -p bench --bin nodes -- PATH_OF_THE_PROGRAM POSTGRES_URL [PERCENT
//! [SECONDS]]` as root. Every number of nodes needs its own empty database: `{nodes}` in the URL is
//! replaced by that number. Each node may use PERCENT of one processor; Postgres, the upstream and
//! the clients share the rest, which must be more than they need. Clients either stay at their
//! account's home node, as behind a load balancer with affinity, or use all nodes in turn.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::chat::{BenchChatKind, answer_chat, build_chat_request};
use bench::http::HttpConnection;
use bench::load::RequestFactory;
use bench::quota::CpuQuota;
use bench::samples::DurationSamples;
use bench::service::ServiceProcess;
use bench::upstream::ScriptedUpstream;
use tokio::task::JoinSet;

const NODES: [usize; 3] = [1, 2, 3];
/// Per node, so that every node is as busy as one alone.
const ACCOUNTS: usize = 16;
const CONNECTIONS: usize = 128;

struct BenchCluster {
    nodes: Vec<ServiceProcess>,
    /// One for each account.
    requests: Vec<RequestFactory>,
}

#[derive(Clone, Copy)]
enum NodeAffinity {
    /// Each account uses one node.
    Kept,
    /// Each account uses all nodes in turn.
    Any,
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let binary = PathBuf::from(arguments.next().expect("give the path of the program"));
    let url = arguments.next().expect("give the URL of a Postgres, with {nodes} in it");
    let mut number = |default| arguments.next().and_then(|it| it.parse().ok()).unwrap_or(default);
    let (percent, seconds) = (number(15), number(10));
    let upstream = ScriptedUpstream::start(answer_chat).await;
    println!("{percent} % of a processor for each node");
    println!(
        "{:>5} {:>6} {:>8} {:>7} {:>9} {:>9} {:>9}",
        "nodes", "asked", "chats/s", "times", "CPU each", "p50", "p99"
    );
    let mut alone = None;
    for count in NODES {
        let url = url.replace("{nodes}", &count.to_string());
        let cluster = start_cluster(&binary, &url, &upstream, count);
        let quotas: Vec<CpuQuota> = cluster
            .nodes
            .iter()
            .map(|node| CpuQuota::limit_program(node.program.id(), percent))
            .collect();
        let spreads: &[NodeAffinity] = if count == 1 {
            &[NodeAffinity::Kept]
        } else {
            &[NodeAffinity::Kept, NodeAffinity::Any]
        };
        for spread in spreads {
            cluster.generate_load(*spread, Duration::from_secs(2)).await;
            let cpu_before = cluster.cpu_time();
            let started = Instant::now();
            let mut latency = cluster.generate_load(*spread, Duration::from_secs(seconds)).await;
            let rate = latency.len() as f64 / started.elapsed().as_secs_f64();
            let cpu = (cluster.cpu_time() - cpu_before)
                / u32::try_from(latency.len()).unwrap_or(u32::MAX);
            let times = rate / *alone.get_or_insert(rate);
            let asked = match spread {
                NodeAffinity::Kept => "kept",
                NodeAffinity::Any => "any",
            };
            println!(
                "{count:>5} {asked:>6} {rate:>8.0} {times:>7.2} {cpu:>9.1?} {:>9.1?} {:>9.1?}",
                latency.permille(500),
                latency.permille(990),
            );
        }
        drop(cluster);
        drop(quotas);
    }
}

fn start_cluster(
    binary: &Path,
    url: &str,
    upstream: &ScriptedUpstream,
    count: usize,
) -> BenchCluster {
    let nodes: Vec<ServiceProcess> = (0..count)
        .map(|number| {
            let config = format!(
                "[[provider]]\nid = \"bench\"\nkind = \"openai\"\nbase_url = \"http://{}/v1\"\n\
                 [[model]]\nid = \"small\"\ntype = \"text\"\nprovider = \"bench\"\ntier = \"XS\"\n\
                 context_tokens = 32768\n\
                 price = {{ input_usd_per_million = \"0.10\", output_usd_per_million = \"0.40\" }}\n\
                 [store]\nurl = \"{url}\"\n\
                 [cluster]\nlisten = \"127.0.0.1:{}\"\nnode = \"node-{number}\"\n",
                upstream.address,
                free_port()
            );
            ServiceProcess::start(binary, &config)
        })
        .collect();
    let requests = (0..ACCOUNTS * count)
        .map(|number| {
            let account = format!("caller-{number}");
            // The first node that gets a request of the account becomes its home.
            let node = &nodes[number % count];
            node.create_account(&account);
            build_chat_request(
                "/api/v1/chat/completions",
                &node.funded_key_of(&account),
                BenchChatKind::Plain,
            )
        })
        .collect();
    BenchCluster { nodes, requests }
}

impl BenchCluster {
    fn cpu_time(&self) -> Duration {
        self.nodes.iter().map(|node| node.program.cpu_time()).sum()
    }

    /// The duration of each response.
    async fn generate_load(&self, spread: NodeAffinity, span: Duration) -> DurationSamples {
        let until = Instant::now() + span;
        let mut callers = JoinSet::new();
        for number in 0..CONNECTIONS * self.nodes.len() {
            let node = number % self.nodes.len();
            let address = self.nodes[node].address;
            let asks_for = |account: usize| match spread {
                NodeAffinity::Kept => account % self.nodes.len() == node,
                NodeAffinity::Any => true,
            };
            let accounts =
                self.requests.iter().enumerate().filter(|(account, _)| asks_for(*account));
            let requests: Vec<RequestFactory> =
                accounts.map(|(_, request)| Arc::clone(request)).collect();
            callers.spawn(async move {
                let mut connection =
                    HttpConnection::open(address).await.expect("it should be there");
                let mut latency = DurationSamples::default();
                let mut next = number;
                while Instant::now() < until {
                    next += 1;
                    let message = requests[next % requests.len()](next as u64);
                    let started = Instant::now();
                    connection.send(&message).await.expect("it should listen");
                    let answer = connection.receive_message().await.expect("it should answer");
                    let answer = answer.expect("the connection should stay open");
                    let said = || String::from_utf8_lossy(answer.body);
                    assert!(answer.first_line.starts_with("HTTP/1.1 200"), "{}", said());
                    latency.add(started.elapsed());
                }
                latency
            });
        }
        let mut all = DurationSamples::default();
        for latency in callers.join_all().await {
            all.merge(latency);
        }
        all
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("it is bound").port()
}
