//! The schema of a tool's arguments: chosen fields of the endpoint's schema.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Members of our schemas that mean something to this service only.
const OWN_KEYWORDS: [&str; 2] = ["x-required", schema_check::NULL_TEXT];

/// The arguments of a tool without any.
pub(super) fn build_empty_schema() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

/// The schema of `T` with these fields alone.
pub(super) fn build_schema<T: JsonSchema>(fields: &[&str]) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let root = generator.into_root_schema_for::<T>().to_value();
    let known = root["properties"].as_object();
    let kept = |name: &&str| Some(((*name).to_owned(), known?.get(*name)?.clone()));
    let properties: Map<String, Value> = fields.iter().filter_map(kept).collect();
    let required = root["required"].as_array().into_iter().flatten();
    let required: Vec<&Value> =
        required.filter(|it| it.as_str().is_some_and(|it| fields.contains(&it))).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let definitions = find_definitions(&schema, &root["$defs"]);
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    remove_own_keywords(&mut schema);
    schema
}

/// The definitions that a schema refers to, directly or through others.
fn find_definitions(schema: &Value, all: &Value) -> Map<String, Value> {
    let mut found = Map::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let name = members.get("$ref").and_then(Value::as_str);
                let name = name.and_then(|it| it.strip_prefix("#/$defs/"));
                if let Some(name) = name
                    && !found.contains_key(name)
                    && let Some(definition) = all.get(name)
                {
                    found.insert(name.to_owned(), definition.clone());
                    open.push(definition);
                }
                open.extend(members.values());
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    found.sort_keys();
    found
}

fn remove_own_keywords(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for name in OWN_KEYWORDS {
                members.shift_remove(name);
            }
            members.values_mut().for_each(remove_own_keywords);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_own_keywords),
        _ => {}
    }
}
