//! The models of this machine: found on disk, loaded at the first request, unloaded when idle.

mod discovery;
mod gpu;
mod load_attempts;
mod loaded_model;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, Semaphore};

pub(crate) use self::discovery::{FoundModel, ModelKind};
use self::load_attempts::{LoadAttemptLog, RepeatedLoadCrash};
use self::loaded_model::{LoadParameters, MemoryReclaimer};
pub(crate) use self::loaded_model::{ModelHandle, ModelRuntime};
use crate::refusal::EngineRefusal;
use crate::{LocalEngineOptions, machine};

/// Maximum prompt cache of one model; at most a quarter of the memory limit.
const CACHE_BYTES_MAX: u64 = 1 << 30;
/// Concurrent completions of a text model.
const PARALLEL: u32 = 4;
/// Large images processed concurrently.
const PICTURES_AT_ONCE: usize = 1;

#[derive(Debug)]
pub(crate) struct ModelRegistry {
    settings: LoadSettings,
    limits: ModelLimits,
    /// One load at a time: concurrent ones would not see each other's memory use.
    loading: Semaphore,
    trials: LoadAttemptLog,
    /// Permits for processing large images.
    workbench: Arc<Semaphore>,
    models: Mutex<HashMap<String, RegistryEntry>>,
}

/// Settings for loading models, besides the limits.
#[derive(Debug, Clone)]
pub(crate) struct LoadSettings {
    pub(crate) models_dir: PathBuf,
    /// The operator's own library.
    pub(crate) llama_library: Option<PathBuf>,
    pub(crate) gpus: text::GpuSettings,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelLimits {
    pub(crate) threads: usize,
    /// The operator has not set the number of threads.
    pub(crate) adapts_threads: bool,
    pub(crate) memory_bytes_max: u64,
    pub(crate) cache_bytes_max: u64,
    pub(crate) parallel: u32,
}

/// A model that was requested at least once.
#[derive(Debug)]
struct RegistryEntry {
    kind: ModelKind,
    cell: Arc<OnceCell<ModelHandle>>,
    is_loading: bool,
    /// Set if the last load failed permanently.
    is_broken: bool,
    used_at: Instant,
}

/// The status of a model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ModelStatus {
    pub(crate) id: String,
    pub(crate) kind: ModelKind,
    pub(crate) state: &'static str,
    pub(crate) memory_bytes: u64,
    /// Layers on GPUs and total layers.
    pub(crate) gpu_layers: Option<(u32, u32)>,
}

impl ModelRegistry {
    pub(crate) fn new(options: &LocalEngineOptions) -> ModelRegistry {
        let memory_bytes_max =
            options.memory_bytes_max.unwrap_or_else(machine::default_memory_limit);
        ModelRegistry {
            settings: LoadSettings {
                models_dir: options.models_dir.clone(),
                llama_library: options.llama_library.clone(),
                gpus: text::GpuSettings::from_options(options),
            },
            limits: ModelLimits {
                threads: options.threads.unwrap_or_else(machine::available_threads),
                adapts_threads: options.threads.is_none(),
                memory_bytes_max,
                cache_bytes_max: CACHE_BYTES_MAX.min(memory_bytes_max / 4),
                parallel: PARALLEL,
            },
            loading: Semaphore::new(1),
            trials: LoadAttemptLog::in_folder(options.socket.with_extension("loading")),
            workbench: Arc::new(Semaphore::new(PICTURES_AT_ONCE)),
            models: Mutex::new(HashMap::new()),
        }
    }

    /// Returns the model, loading it if necessary.
    pub(crate) async fn get(
        self: &Arc<Self>,
        id: &str,
        kind: ModelKind,
    ) -> Result<ModelHandle, EngineRefusal> {
        let found = discovery::find_model(&self.settings.models_dir, id)?;
        if found.kind != kind {
            let (is, wanted) = (found.kind.catalogue_name(), kind.catalogue_name());
            let message = format!("The model {id} is for {is}, and this endpoint is for {wanted}.");
            return Err(EngineRefusal::invalid(Some("model"), message));
        }
        let found = found.into_loadable();
        let id = found.id.clone();
        let cell = self.touch(&id, found.kind);
        let loaded = cell.get_or_try_init(|| self.load(&id, found)).await?;
        Ok(loaded.clone())
    }

    /// Returns the model if it is loaded. Does not count as a use of it.
    pub(crate) fn find_loaded(&self, id: &str) -> Option<ModelHandle> {
        let found = discovery::find_model(&self.settings.models_dir, id).ok()?.into_loadable();
        let models = self.lock();
        models.get(&found.id)?.cell.get().filter(|model| !model.is_stopped()).cloned()
    }

    /// The kind of a model.
    pub(crate) fn kind_of(&self, id: &str) -> Result<ModelKind, EngineRefusal> {
        Ok(discovery::find_model(&self.settings.models_dir, id)?.kind)
    }

    /// The permits for processing large images.
    pub(crate) fn image_permits(&self) -> &Arc<Semaphore> {
        &self.workbench
    }

    /// Call at an orderly exit, so that a load in progress is not blamed for it.
    pub(crate) fn prepare_exit(&self) {
        self.trials.clear_marker();
        // GPU memory is freed before the driver shuts down with the process.
        for entry in self.lock().values_mut().filter(|entry| entry.is_unused()) {
            entry.unload();
        }
    }

    /// The status of every available model.
    pub(crate) fn statuses(&self) -> Vec<ModelStatus> {
        let models = self.lock();
        let status = |(id, kind): (String, ModelKind)| {
            let entry = models.get(&id);
            let loaded = entry.and_then(|entry| entry.cell.get()).filter(|it| !it.is_stopped());
            let state = match entry {
                Some(_) if loaded.is_some() => "loaded",
                Some(entry) if entry.is_loading => "loading",
                Some(entry) if entry.is_broken => "broken",
                _ => "idle",
            };
            let memory_bytes = loaded.map_or(0, ModelHandle::memory_bytes);
            let gpu_layers = loaded.and_then(ModelHandle::gpu_layers);
            ModelStatus { id, kind, state, memory_bytes, gpu_layers }
        };
        let mut ids = discovery::list_models(&self.settings.models_dir);
        // Models named by path are not in the models directory.
        let named = models.iter().map(|(id, entry)| (id.clone(), entry.kind));
        ids.extend(
            named.filter(|(id, _)| discovery::find_model(&self.settings.models_dir, id).is_ok()),
        );
        ids.sort();
        ids.dedup();
        ids.into_iter().map(status).collect()
    }

    /// Unloads models that have been idle for `idle_max`. A model in use counts as not idle.
    pub(crate) fn unload_idle(&self, now: Instant, idle_max: Duration) {
        let mut models = self.lock();
        for (id, entry) in models.iter_mut() {
            if !entry.is_unused() {
                entry.used_at = now;
                continue;
            }
            if idle_max <= now.saturating_duration_since(entry.used_at) {
                tracing::info!("unloaded {id}: not used for {} s", idle_max.as_secs());
                entry.unload();
            }
        }
    }

    fn touch(&self, id: &str, kind: ModelKind) -> Arc<OnceCell<ModelHandle>> {
        let mut models = self.lock();
        let entry = models.entry(id.to_owned()).or_insert_with(|| RegistryEntry::new(kind));
        entry.used_at = Instant::now();
        if entry.is_stopped() {
            tracing::error!(
                "unloaded {id} after its thread panicked; the next request loads it again"
            );
            entry.unload();
        }
        Arc::clone(&entry.cell)
    }

    async fn load(
        self: &Arc<Self>,
        id: &str,
        found: FoundModel,
    ) -> Result<ModelHandle, EngineRefusal> {
        let stopped = |_| EngineRefusal::engine_failure("The engine is stopping.");
        let _turn = self.loading.acquire().await.map_err(stopped)?;
        let trial = self
            .trials
            .begin(&found.path)
            .map_err(|RepeatedLoadCrash| refuse_crashing_file(&found.path));
        let trial = trial.inspect_err(|_| self.change(id, |entry| entry.is_broken = true))?;
        self.change(id, |entry| entry.is_loading = true);
        let begun = Instant::now();
        let (registry, limits) = (Arc::clone(self), self.limits);
        let load = move || {
            let loaded = loaded_model::load_model(&LoadParameters {
                found: &found,
                settings: &registry.settings,
                limits: &limits,
                room: registry.as_ref(),
                ended_before: trial.ended_before,
            });
            drop(trial);
            loaded
        };
        let loaded = tokio::task::spawn_blocking(load).await;
        let loaded =
            loaded.map_err(|error| EngineRefusal::engine_failure(error.to_string())).flatten();
        self.change(id, |entry| {
            entry.is_loading = false;
            entry.is_broken = loaded.as_ref().is_err_and(EngineRefusal::is_broken_model);
        });
        let loaded = loaded?;
        let seconds = begun.elapsed().as_secs_f32();
        tracing::info!("loaded {id} in {seconds:.1} s: {} bytes", loaded.memory_bytes());
        Ok(loaded)
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut RegistryEntry)) {
        if let Some(entry) = self.lock().get_mut(id) {
            change(entry);
        }
    }

    /// Ignores poisoning: the table is consistent after every change.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, RegistryEntry>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryReclaimer for ModelRegistry {
    /// Unloads unused models, least recently used first, until `bytes` more fit.
    fn free_memory(&self, bytes: u64) -> Result<(), EngineRefusal> {
        let mut models = self.lock();
        let most = self.limits.memory_bytes_max;
        loop {
            let used: u64 =
                models.values().filter_map(|it| it.cell.get()).map(ModelHandle::memory_bytes).sum();
            if used.saturating_add(bytes) <= most {
                return Ok(());
            }
            let mut unused: Vec<(&String, &mut RegistryEntry)> =
                models.iter_mut().filter(|(_, entry)| entry.is_unused()).collect();
            unused.sort_by_key(|(_, entry)| entry.used_at);
            let Some((id, entry)) = unused.into_iter().next() else {
                return Err(EngineRefusal::unavailable(
                    "out_of_memory",
                    format!(
                        "The model needs {bytes} bytes, and {used} of {most} are in use. Try again \
                     when other models are idle, or give the engine more memory."
                    ),
                ));
            };
            tracing::info!("unloaded {id} to make room");
            entry.unload();
        }
    }

    fn free_gpu_memory(&self) -> bool {
        let mut models = self.lock();
        let unused = models.iter_mut().filter(|(_, entry)| entry.is_unused() && entry.is_on_gpus());
        let Some((id, entry)) = unused.min_by_key(|(_, entry)| entry.used_at) else { return false };
        tracing::info!("unloaded {id} to make room on the GPU");
        entry.unload();
        true
    }
}

fn refuse_crashing_file(file: &Path) -> EngineRefusal {
    let file = file.display();
    tracing::error!("{file} is not loaded: the engine crashed twice while loading it");
    EngineRefusal::broken_model(format!(
        "The engine crashed twice while loading {file}. Replace the file, or touch it to have it \
         tried again."
    ))
}

impl RegistryEntry {
    fn new(kind: ModelKind) -> RegistryEntry {
        let cell = Arc::new(OnceCell::new());
        RegistryEntry { kind, cell, is_loading: false, is_broken: false, used_at: Instant::now() }
    }

    /// True if loaded and neither in use nor about to be: a request holds the cell, then the model.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.cell) == 1 && self.cell.get().is_some_and(ModelHandle::is_unused)
    }

    /// True if loaded, and unable to run a request again.
    fn is_stopped(&self) -> bool {
        self.cell.get().is_some_and(ModelHandle::is_stopped)
    }

    fn is_on_gpus(&self) -> bool {
        self.cell.get().is_some_and(|loaded| loaded.gpu_layers().is_some())
    }

    fn unload(&mut self) {
        self.cell = Arc::new(OnceCell::new());
    }
}

#[cfg(test)]
mod tests;
