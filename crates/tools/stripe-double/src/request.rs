//! Requests to the API, and its answers.

use serde_json::{Value, json};

/// The fields of a form or a query, in order, with names such as `metadata[order]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormFields {
    fields: Vec<(String, String)>,
}

/// A request, without its connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoubleRequest {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: FormFields,
    pub form: FormFields,
    /// The header `Authorization`.
    pub authorization: Option<String>,
    /// The header `Stripe-Version`.
    pub version: Option<String>,
    /// The header `Idempotency-Key`.
    pub idempotency_key: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DoubleAnswer {
    pub status: u16,
    pub body: Value,
    /// True if this repeats the answer to an earlier request with the same idempotency key.
    pub is_replayed: bool,
}

impl FormFields {
    /// Parses `application/x-www-form-urlencoded`.
    pub fn parse(text: &[u8]) -> FormFields {
        let pairs = url::form_urlencoded::parse(text);
        FormFields { fields: pairs.map(|(name, value)| (name.into(), value.into())).collect() }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|(name, _)| name.as_str())
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name)?.parse().ok()
    }

    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// The values of `name[…]`, as an object of texts.
    pub fn object(&self, name: &str) -> Value {
        let fields = self.fields.iter().filter_map(|(full, value)| {
            let key = full.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            Some((key.to_owned(), Value::from(value.as_str())))
        });
        Value::Object(fields.collect())
    }

    /// The values of `name[0]`, `name[1]` and so on.
    pub fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.fields.iter().filter_map(move |(full, value)| {
            let index = full.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
            index.bytes().all(|byte| byte.is_ascii_digit()).then_some(value.as_str())
        })
    }
}

impl DoubleRequest {
    /// A request with `path` and its query; `form` is the body of a POST.
    pub fn new(method: &str, path: &str, form: Option<&[u8]>) -> DoubleRequest {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        DoubleRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: FormFields::parse(query.as_bytes()),
            form: FormFields::parse(form.unwrap_or_default()),
            ..DoubleRequest::default()
        }
    }
}

impl DoubleAnswer {
    pub(crate) fn ok(body: Value) -> DoubleAnswer {
        DoubleAnswer { status: 200, body, is_replayed: false }
    }

    pub(crate) fn error(status: u16, error: Value) -> DoubleAnswer {
        DoubleAnswer { status, body: json!({ "error": error }), is_replayed: false }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> DoubleAnswer {
        let message: String = message.into();
        DoubleAnswer::error(400, json!({"type": "invalid_request_error", "message": message}))
    }

    pub(crate) fn invalid_code(code: &str, message: &str) -> DoubleAnswer {
        let error = json!({"type": "invalid_request_error", "code": code, "message": message});
        DoubleAnswer::error(400, error)
    }

    pub(crate) fn missing(kind: &str, id: &str) -> DoubleAnswer {
        let message = format!("No such {kind}: '{id}'");
        let error = json!({
            "type": "invalid_request_error", "code": "resource_missing", "message": message,
            "param": "id",
        });
        DoubleAnswer::error(404, error)
    }
}
