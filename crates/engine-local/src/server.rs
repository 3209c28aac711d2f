//! Binds the socket and serves until cancelled.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::endpoints::{
    cutouts, edits, embeddings, health, images, models, safety, speech, texts, transcriptions,
    upscales, videos,
};
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::videos::Videos;
use crate::{Error, Options};

/// More than the gateway allows, which has its own limits per endpoint.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 20;
/// Range of the interval between checks for idle models.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(5);
const LOOK_EVERY_MIN: Duration = Duration::from_millis(100);

pub(crate) async fn run(options: Options, stop: CancellationToken) -> Result<(), Error> {
    let refused = |error| Error::Socket { socket: options.socket.clone(), error };
    let registry = Arc::new(Registry::new(&options));
    let listener = bind(&options.socket).map_err(refused)?;
    tracing::info!("engine listens on {}", options.socket.display());
    let router = router(Arc::clone(&registry));
    // Does not wait for requests in progress: they are the parent's, and it is gone.
    let ended = tokio::select! {
        served = async { axum::serve(listener, router).await } => served.map_err(refused),
        () = unload_idle(&registry, options.idle_unload) => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    registry.give_up();
    ended
}

/// Replaces a stale socket: the parent runs one engine at a time.
fn bind(socket: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(socket)?;
    // Clients of the socket use the models without paying.
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Unloads idle models periodically. Never returns.
async fn unload_idle(registry: &Registry, idle_max: Option<Duration>) {
    let Some(idle_max) = idle_max else { return std::future::pending().await };
    let look_every = (idle_max / 4).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
    loop {
        tokio::time::sleep(look_every).await;
        registry.unload_idle(Instant::now(), idle_max);
    }
}

fn router(registry: Arc<Registry>) -> Router {
    let videos = Router::new()
        .route("/v1/videos", post(videos::create))
        .route("/v1/videos/{id}", get(videos::show))
        .route("/v1/videos/{id}/content", get(videos::content))
        .route("/v1/videos/{id}/cancel", post(videos::cancel))
        .with_state(Arc::new(Videos::new(Arc::clone(&registry))));
    Router::new()
        .route("/health", get(health::show))
        .route("/v1/models", get(models::list))
        .route("/v1/chat/completions", post(texts::create_chat))
        .route("/v1/completions", post(texts::create_completion))
        .route("/v1/embeddings", post(embeddings::create))
        .route("/v1/audio/speech", post(speech::create))
        .route("/v1/images/generations", post(images::create))
        .route("/v1/images/edits", post(edits::create))
        .route("/v1/images/upscales", post(upscales::create))
        .route("/v1/images/cutouts", post(cutouts::create))
        .route("/v1/images/safety", post(safety::judge))
        .route("/v1/audio/transcriptions", post(transcriptions::create))
        .fallback(async || Refusal::invalid(None, "There is no such endpoint."))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(registry)
        .merge(videos)
}
