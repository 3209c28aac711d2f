//! Encodes the content blocks of a message.

use engine::{CacheControl, Content, EngineError, Part, PartKind, ToolCall};
use serde::Serialize;
use serde_json::Value;

use super::request::rejected;
use crate::cache_mark::CacheMark;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Vec<Block<'a>>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

/// Converts content to blocks. Empty texts are left out because the protocol rejects them.
pub(super) fn of_content(content: &Content) -> Result<Vec<Block<'_>>, EngineError> {
    let mut blocks = Vec::new();
    match content {
        Content::Text(text) => blocks.extend(of_text(text, None)),
        Content::Parts(parts) => {
            for part in parts {
                blocks.extend(of_part(part)?);
            }
        }
    }
    Ok(blocks)
}

pub(super) fn of_call(call: &ToolCall) -> Result<Block<'_>, EngineError> {
    let input = if call.arguments.trim().is_empty() {
        Value::Object(serde_json::Map::new())
    } else {
        serde_json::from_str(&call.arguments).map_err(|error| {
            rejected(&format!("The arguments of tool call {:?} are not JSON: {error}", call.id))
        })?
    };
    Ok(Block::ToolUse { id: &call.id, name: &call.name, input })
}

fn of_part(part: &Part) -> Result<Option<Block<'_>>, EngineError> {
    let cache_control = part.cache.map(CacheMark::of);
    match &part.kind {
        PartKind::Text(text) => Ok(of_text(text, cache_control)),
        PartKind::Image { url, .. } => {
            Ok(Some(Block::Image { source: source(url)?, cache_control }))
        }
        PartKind::Document { url, name } => {
            let (source, title) = (source(url)?, name.as_deref());
            Ok(Some(Block::Document { source, title, cache_control }))
        }
        PartKind::Audio { .. } => Err(rejected("This model does not take audio")),
        PartKind::Video { .. } => Err(rejected("This model does not take video")),
    }
}

fn of_text(text: &str, cache_control: Option<CacheMark>) -> Option<Block<'_>> {
    (!text.is_empty()).then_some(Block::Text { text, cache_control })
}

fn source(url: &str) -> Result<Source<'_>, EngineError> {
    let Some(inline) = url.strip_prefix("data:") else { return Ok(Source::Url { url }) };
    match inline.split_once(";base64,") {
        Some((media_type, data)) => Ok(Source::Base64 { media_type, data }),
        None => Err(rejected("A data URL must be of the form data:<type>;base64,<data>")),
    }
}

/// Puts a cache marker on the last block; it covers all blocks before it.
pub(super) fn mark_last(blocks: &mut [Block<'_>]) {
    if let Some(Block::Text { cache_control, .. }) = blocks.last_mut() {
        *cache_control = Some(CacheMark::of(CacheControl::FiveMinutes));
    }
}
