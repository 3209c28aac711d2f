//! What can be asked of a reader. A kind of task is one file here and one line in `tasks!` below.
//!
//! A task has a request and an outcome, which travel as JSON, and raw bytes in both directions:
//! put in the bytes whatever is long. It runs in a process that has no network, no files, no
//! other programs and no second thread, so it may use only memory and the processor.

pub mod document;
pub mod page;
pub mod picture;
pub mod probe;
pub mod recording;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Bounds;

/// One kind of task.
pub trait Task: Serialize + DeserializeOwned + Send + 'static {
    /// What came of it, beside bytes.
    type Outcome: Serialize + DeserializeOwned + Send + 'static;

    /// What it may take.
    const BOUNDS: Bounds;

    /// Does it. Runs in the child.
    fn perform(self, bytes: &[u8]) -> (Self::Outcome, Vec<u8>);
}

/// A task as one of the known kinds; `tasks!` implements it.
pub trait Known: Task {
    fn into_any(self) -> AnyTask;

    fn outcome_of(done: Done) -> Option<Self::Outcome>;
}

macro_rules! tasks {
    ($($name:ident($request:ty)),+ $(,)?) => {
        /// A task of any kind.
        #[derive(Debug, Serialize, Deserialize)]
        pub enum AnyTask {
            $($name($request)),+
        }

        /// What came of a task.
        #[derive(Debug, Serialize, Deserialize)]
        pub enum Done {
            $($name(<$request as Task>::Outcome)),+
        }

        impl AnyTask {
            pub fn bounds(&self) -> Bounds {
                match self {
                    $(AnyTask::$name(_) => <$request as Task>::BOUNDS),+
                }
            }

            /// Does the task here and now.
            pub fn perform(self, bytes: &[u8]) -> (Done, Vec<u8>) {
                match self {
                    $(AnyTask::$name(task) => {
                        let (outcome, bytes) = task.perform(bytes);
                        (Done::$name(outcome), bytes)
                    }),+
                }
            }

            /// The most that any task may take: what the kernel never lets a child go beyond.
            pub(crate) fn bounds_of_all() -> Vec<Bounds> {
                vec![$(<$request as Task>::BOUNDS),+]
            }
        }

        $(impl Known for $request {
            fn into_any(self) -> AnyTask {
                AnyTask::$name(self)
            }

            fn outcome_of(done: Done) -> Option<Self::Outcome> {
                if let Done::$name(outcome) = done { Some(outcome) } else { None }
            }
        })+
    };
}

tasks! {
    Document(document::Request),
    Page(page::Request),
    Picture(picture::Request),
    Probe(probe::Request),
    Recording(recording::Request),
}
