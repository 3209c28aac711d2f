//! The conversation so far, item by item.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::chat::ImageUrl;

/// A text of the user's, or the items of a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Input {
    Text(#[schemars(length(min = 1))] String),
    Items(#[schemars(length(min = 1))] Vec<InputItem>),
}

/// One thing that was said or done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InputItem {
    FunctionCall(FunctionCall),
    FunctionCallOutput(FunctionCallOutput),
    Reasoning(PastReasoning),
    ItemReference(ItemReference),
    Search(PastSearch),
    Message(InputMessage),
}

/// A call the model made before.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FunctionCall {
    #[serde(rename = "type")]
    pub kind: FunctionCallKind,
    #[schemars(length(min = 1))]
    pub call_id: String,
    #[schemars(length(min = 1))]
    pub name: String,
    /// JSON as the model wrote it.
    pub arguments: String,
    /// Accepted and discarded.
    pub id: Option<String>,
    /// Accepted and discarded.
    pub status: Option<PastStatus>,
}

/// What a called function returned.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FunctionCallOutput {
    #[serde(rename = "type")]
    pub kind: FunctionCallOutputKind,
    #[schemars(length(min = 1))]
    pub call_id: String,
    /// A text, or any JSON, which the model gets as text.
    pub output: Value,
    /// Accepted and discarded.
    pub status: Option<PastStatus>,
}

/// What the model thought before; it is left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PastReasoning {
    #[serde(rename = "type")]
    pub kind: ReasoningKind,
    pub id: Option<String>,
    pub status: Option<PastStatus>,
    /// What was shown of it.
    pub summary: Option<Vec<PastSummary>>,
    /// What only its maker can read.
    pub encrypted_content: Option<String>,
}

/// A piece of what the model thought before.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PastSummary {
    /// `summary_text`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub text: Option<String>,
}

/// How far an item was when it was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PastStatus {
    InProgress,
    Completed,
    Incomplete,
}

/// An item that would have to be stored; it is left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ItemReference {
    #[serde(rename = "type")]
    pub kind: ItemReferenceKind,
    pub id: String,
}

/// A search that was made before; it is left out.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PastSearch {
    #[serde(rename = "type")]
    pub kind: PastSearchKind,
    pub id: Option<String>,
    pub status: Option<PastStatus>,
    /// What was searched for.
    pub action: Option<Value>,
}

/// A turn of somebody's.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InputMessage {
    #[serde(rename = "type")]
    pub kind: Option<MessageKind>,
    pub role: InputRole,
    pub content: InputContent,
    /// Accepted and discarded.
    pub id: Option<String>,
    /// Accepted and discarded.
    pub status: Option<PastStatus>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InputRole {
    User,
    Assistant,
    System,
    Developer,
}

/// Plain text, or parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InputContent {
    Text(String),
    Parts(Vec<InputPart>),
}

/// A piece of a turn.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputPart {
    InputText { text: String },
    OutputText { text: String },
    Text { text: String },
    Refusal { refusal: String },
    InputImage { image_url: ImageSource, detail: Option<String> },
    ImageUrl { image_url: ImageSource },
    InputFile(InputFile),
}

/// A document: its text is read. Models that take a PDF get the file itself.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct InputFile {
    /// A data URL.
    #[schemars(length(min = 1))]
    pub file_data: Option<String>,
    /// A public URL, for models that fetch files.
    #[schemars(length(min = 1))]
    pub file_url: Option<String>,
    pub filename: Option<String>,
}

/// A data URL or a public one, alone or in an object.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ImageSource {
    Url(#[schemars(length(min = 1))] String),
    Object(ImageUrl),
}

/// The kind of a message, which may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    Message,
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionCallKind {
    FunctionCall,
}

/// The kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionCallOutputKind {
    FunctionCallOutput,
}

/// The kind of a thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningKind {
    Reasoning,
}

/// The kind of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PastSearchKind {
    WebSearchCall,
}

/// The kind of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemReferenceKind {
    ItemReference,
}
