//! Keeps the built-in engine's process running, fetches what its models consist of, and says what
//! can be asked of it.

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
