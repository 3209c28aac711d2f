//! Origins of settings: a file, the environment, a flag or the default.

use std::fmt;
use std::sync::Arc;

/// The origin of a value, precise enough for the operator to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The setting is absent; the documented default applies.
    Default,
    File {
        /// The path as the operator would type it.
        path: Arc<str>,
        /// The line number, counted from 1.
        line: usize,
    },
    /// The name of an environment variable.
    Environment(String),
    /// A command-line flag, including its dashes.
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
