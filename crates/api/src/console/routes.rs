//! The routes outside of the API: pages, documentation and the endpoints of the console.

use axum::Router;
use axum::routing::{MethodRouter, get, post};

use super::{activity, operator, own, pages, sign_in, top_up};
use crate::app::Shared;

/// Everything outside of the API that the public listener serves.
pub(crate) fn routes() -> Router<Shared> {
    table().into_iter().fold(Router::new(), |router, (path, route)| router.route(path, route))
}

/// Each path outside of the API.
pub fn paths() -> Vec<&'static str> {
    table().into_iter().map(|(path, _)| path).collect()
}

fn table() -> Vec<(&'static str, MethodRouter<Shared>)> {
    let session = get(sign_in::probe).post(sign_in::begin).delete(sign_in::end);
    vec![
        ("/", get(pages::index)),
        ("/favicon.svg", get(pages::favicon)),
        ("/assets/{*path}", get(pages::asset)),
        ("/docs", get(pages::index)),
        ("/docs/", get(pages::index)),
        ("/docs/{*page}", get(pages::document)),
        ("/c/{slug}", get(pages::character)),
        ("/llms.txt", get(pages::llms)),
        ("/console/session", session),
        ("/console/terms", get(top_up::terms)),
        ("/console/solana-payment", post(top_up::solana_payment)),
        ("/console/refused", get(own::refused)),
        ("/console/limits", get(own::limits)),
        ("/console/jobs", get(own::jobs)),
        ("/console/brand", get(pages::brand)),
        ("/console/logo", get(pages::logo)),
        ("/console/key", get(own::key)),
        ("/console/activity", get(activity::activity)),
        ("/console/analytics", get(activity::analytics)),
        ("/console/operator", post(operator::operate)),
    ]
}
