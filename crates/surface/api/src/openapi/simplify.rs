//! Simplifies schemas of the OpenAPI document for client generators. Their meaning stays the same;
//! the schemas that are enforced do not change.
//!
//! - `true` as a schema becomes `{}`, and `"default": null` is left out.
//! - A property marked `x-required` is required and not null: it is read beside the other members of
//!   the body, such as the file of a form, and its absence is refused there.
//! - String constants that are each a branch become one `enum`.
//! - Members that all branches of a union share move into each branch, and each branch becomes a
//!   definition, with a `discriminator` if there is one.

use serde_json::{Map, Value, json};

/// Keywords whose values are schemas by name.
const SCHEMAS_BY_NAME: [&str; 3] = ["properties", "patternProperties", "$defs"];
/// Keywords whose values are lists of schemas.
const SCHEMA_LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Marks a property that is required although its own schema does not say so.
const REQUIRED: &str = "x-required";
/// Path of the definitions in the document.
const DEFINITIONS: &str = "#/components/schemas/";

/// Simplifies the definitions, and adds those for branches of unions.
pub(super) fn simplify_definitions(schemas: &mut Map<String, Value>) {
    schemas.values_mut().for_each(simplify_schema);
    let before = schemas.clone();
    for (name, schema) in &before {
        let Some(split) = split_union(name, schema, &before) else { continue };
        schemas.insert(name.clone(), split.union);
        for (branch, definition) in split.branches {
            schemas.entry(branch).or_insert(definition);
        }
    }
}

/// Simplifies one schema and all schemas inside it.
pub(super) fn simplify_schema(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(members) = schema else { return };
    if members.get("default") == Some(&Value::Null) {
        members.shift_remove("default");
    }
    for (keyword, value) in members.iter_mut() {
        match value {
            Value::Object(named) if SCHEMAS_BY_NAME.contains(&keyword.as_str()) => {
                named.values_mut().for_each(simplify_schema);
            }
            Value::Array(list) if SCHEMA_LISTS.contains(&keyword.as_str()) => {
                list.iter_mut().for_each(simplify_schema);
            }
            value if keyword == "items" => simplify_schema(value),
            // `true` and `false` are common here, so they stay.
            Value::Object(_) if keyword == "additionalProperties" => simplify_schema(value),
            _ => {}
        }
    }
    merge_constants(members);
    require_marked(members);
}

/// Lists the marked properties of an object as required.
fn require_marked(schema: &mut Map<String, Value>) {
    let mut marked = Vec::new();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Value::Object(members) = property else { continue };
        if members.shift_remove(REQUIRED) != Some(Value::Bool(true)) {
            continue;
        }
        marked.push(Value::from(name.as_str()));
        if let Some(Value::Array(kinds)) = members.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [only] = kinds.as_slice() {
                members["type"] = only.clone();
            }
        }
    }
    if marked.is_empty() {
        return;
    }
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(names) = required {
        names.extend(marked);
    }
}

/// Merges branches that are string constants into one `enum`. Their descriptions are appended.
fn merge_constants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = schema.get("oneOf") else { return };
    let mut words = Vec::new();
    let mut notes = Vec::new();
    for branch in branches {
        let own = match (branch.get("const"), branch.get("enum")) {
            (Some(word @ Value::String(_)), _) => vec![word.clone()],
            (None, Some(Value::Array(list))) if list.iter().all(Value::is_string) => list.clone(),
            _ => return,
        };
        if let (Some(note), [word]) = (branch["description"].as_str(), own.as_slice()) {
            notes.push(format!("`{}`: {note}", word.as_str().unwrap_or_default()));
        }
        words.extend(own);
    }
    let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
    let description: Vec<String> = description.into_iter().chain(notes).collect();
    schema.shift_remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), Value::Array(words));
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.join("\n\n").into());
    }
}

/// A union of references, and the definitions that they reference.
struct SplitUnion {
    union: Value,
    branches: Vec<(String, Value)>,
}

/// Replaces the branches of a union by references. None if the schema is not a union of objects.
fn split_union(name: &str, schema: &Value, definitions: &Map<String, Value>) -> Option<SplitUnion> {
    let branches = schema.get("oneOf")?.as_array()?;
    let words = branches.iter().map(branch_word).collect::<Option<Vec<BranchWord>>>()?;
    let mut references = Vec::new();
    let mut mapping = Map::new();
    let mut made = Vec::new();
    for (branch, word) in branches.iter().zip(&words) {
        let branch_name = format!("{name}{}", to_camel_case(&word.text));
        let reference = format!("{DEFINITIONS}{branch_name}");
        mapping.insert(word.text.clone(), json!(reference));
        references.push(json!({ "$ref": reference }));
        let target = branch["$ref"].as_str().and_then(|it| it.strip_prefix(DEFINITIONS));
        let target = target.and_then(|it| definitions.get(it));
        made.push((branch_name, merge_branch([Some(schema), Some(branch), target])));
    }
    let mut union = schema.as_object()?.clone();
    for keyword in ["properties", "required", "type"] {
        union.shift_remove(keyword);
    }
    union.insert("oneOf".to_owned(), Value::Array(references));
    let tag = words.first().and_then(|word| word.tag.clone());
    if let Some(tag) = tag.filter(|tag| words.iter().all(|word| word.tag.as_ref() == Some(tag))) {
        let discriminator = json!({ "propertyName": tag, "mapping": mapping });
        union.insert("discriminator".to_owned(), discriminator);
    }
    Some(SplitUnion { union: Value::Object(union), branches: made })
}

/// The name of a union's branch.
struct BranchWord {
    /// The member whose value distinguishes the branches, if any.
    tag: Option<String>,
    text: String,
}

/// None if the branch is not an object, or is already a definition.
fn branch_word(branch: &Value) -> Option<BranchWord> {
    let properties = branch["properties"].as_object()?;
    let tagged = properties.iter().find_map(|(name, schema)| {
        let text = schema["const"].as_str()?.to_owned();
        Some(BranchWord { tag: Some(name.clone()), text })
    });
    tagged.or_else(|| match branch["required"].as_array()?.as_slice() {
        [Value::String(only)] => Some(BranchWord { tag: None, text: only.clone() }),
        _ => None,
    })
}

/// Merges the members of a union, its branch and the branch's reference into one object.
fn merge_branch(parts: [Option<&Value>; 3]) -> Value {
    let [_, branch, target] = parts;
    let mut whole = Map::new();
    for part in [target, branch].into_iter().flatten() {
        whole.extend(part.as_object().cloned().unwrap_or_default());
    }
    whole.shift_remove("$ref");
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for part in parts.into_iter().flatten() {
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    whole.insert("type".to_owned(), json!("object"));
    whole.insert("properties".to_owned(), Value::Object(properties));
    whole.insert("required".to_owned(), Value::Array(required));
    Value::Object(whole)
}

fn to_camel_case(word: &str) -> String {
    let capitalised = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|it| it.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    word.split(['_', '-', '.', ' ']).map(capitalised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simplified(schema: Value) -> Value {
        let mut schemas = Map::from_iter([("It".to_owned(), schema)]);
        simplify_definitions(&mut schemas);
        Value::Object(schemas)
    }

    #[test]
    fn anything_is_an_empty_schema_and_no_default_is_null() {
        let schema = json!({"type": "object", "additionalProperties": true, "properties": {
            "a": true, "b": {"type": "array", "items": true},
            "c": {"type": ["string", "null"], "default": null}}});
        let expected = json!({"type": "object", "additionalProperties": true, "properties": {
            "a": {}, "b": {"type": "array", "items": {}}, "c": {"type": ["string", "null"]}}});
        assert_eq!(simplified(schema)["It"], expected);
    }

    #[test]
    fn what_is_marked_is_required_and_not_null() {
        let schema = json!({"type": "object", "required": ["prompt"], "properties": {
            "prompt": {"type": "string"},
            "image": {"type": ["string", "null"], "format": "binary", "x-required": true},
            "mask": {"type": ["string", "null"], "format": "binary"}}});
        let expected = json!({"type": "object", "required": ["prompt", "image"], "properties": {
            "prompt": {"type": "string"},
            "image": {"type": "string", "format": "binary"},
            "mask": {"type": ["string", "null"], "format": "binary"}}});
        assert_eq!(simplified(schema)["It"], expected);
    }

    #[test]
    fn words_are_one_enum() {
        let schema = json!({"description": "Both.", "oneOf": [
            {"type": "string", "enum": ["a", "b"]},
            {"type": "string", "const": "c", "description": "The last."}]});
        let expected = json!({"description": "Both.\n\n`c`: The last.", "type": "string",
            "enum": ["a", "b", "c"]});
        assert_eq!(simplified(schema)["It"], expected);
    }

    #[test]
    fn branches_have_names_and_all_their_members() {
        let branch = |word: &str| {
            json!({"type": "object", "required": ["kind"],
            "properties": {"kind": {"type": "string", "const": word}}})
        };
        let schema = json!({"type": "object", "required": ["id"],
            "properties": {"id": {"type": "string"}}, "oneOf": [branch("a_b"), branch("c")]});
        let whole = |word: &str| {
            json!({"type": "object", "required": ["id", "kind"],
            "properties": {"id": {"type": "string"},
                "kind": {"type": "string", "const": word}}})
        };
        let expected = json!({
            "It": {"oneOf": [{"$ref": "#/components/schemas/ItAB"},
                    {"$ref": "#/components/schemas/ItC"}],
                "discriminator": {"propertyName": "kind", "mapping": {
                    "a_b": "#/components/schemas/ItAB", "c": "#/components/schemas/ItC"}}},
            "ItAB": whole("a_b"),
            "ItC": whole("c"),
        });
        assert_eq!(simplified(schema), expected);
    }

    #[test]
    fn a_branch_that_refers_elsewhere_is_written_out() {
        let mut schemas = Map::from_iter([
            (
                "Part".to_owned(),
                json!({"type": "object", "required": ["text"],
                "properties": {"text": {"type": "string"}}}),
            ),
            (
                "It".to_owned(),
                json!({"oneOf": [{"$ref": "#/components/schemas/Part",
                "type": "object", "required": ["kind"],
                "properties": {"kind": {"type": "string", "const": "a"}}}]}),
            ),
        ]);
        simplify_definitions(&mut schemas);
        let expected = json!({"type": "object", "required": ["kind", "text"], "properties": {
            "kind": {"type": "string", "const": "a"}, "text": {"type": "string"}}});
        assert_eq!(schemas["ItA"], expected);
    }
}
