//! Faults of a configuration: all are collected, each with its origin.

use std::cell::RefCell;
use std::fmt;

use crate::origin::SettingOrigin;

/// Limits the output for a file that is not a configuration at all.
const FAULTS_MAX: usize = 100;

/// One fault. Displayed like a compiler error: `tollgate.toml:12: unknown key …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    pub origin: SettingOrigin,
    /// The fault and its correction. Never contains the value of a secret.
    pub message: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

/// The faults found so far. Shared by reference, so that nested readers report to one list.
#[derive(Debug, Default)]
pub struct FaultList {
    found: RefCell<Vec<ConfigFault>>,
}

impl FaultList {
    pub fn push(&self, origin: &SettingOrigin, message: impl Into<String>) {
        let mut found = self.found.borrow_mut();
        if found.len() < FAULTS_MAX {
            found.push(ConfigFault { origin: origin.clone(), message: message.into() });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// Returns the faults by file and line, those without a file first.
    pub fn into_sorted(self) -> Vec<ConfigFault> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|fault| match &fault.origin {
            SettingOrigin::File { path, line } => (path.to_string(), *line),
            SettingOrigin::Default | SettingOrigin::Environment(_) | SettingOrigin::Flag(_) => {
                (String::new(), 0)
            }
        });
        found
    }
}

/// An invalid configuration, with all its faults.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct InvalidConfig(pub Vec<ConfigFault>);

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if 0 < index {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

/// Returns the candidate most similar to `written`, if one is similar enough to suggest.
pub fn find_nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written = written.to_lowercase();
    let distance_max = 1 + written.chars().count() / 4;
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&written, candidate), candidate))
        .filter(|(distance, _)| *distance <= distance_max)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns ``; did you mean `listen`?`` for the end of a message, or an empty string.
pub fn did_you_mean<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match find_nearest(written, candidates) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}
