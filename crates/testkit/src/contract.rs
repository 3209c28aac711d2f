//! Checks responses against the published OpenAPI document.

use axum::http::Method;
use schema_check::Shape;
use serde_json::Value;

/// The published document, ready to check responses.
pub struct Contract {
    document: Value,
}

impl Contract {
    pub fn new(document: Value) -> Contract {
        Contract { document }
    }

    /// Panics unless the document describes this response for the operation. Paths that are no
    /// operation are not checked.
    #[track_caller]
    pub fn check(&self, method: &Method, path: &str, status: u16, reply: &Reply<'_>) {
        let Some(operation) = self.operation(method, path) else { return };
        let operation_id = operation["operationId"].as_str().unwrap_or("?");
        let responses = &operation["responses"];
        let response = self.resolve(&responses[status.to_string()]);
        assert!(!response.is_null(), "{operation_id} does not document the status {status}");
        let content_type = reply.content_type.split(';').next().unwrap_or("");
        let schema = &response["content"][content_type]["schema"];
        assert!(!schema.is_null(), "{operation_id} {status} does not document {content_type}");
        let Reply { json: Some(json), .. } = reply else { return };
        let shape = self.shape(schema);
        if let Err(faults) = shape.check_reply(json) {
            panic!("{operation_id} {status} does not keep its schema: {faults}\n{json}");
        }
    }

    /// The operation of a request.
    pub fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let path = path.split('?').next()?.strip_prefix("/api/v1")?;
        let paths = self.document["paths"].as_object()?;
        let exact = paths.get(path);
        let item = exact.or_else(|| {
            let matching = paths.iter().filter(|(template, _)| matches(template, path));
            matching.max_by_key(|(template, _)| template.len()).map(|(_, item)| item)
        })?;
        item.get(method.as_str().to_lowercase())
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The definition that a reference leads to, or the value itself.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let pointer = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        pointer.and_then(|it| self.document.pointer(it)).unwrap_or(value)
    }

    fn shape(&self, schema: &Value) -> Shape {
        // The schema has references into the document, so it is checked as a part of it.
        let mut document = self.document.clone();
        document["x-checked"] = schema.clone();
        Shape::from_document(&document, "#/x-checked").unwrap()
    }
}

/// The parts of a response that the document describes.
pub struct Reply<'a> {
    pub content_type: &'a str,
    pub json: Option<&'a Value>,
}

fn matches(template: &str, path: &str) -> bool {
    let (Some((before, _)), Some((_, after))) =
        (template.split_once('{'), template.rsplit_once('}'))
    else {
        return false;
    };
    before.len() + after.len() < path.len() && path.starts_with(before) && path.ends_with(after)
}
