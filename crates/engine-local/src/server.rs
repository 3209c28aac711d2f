//! The listener: binds the socket, answers, and ends when it is told.

use std::io::ErrorKind;
use std::path::Path;

use axum::Router;
use axum::routing::get;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;

use crate::endpoints::health;
use crate::{Error, Options};

pub(crate) async fn run(options: Options, stop: CancellationToken) -> Result<(), Error> {
    let refused = |error| Error::Socket { socket: options.socket.clone(), error };
    let listener = bind(&options.socket).map_err(refused)?;
    tracing::info!("engine listens on {}", options.socket.display());
    // Answers under way have nobody to go to once the parent is gone, so none is waited for.
    tokio::select! {
        served = async { axum::serve(listener, router()).await } => served.map_err(refused),
        () = stop.cancelled() => Ok(()),
    }
}

/// A file that an engine left behind when it was killed is in nobody's use: its parent starts one
/// engine at a time.
fn bind(socket: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(socket)
}

fn router() -> Router {
    Router::new().route("/health", get(health::show))
}
