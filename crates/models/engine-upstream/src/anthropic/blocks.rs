//! Encodes the content blocks of a message.

use engine::{CacheControl, ChatContent, ChatContentPart, EngineError, PartKind, ToolCall};
use serde::Serialize;
use serde_json::Value;

use super::request::reject_request;
use crate::cache_mark::CacheMark;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContentBlock<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Image {
        source: BlockImageSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    Document {
        source: BlockImageSource<'a>,
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
        content: Vec<ContentBlock<'a>>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockImageSource<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
}

/// Converts content to blocks. Empty texts are left out because the protocol rejects them.
pub(super) fn encode_content(content: &ChatContent) -> Result<Vec<ContentBlock<'_>>, EngineError> {
    let mut blocks = Vec::new();
    match content {
        ChatContent::Text(text) => blocks.extend(encode_text(text, None)),
        ChatContent::Parts(parts) => {
            for part in parts {
                blocks.extend(encode_part(part)?);
            }
        }
    }
    Ok(blocks)
}

pub(super) fn encode_call(call: &ToolCall) -> Result<ContentBlock<'_>, EngineError> {
    let input = if call.arguments.trim().is_empty() {
        Value::Object(serde_json::Map::new())
    } else {
        serde_json::from_str(&call.arguments).map_err(|error| {
            reject_request(&format!(
                "The arguments of tool call {:?} are not JSON: {error}",
                call.id
            ))
        })?
    };
    Ok(ContentBlock::ToolUse { id: &call.id, name: &call.name, input })
}

fn encode_part(part: &ChatContentPart) -> Result<Option<ContentBlock<'_>>, EngineError> {
    let cache_control = part.cache.map(CacheMark::from_control);
    match &part.kind {
        PartKind::Text(text) => Ok(encode_text(text, cache_control)),
        PartKind::Image { url, .. } => {
            Ok(Some(ContentBlock::Image { source: parse_image_source(url)?, cache_control }))
        }
        PartKind::Document { url, name } => {
            let (source, title) = (parse_image_source(url)?, name.as_deref());
            Ok(Some(ContentBlock::Document { source, title, cache_control }))
        }
        PartKind::Audio { .. } => Err(reject_request("This model does not take audio")),
        PartKind::Video { .. } => Err(reject_request("This model does not take video")),
    }
}

fn encode_text(text: &str, cache_control: Option<CacheMark>) -> Option<ContentBlock<'_>> {
    (!text.is_empty()).then_some(ContentBlock::Text { text, cache_control })
}

fn parse_image_source(url: &str) -> Result<BlockImageSource<'_>, EngineError> {
    let Some(inline) = url.strip_prefix("data:") else { return Ok(BlockImageSource::Url { url }) };
    match inline.split_once(";base64,") {
        Some((media_type, data)) => Ok(BlockImageSource::Base64 { media_type, data }),
        None => Err(reject_request("A data URL must be of the form data:<type>;base64,<data>")),
    }
}

/// Puts a cache marker on the last block; it covers all blocks before it.
pub(super) fn mark_last(blocks: &mut [ContentBlock<'_>]) {
    if let Some(ContentBlock::Text { cache_control, .. }) = blocks.last_mut() {
        *cache_control = Some(CacheMark::from_control(CacheControl::FiveMinutes));
    }
}
