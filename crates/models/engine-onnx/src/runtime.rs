//! The ONNX Runtime library, loaded once per process, and its sessions.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ort::environment::{Environment, GlobalThreadPoolOptions};
use ort::logging::LogLevel;
use ort::session::Session;
use ort::session::builder::SessionBuilder;

/// The library allows one environment per process, so all `OnnxRuntime`s share this one.
static LOADED: Mutex<Option<OnnxRuntime>> = Mutex::new(None);

/// The loaded library. All sessions share its threads, so that concurrent models do not use more
/// cores than configured. Cheap to clone.
#[derive(Clone, Debug)]
pub struct OnnxRuntime {
    library: PathBuf,
    threads: usize,
    environment: Environment,
}

/// Errors of loading and running graphs.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error("cannot use the ONNX Runtime library {}: {cause}", path.display())]
    Library { path: PathBuf, cause: String },
    #[error("cannot load the model {}: {cause}", path.display())]
    Model { path: PathBuf, cause: String },
    #[error("the model failed: {0}")]
    Run(#[from] ort::Error),
}

impl OnnxRuntime {
    /// Loads the library, or returns the one that is already loaded. Fails if that one has another
    /// path or number of threads, because they cannot be changed.
    pub fn load(library: &Path, threads: usize) -> Result<OnnxRuntime, RuntimeError> {
        let refused = |cause: String| RuntimeError::Library { path: library.to_owned(), cause };
        let mut loaded = LOADED.lock().map_err(|_| refused("an earlier load panicked".into()))?;
        if let Some(runtime) = loaded.as_ref() {
            if runtime.library != library || runtime.threads != threads {
                let first = runtime.library.display();
                let used = runtime.threads;
                return Err(refused(format!("{first} is loaded already, with {used} threads")));
            }
            return Ok(runtime.clone());
        }
        let environment = create_environment(library, threads).map_err(refused)?;
        let runtime = OnnxRuntime { library: library.to_owned(), threads, environment };
        *loaded = Some(runtime.clone());
        Ok(runtime)
    }

    /// Creates a session for the graph in a file.
    pub fn create_session(&self, model: &Path) -> Result<Session, RuntimeError> {
        let refused = |cause: ort::Error| RuntimeError::Model {
            path: model.to_owned(),
            cause: cause.to_string(),
        };
        self.session_builder()?.commit_from_file(model).map_err(refused)
    }

    /// Returns the builder of sessions, also for graphs built in memory.
    pub fn session_builder(&self) -> Result<SessionBuilder, RuntimeError> {
        // With memory patterns, a graph's working memory is allocated a second time at its second
        // run.
        let builder = Session::builder(&self.environment)?;
        Ok(builder.with_memory_pattern(false).map_err(ort::Error::from)?)
    }

    /// Number of threads shared by all sessions.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

fn create_environment(library: &Path, threads: usize) -> Result<Environment, String> {
    let builder = ort::init_from(library).map_err(|error| error.to_string())?;
    let built = GlobalThreadPoolOptions::default()
        .with_intra_threads(threads)
        .and_then(|options| options.with_inter_threads(1))
        // Spinning threads would take cores from the text engine.
        .and_then(|options| options.with_spin_control(false))
        .and_then(|options| {
            builder
                .with_name("tollgate")
                .with_telemetry(false)
                .with_global_thread_pool(options)
                .build()
        });
    let environment = built.map_err(|error| error.to_string())?;
    environment.set_log_level(LogLevel::Error);
    Ok(environment)
}
