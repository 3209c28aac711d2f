//! The operator's listener: health, readiness and metrics.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use http_frame::app::SharedApp;
use http_frame::reply;
use ledger::LedgerStatus;
use serde_json::json;

use crate::route_table::RouteTable;

/// Renders all metrics in Prometheus' text format.
pub type RenderMetrics = std::sync::Arc<dyn Fn() -> String + Send + Sync>;

/// The state of the built-in engine, in a few words; None without such an engine.
pub type EngineReport = std::sync::Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// State that the routes of the operator's listener share.
#[derive(Clone)]
struct AdminState {
    app: SharedApp,
    render_metrics: RenderMetrics,
    engine: EngineReport,
}

pub fn build_router(app: SharedApp, render_metrics: RenderMetrics, engine: EngineReport) -> Router {
    build_routes().into_router().with_state(AdminState { app, render_metrics, engine })
}

/// Every path of the operator's listener.
pub fn route_paths() -> Vec<String> {
    build_routes().into_paths()
}

fn build_routes() -> RouteTable<AdminState> {
    RouteTable::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(serve_metrics))
}

/// Liveness: the process runs.
async fn healthz() -> impl IntoResponse {
    reply::respond_json(json!({ "status": "ok" }).to_string())
}

/// Readiness: the process can read its database and record charges. The built-in engine's state is
/// only reported, since other models work without it.
async fn readyz(State(watch): State<AdminState>) -> impl IntoResponse {
    let store = watch.app.store.setting("pepper").await;
    let status = watch.app.ledger.status();
    let (is_charging, clock) = (status.is_running, clock_fault(&status));
    let mut checks = json!({
        "store": store.as_ref().err().map_or("ok".to_owned(), ToString::to_string),
        "ledger": if is_charging { "ok" } else { "paused: charges cannot be recorded" },
        "clock": clock.as_deref().unwrap_or("ok"),
    });
    if let Some(fault) = watch.app.store.clock_fault() {
        checks["clock"] = fault.into();
    }
    if let Some(engine) = (watch.engine)() {
        checks["engine"] = engine.into();
    }
    let is_ready = store.is_ok() && is_charging && clock.is_none();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, reply::respond_json(json!({ "ready": is_ready, "checks": checks }).to_string()))
}

/// The reason why the clock cannot be trusted, if so.
fn clock_fault(status: &LedgerStatus) -> Option<String> {
    if !status.is_clock_trusted {
        return Some("the clock has jumped".to_owned());
    }
    let ahead_s = status.journal_ahead?.as_secs();
    Some(format!(
        "the journal is dated {ahead_s} s ahead of the clock, and limits and allowances stand still: \
         set the clock right, or run `tollgate ledger mend-time`"
    ))
}

async fn serve_metrics(State(watch): State<AdminState>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], (watch.render_metrics)())
}
