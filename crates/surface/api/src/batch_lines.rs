//! Serves the lines of batches through the endpoints that they name.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use batches::{LineReply, LineRequest, LineServer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_frame::app::SharedApp;
use http_frame::batch_line::BatchLineTerms;
use http_frame::call_terms::CallTerms;
use http_frame::inner_call::InnerEndpoint;
use http_frame::refusal::Refusal;
use http_frame::request_id::RequestId;
use http_frame::stored_caller::{StoredCall, StoredCaller};
use schema_check::ValidationFaults;
use serde::Deserialize;
use wire::batches::BatchEndpoint;

use crate::endpoints::batch_endpoint;

/// Serves lines as the endpoints of the API do.
pub struct ApiLineServer {
    app: SharedApp,
    endpoints: Arc<[(BatchEndpoint, InnerEndpoint)]>,
}

impl ApiLineServer {
    pub fn new(app: SharedApp) -> ApiLineServer {
        let endpoints = BatchEndpoint::ALL.map(|it| (it, batch_endpoint(it).to_inner()));
        ApiLineServer { app, endpoints: endpoints.into() }
    }
}

impl LineServer for ApiLineServer {
    fn serve(&self, line: LineRequest) -> BoxFuture<'static, LineReply> {
        let (app, endpoints) = (SharedApp::clone(&self.app), Arc::clone(&self.endpoints));
        async move {
            let url = line.batch.endpoint.clone();
            let request_id = RequestId::new(line.request_id.clone());
            let factor = app.batches.settings.price_factor;
            let terms = Arc::new(BatchLineTerms::new(factor));
            let served = serve_line(&app, &endpoints, line, Arc::clone(&terms)).await;
            let response = served.unwrap_or_else(IntoResponse::into_response);
            terms.build_reply(&url, &request_id, app.clock.now(), response).await
        }
        .boxed()
    }
}

async fn serve_line(
    app: &SharedApp,
    endpoints: &[(BatchEndpoint, InnerEndpoint)],
    line: LineRequest,
    terms: Arc<BatchLineTerms>,
) -> Result<Response, Refusal> {
    refuse_unanswerable(&line.body)?;
    let url = line.batch.endpoint.as_str();
    let endpoint = endpoints.iter().find(|(endpoint, _)| endpoint.url() == url);
    let (_, endpoint) =
        endpoint.ok_or_else(|| Refusal::internal("a batch names an unknown endpoint"))?;
    let caller = StoredCaller::parse(&line.batch.caller)
        .ok_or_else(|| Refusal::internal("the caller of a batch cannot be read"))?;
    let path = url.strip_prefix(http_frame::base_paths::OPENAI_BASE_PATH).unwrap_or(url);
    let call = StoredCall {
        path: path.to_owned(),
        headers: HeaderMap::new(),
        body: line.body.into(),
        request_id: RequestId::new(line.request_id),
        terms: CallTerms { is_counted: true, batch_line: Some(terms), ..CallTerms::default() },
    };
    Ok(caller.serve(app, endpoint, call).await)
}

/// Fields whose answer does not fit into a line of a file.
#[derive(Deserialize)]
struct LiveFields {
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    background: Option<bool>,
}

/// 400 for a body that asks for a stream or for background work. Other faults of a body are found by
/// the endpoint.
fn refuse_unanswerable(body: &[u8]) -> Result<(), Refusal> {
    let Ok(fields) = serde_json::from_slice::<LiveFields>(body) else { return Ok(()) };
    let mut faults = ValidationFaults::default();
    if fields.stream == Some(true) {
        faults.at(["stream"]).push("Must be false in a batch");
    }
    if fields.background == Some(true) {
        faults.at(["background"]).push("Must be false in a batch");
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))
}
