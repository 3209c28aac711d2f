//! The HTTP surface: endpoints, extractors, refusals and the OpenAPI document.
//!
//! A request's path through the folders: [`transport`] accepts it and assigns an id, [`call`]
//! authenticates the [`caller`], reads the [`input`] and applies the limits, an endpoint of
//! [`endpoints`] does the work, and a [`reply`] or a [`refusal`] is sent back.
//!
//! This is the only crate that knows HTTP statuses, headers and OpenAPI.

pub mod admin;
pub mod app;
pub mod refusal;
pub mod transport;
pub mod version;

pub mod anonymous_limits;
mod base_paths;
pub mod call;
pub mod caller;
mod caller_files;
pub mod caller_limits;
pub mod console;
mod detach_on_drop;
pub mod discovery;
pub mod endpoint;
mod endpoints;
pub mod engines;
mod failed_call;
pub mod home;
pub mod hosts;
mod image_processing;
pub mod input;
mod job_retrieval;
mod key_lookups;
mod keyed_outcome;
mod keyed_work;
pub mod metering_faults;
pub mod model_headers;
pub mod nodes;
pub mod openapi;
pub mod operation;
pub mod origin;
mod page_limit;
mod paid_chat;
mod paid_work;
mod payment;
pub mod principal;
pub mod proxy;
pub mod recent_errors;
pub mod reply;
pub mod request_head;
pub mod request_id;
mod route_table;
mod session;
pub mod session_state;
pub mod settings;
mod static_content;
mod upstream_answer_ids;
mod wallet_challenge;
mod wallet_sign_in;
pub mod wallets;
pub mod web;
mod work_session;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use serde_json::Value;

use crate::app::SharedApp;
pub use crate::base_paths::{BASE_PATH, OPENAI_BASE_PATH};
use crate::console::ConsoleApp;
use crate::refusal::Refusal;
use crate::route_table::RouteTable;
use crate::static_content::StaticContent;

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
            call::refuse_unmatched(app, request, refusal).await
        });
    transport::wrap_routes(routes, app.transport_context()).with_state(app)
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
    routes
}

/// Routes outside the API: the OpenAPI documents, the documentation and the console.
fn build_page_routes() -> RouteTable<ConsoleApp> {
    let document = openapi::build_document(&endpoints::list_endpoints());
    let yaml = StaticContent::new("application/yaml", openapi::yaml::to_yaml(&document));
    let document = StaticContent::new("application/json", document.to_string());
    let (document, yaml) = (serve_document(document), serve_document(yaml));
    let mut routes = RouteTable::new();
    for base in [BASE_PATH, OPENAI_BASE_PATH] {
        routes = routes
            .route(&format!("{base}/openapi.json"), document.clone())
            .route(&format!("{base}/doc/api/swagger.yaml"), yaml.clone());
    }
    routes.merge(console::routes::build_routes())
}

fn serve_document(content: StaticContent) -> MethodRouter<ConsoleApp> {
    let content = Arc::new(content);
    get(async move |State(app): State<SharedApp>, request: Request| {
        let reply = content.respond(request.headers());
        call::respond_uncounted(app, request, reply).await
    })
}

/// The OpenAPI document of the endpoints under [`BASE_PATH`].
pub fn build_openapi_document() -> Value {
    openapi::build_document(&endpoints::list_endpoints())
}
