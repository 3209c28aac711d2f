//! Which route is asked next.

use std::cmp::Ordering;

use engine::EngineError;

use super::breaker::RouteHealth;

/// What is known of one route at the moment of choosing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Its share of the load; 0 stands by for the others.
    pub(super) weight: u32,
    pub(super) outstanding: u32,
    pub(super) health: RouteHealth,
    /// A request would not have to wait for a place.
    pub(super) has_room: bool,
    /// How often this request was there already.
    pub(super) tries: u32,
    /// This request may not go there again.
    pub(super) is_spent: bool,
}

/// The best route: one not tried yet, not resting, with room, not standing by, and with the fewest
/// requests for its weight. Among equals the dice decide, so that a pool of idle routes does not
/// always ask the first.
pub(super) fn choose(candidates: &[Candidate], dice: u64) -> Option<usize> {
    let usable = |it: &&(usize, &Candidate)| {
        !it.1.is_spent && !matches!(it.1.health, RouteHealth::Out { .. })
    };
    let numbered: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
    let best = numbered.iter().filter(usable).min_by(|a, b| order(a.1, b.1))?.1;
    let equals: Vec<usize> = numbered
        .iter()
        .filter(usable)
        .filter(|it| order(it.1, best) == Ordering::Equal)
        .map(|it| it.0)
        .collect();
    let count = u64::try_from(equals.len()).ok()?;
    equals.get(usize::try_from(dice % count).ok()?).copied()
}

/// Of two failures of one request the one that tells its caller more: that waiting helps, before
/// that something took too long, before what only the operator can mend.
pub(super) fn more_telling(first: EngineError, second: EngineError) -> EngineError {
    if rank(&first) <= rank(&second) { first } else { second }
}

fn order(a: &Candidate, b: &Candidate) -> Ordering {
    let faults = |it: &Candidate| {
        (it.tries, it.health == RouteHealth::Resting, !it.has_room, it.weight == 0)
    };
    faults(a).cmp(&faults(b)).then_with(|| {
        let load_of_a = u64::from(a.outstanding.saturating_add(1)) * u64::from(b.weight.max(1));
        let load_of_b = u64::from(b.outstanding.saturating_add(1)) * u64::from(a.weight.max(1));
        load_of_a.cmp(&load_of_b)
    })
}

fn rank(error: &EngineError) -> u8 {
    match error {
        EngineError::Rejected { .. }
        | EngineError::FieldMissing { .. }
        | EngineError::ContextOverflow { .. }
        | EngineError::ContentPolicy { .. } => 0,
        EngineError::Overloaded { retry_after: Some(_) } | EngineError::NotReady { .. } => 1,
        EngineError::Overloaded { retry_after: None } => 2,
        EngineError::Timeout { .. } => 3,
        EngineError::BadAnswer { .. } => 4,
        EngineError::Unreachable { .. } => 5,
        EngineError::Misconfigured { .. } => 6,
    }
}

#[cfg(test)]
mod tests;
