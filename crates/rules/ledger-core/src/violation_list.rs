//! Collects violations: counts all, keeps the first.

use crate::violation::InvariantViolation;

/// Violations that are kept; a damaged journal has more than anyone reads.
pub const VIOLATIONS_MAX: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViolationList {
    kept: Vec<InvariantViolation>,
    count: u64,
}

impl ViolationList {
    pub fn push(&mut self, violation: InvariantViolation) {
        self.push_with(|| violation);
    }

    /// Adds a violation whose text is built only if it is kept.
    pub fn push_with(&mut self, make: impl FnOnce() -> InvariantViolation) {
        self.count += 1;
        if self.kept.len() < VIOLATIONS_MAX {
            self.kept.push(make());
        }
    }

    pub fn extend(&mut self, violations: impl IntoIterator<Item = InvariantViolation>) {
        violations.into_iter().for_each(|violation| self.push(violation));
    }

    /// Adds another list, including the count of violations it did not keep.
    pub fn append(&mut self, other: ViolationList) {
        let not_kept = other.count - other.kept.len() as u64;
        self.extend(other.kept);
        self.count += not_kept;
    }

    /// The number of violations, kept or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first violations, at most [`VIOLATIONS_MAX`].
    pub fn into_kept(self) -> Vec<InvariantViolation> {
        self.kept
    }
}
