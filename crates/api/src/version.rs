//! The version of the API's description.

/// When the description last changed, as `yyyymmdd.hhmmss`. It is published in the document and
/// sent with every response; change it whenever `openapi.json` changes.
pub const VERSION: &str = "20261118.040000";
