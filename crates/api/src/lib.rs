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
pub mod call;
pub mod caller;
pub mod discovery;
pub mod endpoint;
mod endpoints;
pub mod engines;
pub mod hosts;
pub mod input;
pub mod model_headers;
pub mod openapi;
pub mod operation;
pub mod origin;
mod outlasting;
mod paid_chat;
mod payment;
pub mod proxy;
mod purse;
pub mod reply;
pub mod standing;
pub mod wallets;

use axum::Router;
use axum::routing::get;
use serde_json::Value;

use crate::app::Shared;
use crate::refusal::Refusal;

/// Where the API lives; the segment is its major version.
pub const BASE_PATH: &str = "/api/v1";

/// Everything that the public listener serves.
pub fn router(app: Shared) -> Router {
    let endpoints = endpoints::all();
    let document = bytes::Bytes::from(openapi::document(&endpoints).to_string());
    let document = get(async move || reply::json(document.clone()));
    let below = |path: &str| format!("{BASE_PATH}{path}");
    let mut routes = Router::new().route(&below("/openapi.json"), document);
    for endpoint in endpoints {
        routes = routes.route(&below(endpoint.path), endpoint.route);
    }
    let routes = routes
        .fallback(async || {
            Refusal::not_found("Not found", "No such path. See /api/v1/openapi.json.")
        })
        .method_not_allowed_fallback(async || Refusal::method_not_allowed());
    transport::wrap(routes, &app).with_state(app)
}

/// The OpenAPI document of everything under [`BASE_PATH`].
pub fn document() -> Value {
    openapi::document(&endpoints::all())
}
