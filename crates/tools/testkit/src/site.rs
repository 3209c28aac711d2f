//! A stub web server and search engine, which answers under every name.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use config::sections::scrape::ScrapeConfig;
use config::sections::search::SearchConfig;
use domain::web_address::AddressScope;
use http_frame::web::{WebAccess, WebPrices};
use sandbox::InputReader;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use url::Url;
use web::{PageScraper, SearchKind, TextExtractor, WebFetcher, WebSearcher};

use crate::names::TestNames;

/// The content of a [`StubSite`], and the requests for it.
#[derive(Clone, Default)]
struct SiteState {
    pages: Arc<Mutex<HashMap<String, SiteReply>>>,
    seen: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug, Clone)]
struct SiteReply {
    status: StatusCode,
    media_type: &'static str,
    body: Vec<u8>,
    location: Option<&'static str>,
}

/// Answers by path; 404 for paths without content.
pub struct StubSite {
    address: SocketAddr,
    state: SiteState,
    _serving: AbortOnDropHandle<()>,
}

impl StubSite {
    pub async fn start() -> StubSite {
        let state = SiteState::default();
        let router = axum::Router::new().fallback(serve_page).with_state(state.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = TaskTracker::new().spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        StubSite { address, state, _serving: AbortOnDropHandle::new(serving) }
    }

    /// Sets the content of a path.
    pub fn put(&self, path: &str, media_type: &'static str, body: impl AsRef<[u8]>) {
        self.put_reply(path, StatusCode::OK, media_type, body.as_ref(), None);
    }

    pub fn put_status(&self, path: &str, status: u16, body: &str) {
        let status = StatusCode::from_u16(status).unwrap();
        self.put_reply(path, status, "text/html", body.as_bytes(), None);
    }

    pub fn put_redirect(&self, path: &str, location: &'static str) {
        self.put_reply(path, StatusCode::FOUND, "text/html", b"", Some(location));
    }

    /// Sets the results of searches, in SearXNG's format.
    pub fn put_results(&self, results: serde_json::Value) {
        let body = serde_json::json!({"query": "", "results": results}).to_string();
        self.put("/search", "application/json", &body);
    }

    /// The requested paths, with their queries.
    pub fn requested_paths(&self) -> Vec<String> {
        self.state.seen.lock().unwrap().clone()
    }

    fn put_reply(
        &self,
        path: &str,
        status: StatusCode,
        media_type: &'static str,
        body: &[u8],
        location: Option<&'static str>,
    ) {
        let reply = SiteReply { status, media_type, body: body.to_vec(), location };
        self.state.pages.lock().unwrap().insert(path.to_owned(), reply);
    }

    /// The web for a service with this configuration: addresses are checked as in production, and
    /// every public address leads to this server.
    pub(crate) fn web(
        &self,
        scrape: &ScrapeConfig,
        search: &SearchConfig,
        reader: Arc<dyn InputReader>,
    ) -> Arc<WebAccess> {
        let server = self.address;
        let tls = web::system_tls_config().unwrap();
        let agent = HeaderValue::from_static("tests");
        let fetcher = WebFetcher::new(Arc::new(TestNames), AddressScope::Public, tls, agent);
        let fetcher = Arc::new(fetcher.with_address_override(Arc::new(move |_| server)));
        let reading = TextExtractor::new(reader);
        let url = Url::parse(&format!("http://{server}")).unwrap();
        let searcher = WebSearcher::new(SearchKind::Searxng, &url, None).unwrap();
        let prices = WebPrices {
            scrape: scrape.price,
            search: search.price,
            parse: scrape.document_price,
            x_search: search.x_price,
        };
        let scraper = PageScraper::new(fetcher, reading.clone(), None, scrape.respect_robots);
        Arc::new(WebAccess { scraper, searcher: Some(searcher), reading, prices })
    }
}

async fn serve_page(State(state): State<SiteState>, request: Request) -> Response {
    state.seen.lock().unwrap().push(request.uri().to_string());
    let found = state.pages.lock().unwrap().get(request.uri().path()).cloned();
    let Some(reply) = found else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = (reply.status, reply.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.media_type));
    if let Some(location) = reply.location {
        headers.insert(header::LOCATION, HeaderValue::from_static(location));
    }
    response
}
