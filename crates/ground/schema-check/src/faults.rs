//! All faults of one value, in the two forms of the API's error response.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::fault::{ValidationFault, truncate_text};

/// Maximum faults in one response.
pub const FAULTS_MAX: usize = 100;

/// All faults of one value, each with its path, in the order found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValidationFaults {
    found: Vec<(Vec<PathStep>, ValidationFault)>,
}

/// One step of a path into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    Field(String),
    Index(usize),
}

/// A path at which rules outside the schema add faults.
pub struct FaultsAt<'a> {
    faults: &'a mut ValidationFaults,
    path: Vec<PathStep>,
}

impl ValidationFaults {
    /// A list with a single fault.
    pub fn one<S: Into<PathStep>>(
        path: impl IntoIterator<Item = S>,
        fault: impl Into<ValidationFault>,
    ) -> ValidationFaults {
        let mut faults = ValidationFaults::default();
        faults.at(path).push(fault);
        faults
    }

    /// The builder for faults at `path`: `faults.at(["messages"]).push("…")`.
    pub fn at<S: Into<PathStep>>(&mut self, path: impl IntoIterator<Item = S>) -> FaultsAt<'_> {
        FaultsAt { path: path.into_iter().map(Into::into).collect(), faults: self }
    }

    /// The builder for faults of the value itself.
    pub fn root(&mut self) -> FaultsAt<'_> {
        FaultsAt { path: Vec::new(), faults: self }
    }

    pub fn merge(&mut self, other: ValidationFaults) {
        for (path, fault) in other.found {
            self.add(path, fault);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// `Ok` if there are no faults.
    pub fn into_result(self) -> Result<(), ValidationFaults> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The `details` object of the specification's validation error: `_errors` at each level and
    /// one sub-object for each invalid field or array index.
    pub fn details(&self) -> Value {
        let mut root = DetailsLevel::default();
        for (path, fault) in &self.found {
            let level =
                path.iter().fold(&mut root, |level, step| level.child_level(step.to_string()));
            level.errors.push(fault.to_string());
        }
        root.into_details()
    }

    /// The `issues` array: one entry with `code`, `path` and `message` for each fault.
    pub fn issues(&self) -> Value {
        let issue = |(path, fault): &(Vec<PathStep>, ValidationFault)| {
            let mut issue = fault.to_issue();
            let path: Vec<Value> = path.iter().map(PathStep::to_value).collect();
            issue.insert("path".to_owned(), Value::Array(path));
            issue.insert("message".to_owned(), Value::String(fault.to_string()));
            Value::Object(issue)
        };
        self.found.iter().map(issue).collect()
    }

    pub(crate) fn add(&mut self, path: Vec<PathStep>, fault: ValidationFault) {
        if self.found.len() < FAULTS_MAX {
            self.found.push((path, fault));
        }
    }
}

/// One line for logs and test failures: `model: Required; messages.0.role: Required`.
impl fmt::Display for ValidationFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (path, fault)) in self.found.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            let steps: Vec<String> = path.iter().map(PathStep::to_string).collect();
            let colon = if steps.is_empty() { "" } else { ": " };
            write!(f, "{separator}{}{colon}{fault}", steps.join("."))?;
        }
        Ok(())
    }
}

impl std::error::Error for ValidationFaults {}

impl FaultsAt<'_> {
    pub fn push(self, fault: impl Into<ValidationFault>) {
        self.faults.add(self.path, fault.into());
    }
}

impl PathStep {
    fn to_value(&self) -> Value {
        match self {
            PathStep::Field(name) => json!(name),
            PathStep::Index(index) => json!(index),
        }
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Field(name) => f.write_str(name),
            PathStep::Index(index) => write!(f, "{index}"),
        }
    }
}

/// Names are truncated too: in an object with free keys they are the caller's text.
impl From<&str> for PathStep {
    fn from(name: &str) -> PathStep {
        PathStep::Field(truncate_text(name))
    }
}

impl From<usize> for PathStep {
    fn from(index: usize) -> PathStep {
        PathStep::Index(index)
    }
}

/// One level of `details` during its construction.
#[derive(Default)]
struct DetailsLevel {
    errors: Vec<String>,
    fields: Vec<(String, DetailsLevel)>,
}

impl DetailsLevel {
    /// A caller's own key `_errors` must not replace the list of that name.
    fn child_level(&mut self, name: String) -> &mut DetailsLevel {
        if name == "_errors" {
            return self;
        }
        let index = self.fields.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.fields.push((name, DetailsLevel::default()));
            self.fields.len() - 1
        });
        &mut self.fields[index].1
    }

    fn into_details(self) -> Value {
        let mut details = Map::from_iter([("_errors".to_owned(), json!(self.errors))]);
        for (name, level) in self.fields {
            details.insert(name, level.into_details());
        }
        Value::Object(details)
    }
}
