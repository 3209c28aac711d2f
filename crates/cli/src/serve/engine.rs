//! The built-in engine of a running service: supervises its process and downloads its models.

use std::sync::Arc;
use std::time::Duration;

use api::admin::EngineReport;
use background::spawn_loop;
use config::sections::log::Log;
use control::service::Service;
use domain::catalogue::{Model, Selection};
use supervisor::{LogLines, Teller, fetch_all, supervise};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::logging;
use crate::bar::Bars;
use crate::local::Local;

/// Time for the engine to end by itself before it is killed.
const STOP_WAIT: Duration = Duration::from_secs(10);

pub(crate) struct LocalChild {
    local: Local,
    tasks: TaskTracker,
    /// Separate from the service's token: the engine must outlive responses in progress.
    stop: CancellationToken,
}

impl LocalChild {
    pub(crate) fn start(local: Local, service: &Service, log: &Log) -> LocalChild {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let entropy = Arc::clone(&service.entropy);
        let (plan, status) = (local.plan.clone(), local.status.clone());
        spawn_loop(&tasks, &stop, "engine", move |stop| {
            let entropy = Arc::clone(&entropy);
            let dice = Box::new(move || {
                let mut bytes = [0; 8];
                entropy.fill(&mut bytes);
                u64::from_le_bytes(bytes)
            });
            supervise(plan.clone(), status.clone(), dice, stop)
        });
        let catalogue = service.catalogue.get();
        let offered = catalogue.list(Selection::All, service.clock.now());
        let offered: Vec<Model> = offered.map(|model| Model::clone(model)).collect();
        let wanted = local.wanted(&offered);
        let teller: Box<dyn Teller> =
            if logging::is_watched(log) { Box::new(Bars::default()) } else { Box::new(LogLines) };
        tasks.spawn(fetch_all(Arc::clone(&local.puller), wanted, teller, stop.clone()));
        LocalChild { local, tasks, stop }
    }

    pub(crate) fn report(&self) -> EngineReport {
        let local = self.local.clone();
        Arc::new(move || Some(local.report()))
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(STOP_WAIT, self.tasks.wait()).await.is_err() {
            tracing::warn!("the engine had not ended after {} s", STOP_WAIT.as_secs());
        }
    }
}
