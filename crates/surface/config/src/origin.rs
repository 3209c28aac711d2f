//! Origins of settings: a file, the environment, a flag or the default.

use std::fmt;
use std::sync::Arc;

/// The origin of a value, precise enough for the operator to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingOrigin {
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

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingOrigin::Default => f.write_str("default"),
            SettingOrigin::File { path, line } => write!(f, "{path}:{line}"),
            SettingOrigin::Environment(name) => write!(f, "environment {name}"),
            SettingOrigin::Flag(name) => write!(f, "flag {name}"),
        }
    }
}
