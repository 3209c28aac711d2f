//! Keeps the built-in engine's process running, downloads its models, and reports its readiness.

mod backoff;
mod fetching;
mod health;
mod process;
mod readiness;
mod status;
mod supervisor;

pub use fetching::{LogLines, Teller, fetch_all};
pub use process::Plan;
pub use readiness::readiness;
pub use status::{Gpu, LoadedModel, ProcessState, Status, StatusCell};
pub use supervisor::{Dice, supervise};
