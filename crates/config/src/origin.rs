//! Where a setting was said: in a file, in the environment, by a flag, or nowhere.

use std::fmt;
use std::sync::Arc;

/// The place that gave a value, precise enough for a person to go there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything: the value is the documented default.
    Default,
    File {
        /// The path as the operator would type it.
        path: Arc<str>,
        /// Counted from 1.
        line: usize,
    },
    /// The name of an environment variable.
    Environment(String),
    /// A command-line flag, with its dashes.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File { path, line } => write!(f, "{path}:{line}"),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Flag(name) => write!(f, "flag {name}"),
        }
    }
}
