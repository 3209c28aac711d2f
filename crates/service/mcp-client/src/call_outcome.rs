//! The result of a call, as text for a model.

use serde_json::Value;

use crate::RESULT_BYTES_MAX;
use crate::fault::McpFault;

const CUT_NOTE: &str = "\n[The result was cut here: it is longer than 1 MB.]";

/// The result of a call that the server carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpCallOutcome {
    pub text: String,
    /// True if the tool says that it failed.
    pub is_error: bool,
}

impl McpCallOutcome {
    /// Reads the result of `tools/call`. Pictures, sounds and files are named and left out.
    pub(crate) fn from_result(result: &Value) -> Result<McpCallOutcome, McpFault> {
        let contents = match result.get("content") {
            Some(Value::Array(contents)) => contents.as_slice(),
            None if result.get("structuredContent").is_some() => &[],
            _ => return Err(McpFault::Malformed("tools/call")),
        };
        let mut texts: Vec<String> = contents.iter().map(describe_content).collect();
        if texts.iter().all(String::is_empty)
            && let Some(structured) = result.get("structuredContent")
        {
            texts = vec![structured.to_string()];
        }
        let is_error = result["isError"] == true;
        Ok(McpCallOutcome { text: cut_text(texts.join("\n")), is_error })
    }
}

fn describe_content(content: &Value) -> String {
    let media_type = content["mimeType"].as_str().unwrap_or("unknown type");
    match content["type"].as_str() {
        Some("text") => content["text"].as_str().unwrap_or_default().to_owned(),
        Some("resource_link") => {
            let uri = content["uri"].as_str().unwrap_or_default();
            format!("[Link: {} {uri}]", content["name"].as_str().unwrap_or_default())
        }
        Some("resource") => match content["resource"]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => "[A file that is no text was left out.]".to_owned(),
        },
        Some(kind @ ("image" | "audio")) => format!("[{kind} of {media_type} was left out.]"),
        _ => "[A content of unknown type was left out.]".to_owned(),
    }
}

fn cut_text(mut text: String) -> String {
    if RESULT_BYTES_MAX < text.len() {
        let end = text.floor_char_boundary(RESULT_BYTES_MAX - CUT_NOTE.len());
        text.truncate(end);
        text.push_str(CUT_NOTE);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(result: &Value) -> McpCallOutcome {
        McpCallOutcome::from_result(result).unwrap()
    }

    #[test]
    fn contents_become_text() {
        let result = json!({"content": [
            {"type": "text", "text": "12 °C"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource_link", "uri": "file:///a", "name": "a"},
            {"type": "resource", "resource": {"text": "inner"}},
        ]});
        let expected = "12 °C\n[image of image/png was left out.]\n[Link: a file:///a]\ninner";
        assert_eq!(read(&result), McpCallOutcome { text: expected.to_owned(), is_error: false });
        let failed = json!({"content": [], "isError": true, "structuredContent": {"a": 1}});
        assert_eq!(read(&failed), McpCallOutcome { text: "{\"a\":1}".to_owned(), is_error: true });
    }

    #[test]
    fn a_long_result_is_cut_between_letters_with_a_note() {
        let result = json!({"content": [{"type": "text", "text": "ü".repeat(RESULT_BYTES_MAX)}]});
        let text = read(&result).text;
        assert!(text.len() <= RESULT_BYTES_MAX && text.ends_with(CUT_NOTE));
    }

    #[test]
    fn a_result_without_content_is_a_fault() {
        for result in [json!({}), json!([]), json!({"content": "text"})] {
            assert!(McpCallOutcome::from_result(&result).is_err(), "{result}");
        }
    }
}
