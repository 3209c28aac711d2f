//! A caller's secret in a request.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// Text that neither logs nor replies contain.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SecretText(#[schemars(length(max = 16384))] String);

impl SecretText {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
