//! The id of a request.

use axum::http::Extensions;

/// The 32 hexadecimal digits that identify a request in headers, logs and usage rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// The id assigned when the request arrived.
    pub(crate) fn from_extensions(extensions: &Extensions) -> RequestId {
        extensions.get::<RequestId>().cloned().expect("every request is given an id on arrival")
    }

    pub fn new(id: String) -> RequestId {
        RequestId(id)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
