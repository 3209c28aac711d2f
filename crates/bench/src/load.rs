//! Load: connections that ask again as soon as they are answered.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::http::Connection;
use crate::process::Program;
use crate::samples::Samples;

/// From the number of a request to all of its bytes.
pub type Request = Arc<dyn Fn(u64) -> Vec<u8> + Send + Sync>;

/// What so many requests took.
pub struct Measured {
    pub cpu_per_request: Duration,
    /// Until the last byte.
    pub latency: Samples,
    /// Until the first byte of the body.
    pub first: Samples,
    pub requests_per_second: f64,
}

/// Sends so many requests over so many connections. Anything but 200 ends the measurement.
pub async fn measure(
    program: &Program,
    address: SocketAddr,
    connections: usize,
    requests: u64,
    request: &Request,
) -> Measured {
    let (next, started, cpu_before) =
        (Arc::new(AtomicU64::new(0)), Instant::now(), program.cpu_time());
    let mut callers = JoinSet::new();
    for _ in 0..connections {
        let (next, request) = (Arc::clone(&next), Arc::clone(request));
        callers.spawn(async move { call(address, &next, requests, &request).await });
    }
    let (mut latency, mut first) = (Samples::default(), Samples::default());
    for (whole, begun) in callers.join_all().await {
        latency.merge(whole);
        first.merge(begun);
    }
    let cpu = program.cpu_time() - cpu_before;
    Measured {
        cpu_per_request: cpu / u32::try_from(requests).unwrap_or(u32::MAX),
        latency,
        first,
        requests_per_second: requests as f64 / started.elapsed().as_secs_f64(),
    }
}

/// How long each answer took, and how long its first byte.
async fn call(
    address: SocketAddr,
    next: &AtomicU64,
    requests: u64,
    request: &Request,
) -> (Samples, Samples) {
    let mut connection = Connection::open(address).await.expect("it should be there");
    let (mut latency, mut first) = (Samples::default(), Samples::default());
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if requests <= number {
            return (latency, first);
        }
        let message = request(number);
        let started = Instant::now();
        connection.send(&message).await.expect("it should listen");
        let answer = connection.receive().await.expect("it should answer");
        let answer = answer.expect("the connection should stay open");
        let is_right = answer.first_line.starts_with("HTTP/1.1 200");
        let said = || String::from_utf8_lossy(answer.body);
        assert!(is_right, "{}: {}", answer.first_line, said());
        first.add(answer.body_began - started);
        latency.add(started.elapsed());
    }
}
