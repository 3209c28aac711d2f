//! The built-in engine of a running service: supervises its process and downloads its models.

use std::sync::Arc;
use std::time::Duration;

use api::admin::EngineReport;
use background::spawn_loop;
use config::sections::log::LogConfig;
use control::service::ControlService;
use domain::catalogue::{CatalogueModel, ModelSelection};
use supervisor::{LogLines, ProgressReporter, fetch_all, supervise_engine};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::logging;
use crate::bar::DownloadBars;
use crate::local::LocalEngine;

/// Time for the engine to end by itself before it is killed.
const STOP_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct EngineSupervision {
    local: LocalEngine,
    tasks: TaskTracker,
    /// Separate from the service's token: the engine must outlive responses in progress.
    stop: CancellationToken,
}

/// Reports the state of the built-in engine; nothing where none runs.
pub(super) fn build_report(engine: Option<&EngineSupervision>) -> EngineReport {
    engine.map_or_else(|| Arc::new(|| None) as EngineReport, EngineSupervision::build_report)
}

impl EngineSupervision {
    pub(crate) fn start(
        local: LocalEngine,
        service: &ControlService,
        log: &LogConfig,
    ) -> EngineSupervision {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let entropy = Arc::clone(&service.entropy);
        let (plan, status) = (local.plan.clone(), local.status.clone());
        spawn_loop(&tasks, &stop, "engine", move |stop| {
            let entropy = Arc::clone(&entropy);
            let dice = Box::new(move || {
                let mut bytes = [0; 8];
                entropy.fill_bytes(&mut bytes);
                u64::from_le_bytes(bytes)
            });
            supervise_engine(plan.clone(), status.clone(), dice, stop)
        });
        let catalogue = service.catalogue.get();
        let offered = catalogue.list(ModelSelection::All, service.clock.now());
        let offered: Vec<CatalogueModel> =
            offered.map(|model| CatalogueModel::clone(model)).collect();
        let wanted = local.list_startup_downloads(&offered);
        let teller: Box<dyn ProgressReporter> = if logging::is_watched(log) {
            Box::new(DownloadBars::default())
        } else {
            Box::new(LogLines)
        };
        tasks.spawn(fetch_all(Arc::clone(&local.puller), wanted, teller, stop.clone()));
        EngineSupervision { local, tasks, stop }
    }

    fn build_report(&self) -> EngineReport {
        let local = self.local.clone();
        Arc::new(move || Some(local.describe_state()))
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(STOP_WAIT, self.tasks.wait()).await.is_err() {
            tracing::warn!("the engine had not stopped after {} s", STOP_WAIT.as_secs());
        }
    }
}
