//! Keeps the built-in engine's process running, downloads its models, and reports its readiness.

mod backoff;
mod health;
mod model_downloads;
mod process;
mod readiness;
mod status;
mod supervisor;

pub use model_downloads::{LogLines, ProgressReporter, fetch_all};
pub use process::EngineCommand;
pub use readiness::readiness_check;
pub use status::{EngineStatus, GpuStatus, LoadedModel, ProcessState, StatusCell};
pub use supervisor::{JitterSource, supervise_engine};
