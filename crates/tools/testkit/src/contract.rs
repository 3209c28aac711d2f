//! Checks responses against the published OpenAPI document.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::Method;
use schema_check::CompiledSchema;
use serde_json::Value;

/// The published document, ready to check responses.
pub struct ApiContract {
    document: Value,
    /// The compiled schemas of responses, by their JSON pointers.
    shapes: Mutex<HashMap<String, Arc<CompiledSchema>>>,
}

impl ApiContract {
    /// The contract of the committed document, which a test of its own holds against the code.
    /// Generating it takes longer than most tests.
    pub fn committed() -> ApiContract {
        let document = serde_json::from_str(include_str!("../../../../openapi.json")).unwrap();
        ApiContract { document, shapes: Mutex::default() }
    }

    /// Panics unless the document describes this response for the operation. Paths that are no
    /// operation are not checked.
    #[track_caller]
    pub fn check(&self, method: &Method, path: &str, status: u16, reply: &ContractReply<'_>) {
        let Some(template) = self.template(path) else { return };
        let pointer = format!("/paths/{}/{}", escape(template), method.as_str().to_lowercase());
        let Some(operation) = self.document.pointer(&pointer) else { return };
        let operation_id = operation["operationId"].as_str().unwrap_or("?");
        let response = &operation["responses"][status.to_string()];
        assert!(!response.is_null(), "{operation_id} does not document the status {status}");
        let pointer = match response["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
            Some(shared) => shared.to_owned(),
            None => format!("{pointer}/responses/{status}"),
        };
        let content_type = reply.content_type.split(';').next().unwrap_or("");
        let pointer = format!("{pointer}/content/{}/schema", escape(content_type));
        let is_documented = self.document.pointer(&pointer).is_some();
        assert!(is_documented, "{operation_id} {status} does not document {content_type}");
        let ContractReply { json: Some(json), .. } = reply else { return };
        let shape = self.shape(pointer);
        if let Err(faults) = shape.check_reply(json) {
            panic!("{operation_id} {status} does not keep its schema: {faults}\n{json}");
        }
    }

    /// The operation of a request.
    pub fn operation(&self, method: &Method, path: &str) -> Option<&Value> {
        let template = self.template(path)?;
        self.document["paths"][template].get(method.as_str().to_lowercase())
    }

    /// The documented path that a request's path matches.
    fn template(&self, path: &str) -> Option<&str> {
        let path = path.split('?').next()?.strip_prefix("/api/v1")?;
        let paths = self.document["paths"].as_object()?;
        if let Some((exact, _)) = paths.get_key_value(path) {
            return Some(exact);
        }
        let matching = paths.keys().filter(|template| matches_template(template, path));
        matching
            .max_by_key(|template| (segments(template) == segments(path), template.len()))
            .map(String::as_str)
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The definition that a reference leads to, or the value itself.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let pointer = value["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        pointer.and_then(|it| self.document.pointer(it)).unwrap_or(value)
    }

    /// Returns the compiled schema at a JSON pointer. It is compiled as a part of the document, to
    /// which its references lead.
    fn shape(&self, pointer: String) -> Arc<CompiledSchema> {
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        let shape = shapes.entry(pointer).or_insert_with_key(|pointer| {
            Arc::new(CompiledSchema::from_document(&self.document, &format!("#{pointer}")).unwrap())
        });
        Arc::clone(shape)
    }
}

/// Escapes a key for a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The parts of a response that the document describes.
pub struct ContractReply<'a> {
    pub content_type: &'a str,
    pub json: Option<&'a Value>,
}

fn segments(path: &str) -> usize {
    path.matches('/').count()
}

fn matches_template(template: &str, path: &str) -> bool {
    let (Some((before, _)), Some((_, after))) =
        (template.split_once('{'), template.rsplit_once('}'))
    else {
        return false;
    };
    before.len() + after.len() < path.len() && path.starts_with(before) && path.ends_with(after)
}
