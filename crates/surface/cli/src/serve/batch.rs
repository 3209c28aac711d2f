//! Builds the service of files and batches from the configuration, and starts its worker.

use std::path::Path;
use std::sync::Arc;

use api::batch_lines::ApiLineServer;
use background::spawn_loop;
use batches::{BatchDependencies, BatchService, BatchSettings, FileSettings, LineServer};
use config::read::ServiceConfig;
use control::service::ControlService;
use http_frame::app::AppState;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::failure::CommandError;
use crate::serve::queue::open_media;

pub(crate) fn open_batches(
    data_dir: &Path,
    service: &ControlService,
    config: &ServiceConfig,
) -> Result<Arc<BatchService>, CommandError> {
    let parts = BatchDependencies {
        store: Arc::clone(&service.store),
        ledger: Arc::clone(&service.ledger),
        media: open_media(data_dir, &config.media)?,
        clock: Arc::clone(&service.clock),
        entropy: Arc::clone(&service.entropy),
    };
    let (batches, files) = (&config.batches, &config.files);
    let settings = BatchSettings {
        price_factor: batches.price_factor,
        concurrency: batches.concurrency,
        lines_max: batches.lines_max,
        line_bytes_max: batches.line_bytes_max(),
        open_per_owner_max: batches.open_per_account,
        output_bytes_max: batches.output_bytes_max(),
        retention: batches.retention,
        files: FileSettings {
            bytes_max: files.bytes_max(),
            per_owner_max: files.per_account,
            bytes_per_owner_max: files.bytes_per_account_max(),
            retention: files.retention,
        },
        ..BatchSettings::default()
    };
    Ok(Arc::new(BatchService::new(parts, settings)))
}

/// Starts the worker of batches, whose lines are served as calls are.
pub(crate) fn start_batches(app: &Arc<AppState>, tasks: &TaskTracker, stop: &CancellationToken) {
    let server: Arc<dyn LineServer> = Arc::new(ApiLineServer::new(Arc::clone(app)));
    let (batches, runs) = (Arc::clone(&app.batches), tasks.clone());
    spawn_loop(tasks, stop, "batches", move |stop| {
        Arc::clone(&batches).run_worker(Arc::clone(&server), runs.clone(), stop)
    });
    let batches = Arc::clone(&app.batches);
    spawn_loop(tasks, stop, "batch_rows", move |stop| Arc::clone(&batches).run_maintenance(stop));
}
