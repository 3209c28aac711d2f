//! Routes outside the API: pages, documentation and the console's own endpoints.

use axum::routing::{get, post};

use super::{activity, operator, own, pages, sign_in, top_up};
use crate::app::Shared;
use crate::route_table::RouteTable;

/// The routes outside the API.
pub(crate) fn routes() -> RouteTable<Shared> {
    let session = get(sign_in::probe).post(sign_in::begin).delete(sign_in::end);
    RouteTable::new()
        .route("/", get(pages::index))
        .route("/favicon.svg", get(pages::favicon))
        .route("/assets/{*path}", get(pages::asset))
        .route("/docs", get(pages::index))
        .route("/docs/", get(pages::index))
        .route("/docs/{*page}", get(pages::document))
        .route("/c/{slug}", get(pages::character))
        .route("/llms.txt", get(pages::llms))
        .route("/console/session", session)
        .route("/console/terms", get(top_up::terms))
        .route("/console/solana-payment", post(top_up::solana_payment))
        .route("/console/refused", get(own::refused))
        .route("/console/limits", get(own::limits))
        .route("/console/jobs", get(own::jobs))
        .route("/console/brand", get(pages::brand))
        .route("/console/logo", get(pages::logo))
        .route("/console/key", get(own::key))
        .route("/console/activity", get(activity::activity))
        .route("/console/analytics", get(activity::analytics))
        .route("/console/operator", post(operator::operate))
}

/// The paths outside the API.
pub fn paths() -> Vec<String> {
    routes().into_paths()
}
