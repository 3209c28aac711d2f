//! Load generator: connections that send the next request as soon as they have the response.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::http::HttpConnection;
use crate::process::MeasuredProgram;
use crate::samples::DurationSamples;

/// Maps the number of a request to its bytes.
pub type RequestFactory = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// One of the routes to the same upstream.
pub struct UpstreamRoute<'bench> {
    /// The program whose CPU time is counted.
    pub program: &'bench MeasuredProgram,
    pub address: SocketAddr,
    pub request: RequestFactory,
}

/// Measurements of a number of requests.
#[derive(Debug, Default)]
pub struct RouteMeasurement {
    requests: u64,
    cpu: Duration,
    elapsed: Duration,
    /// Until the last byte.
    pub latency: DurationSamples,
    /// Until the first byte of the body.
    pub first: DurationSamples,
}

impl RouteMeasurement {
    pub fn cpu_per_request(&self) -> Duration {
        self.cpu / u32::try_from(self.requests).unwrap_or(u32::MAX)
    }

    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }

    /// The ratio of this CPU time per request to another's.
    pub fn cpu_ratio(&self, other: &RouteMeasurement) -> f64 {
        self.cpu_per_request().as_secs_f64() / other.cpu_per_request().as_secs_f64()
    }
}

/// The routes take turns this many times, because a machine's speed changes within seconds.
const ROUNDS: u64 = 4;

/// Sends `requests` per route over `connections`. Any status but 200 ends the measurement.
pub async fn compare_routes<const WAYS: usize>(
    ways: [UpstreamRoute<'_>; WAYS],
    connections: usize,
    requests: u64,
) -> [RouteMeasurement; WAYS] {
    let mut all = [(); WAYS].map(|()| RouteMeasurement::default());
    for _ in 0..ROUNDS {
        for (way, measured) in ways.iter().zip(&mut all) {
            measure_route(way, connections, requests.div_ceil(ROUNDS), measured).await;
        }
    }
    all
}

async fn measure_route(
    way: &UpstreamRoute<'_>,
    connections: usize,
    requests: u64,
    measured: &mut RouteMeasurement,
) {
    let next = Arc::new(AtomicU64::new(measured.requests));
    let (started, cpu_before) = (Instant::now(), way.program.cpu_time());
    measured.requests += requests;
    let mut callers = JoinSet::new();
    for _ in 0..connections {
        let (next, request) = (Arc::clone(&next), Arc::clone(&way.request));
        let (address, end) = (way.address, measured.requests);
        callers.spawn(async move { send_requests(address, &next, end, &request).await });
    }
    for (whole, begun) in callers.join_all().await {
        measured.latency.merge(whole);
        measured.first.merge(begun);
    }
    measured.cpu += way.program.cpu_time() - cpu_before;
    measured.elapsed += started.elapsed();
}

/// The durations of each response and of its first byte.
async fn send_requests(
    address: SocketAddr,
    next: &AtomicU64,
    end: u64,
    request: &RequestFactory,
) -> (DurationSamples, DurationSamples) {
    let mut connection = HttpConnection::open(address).await.expect("it should be there");
    let (mut latency, mut first) = (DurationSamples::default(), DurationSamples::default());
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if end <= number {
            return (latency, first);
        }
        let message = request(number);
        let started = Instant::now();
        connection.send(&message).await.expect("it should listen");
        let answer = connection.receive_message().await.expect("it should answer");
        let answer = answer.expect("the connection should stay open");
        let is_right = answer.first_line.starts_with("HTTP/1.1 200");
        let said = || String::from_utf8_lossy(answer.body);
        assert!(is_right, "{}: {}", answer.first_line, said());
        first.add(answer.body_began - started);
        latency.add(started.elapsed());
    }
}
