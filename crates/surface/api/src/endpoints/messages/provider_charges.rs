//! Parts of a request for which a provider of the same protocol bills extra, beyond tokens.
//!
//! Our prices do not include them, so a request that has one is not passed through: it is
//! translated, the search runs here and is charged, and the other members are dropped and named in
//! the response.

use serde::Deserialize;
use serde::de::IgnoredAny;
use wire::messages::{MessagesRequest, MessagesTool};

/// Prefixes of the types of tools that the provider runs and bills by use.
const BILLED_TOOLS: [&str; 2] = ["web_search_", "code_execution_"];

/// Members that make the provider's tokens dearer, or have another model or machine billed.
#[derive(Deserialize)]
struct BilledMembers {
    speed: Option<IgnoredAny>,
    inference_geo: Option<IgnoredAny>,
    container: Option<IgnoredAny>,
    fallbacks: Option<IgnoredAny>,
}

/// Names of the members of a body for which the provider bills extra.
pub(super) fn list_billed_members(body: &[u8]) -> Vec<String> {
    let Ok(members) = serde_json::from_slice::<BilledMembers>(body) else { return Vec::new() };
    let BilledMembers { speed, inference_geo, container, fallbacks } = members;
    let named = [
        ("speed", speed),
        ("inference_geo", inference_geo),
        ("container", container),
        ("fallbacks", fallbacks),
    ];
    named.into_iter().filter(|it| it.1.is_some()).map(|it| it.0.to_owned()).collect()
}

/// True if the request offers a tool that the provider bills by use.
pub(super) fn offers_billed_tool(request: &MessagesRequest) -> bool {
    request.tools.iter().flatten().any(is_billed_tool)
}

fn is_billed_tool(tool: &MessagesTool) -> bool {
    let kind = tool.kind.as_deref().unwrap_or_default();
    BILLED_TOOLS.iter().any(|prefix| kind.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_tools_that_a_provider_bills_are_found() {
        let body = br#"{"model": "m", "speed": "fast", "messages": [], "fallbacks": []}"#;
        assert_eq!(list_billed_members(body), ["speed", "fallbacks"]);
        assert!(list_billed_members(br#"{"model": "speed", "speed": null}"#).is_empty());
        let request = |tool: &str| -> MessagesRequest {
            let body =
                format!(r#"{{"model": "m", "max_tokens": 1, "messages": [], "tools": [{tool}]}}"#);
            serde_json::from_str(&body).unwrap()
        };
        assert!(offers_billed_tool(&request(r#"{"type": "web_search_20250305"}"#)));
        assert!(offers_billed_tool(&request(r#"{"type": "code_execution_20250825"}"#)));
        assert!(!offers_billed_tool(&request(r#"{"type": "text_editor_20250728"}"#)));
        assert!(!offers_billed_tool(&request(r#"{"name": "web_search_1"}"#)));
    }
}
