//! Searches the web with a service that the operator chose.

use std::fmt::Write as _;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use outbound::{
    ConnectSettings, ConnectVia, InvalidTarget, OutboundClient, RequestContent, RequestTarget,
    TlsSetupError,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;
use url::Url;

const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
const SEARCH_TIME_MAX: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Limits of one result.
const CONTENT_CHARS_MAX: usize = 2_000;
const TITLE_CHARS_MAX: usize = 300;
pub const BRAVE: &str = "https://api.search.brave.com/res/v1/web/search";
pub const TAVILY: &str = "https://api.tavily.com/search";

/// The kind of search service, which determines its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    Searxng,
    Brave,
    Tavily,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    pub title: String,
    pub url: String,
    /// The excerpt of the page that the service returned.
    pub content: String,
    /// As the service writes it; may be empty.
    pub date: String,
}

/// The reason why a search failed, for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    #[error("the search service did not answer: {0}")]
    Unreachable(String),
    #[error("the search service answered with status {0}")]
    Status(u16),
    #[error(
        "the search service returns no JSON: enable `json` under `search.formats` in SearXNG's settings.yml"
    )]
    NoJson,
    #[error("the search service returned an invalid response: {0}")]
    Strange(String),
}

#[derive(Debug, thiserror::Error)]
pub enum SearchSetupError {
    #[error(transparent)]
    Client(#[from] TlsSetupError),
    #[error(transparent)]
    Target(#[from] InvalidTarget),
    #[error("its key contains characters that a header does not allow")]
    Key,
}

pub struct WebSearcher {
    kind: SearchKind,
    client: OutboundClient,
    target: RequestTarget,
}

impl WebSearcher {
    /// `url` is the service's endpoint; for SearXNG, the URL of its front page.
    pub fn new(
        kind: SearchKind,
        url: &Url,
        key: Option<&str>,
    ) -> Result<WebSearcher, SearchSetupError> {
        let reach = ConnectSettings {
            way: ConnectVia::ByEnvironment,
            connect_timeout: CONNECT_TIMEOUT,
            idle_max: IDLE_MAX,
        };
        let client = OutboundClient::new(reach)?;
        let mut headers = HeaderMap::new();
        headers.insert(http::header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(key) = key {
            let (name, value) = match kind {
                SearchKind::Brave => {
                    (HeaderName::from_static("x-subscription-token"), key.to_owned())
                }
                SearchKind::Searxng | SearchKind::Tavily => {
                    (http::header::AUTHORIZATION, format!("Bearer {key}"))
                }
            };
            let mut value = HeaderValue::try_from(value).map_err(|_| SearchSetupError::Key)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let target = RequestTarget::new(&client, url, headers)?;
        let target = if kind == SearchKind::Searxng { target.join_path("search") } else { target };
        Ok(WebSearcher { kind, client, target })
    }

    pub async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchHit>, SearchError> {
        let searching = timeout(SEARCH_TIME_MAX, self.send_query(query, limit)).await;
        let body = searching.map_err(|_| SearchError::Unreachable("too slow".to_owned()))??;
        let found = parse_results(self.kind, &body)?;
        Ok(found
            .into_iter()
            .filter(|found| is_web(&found.url))
            .take(limit)
            .map(truncate_hit)
            .collect())
    }

    async fn send_query(&self, query: &str, limit: usize) -> Result<bytes::Bytes, SearchError> {
        let words = utf8_percent_encode(query, NON_ALPHANUMERIC);
        let sent = match self.kind {
            SearchKind::Searxng => {
                self.client.get(&self.target, &format!("?q={words}&format=json")).await
            }
            SearchKind::Brave => {
                let mut rest = String::new();
                let _ = write!(rest, "?q={words}&count={limit}");
                self.client.get(&self.target, &rest).await
            }
            SearchKind::Tavily => {
                let body = json!({"query": query, "max_results": limit}).to_string();
                self.client.post(&self.target, RequestContent::json(body)).await
            }
        };
        let answer = sent.map_err(|fault| SearchError::Unreachable(format!("{fault:?}")))?;
        match answer.status() {
            200 => {}
            403 if self.kind == SearchKind::Searxng => return Err(SearchError::NoJson),
            status => return Err(SearchError::Status(status)),
        }
        let body = answer.read_whole(ANSWER_BYTES_MAX).await;
        body.map_err(|unread| SearchError::Unreachable(format!("{unread:?}")))
    }
}

#[derive(Deserialize)]
struct SearchResultList {
    #[serde(default)]
    results: Vec<SearchResultFields>,
}

#[derive(Deserialize)]
struct BraveAnswer {
    #[serde(default)]
    web: Option<SearchResultList>,
}

/// A result, with the field names of all services.
#[derive(Deserialize)]
struct SearchResultFields {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default, alias = "description")]
    content: Option<String>,
    #[serde(default, alias = "publishedDate", alias = "published_date", alias = "page_age")]
    date: Option<String>,
}

fn parse_results(kind: SearchKind, body: &[u8]) -> Result<Vec<SearchHit>, SearchError> {
    let strange = |error: serde_json::Error| SearchError::Strange(error.to_string());
    let lines = match kind {
        SearchKind::Brave => {
            let answer: BraveAnswer = serde_json::from_slice(body).map_err(strange)?;
            answer.web.map(|web| web.results).unwrap_or_default()
        }
        SearchKind::Searxng | SearchKind::Tavily => {
            let answer: SearchResultList = serde_json::from_slice(body).map_err(strange)?;
            answer.results
        }
    };
    let found = |line: SearchResultFields| {
        Some(SearchHit {
            title: line.title.unwrap_or_default(),
            url: line.url?,
            content: line.content.unwrap_or_default(),
            date: line.date.unwrap_or_default(),
        })
    };
    Ok(lines.into_iter().filter_map(found).collect())
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

fn truncate_hit(found: SearchHit) -> SearchHit {
    let cut = |text: String, chars_max: usize| match text.char_indices().nth(chars_max) {
        Some((at, _)) => text[..at].to_owned(),
        None => text,
    };
    SearchHit {
        title: cut(found.title, TITLE_CHARS_MAX),
        content: cut(found.content, CONTENT_CHARS_MAX),
        ..found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_all_services_are_read() {
        let searxng = r#"{"query":"a","results":[{"url":"https://a.example/","title":"A",
            "content":"about a","engine":"x","publishedDate":"2026-01-02T00:00:00"},{"title":"no url"}]}"#;
        let found = parse_results(SearchKind::Searxng, searxng.as_bytes()).unwrap();
        assert_eq!((found.len(), found[0].date.as_str()), (1, "2026-01-02T00:00:00"));
        let brave = r#"{"web":{"results":[{"url":"https://b.example/","title":"B",
            "description":"about <strong>b</strong>","page_age":"2026-03-04"}]}}"#;
        let found = parse_results(SearchKind::Brave, brave.as_bytes()).unwrap();
        assert_eq!(found[0].content, "about <strong>b</strong>");
        assert!(parse_results(SearchKind::Brave, b"{}").unwrap().is_empty());
        let tavily = r#"{"results":[{"url":"https://c.example/","title":"C","content":"c",
            "published_date":null,"score":0.5}],"answer":null}"#;
        assert_eq!(parse_results(SearchKind::Tavily, tavily.as_bytes()).unwrap()[0].date, "");
        assert!(parse_results(SearchKind::Tavily, b"<html>").is_err());
    }
}
