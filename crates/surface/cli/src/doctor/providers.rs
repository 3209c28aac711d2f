//! Checks that each provider works: it accepts its API key and lists the models of the catalogue,
//! and each model answers a request for one token.
//!
//! The console's test button runs the same checks.

use std::time::Duration;

use config::sections::provider::{ProviderConfig, ProviderKind};
use domain::catalogue::{CatalogueModel, ModelRoute};
use engine_wiring::build_provider_headers;
use futures_util::future::join_all;
use http::header::DATE;
use http_frame::metering_faults::FaultCounts;
use moment::{Clock, SystemClock, Timestamp};
use outbound::UpstreamResponse;
use serde_json::Value;
use url::Url;

use super::CheckFinding;
use super::model_check::{ModelAtProvider, check_model, check_price};
use super::probe_client::ProbeClient;

/// Payment signatures with a larger clock difference are refused.
const SKEW_MAX: Duration = Duration::from_secs(30);
/// 16 MiB; a list of a thousand models with descriptions is about 3 MB.
const LIST_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(crate) async fn check_providers(
    providers: &[ProviderConfig],
    models: &[CatalogueModel],
) -> Vec<CheckFinding> {
    let client = match ProbeClient::new() {
        Ok(client) => client,
        Err(finding) => return vec![finding],
    };
    let proofs = providers.iter().map(|provider| check_provider(&client, provider, models));
    let mut findings: Vec<CheckFinding> = join_all(proofs).await.into_iter().flatten().collect();
    findings.extend(models.iter().filter_map(check_price));
    findings
}

/// Returns the findings about a provider and each of its models. The models are requested one after
/// another.
async fn check_provider(
    client: &ProbeClient,
    provider: &ProviderConfig,
    models: &[CatalogueModel],
) -> Vec<CheckFinding> {
    let check = format!("provider {}", provider.id);
    let Some(base_url) = &provider.base_url else {
        return vec![CheckFinding::ok(check, "runs on this machine")];
    };
    let client = match build_provider_headers(provider) {
        Ok(headers) => client.with_headers(headers),
        Err(error) => {
            let fix = "correct its `api_key` or `headers`";
            return vec![CheckFinding::failed(check, error.to_string(), fix)];
        }
    };
    let probe = ProviderProbe::for_kind(provider.kind);
    let url = format!("{base_url}{}", probe.path);
    let response = match client.get(&url).await {
        Ok(response) => response,
        Err(failure) => {
            let reason = failure.describe("cannot connect");
            let fix = "start it, or correct `base_url`";
            return vec![CheckFinding::failed(check, format!("{url}: {reason}"), fix)];
        }
    };
    let mut findings = vec![check_status(&check, &url, &response.head, &probe)];
    let date = response.head.headers().get(DATE).and_then(|date| date.to_str().ok());
    findings.extend(date.and_then(|date| check_clock_skew(&check, date, SystemClock.now())));
    if !matches!(response.head.status(), 200..300) {
        return findings;
    }
    let mut list = None;
    if probe.lists_models {
        list = response.read_json(LIST_BYTES_MAX).await.and_then(ModelList::parse_list);
        if list.is_none() {
            let found = format!("{url} answers, but not with a list of models");
            let fix = "correct `base_url`: it usually ends in /v1";
            return vec![CheckFinding::failed(check, found, fix)];
        }
    }
    for (model, route) in routes_to(provider, models) {
        let listing = match &list {
            Some(list) => list.look_up_model(&client, base_url, &route.upstream_id).await,
            None => ModelLookup::NotAsked,
        };
        let asked = ModelAtProvider { model, upstream_id: &route.upstream_id, provider };
        findings.extend(check_model(&client, &asked, &listing).await);
    }
    findings
}

/// The endpoint that shows whether a provider of a kind works.
struct ProviderProbe {
    path: &'static str,
    lists_models: bool,
    /// True if every provider of the kind has this path.
    is_certain: bool,
}

impl ProviderProbe {
    fn for_kind(kind: ProviderKind) -> ProviderProbe {
        let (path, lists_models, is_certain) = match kind {
            ProviderKind::OpenAi => ("/models", true, true),
            ProviderKind::Anthropic => ("/models?limit=1000", true, true),
            ProviderKind::Kokoro => ("/models", false, true),
            ProviderKind::A1111 => ("/sdapi/v1/sd-models", false, true),
            ProviderKind::ComfyUi => ("/system_stats", false, true),
            ProviderKind::Tei => ("/info", false, true),
            _ => ("", false, false),
        };
        ProviderProbe { path, lists_models, is_certain }
    }
}

fn check_status(
    check: &str,
    url: &str,
    response: &UpstreamResponse,
    probe: &ProviderProbe,
) -> CheckFinding {
    let found = format!("{url} answers {}", response.status_text());
    match response.status() {
        401 | 403 => CheckFinding::failed(check, found, "correct its `api_key`"),
        500.. => CheckFinding::failed(check, found, "check its log"),
        200..300 => CheckFinding::ok(check, format!("{url} answers")),
        _ if probe.is_certain => {
            CheckFinding::failed(check, found, "correct `base_url`: it usually ends in /v1")
        }
        _ => CheckFinding::ok(check, found),
    }
}

/// Returns each model that the provider runs, with its first route to the provider.
fn routes_to<'a>(
    provider: &'a ProviderConfig,
    models: &'a [CatalogueModel],
) -> impl Iterator<Item = (&'a CatalogueModel, &'a ModelRoute)> {
    let offered = models.iter().filter(|model| !model.offline);
    offered.filter_map(move |model| {
        let route = model.routes.iter().find(|route| route.provider == provider.id)?;
        Some((model, route))
    })
}

/// The result of looking up a model in a provider's list.
pub(super) enum ModelLookup {
    /// Found, with its entry in the list.
    Listed(Value),
    Missing,
    /// Providers of this kind have no model list.
    NotAsked,
}

/// The models that a provider lists, each with an `id`.
struct ModelList(Vec<Value>);

impl ModelList {
    /// Parses `{"data": […]}`, or a bare list as some providers return.
    fn parse_list(mut answer: Value) -> Option<ModelList> {
        let list = if answer.is_array() { answer } else { answer.get_mut("data")?.take() };
        match list {
            Value::Array(entries) => Some(ModelList(entries)),
            _ => None,
        }
    }

    /// Returns the entry of a model. A model that is not in the list, such as an alias, is
    /// requested by name.
    async fn look_up_model(&self, client: &ProbeClient, base_url: &str, id: &str) -> ModelLookup {
        let latest = format!("{id}:latest");
        let is_it = |entry: &&Value| entry["id"] == id || entry["id"] == latest.as_str();
        if let Some(entry) = self.0.iter().find(is_it) {
            return ModelLookup::Listed(entry.clone());
        }
        let Ok(mut address) = Url::parse(base_url) else { return ModelLookup::Missing };
        if let Ok(mut segments) = address.path_segments_mut() {
            segments.pop_if_empty().push("models").push(id);
        }
        match client.get(address.as_str()).await {
            Ok(response) if matches!(response.head.status(), 200..300) => {
                let entry = response.read_json(LIST_BYTES_MAX).await;
                match entry.filter(|entry| entry["id"].is_string()) {
                    Some(entry) => ModelLookup::Listed(entry),
                    None => ModelLookup::Missing,
                }
            }
            _ => ModelLookup::Missing,
        }
    }
}

/// Returns a warning about a provider's token counts that were not billed as reported.
pub(crate) fn metering_fault(provider: &str, counts: FaultCounts) -> CheckFinding {
    let FaultCounts { beyond_bound, zero_reported } = counts;
    let found = format!(
        "metering fault: since the start, {beyond_bound} answers had more reported tokens than \
         were asked for and delivered, {zero_reported} with none"
    );
    let fix = "compare its bill with `tollgate ledger export`, and correct the provider";
    CheckFinding::warning(format!("provider {provider}"), found, fix)
}

/// Returns a warning if the provider's clock differs much from ours.
fn check_clock_skew(check: &str, date: &str, now: Timestamp) -> Option<CheckFinding> {
    let theirs = httpdate::parse_http_date(date).ok()?;
    let since_1970 = theirs.duration_since(std::time::UNIX_EPOCH).ok()?;
    let theirs = Timestamp::from_ms(0).plus(since_1970);
    let skew = now.since(theirs).max(theirs.since(now));
    if skew <= SKEW_MAX {
        return None;
    }
    let found = format!("its clock and ours are {} s apart", skew.as_secs());
    Some(CheckFinding::warning(check, found, "synchronize both clocks with NTP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clock_that_is_far_off_is_reported() {
        let now = Timestamp::parse("2026-11-15T03:00:00Z").unwrap();
        assert_eq!(check_clock_skew("p", "Sun, 15 Nov 2026 02:59:40 GMT", now), None);
        assert_eq!(check_clock_skew("p", "Sun, 15 Nov 2026 03:00:30 GMT", now), None);
        assert!(check_clock_skew("p", "Sun, 15 Nov 2026 03:00:31 GMT", now).is_some());
        assert!(check_clock_skew("p", "Sun, 15 Nov 2026 02:00:00 GMT", now).is_some());
        assert_eq!(check_clock_skew("p", "yesterday", now), None);
    }
}
