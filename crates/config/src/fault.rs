//! What is wrong with a configuration: every fault, each with its place, none hiding another.

use std::cell::RefCell;
use std::fmt;

use crate::origin::Origin;

/// More faults than anybody reads; a file that is not a configuration at all stops here.
const FAULTS_MAX: usize = 100;

/// One thing to correct. Displays as a compiler would: `tollgate.toml:12: unknown key …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub origin: Origin,
    /// What is wrong and what to write instead. Never holds a secret's value.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.message)
    }
}

/// The faults found so far. Readers share it by reference, so nested ones report to one list.
#[derive(Debug, Default)]
pub struct Faults {
    found: RefCell<Vec<Fault>>,
}

impl Faults {
    pub fn push(&self, origin: &Origin, message: impl Into<String>) {
        let mut found = self.found.borrow_mut();
        if found.len() < FAULTS_MAX {
            found.push(Fault { origin: origin.clone(), message: message.into() });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The faults in the order of the file, those of other places first.
    pub fn into_sorted(self) -> Vec<Fault> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|fault| match &fault.origin {
            Origin::File { path, line } => (path.to_string(), *line),
            Origin::Default | Origin::Environment(_) | Origin::Flag(_) => (String::new(), 0),
        });
        found
    }
}

/// A configuration that cannot be used, with every reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid(pub Vec<Fault>);

impl fmt::Display for Invalid {
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

/// The candidate a person most likely meant, if one is close enough to be worth saying.
pub fn nearest<'a>(
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

/// ``; did you mean `listen`?`` or nothing: the tail of a message about an unknown name.
pub fn did_you_mean<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(written, candidates) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}
