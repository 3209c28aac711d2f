//! Selects the next route.

use std::cmp::Ordering;

use engine::EngineError;

use super::breaker::RouteHealth;

/// The state of a route at the time of selection.
#[derive(Debug, Clone, Copy)]
pub(super) struct RouteCandidate {
    /// Share of the load; 0 is a standby.
    pub(super) weight: u32,
    pub(super) outstanding: u32,
    /// Distance from the request's session, see [`super::affinity`]; 0 without a session.
    pub(super) distance: f64,
    pub(super) health: RouteHealth,
    /// True if a request would not have to queue.
    pub(super) has_room: bool,
    /// Attempts of this request on this route.
    pub(super) tries: u32,
    /// Set if this request may not use the route again.
    pub(super) is_spent: bool,
}

/// The best route by, in this order: fewest attempts, not resting, has room, not a standby, nearest
/// to the session, lowest load relative to its weight. Ties are broken at random, so that idle
/// routes share the load.
///
/// A session leaves its route while a request would have to queue there: waiting costs more than a
/// prompt that is not cached. It then meets its second nearest route, the same for each request.
pub(super) fn select_route(candidates: &[RouteCandidate], dice: u64) -> Option<usize> {
    let usable = |it: &&(usize, &RouteCandidate)| {
        !it.1.is_spent && !matches!(it.1.health, RouteHealth::Out { .. })
    };
    let numbered: Vec<(usize, &RouteCandidate)> = candidates.iter().enumerate().collect();
    let best = numbered.iter().filter(usable).min_by(|a, b| compare_candidates(a.1, b.1))?.1;
    let equals: Vec<usize> = numbered
        .iter()
        .filter(usable)
        .filter(|it| compare_candidates(it.1, best) == Ordering::Equal)
        .map(|it| it.0)
        .collect();
    let count = u64::try_from(equals.len()).ok()?;
    equals.get(usize::try_from(dice % count).ok()?).copied()
}

/// Returns the error that is more useful to the caller: first faults of the request, then temporary
/// overload, then timeouts, then failures that only the operator can fix.
pub(super) fn more_useful_error(first: EngineError, second: EngineError) -> EngineError {
    if rank_error(&first) <= rank_error(&second) { first } else { second }
}

fn compare_candidates(a: &RouteCandidate, b: &RouteCandidate) -> Ordering {
    let faults = |it: &RouteCandidate| {
        (it.tries, it.health == RouteHealth::Resting, !it.has_room, it.weight == 0)
    };
    let by_distance = || a.distance.total_cmp(&b.distance);
    faults(a).cmp(&faults(b)).then_with(by_distance).then_with(|| {
        let load_of_a = u64::from(a.outstanding.saturating_add(1)) * u64::from(b.weight.max(1));
        let load_of_b = u64::from(b.outstanding.saturating_add(1)) * u64::from(a.weight.max(1));
        load_of_a.cmp(&load_of_b)
    })
}

fn rank_error(error: &EngineError) -> u8 {
    match error {
        EngineError::Rejected { .. }
        | EngineError::FieldMissing { .. }
        | EngineError::ContextOverflow { .. }
        | EngineError::ContentPolicy { .. } => 0,
        EngineError::Overloaded { retry_after: Some(_) }
        | EngineError::ServiceOverloaded { retry_after: Some(_) }
        | EngineError::NotReady { .. } => 1,
        EngineError::Overloaded { retry_after: None }
        | EngineError::ServiceOverloaded { retry_after: None } => 2,
        EngineError::Timeout { .. } => 3,
        EngineError::BadAnswer { .. } => 4,
        EngineError::Unreachable { .. } => 5,
        EngineError::Misconfigured { .. } => 6,
    }
}

#[cfg(test)]
mod tests;
