//! The endpoints, the console and the OpenAPI document: all that is served over HTTP.
//!
//! The path that a request takes to an endpoint and back is the crate `http-frame`, which knows no
//! endpoint.

pub mod admin;
pub mod batch_lines;
mod caller_files;
pub mod console;
mod endpoints;
mod image_processing;
mod job_retrieval;
pub mod openapi;
mod page_limit;
mod route_table;

use std::sync::{Arc, LazyLock};

pub use crate::endpoints::responses::background::worker as response_worker;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use http_frame::app::SharedApp;
pub use http_frame::base_paths::{BASE_PATH, OPENAI_BASE_PATH};
use http_frame::call;
use http_frame::refusal::Refusal;
use http_frame::static_content::StaticContent;
use http_frame::transport;
use serde_json::Value;

use crate::console::ConsoleApp;
use crate::route_table::RouteTable;

/// The router of the public listener.
pub fn build_router(served: ConsoleApp) -> Router {
    let app = Arc::clone(&served.app);
    let admit_page = from_fn_with_state(Arc::clone(&app), page_limit::admit_page);
    let pages = build_page_routes().into_router().layer(admit_page).with_state(served);
    let routes = api_routes()
        .into_router()
        .merge(pages)
        .fallback(async |State(app): State<SharedApp>, request: Request| {
            let message = "No such path. See /api/v1/openapi.json.";
            call::refuse_unmatched(app, request, Refusal::not_found("Not found", message)).await
        })
        .method_not_allowed_fallback(async |State(app): State<SharedApp>, request: Request| {
            let refusal = Refusal::wrong_method(&request);
            if asks_for_mcp_stream(&request) {
                return call::respond_uncounted(app, request, refusal.into_response()).await;
            }
            call::refuse_unmatched(app, request, refusal).await
        });
    transport::wrap_routes(routes, app.transport_context()).with_state(app)
}

/// True if an MCP client asks for a stream or ends a session. Clients do so whenever they connect, and
/// take 405 as the answer that there is none, so it is no failure of theirs.
fn asks_for_mcp_stream(request: &Request) -> bool {
    let path = request.uri().path();
    let bases = ["", BASE_PATH, OPENAI_BASE_PATH];
    let is_mcp = bases.into_iter().any(|it| path.strip_prefix(it) == Some(endpoints::MCP_PATH));
    is_mcp && matches!(*request.method(), Method::GET | Method::DELETE)
}

/// Every path of the public listener, with its placeholders, such as `{id}`.
pub fn route_paths() -> Vec<String> {
    let mut paths = api_routes().into_paths();
    paths.extend(build_page_routes().into_paths());
    paths
}

fn api_routes() -> RouteTable<SharedApp> {
    let endpoints = endpoints::list_endpoints();
    let mut routes = RouteTable::new();
    for base in [BASE_PATH, OPENAI_BASE_PATH] {
        for endpoint in &endpoints {
            routes = routes.route(&format!("{base}{}", endpoint.path), endpoint.route.clone());
        }
    }
    for endpoint in endpoints.iter().filter(|it| it.path == endpoints::MCP_PATH) {
        // Clients of MCP are usually given a URL that ends there.
        routes = routes.route(endpoint.path, endpoint.route.clone());
    }
    // Cohere's clients add the version to the host.
    routes.route(endpoints::COHERE_RERANK_PATH, endpoints::rerank_endpoint().route)
}

/// Routes outside the API: the OpenAPI documents, the documentation and the console.
fn build_page_routes() -> RouteTable<ConsoleApp> {
    let (document, yaml) = (serve_document(&OPENAPI_JSON), serve_document(&OPENAPI_YAML));
    let mut routes = RouteTable::new();
    for base in [BASE_PATH, OPENAI_BASE_PATH] {
        routes = routes
            .route(&format!("{base}/openapi.json"), document.clone())
            .route(&format!("{base}/doc/api/swagger.yaml"), yaml.clone());
    }
    routes.merge(console::routes::build_routes())
}

/// Built at the first request for it: this takes more time than the rest of the router together,
/// and most processes of the tests and commands are never asked for it.
static OPENAPI_JSON: LazyLock<StaticContent> =
    LazyLock::new(|| StaticContent::new("application/json", build_openapi_document().to_string()));

/// Built at the first request for it, like the JSON.
static OPENAPI_YAML: LazyLock<StaticContent> = LazyLock::new(|| {
    StaticContent::new("application/yaml", openapi::yaml::to_yaml(&build_openapi_document()))
});

fn serve_document(content: &'static LazyLock<StaticContent>) -> MethodRouter<ConsoleApp> {
    get(async move |State(app): State<SharedApp>, request: Request| {
        let reply = content.respond(request.headers());
        call::respond_uncounted(app, request, reply).await
    })
}

/// The OpenAPI document of the endpoints under [`BASE_PATH`].
pub fn build_openapi_document() -> Value {
    openapi::build_document(&endpoints::list_endpoints())
}
