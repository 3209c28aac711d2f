//! The HTTP surface: endpoints, extractors, refusals and the OpenAPI document.
//!
//! A request's path through the folders: [`transport`] accepts it and gives it an id, [`call`]
//! reads its [`input`], finds out who its [`caller`] is and whether it may proceed, an endpoint of
//! [`endpoints`] does the work, and a [`reply`] or a [`refusal`] goes back.
//!
//! This is the only crate that names a status, a header or a word of OpenAPI.

pub mod admin;
pub mod app;
pub mod refusal;
pub mod transport;
pub mod version;

mod answer_names;
pub mod arrival;
pub mod call;
pub mod caller;
mod caller_files;
mod collect;
pub mod console;
pub mod discovery;
pub mod endpoint;
mod endpoints;
pub mod engines;
pub mod home;
pub mod hosts;
pub mod input;
mod keyed;
pub mod model_headers;
pub mod openapi;
pub mod operation;
pub mod origin;
mod outlasting;
mod paid;
mod paid_chat;
mod payment;
mod picture_work;
pub mod principal;
pub mod proxy;
pub mod reply;
pub mod request_id;
pub mod settings;
pub mod standing;
pub mod strangers;
pub mod wallets;
pub mod web;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::get;
use serde_json::Value;

use crate::app::Shared;
use crate::refusal::Refusal;

/// Where the API lives; the segment is its major version.
pub const BASE_PATH: &str = "/api/v1";
/// The same API for OpenAI's SDKs: errors have OpenAI's shape here.
pub const OPENAI_BASE_PATH: &str = "/v1";

/// Everything that the public listener serves.
pub fn router(app: Shared) -> Router {
    let endpoints = endpoints::all();
    let document = openapi::document(&endpoints);
    let yaml = bytes::Bytes::from(openapi::yaml::of(&document));
    let yaml = get(async move |State(app): State<Shared>, request: Request| {
        call::answer_freely(app, request, reply::yaml(yaml.clone())).await
    });
    let document = bytes::Bytes::from(document.to_string());
    let document = get(async move |State(app): State<Shared>, request: Request| {
        call::answer_freely(app, request, reply::json(document.clone())).await
    });
    let mut routes = Router::new();
    for base in [BASE_PATH, OPENAI_BASE_PATH] {
        let below = |path: &str| format!("{base}{path}");
        routes = routes
            .route(&below("/openapi.json"), document.clone())
            .route(&below("/doc/api/swagger.yaml"), yaml.clone());
        for endpoint in &endpoints {
            routes = routes.route(&below(endpoint.path), endpoint.route.clone());
        }
    }
    let routes = routes
        .merge(console::routes::routes())
        .fallback(async |State(app): State<Shared>, request: Request| {
            let message = "No such path. See /api/v1/openapi.json.";
            call::stray(app, request, Refusal::not_found("Not found", message)).await
        })
        .method_not_allowed_fallback(async |State(app): State<Shared>, request: Request| {
            call::stray(app, request, Refusal::method_not_allowed()).await
        });
    transport::wrap(routes, &app).with_state(app)
}

/// The OpenAPI document of everything under [`BASE_PATH`].
pub fn document() -> Value {
    openapi::document(&endpoints::all())
}
