//! A stub web server and search engine, which answers under every name.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use api::web::{Web, WebPrices};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use config::sections::scrape::Scrape;
use config::sections::search::Search;
use domain::web_address::Reach;
use reader::Reader;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use url::Url;
use web::{Fetcher, Reading, Scraper, SearchKind, Searcher};

use crate::names::TestNames;

type Pages = Arc<Mutex<HashMap<String, Reply>>>;

#[derive(Debug, Clone)]
struct Reply {
    status: StatusCode,
    media_type: &'static str,
    body: Vec<u8>,
    location: Option<&'static str>,
}

/// Answers by path; 404 for paths without content.
pub struct StubSite {
    address: SocketAddr,
    pages: Pages,
    seen: Arc<Mutex<Vec<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl StubSite {
    pub async fn start() -> StubSite {
        let (pages, seen) = (Pages::default(), Arc::<Mutex<Vec<String>>>::default());
        let router = axum::Router::new()
            .fallback(answer)
            .with_state((Arc::clone(&pages), Arc::clone(&seen)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = TaskTracker::new().spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        StubSite { address, pages, seen, _serving: AbortOnDropHandle::new(serving) }
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
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn put_reply(
        &self,
        path: &str,
        status: StatusCode,
        media_type: &'static str,
        body: &[u8],
        location: Option<&'static str>,
    ) {
        let reply = Reply { status, media_type, body: body.to_vec(), location };
        self.pages.lock().unwrap().insert(path.to_owned(), reply);
    }

    /// The web for a service with this configuration: addresses are checked as in production, and
    /// every public address leads to this server.
    pub(crate) fn web(
        &self,
        scrape: &Scrape,
        search: &Search,
        reader: Arc<dyn Reader>,
    ) -> Arc<Web> {
        let server = self.address;
        let tls = web::trusting_the_system().unwrap();
        let agent = HeaderValue::from_static("tests");
        let fetcher = Fetcher::new(Arc::new(TestNames), Reach::Public, tls, agent);
        let fetcher = Arc::new(fetcher.with_stand_in(Arc::new(move |_| server)));
        let reading = Reading::new(reader);
        let url = Url::parse(&format!("http://{server}")).unwrap();
        let searcher = Searcher::new(SearchKind::Searxng, &url, None).unwrap();
        let prices = WebPrices {
            scrape: scrape.price,
            search: search.price,
            parse: scrape.document_price,
            x_search: search.x_price,
        };
        let scraper = Scraper::new(fetcher, reading.clone(), None, scrape.respect_robots);
        Arc::new(Web { scraper, searcher: Some(searcher), reading, prices })
    }
}

async fn answer(
    State((pages, seen)): State<(Pages, Arc<Mutex<Vec<String>>>)>,
    request: Request,
) -> Response {
    seen.lock().unwrap().push(request.uri().to_string());
    let found = pages.lock().unwrap().get(request.uri().path()).cloned();
    let Some(reply) = found else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = (reply.status, reply.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(reply.media_type));
    if let Some(location) = reply.location {
        headers.insert(header::LOCATION, HeaderValue::from_static(location));
    }
    response
}
