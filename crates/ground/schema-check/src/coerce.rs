//! Converts the text pairs of a query string or form into the JSON that a schema expects.

use serde_json::{Map, Number, Value};

use crate::node::{JsonTypeSet, NodeId, SchemaNode};
use crate::walk::{self, NullMeaning};

/// Converts pairs in which names may repeat.
pub(crate) fn coerce_pairs(
    nodes: &[SchemaNode],
    root: NodeId,
    pairs: Vec<(String, String)>,
) -> Value {
    coerce_all(nodes, root, group_pairs(pairs))
}

/// Converts pairs with distinct names, none of which ends in `[]`.
pub(crate) fn coerce_distinct(
    nodes: &[SchemaNode],
    root: NodeId,
    pairs: impl Iterator<Item = (String, String)>,
) -> Value {
    let given = pairs.map(|(name, text)| NamedTexts { name, texts: vec![text], is_list: false });
    coerce_all(nodes, root, given)
}

fn coerce_all(
    nodes: &[SchemaNode],
    root: NodeId,
    all: impl IntoIterator<Item = NamedTexts>,
) -> Value {
    let mut object = Map::new();
    for given in all {
        let value = match find_property(nodes, root, &given.name, &mut Vec::new()) {
            Some(node) => coerce_given(nodes, node, &given),
            None => given.as_text(),
        };
        object.insert(given.name, value);
    }
    Value::Object(object)
}

/// All texts with one name; `tags[]` is another notation of a repeated `tags`.
struct NamedTexts {
    name: String,
    texts: Vec<String>,
    is_list: bool,
}

impl NamedTexts {
    fn as_text(&self) -> Value {
        match self.texts.as_slice() {
            [only] if !self.is_list => Value::String(only.clone()),
            many => many.iter().cloned().map(Value::String).collect(),
        }
    }
}

fn group_pairs(pairs: Vec<(String, String)>) -> Vec<NamedTexts> {
    let mut groups: Vec<NamedTexts> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for (name, text) in pairs {
        let (name, is_list) = match name.strip_suffix("[]") {
            Some(stem) => (stem.to_owned(), true),
            None => (name, false),
        };
        let place = *places.entry(name.clone()).or_insert_with(|| {
            groups.push(NamedTexts { name, texts: Vec::new(), is_list });
            groups.len() - 1
        });
        groups[place].texts.push(text);
    }
    groups
}

/// The node of a property, wherever the schema declares it.
fn find_property(
    nodes: &[SchemaNode],
    id: NodeId,
    name: &str,
    seen: &mut Vec<NodeId>,
) -> Option<NodeId> {
    if seen.contains(&id) {
        return None;
    }
    seen.push(id);
    let node = &nodes[id.0];
    if let Some(property) = node.object.properties.get(name) {
        return Some(property.node);
    }
    let branches = node.unions.iter().flat_map(|union| &union.branches);
    let parts = node.reference.iter().chain(&node.all_of).chain(branches);
    parts.copied().find_map(|part| find_property(nodes, part, name, seen))
}

fn coerce_given(nodes: &[SchemaNode], id: NodeId, given: &NamedTexts) -> Value {
    let accepts = nodes[id.0].accepts;
    let takes_array = accepts.contains(JsonTypeSet::ARRAY);
    let takes_only_array = accepts.without_null() == JsonTypeSet::ARRAY;
    match given.texts.as_slice() {
        [only] if !given.is_list && !takes_only_array => coerce_scalar(nodes, id, only),
        [only] if !given.is_list => coerce_list(nodes, id, only.split(',').map(str::trim)),
        many if takes_array => coerce_list(nodes, id, many.iter().map(String::as_str)),
        // A repeated scalar is an error; the array makes the check report it.
        _ => given.as_text(),
    }
}

fn coerce_list<'a>(
    nodes: &[SchemaNode],
    id: NodeId,
    texts: impl Iterator<Item = &'a str>,
) -> Value {
    match find_items(nodes, id, &mut Vec::new()) {
        Some(item) => texts.map(|text| coerce_scalar(nodes, item, text)).collect(),
        None => texts.map(Value::from).collect(),
    }
}

fn find_items(nodes: &[SchemaNode], id: NodeId, seen: &mut Vec<NodeId>) -> Option<NodeId> {
    if seen.contains(&id) {
        return None;
    }
    seen.push(id);
    let node = &nodes[id.0];
    let branches = node.unions.iter().flat_map(|union| &union.branches);
    let parts = node.reference.iter().chain(&node.all_of).chain(branches);
    node.array.items.or_else(|| parts.copied().find_map(|part| find_items(nodes, part, seen)))
}

/// Keeps text where text is valid; otherwise parses it as the expected type.
fn coerce_scalar(nodes: &[SchemaNode], id: NodeId, text: &str) -> Value {
    let as_text = Value::from(text);
    let accepts = nodes[id.0].accepts;
    let takes_text = accepts.contains(JsonTypeSet::STRING);
    if takes_text && walk::check_value(nodes, id, &as_text, NullMeaning::Absent).faults.is_empty() {
        return as_text;
    }
    let number = serde_json::from_str::<Number>(text).map(Value::Number);
    match (text, number) {
        ("true", _) if accepts.contains(JsonTypeSet::BOOLEAN) => Value::Bool(true),
        ("false", _) if accepts.contains(JsonTypeSet::BOOLEAN) => Value::Bool(false),
        ("null", _) if nodes[id.0].reads_null_text => Value::Null,
        (_, Ok(number)) if accepts.contains(JsonTypeSet::INTEGER) => number,
        _ => as_text,
    }
}
