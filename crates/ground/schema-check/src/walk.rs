//! Checks a value against its nodes and collects all faults.

use serde_json::{Map, Number, Value};

use crate::fault::{BoundedQuantity, TextRule, ValidationFault, truncate_text};
use crate::faults::{FAULTS_MAX, PathStep, ValidationFaults};
use crate::format;
use crate::node::{
    ArrayRules, JsonTypeSet, LengthBounds, NodeId, ObjectRules, SchemaNode, StringRules,
};
use crate::number;
use crate::rules::{are_unique, out_of_range, wrong_type, wrong_value};

/// Maximum levels of schema and value together; serde_json parses at most 128 levels.
const DEPTH_MAX: usize = 512;
/// Maximum steps for trying the branches of unions. The rest of a check takes time in proportion to
/// the body, but a union of unions could take exponential time on a small body.
const TRIALS_MAX: u32 = 1_000_000;

/// The result of a check.
pub(crate) struct CheckFindings {
    pub(crate) faults: ValidationFaults,
    /// Set if the value has nulls or floats that the schema accepts and serde would not.
    pub(crate) untidy: bool,
}

/// The meaning of null on an optional property.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullMeaning {
    /// Not given, as callers mean it.
    Absent,
    /// A value like any other, as in the standard.
    Literal,
}

pub(crate) fn check_value(
    nodes: &[SchemaNode],
    root: NodeId,
    value: &Value,
    nulls: NullMeaning,
) -> CheckFindings {
    let mut walk = ValueChecker {
        nodes,
        nulls,
        path: Vec::new(),
        found: Vec::new(),
        depth: 0,
        trying: false,
        trials_left: TRIALS_MAX,
        untidy: false,
    };
    walk.visit(root, value);
    let mut faults = ValidationFaults::default();
    if walk.trials_left == 0 {
        // The faults found so far depend on where the check was stopped.
        faults.root().push(ValidationFault::TooComplex);
        walk.found.clear();
    }
    for (path, fault) in walk.found {
        faults.add(path, fault);
    }
    CheckFindings { faults, untidy: walk.untidy }
}

pub(crate) struct ValueChecker<'a> {
    pub(crate) nodes: &'a [SchemaNode],
    nulls: NullMeaning,
    pub(crate) path: Vec<PathStepRef<'a>>,
    pub(crate) found: Vec<(Vec<PathStep>, ValidationFault)>,
    depth: usize,
    /// Set inside a branch that may not be the one that matches.
    pub(crate) trying: bool,
    trials_left: u32,
    untidy: bool,
}

/// A borrowed step of the path, so that a body without faults needs no allocation.
#[derive(Clone, Copy)]
pub(crate) enum PathStepRef<'a> {
    Field(&'a str),
    Index(usize),
}

impl<'a> ValueChecker<'a> {
    pub(crate) fn visit(&mut self, id: NodeId, value: &'a Value) {
        if FAULTS_MAX <= self.found.len() || self.trials_left == 0 {
            return;
        }
        if DEPTH_MAX <= self.depth {
            return self.push(ValidationFault::TooComplex);
        }
        self.trials_left -= u32::from(self.trying);
        self.depth += 1;
        self.check_node(id, value);
        self.depth -= 1;
    }

    fn visit_at(&mut self, crumb: PathStepRef<'a>, id: NodeId, value: &'a Value) {
        self.path.push(crumb);
        self.visit(id, value);
        self.path.pop();
    }

    fn check_node(&mut self, id: NodeId, value: &'a Value) {
        let node = &self.nodes[id.0];
        if node.never {
            return self.push("Must be left out".into());
        }
        if let Some(fault) = wrong_type(node, value).or_else(|| wrong_value(node, value)) {
            return self.push(fault);
        }
        for part in node.reference.iter().chain(&node.all_of) {
            self.visit(*part, value);
        }
        for union in &node.unions {
            self.check_union(union, node.accepts, value);
        }
        if let Some(not) = node.not
            && self.try_branch(not, value).is_empty()
        {
            self.push(ValidationFault::ExcludedForm);
        }
        match value {
            Value::String(text) => self.check_text(&node.text, text),
            Value::Number(number) => self.check_number(node, number),
            Value::Array(items) => self.check_array(&node.array, items),
            Value::Object(object) => self.check_object(&node.object, object),
            Value::Null | Value::Bool(_) => (),
        }
    }

    fn check_text(&mut self, rules: &StringRules, text: &str) {
        if !is_surely_within(rules.length, text) {
            self.check_length(rules.length, text.chars().count(), BoundedQuantity::Characters);
        }
        if let Some(format) = &rules.format
            && !format::is_valid_text(format, text)
        {
            self.push(ValidationFault::BadText(format.clone()));
        }
        if let Some(pattern) = &rules.pattern
            && !pattern.regex.is_match(text)
        {
            self.push(ValidationFault::BadText(TextRule::Pattern(pattern.source.clone())));
        }
    }

    fn check_number(&mut self, node: &SchemaNode, number: &Number) {
        let wants_integer = node.kinds.is_some_and(|it| !it.contains(JsonTypeSet::NUMBER));
        self.untidy |= wants_integer && number.is_f64();
        if let Some(fault) = out_of_range(&node.number, number) {
            self.push(fault);
        }
        if let Some(step) = &node.number.multiple_of
            && !number::is_multiple(number, step)
        {
            self.push(ValidationFault::NotMultipleOf(step.clone()));
        }
    }

    fn check_array(&mut self, rules: &ArrayRules, items: &'a [Value]) {
        let is_too_long = rules.length.max.is_some_and(|max| max < items.len() as u64);
        self.check_length(rules.length, items.len(), BoundedQuantity::Elements);
        // A text that is too long is not checked further.
        if is_too_long {
            return;
        }
        for (index, item) in items.iter().enumerate() {
            if let Some(node) = rules.prefix.get(index).copied().or(rules.items) {
                self.visit_at(PathStepRef::Index(index), node, item);
            }
        }
        if rules.unique && !are_unique(items) {
            self.push("Must not contain the same element twice".into());
        }
    }

    fn check_object(&mut self, rules: &'a ObjectRules, object: &'a Map<String, Value>) {
        for name in rules.required.iter().filter(|name| !object.contains_key(*name)) {
            self.path.push(PathStepRef::Field(name));
            self.push(ValidationFault::Missing { expected: self.expected_types(rules, name) });
            self.path.pop();
        }
        let mut unknown = Vec::new();
        for (name, value) in object {
            if !self.check_property(rules, name, value) {
                unknown.push(truncate_text(name));
            }
        }
        if !unknown.is_empty() {
            self.push(ValidationFault::UnknownKeys(unknown));
        }
        self.check_length(rules.length, object.len(), BoundedQuantity::Properties);
    }

    /// True if the object may have a property with this name; reports the faults of its value.
    fn check_property(&mut self, rules: &ObjectRules, name: &'a str, value: &'a Value) -> bool {
        let mut is_known = false;
        if let Some(property) = rules.properties.get(name) {
            is_known = true;
            let takes_null = self.nodes[property.node.0].accepts.contains(JsonTypeSet::NULL);
            let may_be_absent = !property.required && self.nulls == NullMeaning::Absent;
            if value.is_null() && may_be_absent && !takes_null {
                self.untidy = true;
            } else {
                self.visit_at(PathStepRef::Field(name), property.node, value);
            }
        }
        for (_, node) in rules.patterns.iter().filter(|(it, _)| it.regex.is_match(name)) {
            is_known = true;
            self.visit_at(PathStepRef::Field(name), *node, value);
        }
        let names_fit = match rules.names {
            Some(names) => {
                check_value(self.nodes, names, &Value::from(name), self.nulls).faults.is_empty()
            }
            None => true,
        };
        match rules.additional {
            Some(additional) if !is_known && self.nodes[additional.0].never => false,
            Some(additional) if !is_known => {
                self.visit_at(PathStepRef::Field(name), additional, value);
                names_fit
            }
            _ => names_fit,
        }
    }

    fn expected_types(&self, rules: &ObjectRules, name: &str) -> String {
        let Some(property) = rules.properties.get(name) else { return "any value".to_owned() };
        self.nodes[property.node.0].accepts.describe()
    }

    fn check_length(&mut self, bounds: LengthBounds, length: usize, measured: BoundedQuantity) {
        let length = length as u64;
        if let Some(min) = bounds.min.filter(|min| length < *min) {
            self.push(ValidationFault::TooSmall { minimum: min.into(), inclusive: true, measured });
        }
        if let Some(max) = bounds.max.filter(|max| *max < length) {
            self.push(ValidationFault::TooBig { maximum: max.into(), inclusive: true, measured });
        }
    }

    /// Two parts of a schema may state the same rule; the fault is reported once.
    pub(crate) fn push(&mut self, fault: ValidationFault) {
        let step = |crumb: &PathStepRef<'_>| match crumb {
            PathStepRef::Field(name) => PathStep::from(*name),
            PathStepRef::Index(index) => PathStep::Index(*index),
        };
        let entry = (self.path.iter().map(step).collect(), fault);
        if !self.found.contains(&entry) {
            self.found.push(entry);
        }
    }
}

/// True if the byte length alone shows that the character count is within its bounds. A character
/// has one to four bytes, and counting the characters of a large prompt costs more than the rest of
/// its check.
fn is_surely_within(bounds: LengthBounds, text: &str) -> bool {
    let bytes = text.len() as u64;
    let may_be_short = bounds.min.is_some_and(|min| bytes < min.saturating_mul(4));
    let may_be_long = bounds.max.is_some_and(|max| max < bytes);
    !may_be_short && !may_be_long
}
