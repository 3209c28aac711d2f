//! Path prefixes of the API.

/// Path prefix of the API; its last segment is the major version.
pub const BASE_PATH: &str = "/api/v1";
/// Path prefix of the same API for OpenAI's SDKs. Errors below it have OpenAI's shape.
pub const OPENAI_BASE_PATH: &str = "/v1";
