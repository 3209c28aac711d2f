//! The built-in engine from the view of commands: its files, process and models.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::read::ServiceConfig;
use config::sections::engine as section;
use config::sections::log::LogFormat;
use config::sections::provider::BUILT_IN;
use domain::catalogue::{CatalogueModel, ModelType};
use engine_upstream::LocalProcess;
use engine_wiring::builtin::SAFETY;
use engine_wiring::composer_engine::COMPOSER;
use supervisor::{EngineCommand, ProcessState, StatusCell};
use tokio_util::task::TaskTracker;
use weights::{DownloadState, EntryKind, ModelPuller, PullSettings, embedded_manifest, gguf};

use crate::command_environment::CommandEnvironment;
use crate::engine::BuiltInEngine;
use crate::failure::CommandError;
use crate::gpu;
use crate::registries;

/// The built-in engine of this machine. Absent if the program has none or the operator disabled it.
#[derive(Clone)]
pub(crate) struct LocalEngine {
    pub(crate) puller: Arc<ModelPuller>,
    pub(crate) status: StatusCell,
    pub(crate) plan: EngineCommand,
    /// Set if the default models are downloaded at startup.
    pub(crate) fetches: bool,
    /// Set if text models use the downloaded library, not the operator's own.
    needs_library: bool,
    /// The device for text models.
    pub(crate) gpu: gpu::GpuChoice,
}

/// The manifest entry of the library for text models.
const LLAMA_LIBRARY: &str = "llama-cpp";
/// Variables for the cache folders of CUDA and Vulkan drivers, and the folders beside the engine's
/// socket, where the engine may write.
const DRIVER_CACHES: [(&str, &str); 2] =
    [("CUDA_CACHE_PATH", "cuda"), ("XDG_CACHE_HOME", "drivers")];
const USUAL_SECRETS: [&str; 3] = ["/etc/tollgate", "/run/secrets", "/etc/shadow"];

impl LocalEngine {
    pub(crate) fn from_config(
        engine: BuiltInEngine,
        surroundings: &CommandEnvironment,
        config: &ServiceConfig,
    ) -> Result<Option<LocalEngine>, CommandError> {
        let (section, log) = (&config.engine, &config.log);
        if !engine.is_built_in() || section.local == section::LocalEngineMode::Off {
            return Ok(None);
        }
        let program = std::env::current_exe().map_err(|error| {
            CommandError::Failed(format!("cannot tell where this program is: {error}"))
        })?;
        let data_dir = &surroundings.data_dir.path;
        let socket = data_dir.join("engine").join("engine.sock");
        let library_path = surroundings.environment.get("LD_LIBRARY_PATH");
        let seen = gpu::DetectedGpus::detect(Path::new("/"), library_path);
        let gpu = gpu::GpuChoice::select(section.device, section.llama_library.is_some(), &seen);
        let mut arguments = build_engine_arguments(&socket, data_dir, section);
        arguments.extend(["--device".into(), gpu.device.to_option_value().into()]);
        if let Some(folder) = &gpu.cuda_dir {
            arguments.extend(["--cuda-dir".into(), folder.clone().into()]);
        }
        // Passed as arguments, so that the engine need not read the configuration, which contains
        // secrets.
        let format = match log.format {
            LogFormat::Auto => "auto",
            LogFormat::Human => "human",
            LogFormat::Json => "json",
        };
        arguments.extend(["--log-format".into(), format.into()]);
        arguments.extend(["--log-level".into(), log.level.clone().into()]);
        for kept in list_hidden_paths(surroundings) {
            arguments.extend(["--hide".into(), kept.into()]);
        }
        let mut environment: Vec<(OsString, OsString)> =
            std::env::vars_os().filter(|(name, _)| is_needed(name)).collect();
        // Without a cache, GPU drivers would recompile their code at every start.
        for (name, folder) in DRIVER_CACHES {
            if !environment.iter().any(|(set, _)| set == name) {
                environment.push((name.into(), data_dir.join("engine").join(folder).into()));
            }
        }
        Ok(Some(LocalEngine {
            puller: build_puller(surroundings, section)?,
            status: StatusCell::default(),
            plan: EngineCommand { program, arguments, environment, socket },
            fetches: section.fetch,
            needs_library: section.llama_library.is_none(),
            gpu,
        }))
    }

    /// Returns the connection to the engine for the gateway.
    pub(crate) fn process(&self) -> LocalProcess {
        let readiness = supervisor::readiness_check(Arc::clone(&self.puller), self.status.clone());
        LocalProcess { socket: self.plan.socket.clone(), readiness: Arc::new(readiness) }
    }

    /// Returns the models to download at startup: the default ones in the catalogue, without those
    /// that the operator's models replace.
    pub(crate) fn list_startup_downloads(&self, offered: &[CatalogueModel]) -> Vec<String> {
        if !self.fetches {
            return Vec::new();
        }
        let defaults = self.puller.manifest().models();
        let defaults = defaults.filter(|files| files.default && files.kind != EntryKind::Library);
        let is_offered = |id: &str| offered.iter().any(|model| files_of(model) == Some(id));
        let mut wanted: Vec<String> =
            defaults.map(|files| files.id.clone()).filter(|id| is_offered(id)).collect();
        let runs_here =
            |model: &CatalogueModel| model.routes.iter().any(|it| it.provider == BUILT_IN);
        let is_text = |model: &CatalogueModel| model.model_type() == ModelType::Text;
        if offered.iter().any(|model| is_text(model) && runs_here(model)) {
            // First, because a model loaded before the GPU backend is downloaded would run on the
            // CPU.
            wanted.splice(0..0, self.gpu.entries.iter().map(|id| (*id).to_owned()));
        }
        let makes_pictures = |model: &CatalogueModel| {
            matches!(model.model_type(), ModelType::Image | ModelType::Inpaint)
        };
        // Needed also for images generated by other providers, because they are classified here.
        if offered.iter().any(makes_pictures) {
            wanted.push(SAFETY.to_owned());
        }
        // GGUF files of the operator need the library too, but have no manifest entry that requires
        // it.
        if self.needs_library && offered.iter().any(|model| self.is_operator_file(model)) {
            wanted.push(LLAMA_LIBRARY.to_owned());
        }
        wanted
    }

    /// True if a model runs here from a file that is not in the manifest.
    fn is_operator_file(&self, model: &CatalogueModel) -> bool {
        files_of(model).is_none() && self.gguf_of(model).is_some()
    }

    /// Returns the state of a model's files; None for a model without local files.
    pub(crate) fn weights_of(&self, model: &CatalogueModel) -> Option<String> {
        if let Some(id) = files_of(model) {
            return Some(format_weights_state(&self.puller.model_state(id)) + &self.place_of(id));
        }
        let file = self.gguf_of(model)?;
        Some(match gguf::read_metadata(&file) {
            Ok(facts) => format!("ready, {} MB", facts.bytes.div_ceil(1_000_000)),
            Err(error) => format!("broken: {error}"),
        })
    }

    /// Returns the number of GPU layers of a loaded model; empty if it runs on the CPU only.
    fn place_of(&self, id: &str) -> String {
        let models = self.status.get().models;
        let layers = models.into_iter().find(|it| it.id == id).and_then(|it| it.gpu_layers);
        layers.map(|(on, all)| format!(", {on} of {all} layers on the GPU")).unwrap_or_default()
    }

    /// Returns the operator's GGUF file of a model.
    fn gguf_of(&self, model: &CatalogueModel) -> Option<PathBuf> {
        let route = model.routes.iter().find(|route| route.provider == BUILT_IN)?;
        if model.model_type() != ModelType::Text {
            return None;
        }
        let path = Path::new(&route.upstream_id);
        if path.is_absolute() {
            return Some(path.to_owned());
        }
        let name = format!("{}.{}", route.upstream_id, gguf::EXTENSION);
        Some(self.puller.settings().models_dir.join(name))
    }

    /// Returns a short description of the engine process's state.
    pub(crate) fn describe_state(&self) -> String {
        match self.status.get().state {
            ProcessState::Up => "ok".to_owned(),
            ProcessState::Starting => "starting".to_owned(),
            ProcessState::Down { reason } => format!("down: {reason}"),
        }
    }
}

/// Returns the files that the engine must not read: the data directory, the configuration, and
/// usual locations of secrets.
fn list_hidden_paths(surroundings: &CommandEnvironment) -> Vec<PathBuf> {
    let config = surroundings.config_file.as_deref().map(|file| surroundings.folder.join(file));
    let config = config.unwrap_or_else(|| surroundings.folder.join(config::sources::FILE_NAME));
    let usual = USUAL_SECRETS.iter().map(PathBuf::from);
    [surroundings.data_dir.path.clone(), config].into_iter().chain(usual).collect()
}

/// True for variables that compute libraries read. No others are passed, so that no API key reaches
/// a process that runs third-party code.
fn is_needed(name: &OsStr) -> bool {
    const NAMES: [&str; 7] =
        ["PATH", "HOME", "LANG", "TMPDIR", "TZ", "LD_LIBRARY_PATH", "RUST_BACKTRACE"];
    const PREFIXES: [&str; 8] = ["LC_", "OMP_", "GOMP_", "KMP_", "MKL_", "CUDA_", "GGML_", "ORT_"];
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Creates the downloader of weights, for the service and for commands.
pub(crate) fn build_puller(
    surroundings: &CommandEnvironment,
    section: &section::EngineConfig,
) -> Result<Arc<ModelPuller>, CommandError> {
    let data_dir = &surroundings.data_dir.path;
    let (environment, of_section) = (surroundings.environment.clone(), section.clone());
    let settings = PullSettings {
        models_dir: data_dir.join(&section.models_dir),
        weights_from: section.weights_from.as_ref().map(|path| data_dir.join(path)),
        find_registries: Arc::new(move || registries::find_registries(&of_section, &environment)),
    };
    // Not tracked with the service's tasks: shutdown must not wait for a download, which resumes at
    // the next start.
    let puller = ModelPuller::new(embedded_manifest(), settings, TaskTracker::new())
        .map_err(CommandError::Failed)?;
    Ok(Arc::new(puller))
}

/// Returns the operator's models and the built-in ones: the default set, other downloaded models,
/// and GGUF files in the models folder without a catalogue entry.
pub(crate) fn merge_models(
    own: Vec<CatalogueModel>,
    local: Option<&LocalEngine>,
) -> Result<Vec<CatalogueModel>, String> {
    let Some(local) = local else { return Ok(own) };
    let mut builtin = engine_wiring::builtin::list_builtin_models()?;
    builtin.retain(|model| {
        let is_default =
            embedded_manifest().find_model(&model.id).is_some_and(|files| files.default);
        let needs_no_files = model.id == COMPOSER;
        needs_no_files || is_default || local.puller.model_state(&model.id) == DownloadState::Ready
    });
    let models_dir = &local.puller.settings().models_dir;
    let mut dropped = engine_wiring::gguf_models::list_gguf_models(models_dir);
    dropped.retain(|model| !engine_wiring::gguf_models::is_named_by(&own, models_dir, &model.id));
    builtin.extend(dropped);
    Ok(engine_wiring::builtin::merge_models(own, builtin))
}

/// Returns the state of a model's files as shown by `models list`.
pub(crate) fn format_weights_state(state: &DownloadState) -> String {
    match state {
        DownloadState::Ready => "ready".to_owned(),
        DownloadState::Fetching(progress) => format!("downloading {} %", progress.percent()),
        DownloadState::NotFetched => "not downloaded".to_owned(),
        DownloadState::Failed(_) => "not downloaded: the last attempt failed".to_owned(),
    }
}

/// Returns the manifest entry that a model runs from, if there is one.
fn files_of(model: &CatalogueModel) -> Option<&str> {
    let listed = |id: &str| embedded_manifest().find_model(id).is_some();
    let route = model.routes.iter().find(|route| listed(&route.upstream_id));
    route.map(|route| route.upstream_id.as_str())
}

fn build_engine_arguments(
    socket: &Path,
    data_dir: &Path,
    section: &section::EngineConfig,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["engine".into()];
    let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
    add("--socket", PathBuf::from(socket).into());
    add("--models-dir", data_dir.join(&section.models_dir).into());
    if let Some(library) = &section.llama_library {
        add("--llama-library", data_dir.join(library).into());
    }
    if let Some(layers) = section.gpu_layers {
        add("--gpu-layers", layers.to_string().into());
    }
    if let Some(threads) = section.threads {
        add("--threads", threads.to_string().into());
    }
    // 0 means never, for the engine as for the operator.
    let idle_unload_s = section.idle_unload.map_or(0, |idle| idle.as_secs());
    add("--idle-unload-s", idle_unload_s.to_string().into());
    if let Some(megabytes) = section.memory_max_mb {
        add("--memory-max-mb", megabytes.to_string().into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_gets_no_variable_of_ours() {
        for name in
            ["TOLLGATE_ADMIN_KEY", "TOLLGATE__X402__EVM_RELAYER_KEY", "AWS_SECRET_ACCESS_KEY"]
        {
            assert!(!is_needed(OsStr::new(name)), "{name}");
        }
        assert!(is_needed(OsStr::new("PATH")) && is_needed(OsStr::new("OMP_NUM_THREADS")));
    }
}
