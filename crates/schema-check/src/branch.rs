//! Checks a union: chooses the branch that the caller meant, and reports its faults.

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::faults::PathStep;
use crate::node::{Kinds, NodeId, Union, options_in_words, received};
use crate::rules::wrong_option;
use crate::walk::{Crumb, Walk};

impl<'a> Walk<'a> {
    /// Reports the faults of the best matching branch: by tag, then by type, then by the fewest
    /// faults.
    pub(crate) fn check_union(&mut self, union: &'a Union, accepts: Kinds, value: &'a Value) {
        if let Some(options) = &union.options {
            let fault = wrong_option(options, accepts, value);
            return fault.into_iter().for_each(|fault| self.push(fault));
        }
        if let (Some(_), Value::Object(object)) = (&union.tag, value) {
            return self.check_tagged(union, object, value);
        }
        let nodes = self.nodes;
        let kind = Kinds::of(value);
        let fits = |id: &NodeId| nodes[id.0].accepts.contains(kind);
        let mut candidates = union.branches.iter().copied().filter(fits);
        match (candidates.next(), candidates.next()) {
            (None, _) => {
                let received = received(value, accepts);
                self.push(Fault::NoBranchFits { expected: accepts.words(), received });
            }
            (Some(only), None) => self.visit(only, value),
            (Some(first), Some(second)) => {
                let several: Vec<NodeId> = [first, second].into_iter().chain(candidates).collect();
                self.check_candidates(&several, union.exclusive, value);
            }
        }
    }

    fn check_tagged(&mut self, union: &'a Union, object: &'a Map<String, Value>, value: &'a Value) {
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
            None => Fault::Missing { expected: options_in_words(&options) },
            Some(sent) => wrong_option(&options, Kinds::STRING, sent)
                .unwrap_or_else(|| Fault::not_one_of(&options, sent)),
        };
        self.path.push(Crumb::Field(&tag.name));
        self.push(fault);
        self.path.pop();
    }

    fn check_candidates(&mut self, candidates: &[NodeId], exclusive: bool, value: &'a Value) {
        if let [only] = candidates {
            return self.visit(*only, value);
        }
        let level = self.path.len();
        let mut fitting = 0;
        let mut best: Option<Vec<(Vec<PathStep>, Fault)>> = None;
        for candidate in candidates {
            let found = self.attempt(*candidate, value);
            if found.is_empty() {
                fitting += 1;
                if !exclusive {
                    return;
                }
                continue;
            }
            let is_better = match &best {
                Some(best) => distance(&found, level) < distance(best, level),
                None => true,
            };
            if is_better {
                best = Some(found);
            }
        }
        match fitting {
            0 => self.found.extend(best.into_iter().flatten()),
            1 => (),
            _ => self.push(Fault::ManyBranchesFit),
        }
    }

    /// The faults of one branch, without those found before.
    pub(crate) fn attempt(&mut self, id: NodeId, value: &'a Value) -> Vec<(Vec<PathStep>, Fault)> {
        let before = std::mem::take(&mut self.found);
        let was_trying = std::mem::replace(&mut self.trying, true);
        self.visit(id, value);
        self.trying = was_trying;
        std::mem::replace(&mut self.found, before)
    }
}

/// Distance of a branch from a match: wrong constants, then missing fields, then all faults.
fn distance(found: &[(Vec<PathStep>, Fault)], level: usize) -> (usize, usize, usize) {
    let here = || found.iter().filter(|(path, _)| path.len() == level + 1);
    let constants = here().filter(|(_, fault)| matches!(fault, Fault::NotOneOf { .. })).count();
    let missing = here().filter(|(_, fault)| matches!(fault, Fault::Missing { .. })).count();
    (constants, missing, found.len())
}
