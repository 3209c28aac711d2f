//! Whether each provider answers, and whether its clock agrees with ours.

use std::time::Duration;

use api::metering_faults::FaultCounts;
use config::sections::provider::{Provider, ProviderKind};
use futures_util::future::join_all;
use moment::{Clock, SystemClock, Timestamp};
use reqwest::{Client, Response, StatusCode, header};

use super::Finding;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Payment signatures are refused beyond this.
const SKEW_MAX: Duration = Duration::from_secs(30);

pub(crate) async fn check(providers: &[Provider]) -> Vec<Finding> {
    let client = match client() {
        Ok(client) => client,
        Err(finding) => return vec![finding],
    };
    let findings = join_all(providers.iter().map(|provider| answer(&client, provider))).await;
    findings.into_iter().flatten().collect()
}

/// A client that gives up soon; without one, a finding says why.
pub(super) fn client() -> Result<Client, Finding> {
    // Installing it again, after another part of the program did, changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().timeout(ANSWER_TIMEOUT).build().map_err(|error| {
        let fix = "install the system's root certificates (package ca-certificates)";
        Finding::failed("outgoing requests", error.to_string(), fix)
    })
}

async fn answer(client: &Client, provider: &Provider) -> Vec<Finding> {
    let check = format!("provider {}", provider.id);
    let Some(base_url) = &provider.base_url else {
        return vec![Finding::ok(check, "runs on this machine")];
    };
    let url = match provider.kind {
        ProviderKind::OpenAi | ProviderKind::Anthropic | ProviderKind::Kokoro => {
            format!("{base_url}/models")
        }
        _ => base_url.clone(),
    };
    let mut request = client.get(&url);
    if let Some(key) = &provider.api_key {
        request = match provider.kind {
            ProviderKind::Anthropic => {
                request.header("x-api-key", key.expose()).header("anthropic-version", "2023-06-01")
            }
            ProviderKind::Fal => {
                request.header(header::AUTHORIZATION, format!("Key {}", key.expose()))
            }
            _ => request.bearer_auth(key.expose()),
        };
    }
    for (name, value) in &provider.headers {
        request = request.header(name, value.expose());
    }
    match request.send().await {
        Ok(response) => answered(&check, &url, &response, SystemClock.now()),
        Err(error) => {
            let reason = if error.is_timeout() { "no answer in time" } else { "cannot connect" };
            let fix = "start it, or correct `base_url`";
            vec![Finding::failed(check, format!("{url}: {reason}"), fix)]
        }
    }
}

fn answered(check: &str, url: &str, response: &Response, now: Timestamp) -> Vec<Finding> {
    let status = response.status();
    let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let mut findings = vec![if is_refused {
        Finding::failed(check, format!("{url} answers {status}"), "correct its `api_key`")
    } else if status.is_server_error() {
        Finding::warning(check, format!("{url} answers {status}"), "look at its own log")
    } else {
        Finding::ok(check, format!("{url} answers"))
    }];
    let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
    findings.extend(date.and_then(|date| skew(check, date, now)));
    findings
}

/// Token counts of a provider that were not billed as it reported them.
pub(crate) fn metering_fault(provider: &str, counts: FaultCounts) -> Finding {
    let FaultCounts { beyond_bound, zero_reported } = counts;
    let found = format!(
        "metering fault: since the start {beyond_bound} answers were reported with more tokens than \
         were asked for and delivered, {zero_reported} with none"
    );
    let fix = "compare its bill with `tollgate ledger export`, and correct its server";
    Finding::warning(format!("provider {provider}"), found, fix)
}

/// A provider's clock that is far from ours: one of the two is wrong.
fn skew(check: &str, date: &str, now: Timestamp) -> Option<Finding> {
    let theirs = httpdate::parse_http_date(date).ok()?;
    let since_1970 = theirs.duration_since(std::time::UNIX_EPOCH).ok()?;
    let theirs = Timestamp::from_ms(0).plus(since_1970);
    let skew = now.since(theirs).max(theirs.since(now));
    if skew <= SKEW_MAX {
        return None;
    }
    let found = format!("its clock and ours are {} s apart", skew.as_secs());
    Some(Finding::warning(check, found, "keep both clocks right with NTP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clock_that_is_far_off_is_reported() {
        let now = Timestamp::parse("2026-11-15T03:00:00Z").unwrap();
        assert_eq!(skew("p", "Sun, 15 Nov 2026 02:59:40 GMT", now), None);
        assert_eq!(skew("p", "Sun, 15 Nov 2026 03:00:30 GMT", now), None);
        assert!(skew("p", "Sun, 15 Nov 2026 03:00:31 GMT", now).is_some());
        assert!(skew("p", "Sun, 15 Nov 2026 02:00:00 GMT", now).is_some());
        assert_eq!(skew("p", "yesterday", now), None);
    }
}
