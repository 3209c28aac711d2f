//! Adapts a valid value for serde, which is stricter about nulls and floats.

use serde_json::Value;

use crate::node::{JsonTypeSet, NodeId, ObjectRules, SchemaNode};
use crate::number;
use crate::walk::{self, NullMeaning};

/// The check before has limited the depth of the value.
pub(crate) fn adapt_for_serde(nodes: &[SchemaNode], root: NodeId, mut value: Value) -> Value {
    adapt_node(nodes, root, &mut value);
    value
}

fn adapt_node(nodes: &[SchemaNode], id: NodeId, value: &mut Value) {
    let node = &nodes[id.0];
    for part in node.reference.iter().chain(&node.all_of) {
        adapt_node(nodes, *part, value);
    }
    for union in &node.unions {
        let fits = |it: &&NodeId| {
            walk::check_value(nodes, **it, value, NullMeaning::Absent).faults.is_empty()
        };
        if let Some(branch) = union.branches.iter().find(fits) {
            adapt_node(nodes, *branch, value);
        }
    }
    match value {
        Value::Number(found) => {
            let wants_integer = node.kinds.is_some_and(|it| !it.contains(JsonTypeSet::NUMBER));
            if wants_integer && let Some(integer) = number::as_integer(found) {
                *found = integer;
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(rule) = node.array.prefix.get(index).copied().or(node.array.items) {
                    adapt_node(nodes, rule, item);
                }
            }
        }
        Value::Object(object) => {
            object.retain(|name, value| !is_absent(nodes, &node.object, name, value));
            for (name, value) in object.iter_mut() {
                if let Some(rule) = rule_of(&node.object, name) {
                    adapt_node(nodes, rule, value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => (),
    }
}

/// True for null on an optional property that takes no null: the caller means "not given".
fn is_absent(nodes: &[SchemaNode], rules: &ObjectRules, name: &str, value: &Value) -> bool {
    let Some(property) = rules.properties.get(name) else { return false };
    let takes_null = nodes[property.node.0].accepts.contains(JsonTypeSet::NULL);
    value.is_null() && !property.required && !takes_null
}

fn rule_of(rules: &ObjectRules, name: &str) -> Option<NodeId> {
    let known = rules.properties.get(name).map(|it| it.node);
    let by_pattern = || rules.patterns.iter().find(|(it, _)| it.regex.is_match(name));
    known.or_else(|| by_pattern().map(|(_, node)| *node)).or(rules.additional)
}
