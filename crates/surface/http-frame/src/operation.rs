//! One operation of the OpenAPI document while it is built.
//!
//! Each part of a call describes itself here: the credential, the input, the reply and the
//! refusals. So the document cannot contradict the handler's signature.

use schema_check::NULL_TEXT;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use wire::errors;

/// The OpenAPI description of one endpoint.
#[derive(Debug, Default)]
pub struct OpenApiOperation {
    parameters: Vec<Value>,
    body: Map<String, Value>,
    body_is_required: bool,
    responses: Map<String, Value>,
    security: Option<Value>,
}

/// The place of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterLocation {
    Path,
    Query,
}

impl OpenApiOperation {
    /// Sets the accepted credentials. `{}` among them means that none is needed.
    pub fn security(&mut self, security: Value) {
        self.security = Some(security);
    }

    /// Adds each field of an object schema as a parameter.
    pub fn parameters<T: JsonSchema>(
        &mut self,
        place: ParameterLocation,
        generator: &mut SchemaGenerator,
    ) {
        self.add_parameters(place, &T::json_schema(generator).to_value());
    }

    fn add_parameters(&mut self, place: ParameterLocation, schema: &Value) {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let mut field = field.clone();
            let description = field.as_object_mut().and_then(|it| it.shift_remove("description"));
            let mut parameter = json!({
                "name": name,
                "in": if place == ParameterLocation::Path { "path" } else { "query" },
                "required": required.contains(&name.as_str()),
                "schema": parameter_schema(field),
            });
            if let Some(description) = description {
                parameter["description"] = description;
            }
            self.parameters.push(parameter);
        }
    }

    /// Adds an optional header.
    pub fn header(&mut self, name: &str, description: &str, schema: Value) {
        self.parameters.push(json!({
            "name": name,
            "in": "header",
            "required": false,
            "schema": schema,
            "description": description,
        }));
    }

    pub fn body<T: JsonSchema>(&mut self, content_type: &str, generator: &mut SchemaGenerator) {
        let schema = generator.subschema_for::<T>().to_value();
        self.body.insert(content_type.to_owned(), json!({ "schema": schema }));
        self.body_is_required = true;
    }

    /// Describes an optional JSON body.
    pub fn optional_body<T: JsonSchema>(&mut self, generator: &mut SchemaGenerator) {
        self.body::<T>("application/json", generator);
        self.body_is_required = false;
    }

    /// For parameters that may be sent in the body instead.
    pub fn make_parameters_optional(&mut self) {
        for parameter in &mut self.parameters {
            parameter["required"] = json!(false);
        }
    }

    pub fn reply<T: JsonSchema>(&mut self, generator: &mut SchemaGenerator) {
        let schema = generator.subschema_for::<T>().to_value();
        self.response(200, "Done", "application/json", json!({ "schema": schema }));
    }

    /// A text reply that is not JSON.
    pub fn text_reply(&mut self, content_type: &str) {
        self.response(200, "Done", content_type, json!({ "schema": { "type": "string" } }));
    }

    /// A binary reply.
    pub fn file_reply(&mut self, content_type: &str) {
        let schema = json!({ "type": "string", "format": "binary" });
        self.response(200, "Done", content_type, json!({ "schema": schema }));
    }

    /// A reply without a body.
    pub fn empty_reply(&mut self, status: u16, meaning: &str) {
        self.responses.insert(status.to_string(), json!({ "description": meaning }));
    }

    /// The reply to a request for a range of bytes.
    pub fn partial_reply(&mut self, content_type: &str) {
        let schema = json!({ "type": "string", "format": "binary" });
        self.response(
            206,
            "The requested range of the file",
            content_type,
            json!({ "schema": schema }),
        );
    }

    pub fn refusal<T: JsonSchema>(
        &mut self,
        status: u16,
        meaning: &str,
        generator: &mut SchemaGenerator,
    ) {
        let schema = generator.subschema_for::<T>().to_value();
        self.response(status, meaning, "application/json", json!({ "schema": schema }));
    }

    pub fn standard_refusal(
        &mut self,
        status: u16,
        meaning: &str,
        generator: &mut SchemaGenerator,
    ) {
        self.refusal::<errors::StandardError>(status, meaning, generator);
    }

    /// Gives all refusals one shape, for endpoints whose protocol has its own.
    pub fn replace_refusals<T: JsonSchema>(&mut self, generator: &mut SchemaGenerator) {
        let schema = generator.subschema_for::<T>().to_value();
        for (status, response) in &mut self.responses {
            if !status.starts_with('2') {
                response["content"]["application/json"] = json!({ "schema": schema });
            }
        }
    }

    /// Adds a shape to all refusals, for endpoints that two protocols share.
    pub fn add_refusal_shape<T: JsonSchema>(&mut self, generator: &mut SchemaGenerator) {
        let added = generator.subschema_for::<T>().to_value();
        for (status, response) in &mut self.responses {
            if status.starts_with('2') {
                continue;
            }
            let schema = &mut response["content"]["application/json"]["schema"];
            let known = schema.take();
            let mut shapes = match known.get("anyOf").and_then(Value::as_array) {
                Some(shapes) => shapes.clone(),
                None => vec![known],
            };
            shapes.push(added.clone());
            *schema = json!({ "anyOf": shapes });
        }
    }

    /// Adds the description to an operation that already has its name.
    pub fn write_into(self, operation: &mut Value) {
        if let Some(security) = self.security {
            operation["security"] = security;
        }
        if !self.parameters.is_empty() {
            operation["parameters"] = Value::Array(self.parameters);
        }
        if !self.body.is_empty() {
            let required = self.body_is_required;
            operation["requestBody"] = json!({ "required": required, "content": self.body });
        }
        let mut responses = self.responses;
        responses.sort_keys();
        operation["responses"] = Value::Object(responses);
    }

    /// Adds a response. Two schemas of one status and content type become `anyOf`.
    fn response(&mut self, status: u16, meaning: &str, content_type: &str, content: Value) {
        let response = self
            .responses
            .entry(status.to_string())
            .or_insert_with(|| json!({ "description": meaning, "content": {} }));
        let known = &mut response["content"][content_type];
        if known.is_null() {
            *known = content;
        } else if *known != content {
            let both = [known["schema"].clone(), content["schema"].clone()];
            *known = json!({ "schema": { "anyOf": both } });
        }
    }
}

/// The schema of a parameter. Removes `null` unless the text `null` is accepted: an absent parameter is
/// left out.
fn parameter_schema(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else { return schema };
    if members.shift_remove(NULL_TEXT) == Some(Value::Bool(true)) {
        return schema;
    }
    if let Some(kinds) = members.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            members["type"] = only.clone();
        }
    } else if let Some(branches) = members.get_mut("anyOf").and_then(Value::as_array_mut) {
        branches.retain(|branch| branch["type"] != "null");
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            members.shift_remove("anyOf");
            members.extend(only);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_null_only_where_the_text_null_is_read() {
        let schema = json!({ "type": ["integer", "null"], "default": 0 });
        let marked = json!({ "type": ["integer", "null"], "default": 0, NULL_TEXT: true });
        assert_eq!(parameter_schema(schema), json!({ "type": "integer", "default": 0 }));
        let published = json!({ "type": ["integer", "null"], "default": 0 });
        assert_eq!(parameter_schema(marked), published);
    }

    #[test]
    fn what_stands_beside_a_branch_stays() {
        let schema = json!({ "anyOf": [{ "$ref": "#/a" }, { "type": "null" }], "default": "b" });
        assert_eq!(parameter_schema(schema), json!({ "default": "b", "$ref": "#/a" }));
    }
}
