//! The tools, each with the endpoint that it calls and the fields that it takes.

use std::sync::{Arc, LazyLock};

use http_frame::endpoint::ApiEndpoint;
use http_frame::inner_call::InnerEndpoint;
use schema_check::CompiledSchema;
use schemars::JsonSchema;
use serde_json::{Value, json};
use wire::audio::{SpeechRequest, TranscriptionRequest};
use wire::augment::{ScrapeRequest, SearchRequest};
use wire::chat::ChatCompletionRequest;
use wire::images::ImageGenerationRequest;
use wire::models::ModelListQuery;

use super::argument_schema::{build_empty_schema, build_schema};
use crate::endpoints::{api_keys, audio, augment, chat, image, models, x402};

/// The work of a tool, which decides how its call is written and its answer read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolWork {
    Chat,
    Image,
    Speech,
    Transcription,
    Search,
    Scrape,
    Models,
    Balance,
    TopUp,
}

/// A tool and the endpoint behind it.
pub(super) struct McpTool {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    pub(super) work: ToolWork,
    pub(super) endpoint: InnerEndpoint,
    pub(super) path: &'static str,
    schema: Value,
    /// The published schema, ready to check arguments.
    pub(super) rules: Arc<CompiledSchema>,
}

impl McpTool {
    fn describe(&self) -> Value {
        let is_reading = matches!(
            self.work,
            ToolWork::Search | ToolWork::Scrape | ToolWork::Models | ToolWork::Balance
        );
        let reaches_world = !matches!(self.work, ToolWork::Models | ToolWork::Balance);
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": {
                "readOnlyHint": is_reading,
                "destructiveHint": false,
                "openWorldHint": reaches_world,
            },
        })
    }
}

static TOOLS: LazyLock<Vec<McpTool>> = LazyLock::new(build_tools);
static DESCRIPTIONS: LazyLock<Value> =
    LazyLock::new(|| TOOLS.iter().map(McpTool::describe).collect());
static WALLET_BALANCE: LazyLock<InnerEndpoint> =
    LazyLock::new(|| x402::balance::build_endpoint().to_inner());

pub(super) fn find_tool(name: &str) -> Option<&'static McpTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools as `tools/list` shows them.
pub(super) fn list_descriptions() -> Value {
    DESCRIPTIONS.clone()
}

/// The endpoint that takes payments.
pub(super) fn payment_tool() -> Option<&'static McpTool> {
    TOOLS.iter().find(|tool| tool.work == ToolWork::TopUp)
}

/// The endpoint with a wallet's balance. That of keys is in the table.
pub(super) fn wallet_balance() -> &'static InnerEndpoint {
    &WALLET_BALANCE
}

fn build_tools() -> Vec<McpTool> {
    let mut tools = build_model_tools();
    tools.extend(build_web_tools());
    tools.extend(build_account_tools());
    tools
}

fn build_model_tools() -> Vec<McpTool> {
    let chat_fields = [
        "model",
        "messages",
        "max_completion_tokens",
        "temperature",
        "top_p",
        "seed",
        "stop",
        "reasoning_effort",
        "response_format",
    ];
    let image_fields = [
        "model",
        "prompt",
        "negative_prompt",
        "width",
        "height",
        "aspect_ratio",
        "resolution",
        "quality",
        "format",
        "variants",
        "seed",
        "steps",
        "cfg_scale",
        "style_preset",
        "safe_mode",
    ];
    let speech_fields =
        ["input", "model", "voice", "response_format", "speed", "language", "prompt"];
    let describe_chat = "Asks a text model. Returns its answer. list_models shows the models.";
    let describe_image = "Makes pictures from a description. list_models with type image shows \
                          the models.";
    let describe_speech = "Speaks a text. Returns the sound. list_models with type tts shows \
                           models and voices.";
    vec![
        build_tool::<ChatCompletionRequest>(
            ToolTexts { name: "chat", title: "Ask a model", description: describe_chat },
            ToolWork::Chat,
            &chat::build_endpoint(),
            &chat_fields,
        ),
        build_tool::<ImageGenerationRequest>(
            ToolTexts {
                name: "generate_image",
                title: "Make pictures",
                description: describe_image,
            },
            ToolWork::Image,
            &image::generate::build_endpoint(),
            &image_fields,
        ),
        build_tool::<SpeechRequest>(
            ToolTexts { name: "speak", title: "Speak a text", description: describe_speech },
            ToolWork::Speech,
            &audio::speech::build_endpoint(),
            &speech_fields,
        ),
        build_transcription_tool(),
    ]
}

/// The file is in base64: a form is written from it.
fn build_transcription_tool() -> McpTool {
    let fields = [
        "file",
        "model",
        "response_format",
        "timestamps",
        "language",
        "timestamp_granularities",
        "prompt",
        "temperature",
    ];
    let description = "Writes down what is said in a recording. list_models with type asr shows \
                       the models.";
    let mut schema = build_schema::<TranscriptionRequest>(&fields);
    schema["properties"]["file"] = json!({
        "type": "string",
        "contentEncoding": "base64",
        "minLength": 1,
        "description": "The recording in base64, at most 25 MB: WAV, FLAC, M4A, AAC, MP4, MP3, \
                        OGG, OGA or WEBM.",
    });
    schema["required"] = json!(["file"]);
    build_tool_with(
        ToolTexts { name: "transcribe", title: "Write down a recording", description },
        ToolWork::Transcription,
        &audio::transcriptions::build_endpoint(),
        schema,
    )
}

fn build_web_tools() -> Vec<McpTool> {
    vec![
        build_tool::<SearchRequest>(
            ToolTexts {
                name: "search",
                title: "Search the web",
                description: "Searches the web. Returns titles, URLs and excerpts.",
            },
            ToolWork::Search,
            &augment::search::build_endpoint(),
            &["query", "limit"],
        ),
        build_tool::<ScrapeRequest>(
            ToolTexts {
                name: "scrape",
                title: "Read a web page",
                description: "Reads a web page. Returns its content in Markdown.",
            },
            ToolWork::Scrape,
            &augment::scrape::build_endpoint(),
            &["url"],
        ),
    ]
}

fn build_account_tools() -> Vec<McpTool> {
    let describe_models = "Lists models with their prices. Default: text models.";
    let describe_balance = "Shows the credits that are left.";
    let describe_top_up = "Adds credits to a wallet with an x402 payment in USDC. Without a \
                           payment it returns the ways to pay.";
    vec![
        build_tool::<ModelListQuery>(
            ToolTexts { name: "list_models", title: "List models", description: describe_models },
            ToolWork::Models,
            &models::list::build_endpoint(),
            &["type"],
        ),
        build_plain_tool(
            ToolTexts { name: "balance", title: "Show the balance", description: describe_balance },
            ToolWork::Balance,
            &api_keys::rate_limits::build_endpoint(),
        ),
        build_plain_tool(
            ToolTexts { name: "top_up", title: "Add credits", description: describe_top_up },
            ToolWork::TopUp,
            &x402::top_up::build_endpoint(),
        ),
    ]
}

/// The texts of a tool for people and models.
struct ToolTexts {
    name: &'static str,
    title: &'static str,
    description: &'static str,
}

/// A tool with fields of the endpoint's input.
fn build_tool<T: JsonSchema>(
    texts: ToolTexts,
    work: ToolWork,
    endpoint: &ApiEndpoint,
    fields: &[&str],
) -> McpTool {
    build_tool_with(texts, work, endpoint, build_schema::<T>(fields))
}

/// A tool without arguments.
fn build_plain_tool(texts: ToolTexts, work: ToolWork, endpoint: &ApiEndpoint) -> McpTool {
    build_tool_with(texts, work, endpoint, build_empty_schema())
}

fn build_tool_with(
    texts: ToolTexts,
    work: ToolWork,
    endpoint: &ApiEndpoint,
    schema: Value,
) -> McpTool {
    let ToolTexts { name, title, description } = texts;
    let rules = CompiledSchema::from_schema(&schema);
    McpTool {
        name,
        title,
        description,
        work,
        endpoint: endpoint.to_inner(),
        path: endpoint.path,
        schema,
        rules: Arc::new(rules.expect("the schemas of tools are parts of checked schemas")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every client puts the list into each prompt of its model.
    const LIST_BYTES_MAX: usize = 20 * 1024;

    #[test]
    fn the_list_of_tools_is_small_and_its_schemas_are_closed_objects() {
        let tools = list_descriptions();
        let bytes = tools.to_string().len();
        assert!(bytes <= LIST_BYTES_MAX, "{bytes} bytes: {tools:#}");
        for tool in tools.as_array().unwrap() {
            let (name, schema) = (&tool["name"], &tool["inputSchema"]);
            assert_eq!(schema["type"], "object", "{name}");
            assert_eq!(schema["additionalProperties"], false, "{name}");
            assert!(schema["properties"].get("stream").is_none(), "{name}");
            assert!(schema["properties"].get("streaming").is_none(), "{name}");
            for field in schema["properties"].as_object().unwrap().values() {
                assert!(field.is_object(), "{name}: {field}");
            }
        }
    }

    #[test]
    fn every_declared_field_is_one_of_its_endpoint() {
        let names = |name: &str| -> Vec<String> {
            let properties = find_tool(name).unwrap().schema["properties"].clone();
            properties.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(names("chat").len(), 9);
        assert_eq!(names("generate_image").len(), 15);
        assert_eq!(names("speak").len(), 7);
        assert_eq!(names("transcribe").len(), 8);
        assert_eq!(names("search"), ["query", "limit"]);
        assert_eq!(names("scrape"), ["url"]);
        assert_eq!(names("list_models"), ["type"]);
    }
}
