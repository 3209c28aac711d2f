//! The version of the API's description.

/// Time of the last change of the API, as `yyyymmdd.hhmmss`. Published in the OpenAPI document and
/// sent with every response; change it whenever `openapi.json` changes.
pub const VERSION: &str = "20261119.013000";
