//! Renders one page in the browser, from its URL to its HTML.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use domain::web_address::WebAddress;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::{HeaderMap, HeaderName, HeaderValue};
use sandbox::CallerId;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::BrowserError;
use super::devtools::{ANSWER_BYTES_MAX, DevToolsConnection};
use crate::fetch::{FetchMethod, FetchRequest, FetchResponse, WebFetcher};

/// A page whose scripts made no request for this long is finished.
const SCRIPTS_IDLE_AFTER: Duration = Duration::from_millis(600);
/// A page that is never idle is read after this percentage of its time.
const BUSY_PAGE_TIME_PERCENT: u32 = 60;
const REQUEST_TIME_MAX: Duration = Duration::from_secs(6);
const REQUEST_BYTES_MAX: usize = 5 * 1024 * 1024;
/// Limits of all responses of one page together.
const PAGE_BYTES_MAX: usize = 20 * 1024 * 1024;
const PAGE_REQUESTS_MAX: usize = 150;
const POST_BYTES_MAX: usize = 64 * 1024;
/// JSON takes up to six bytes per character.
const HTML_CHARS_MAX: usize = ANSWER_BYTES_MAX / 6 - 10_000;
/// Resource types that are not fetched, because they do not affect the text.
const UNSEEN: [&str; 5] = ["Image", "Media", "Font", "Ping", "CSPViolationReport"];
/// Request headers of the page that are forwarded to the site.
const SENT_ALONG: [&str; 5] =
    ["accept-language", "content-type", "origin", "referer", "x-requested-with"];
/// Response headers about our own connection and compression, which the browser must not see.
const NOT_HANDED_ON: [&str; 5] =
    ["content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"];

/// A page and the caller who asked for it, whose quotas hold for all requests of the page.
pub(super) struct RequestedPage<'a> {
    pub(super) address: &'a WebAddress,
    pub(super) caller: CallerId,
}

/// Opens the page in its own context and returns its HTML once it is idle.
pub(super) async fn render_in_tab(
    wire: &DevToolsConnection,
    context: &str,
    time_max: Duration,
    fetcher: &WebFetcher,
    page: RequestedPage<'_>,
) -> Result<String, BrowserError> {
    let target = json!({"url": "about:blank", "browserContextId": context});
    let target = wire.call(None, "Target.createTarget", target).await?;
    let attach = json!({"targetId": target["targetId"], "flatten": true});
    let session = wire.call(None, "Target.attachToTarget", attach).await?;
    let session = session["sessionId"].as_str().unwrap_or_default().to_owned();
    let events = wire.subscribe(&session);
    let restless_max = time_max * BUSY_PAGE_TIME_PERCENT / 100;
    let caller = page.caller;
    let tab = BrowserTab { wire, session: &session, fetcher, caller, restless_max };
    let read = tab.run(events, page.address).await;
    wire.unsubscribe(&session);
    read
}

struct BrowserTab<'a> {
    wire: &'a DevToolsConnection,
    session: &'a str,
    fetcher: &'a WebFetcher,
    caller: CallerId,
    restless_max: Duration,
}

impl BrowserTab<'_> {
    async fn call(&self, method: &str, parameters: Value) -> Result<Value, BrowserError> {
        self.wire.call(Some(self.session), method, parameters).await
    }

    async fn run(
        &self,
        events: mpsc::Receiver<Value>,
        address: &WebAddress,
    ) -> Result<String, BrowserError> {
        self.call("Page.enable", json!({})).await?;
        self.call("Fetch.enable", json!({"patterns": [{"urlPattern": "*"}]})).await?;
        // The navigation returns when its page arrives, which needs the events to be handled.
        let navigating = self.call("Page.navigate", json!({"url": address.as_str()}));
        let (navigated, ()) = tokio::join!(navigating, self.serve_requests(events));
        if let Some(error) = navigated?.get("errorText").and_then(Value::as_str) {
            return Err(BrowserError::Refused(format!("the page: {error}")));
        }
        let expression = format!(
            "(document.documentElement ? document.documentElement.outerHTML : '').slice(0, {HTML_CHARS_MAX})"
        );
        let asked = json!({"expression": expression, "returnByValue": true, "timeout": 2000});
        let value = self.call("Runtime.evaluate", asked).await?;
        Ok(value["result"]["value"].as_str().unwrap_or_default().to_owned())
    }

    /// Answers the page's requests until it is idle.
    async fn serve_requests(&self, mut events: mpsc::Receiver<Value>) {
        let deadline = Instant::now() + self.restless_max;
        let mut under_way = FuturesUnordered::new();
        let (mut requests, mut bytes, mut is_loaded) = (0, 0, false);
        loop {
            let rests = is_loaded && under_way.is_empty();
            let until =
                if rests { deadline.min(Instant::now() + SCRIPTS_IDLE_AFTER) } else { deadline };
            let next = async {
                tokio::select! {
                    event = events.recv() => TabEvent::Event(event),
                    Some(length) = under_way.next(), if !under_way.is_empty() => TabEvent::Served(length),
                }
            };
            match timeout_at(until, next).await {
                Err(_) | Ok(TabEvent::Event(None)) => return,
                Ok(TabEvent::Served(length)) => bytes += length,
                Ok(TabEvent::Event(Some(event))) => match event["method"].as_str() {
                    Some("Page.loadEventFired") => is_loaded = true,
                    Some("Fetch.requestPaused") => {
                        requests += 1;
                        let is_within = requests <= PAGE_REQUESTS_MAX && bytes < PAGE_BYTES_MAX;
                        under_way.push(self.answer_request(event, is_within));
                    }
                    _ => {}
                },
            }
        }
    }

    /// Answers one request and returns the size of the response in bytes.
    async fn answer_request(&self, event: Value, is_within: bool) -> usize {
        let parameters = &event["params"];
        let request = &parameters["requestId"];
        let kind = parameters["resourceType"].as_str().unwrap_or_default();
        let fetched = if is_within && !UNSEEN.contains(&kind) {
            self.fetch_resource(&parameters["request"]).await
        } else {
            None
        };
        let Some(fetched) = fetched else {
            let refused = json!({"requestId": request, "errorReason": "BlockedByClient"});
            let _ = self.call("Fetch.failRequest", refused).await;
            return 0;
        };
        let headers: Vec<Value> = fetched
            .headers
            .iter()
            .filter(|(name, _)| !NOT_HANDED_ON.contains(&name.as_str()))
            .filter_map(|(name, value)| {
                Some(json!({"name": name.as_str(), "value": value.to_str().ok()?}))
            })
            .collect();
        let given = json!({
            "requestId": request,
            "responseCode": fetched.status,
            "responseHeaders": headers,
            "body": BASE64_STANDARD.encode(&fetched.body),
        });
        let _ = self.call("Fetch.fulfillRequest", given).await;
        fetched.body.len()
    }

    /// Checks and fetches a URL like every URL of a caller. Redirects are returned to the browser,
    /// whose next request is checked again.
    async fn fetch_resource(&self, request: &Value) -> Option<FetchResponse> {
        let address = self.fetcher.parse(request["url"].as_str()?).ok()?;
        let method = match request["method"].as_str()? {
            "GET" => FetchMethod::Get,
            "OPTIONS" => FetchMethod::Options,
            "POST" => {
                let body = request["postData"].as_str().unwrap_or_default();
                if POST_BYTES_MAX < body.len() {
                    return None;
                }
                FetchMethod::Post(Bytes::from(body.to_owned()))
            }
            _ => return None,
        };
        let sent = request["headers"].as_object();
        let mut headers = HeaderMap::new();
        for (name, value) in sent.into_iter().flatten() {
            let name = name.to_ascii_lowercase();
            let is_cors = name.starts_with("access-control-request-");
            if (is_cors || SENT_ALONG.contains(&name.as_str()))
                && let (Ok(name), Some(value)) = (HeaderName::try_from(name), value.as_str())
                && let Ok(value) = HeaderValue::try_from(value)
            {
                headers.insert(name, value);
            }
        }
        let accept = sent.and_then(|it| it.get("Accept").or(it.get("accept")));
        let accept = accept.and_then(Value::as_str).unwrap_or("*/*");
        let ask = FetchRequest::get(self.caller, accept, REQUEST_BYTES_MAX, REQUEST_TIME_MAX);
        self.fetcher
            .fetch(&address, &FetchRequest { method, headers, ..ask.without_redirects() })
            .await
            .ok()
    }
}

enum TabEvent {
    Event(Option<Value>),
    Served(usize),
}
