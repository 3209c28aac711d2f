//! Signals of the operating system.

use control::service::CatalogueReload;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::CommandError;

/// The handled signals: SIGTERM and SIGINT stop the service, SIGHUP reloads the catalogue.
pub(crate) struct ProcessSignals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl ProcessSignals {
    /// Registers the handlers. From now on no signal is lost, even before it is awaited.
    pub(crate) fn listen() -> Result<ProcessSignals, CommandError> {
        let listen = |kind: SignalKind| {
            signal(kind).map_err(|error| {
                CommandError::Failed(format!("cannot listen for signals: {error}"))
            })
        };
        Ok(ProcessSignals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for a stop signal. Reloads the catalogue on SIGHUP.
    pub(crate) async fn until_stopped(&mut self, reload: &CatalogueReload) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hang_up.recv() => {
                    let reload = reload.clone();
                    // Reads files in a blocking task, so that requests are not delayed.
                    match tokio::task::spawn_blocking(move || reload()).await {
                        Ok(Ok(models)) => tracing::info!(models, "reloaded {models} models"),
                        Ok(Err(problem)) => {
                            tracing::error!("the catalogue was not reloaded: {problem}");
                        }
                        Err(error) => tracing::error!("the catalogue was not reloaded: {error}"),
                    }
                }
            }
        }
    }

    /// Waits for a stop signal only.
    pub(crate) async fn stop(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
