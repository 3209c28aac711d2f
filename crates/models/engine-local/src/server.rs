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
use crate::refusal::EngineRefusal;
use crate::registry::ModelRegistry;
use crate::videos::VideoJobs;
use crate::{EngineServeError, LocalEngineOptions};

/// More than the gateway allows, which has its own limits per endpoint.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 20;
/// Range of the interval between checks for idle models.
const LOOK_EVERY_MAX: Duration = Duration::from_secs(5);
const LOOK_EVERY_MIN: Duration = Duration::from_millis(100);

pub(crate) async fn run_server(
    options: LocalEngineOptions,
    stop: CancellationToken,
) -> Result<(), EngineServeError> {
    let refused = |error| EngineServeError::Socket { socket: options.socket.clone(), error };
    let registry = Arc::new(ModelRegistry::new(&options));
    let listener = bind_socket(&options.socket).map_err(refused)?;
    tracing::info!("engine listens on {}", options.socket.display());
    let router = build_router(Arc::clone(&registry));
    // Does not wait for requests in progress: they are the parent's, and it is gone.
    let ended = tokio::select! {
        served = async { axum::serve(listener, router).await } => served.map_err(refused),
        () = unload_idle(&registry, options.idle_unload) => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    registry.prepare_exit();
    ended
}

/// Replaces a stale socket: the parent runs one engine at a time.
fn bind_socket(socket: &Path) -> std::io::Result<UnixListener> {
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
async fn unload_idle(registry: &ModelRegistry, idle_max: Option<Duration>) {
    let Some(idle_max) = idle_max else { return std::future::pending().await };
    let look_every = (idle_max / 4).clamp(LOOK_EVERY_MIN, LOOK_EVERY_MAX);
    loop {
        tokio::time::sleep(look_every).await;
        registry.unload_idle(Instant::now(), idle_max);
    }
}

fn build_router(registry: Arc<ModelRegistry>) -> Router {
    let videos = Router::new()
        .route("/v1/videos", post(videos::create_video))
        .route("/v1/videos/{id}", get(videos::show_video))
        .route("/v1/videos/{id}/content", get(videos::download_video))
        .route("/v1/videos/{id}/cancel", post(videos::cancel_video))
        .with_state(Arc::new(VideoJobs::new(Arc::clone(&registry))));
    Router::new()
        .route("/health", get(health::show_health))
        .route("/v1/models", get(models::list_models))
        .route("/v1/chat/completions", post(texts::create_chat))
        .route("/v1/chat/tokens", post(texts::count_chat_tokens))
        .route("/v1/completions", post(texts::create_completion))
        .route("/v1/embeddings", post(embeddings::create_embeddings))
        .route("/v1/audio/speech", post(speech::create_speech))
        .route("/v1/images/generations", post(images::create_image))
        .route("/v1/images/edits", post(edits::create_edit))
        .route("/v1/images/upscales", post(upscales::create_upscale))
        .route("/v1/images/cutouts", post(cutouts::create_cutout))
        .route("/v1/images/safety", post(safety::classify_image))
        .route("/v1/audio/transcriptions", post(transcriptions::create_transcription))
        .route("/v1/audio/translations", post(transcriptions::create_translation))
        .fallback(async || EngineRefusal::invalid(None, "There is no such endpoint."))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(registry)
        .merge(videos)
}
