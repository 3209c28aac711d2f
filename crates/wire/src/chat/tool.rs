//! Tools, and the form of an answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something the model may call.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Tool {
    /// Accepted and discarded: calls have ids of their own.
    #[schemars(length(max = 256))]
    pub id: Option<String>,
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub function: Function,
}

/// The only kind of tool there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    Function,
}

/// A function of the caller's.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Function {
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    pub description: Option<String>,
    /// The JSON schema of its arguments.
    pub parameters: Option<Map<String, Value>>,
    pub strict: Option<bool>,
}

/// Whether and what the model must call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ToolChoice {
    Mode(ToolChoiceMode),
    Function(FunctionChoice),
}

/// Whether the model must call something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoiceMode {
    Auto,
    None,
    Required,
}

/// The function that the model must call.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FunctionChoice {
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub function: FunctionName,
}

/// A function by its name.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FunctionName {
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
}

/// A function that was called.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CalledFunction {
    pub name: String,
    /// JSON as the model wrote it.
    pub arguments: String,
}

/// The form of an answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseFormat {
    Text,
    JsonObject,
    JsonSchema { json_schema: JsonSchemaFormat },
}

/// A JSON schema with its name, or the schema itself.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct JsonSchemaFormat {
    #[schemars(length(max = 64))]
    pub name: Option<String>,
    pub strict: Option<bool>,
    pub schema: Option<Map<String, Value>>,
    /// The members of a schema that stands here directly.
    #[serde(flatten)]
    pub direct: Map<String, Value>,
}
