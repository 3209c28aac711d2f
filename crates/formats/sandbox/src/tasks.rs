//! The tasks of a reader. A kind of task is one file here and one line in `tasks!` below.
//!
//! A task has a request and an outcome, which are sent as JSON, and raw bytes in both directions
//! for large data. It runs in a process without network, files, other programs or threads, so it
//! may only use memory and the CPU.

pub mod document;
pub mod page;
pub mod picture;
pub mod probe;
pub mod recording;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::TaskBounds;

/// One kind of task.
pub trait ReaderTask: Serialize + DeserializeOwned + Send + 'static {
    /// The result, besides bytes.
    type Outcome: Serialize + DeserializeOwned + Send + 'static;

    /// Resource limits.
    const BOUNDS: TaskBounds;

    /// Performs the task. Runs in the child.
    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>);
}

/// A task of one of the known kinds; implemented by `tasks!`.
pub trait KnownTask: ReaderTask {
    fn into_any(self) -> AnyTask;

    fn outcome_of(done: TaskOutcome) -> Option<Self::Outcome>;
}

macro_rules! tasks {
    ($($name:ident($request:ty)),+ $(,)?) => {
        /// A task of any kind.
        #[derive(Debug, Serialize, Deserialize)]
        pub enum AnyTask {
            $($name($request)),+
        }

        /// The outcome of a task of any kind.
        #[derive(Debug, Serialize, Deserialize)]
        pub enum TaskOutcome {
            $($name(<$request as ReaderTask>::Outcome)),+
        }

        impl AnyTask {
            pub fn bounds(&self) -> TaskBounds {
                match self {
                    $(AnyTask::$name(_) => <$request as ReaderTask>::BOUNDS),+
                }
            }

            /// Performs the task in this process.
            pub fn perform(self, bytes: &[u8]) -> (TaskOutcome, Vec<u8>) {
                match self {
                    $(AnyTask::$name(task) => {
                        let (outcome, bytes) = task.perform(bytes);
                        (TaskOutcome::$name(outcome), bytes)
                    }),+
                }
            }

            /// The limits of all kinds; their maximum is the hard limit of a child.
            pub(crate) fn bounds_of_all() -> Vec<TaskBounds> {
                vec![$(<$request as ReaderTask>::BOUNDS),+]
            }
        }

        $(impl KnownTask for $request {
            fn into_any(self) -> AnyTask {
                AnyTask::$name(self)
            }

            fn outcome_of(done: TaskOutcome) -> Option<Self::Outcome> {
                if let TaskOutcome::$name(outcome) = done { Some(outcome) } else { None }
            }
        })+
    };
}

tasks! {
    Document(document::DocumentTask),
    Page(page::PageTask),
    Picture(picture::ImageTask),
    Probe(probe::ConfinementProbe),
    Recording(recording::RecordingTask),
}
