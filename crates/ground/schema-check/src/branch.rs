//! Checks a union: chooses the branch that the caller meant, and reports its faults.

use serde_json::{Map, Value};

use crate::fault::ValidationFault;
use crate::faults::PathStep;
use crate::node::{JsonTypeSet, NodeId, SchemaUnion, describe_received, options_in_words};
use crate::rules::wrong_option;
use crate::walk::{PathStepRef, ValueChecker};

impl<'a> ValueChecker<'a> {
    /// Reports the faults of the best matching branch: by tag, then by type, then by the fewest
    /// faults.
    pub(crate) fn check_union(
        &mut self,
        union: &'a SchemaUnion,
        accepts: JsonTypeSet,
        value: &'a Value,
    ) {
        if let Some(options) = &union.options {
            let fault = wrong_option(options, accepts, value);
            return fault.into_iter().for_each(|fault| self.push(fault));
        }
        if let (Some(_), Value::Object(object)) = (&union.tag, value) {
            return self.check_tagged(union, object, value);
        }
        let nodes = self.nodes;
        let kind = JsonTypeSet::of(value);
        let fits = |id: &NodeId| nodes[id.0].accepts.contains(kind);
        let mut candidates = union.branches.iter().copied().filter(fits);
        match (candidates.next(), candidates.next()) {
            (None, _) => {
                let received = describe_received(value, accepts);
                self.push(ValidationFault::NoBranchFits { expected: accepts.describe(), received });
            }
            (Some(only), None) => self.visit(only, value),
            (Some(first), Some(second)) => {
                let several: Vec<NodeId> = [first, second].into_iter().chain(candidates).collect();
                self.check_candidates(&several, union.exclusive, value);
            }
        }
    }

    fn check_tagged(
        &mut self,
        union: &'a SchemaUnion,
        object: &'a Map<String, Value>,
        value: &'a Value,
    ) {
        let Some(tag) = &union.tag else { return };
        let sent = object.get(&tag.name);
        let chosen = sent.and_then(Value::as_str).and_then(|text| {
            tag.branches.iter().find(|(known, _)| known == text).map(|(_, branches)| branches)
        });
        if let Some(branches) = chosen {
            return self.check_candidates(branches, union.exclusive, value);
        }
        let options: Vec<Value> =
            tag.branches.iter().map(|(known, _)| Value::String(known.clone())).collect();
        let fault = match sent {
            None => ValidationFault::Missing { expected: options_in_words(&options) },
            Some(sent) => wrong_option(&options, JsonTypeSet::STRING, sent)
                .unwrap_or_else(|| ValidationFault::not_one_of(&options, sent)),
        };
        self.path.push(PathStepRef::Field(&tag.name));
        self.push(fault);
        self.path.pop();
    }

    fn check_candidates(&mut self, candidates: &[NodeId], exclusive: bool, value: &'a Value) {
        if let [only] = candidates {
            return self.visit(*only, value);
        }
        let level = self.path.len();
        let mut fitting = 0;
        let mut best: Option<Vec<(Vec<PathStep>, ValidationFault)>> = None;
        for candidate in candidates {
            let found = self.try_branch(*candidate, value);
            if found.is_empty() {
                fitting += 1;
                if !exclusive {
                    return;
                }
                continue;
            }
            let is_better = match &best {
                Some(best) => measure_distance(&found, level) < measure_distance(best, level),
                None => true,
            };
            if is_better {
                best = Some(found);
            }
        }
        match fitting {
            0 => self.found.extend(best.into_iter().flatten()),
            1 => (),
            _ => self.push(ValidationFault::ManyBranchesFit),
        }
    }

    /// The faults of one branch, without those found before.
    pub(crate) fn try_branch(
        &mut self,
        id: NodeId,
        value: &'a Value,
    ) -> Vec<(Vec<PathStep>, ValidationFault)> {
        let before = std::mem::take(&mut self.found);
        let was_trying = std::mem::replace(&mut self.trying, true);
        self.visit(id, value);
        self.trying = was_trying;
        std::mem::replace(&mut self.found, before)
    }
}

/// Distance of a branch from a match: wrong or excluded constants, then missing fields, then all
/// faults.
fn measure_distance(
    found: &[(Vec<PathStep>, ValidationFault)],
    level: usize,
) -> (usize, usize, usize) {
    let here = || found.iter().filter(|(path, _)| path.len() == level + 1);
    let is_constant = |fault: &ValidationFault| {
        matches!(fault, ValidationFault::NotOneOf { .. } | ValidationFault::ExcludedForm)
    };
    let constants = here().filter(|(_, fault)| is_constant(fault)).count();
    let missing =
        here().filter(|(_, fault)| matches!(fault, ValidationFault::Missing { .. })).count();
    (constants, missing, found.len())
}
