//! Analyses unions at compile time: their types, values and tag.

use serde_json::Value;

use crate::node::{JsonTypeSet, NodeId, SchemaNode, SchemaUnion, UnionTag};
use crate::schema::SchemaError;

/// Computes the JSON types that each node can accept. Refuses a schema that refers to itself
/// without descending into the value, because its check would not end.
pub(crate) fn resolve_types(nodes: &mut [SchemaNode]) -> Result<(), SchemaError> {
    let mut progress = vec![ResolveState::Untouched; nodes.len()];
    for index in 0..nodes.len() {
        nodes[index].accepts = resolve_node_types(nodes, NodeId(index), &mut progress)?;
    }
    Ok(())
}

/// Finds the list of values of each union, or the tag that identifies its branches.
pub(crate) fn find_tags(nodes: &mut [SchemaNode]) {
    for index in 0..nodes.len() {
        let mut unions = std::mem::take(&mut nodes[index].unions);
        for union in &mut unions {
            union.options = collect_options(nodes, union);
            union.tag = find_tag(nodes, union);
        }
        nodes[index].unions = unions;
    }
}

#[derive(Clone, Copy)]
enum ResolveState {
    Untouched,
    Underway,
    Settled(JsonTypeSet),
}

fn resolve_node_types(
    nodes: &[SchemaNode],
    id: NodeId,
    progress: &mut [ResolveState],
) -> Result<JsonTypeSet, SchemaError> {
    match progress[id.0] {
        ResolveState::Settled(kinds) => return Ok(kinds),
        ResolveState::Underway => {
            return Err(SchemaError::new("#", "a schema consists of nothing but itself"));
        }
        ResolveState::Untouched => progress[id.0] = ResolveState::Underway,
    }
    let node = &nodes[id.0];
    let mut kinds =
        if node.never { JsonTypeSet::NONE } else { node.kinds.unwrap_or(JsonTypeSet::ALL) };
    if let Some(allowed) = &node.allowed {
        kinds =
            kinds.and(allowed.iter().map(JsonTypeSet::of).fold(JsonTypeSet::NONE, JsonTypeSet::or));
    }
    for part in node.reference.iter().chain(&node.all_of) {
        kinds = kinds.and(resolve_node_types(nodes, *part, progress)?);
    }
    for union in &node.unions {
        let mut any = JsonTypeSet::NONE;
        for branch in &union.branches {
            any = any.or(resolve_node_types(nodes, *branch, progress)?);
        }
        kinds = kinds.and(any);
    }
    if let Some(not) = node.not {
        resolve_node_types(nodes, not, progress)?;
    }
    progress[id.0] = ResolveState::Settled(kinds);
    Ok(kinds)
}

fn collect_options(nodes: &[SchemaNode], union: &SchemaUnion) -> Option<Vec<Value>> {
    let mut options: Vec<Value> = Vec::new();
    for branch in &union.branches {
        let node = resolve_reference(nodes, *branch);
        let listed = match &node.allowed {
            Some(listed) => listed.clone(),
            None if node.accepts == JsonTypeSet::NULL => vec![Value::Null],
            None => return None,
        };
        // A value in two branches of a `oneOf` must be refused; the full check does that.
        if listed.iter().any(|it| options.contains(it)) {
            return None;
        }
        options.extend(listed);
    }
    let has_choice = options.iter().any(|it| !it.is_null());
    has_choice.then_some(options)
}

fn find_tag(nodes: &[SchemaNode], union: &SchemaUnion) -> Option<UnionTag> {
    let is_object = |id: &&NodeId| nodes[id.0].accepts.contains(JsonTypeSet::OBJECT);
    let objects: Vec<NodeId> = union.branches.iter().filter(is_object).copied().collect();
    let (first, others) = objects.split_first()?;
    if others.is_empty() {
        return None;
    }
    let candidates = list_constants(nodes, *first);
    let in_all = |name: &String| others.iter().all(|it| find_constant(nodes, *it, name).is_some());
    let (name, _) = candidates.into_iter().find(|(name, _)| in_all(name))?;
    let mut branches: Vec<(String, Vec<NodeId>)> = Vec::new();
    for object in objects {
        for value in find_constant(nodes, object, &name)? {
            match branches.iter_mut().find(|(known, _)| *known == value) {
                Some((_, same)) => same.push(object),
                None => branches.push((value, vec![object])),
            }
        }
    }
    Some(UnionTag { name, branches })
}

fn find_constant(nodes: &[SchemaNode], id: NodeId, name: &str) -> Option<Vec<String>> {
    list_constants(nodes, id).into_iter().find(|(known, _)| known == name).map(|(_, values)| values)
}

/// The required properties of an object that can only be certain texts.
fn list_constants(nodes: &[SchemaNode], id: NodeId) -> Vec<(String, Vec<String>)> {
    let mut constants = Vec::new();
    for node in follow_references(nodes, id) {
        for name in &node.object.required {
            let Some(property) = node.object.properties.get(name) else { continue };
            let Some(allowed) = &resolve_reference(nodes, property.node).allowed else { continue };
            let texts: Option<Vec<String>> =
                allowed.iter().map(|it| it.as_str().map(str::to_owned)).collect();
            if let Some(texts) = texts {
                constants.push((name.clone(), texts));
            }
        }
    }
    constants
}

/// The first node of a reference chain with allowed values, or else the last one.
fn resolve_reference(nodes: &[SchemaNode], id: NodeId) -> &SchemaNode {
    let chain = follow_references(nodes, id);
    let has_rules = |it: &&&SchemaNode| it.allowed.is_some();
    chain.iter().find(has_rules).or(chain.last()).copied().unwrap_or(&nodes[id.0])
}

/// A node and its chain of references; a cycle ends where it began.
fn follow_references(nodes: &[SchemaNode], id: NodeId) -> Vec<&SchemaNode> {
    let mut seen = vec![id];
    let mut next = nodes[id.0].reference;
    while let Some(target) = next.filter(|it| !seen.contains(it)) {
        seen.push(target);
        next = nodes[target.0].reference;
    }
    seen.into_iter().map(|it| &nodes[it.0]).collect()
}
