//! Routes outside the API: pages, documentation and the console's own endpoints.

use axum::routing::{get, post};

use super::{account, activity, operator, pages, sign_in, top_up};
use crate::console::ConsoleApp;
use crate::route_table::RouteTable;

/// The routes outside the API.
pub(crate) fn build_routes() -> RouteTable<ConsoleApp> {
    let session =
        get(sign_in::show_session).post(sign_in::start_session).delete(sign_in::end_session);
    RouteTable::new()
        .route("/", get(pages::serve_index))
        .route("/favicon.svg", get(pages::serve_favicon))
        .route("/assets/{*path}", get(pages::serve_asset))
        .route("/docs", get(pages::serve_index))
        .route("/docs/", get(pages::serve_index))
        .route("/docs/{*page}", get(pages::serve_document))
        .route("/c/{slug}", get(pages::redirect_to_character))
        .route("/llms.txt", get(pages::serve_llms_text))
        .route("/console/session", session)
        .route("/console/terms", get(top_up::show_terms))
        .route("/console/solana-payment", post(top_up::solana_payment))
        .route("/console/refused", get(account::show_refused))
        .route("/console/limits", get(account::show_limits))
        .route("/console/jobs", get(account::show_jobs))
        .route("/console/brand", get(pages::show_brand))
        .route("/console/logo", get(pages::serve_logo))
        .route("/console/key", get(account::show_key_limits))
        .route("/console/activity", get(activity::show_activity))
        .route("/console/analytics", get(activity::show_analytics))
        .route("/console/operator", post(operator::post_operation))
}

/// The paths outside the API.
pub fn list_paths() -> Vec<String> {
    build_routes().into_paths()
}
