//! Counts requests by method, route and status, and measures their duration.
//!
//! The metrics registry finds a counter by name and labels, which takes ten allocations. Here
//! counters are cached by method, route and status, and looked up in the registry once.

use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use hashbrown::{Equivalent, HashMap};
use lanes::PerLane;
use metrics::{Counter, Histogram};

/// One table per lane, so that lanes do not contend for a lock.
pub(super) struct RequestMetrics {
    kinds: PerLane<Mutex<HashMap<RequestLabels<String>, CachedMetrics>>>,
}

struct CachedMetrics {
    requests: Counter,
    seconds: Histogram,
}

#[derive(Debug, PartialEq, Eq)]
struct RequestLabels<Route> {
    method: &'static str,
    route: Route,
    status: u16,
}

impl<Route: AsRef<str>> Hash for RequestLabels<Route> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.method, self.route.as_ref(), self.status).hash(state);
    }
}

impl Equivalent<RequestLabels<String>> for RequestLabels<&str> {
    fn equivalent(&self, known: &RequestLabels<String>) -> bool {
        (self.method, self.route, self.status) == (known.method, &*known.route, known.status)
    }
}

impl RequestMetrics {
    pub(super) fn new() -> RequestMetrics {
        RequestMetrics { kinds: PerLane::new(Mutex::default) }
    }

    /// `route` must be a pattern of ours, never the caller's text: entries are never removed.
    pub(super) fn count(&self, method: &Method, route: &str, status: u16, elapsed: Duration) {
        let kind = RequestLabels { method: method_label(method), route, status };
        let mut kinds = self.kinds.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counted) = kinds.get(&kind) {
            return counted.count(elapsed);
        }
        let counted = CachedMetrics::for_labels(&kind);
        counted.count(elapsed);
        kinds.insert(
            RequestLabels { method: kind.method, route: route.to_owned(), status },
            counted,
        );
    }
}

impl CachedMetrics {
    fn count(&self, elapsed: Duration) {
        self.requests.increment(1);
        self.seconds.record(elapsed.as_secs_f64());
    }

    fn for_labels(kind: &RequestLabels<&str>) -> CachedMetrics {
        CachedMetrics {
            requests: metrics::counter!(
                "http_requests_total",
                "method" => kind.method,
                "route" => kind.route.to_owned(),
                "status" => kind.status.to_string(),
            ),
            seconds: metrics::histogram!(
                "http_request_seconds", "route" => kind.route.to_owned()
            ),
        }
    }
}

/// Unknown methods share one label: callers can invent methods, and each would be kept for ever.
fn method_label(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] =
        ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|known| method == *known).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use metrics::with_local_recorder;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn requests_are_counted_by_method_route_and_status_and_made_up_methods_together() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let tally = RequestMetrics::new();
        with_local_recorder(&recorder, || {
            let took = Duration::from_millis(5);
            for (method, route, status) in [
                ("GET", "/models", 200),
                ("GET", "/models", 200),
                ("POST", "/models", 405),
                ("GET", "/keys", 200),
                ("ONE", "unmatched", 404),
                ("TWO", "unmatched", 404),
            ] {
                tally.count(&method.parse().unwrap(), route, status, took);
            }
        });
        let shown = recorder.handle().render();
        let mut counts: Vec<&str> =
            shown.lines().filter(|line| line.starts_with("http_requests_total")).collect();
        counts.sort_unstable();
        let expected = [
            r#"http_requests_total{method="GET",route="/keys",status="200"} 1"#,
            r#"http_requests_total{method="GET",route="/models",status="200"} 2"#,
            r#"http_requests_total{method="POST",route="/models",status="405"} 1"#,
            r#"http_requests_total{method="other",route="unmatched",status="404"} 2"#,
        ];
        assert_eq!(counts, expected);
        assert!(shown.contains(r#"http_request_seconds_count{route="/models"} 3"#), "{shown}");
    }
}
