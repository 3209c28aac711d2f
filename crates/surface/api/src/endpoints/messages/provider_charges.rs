//! Parts of a request for which a provider of the same protocol bills extra, beyond tokens.
//!
//! Our prices do not include them, so a request that has one is not passed through: it is
//! translated, the search runs here and is charged, and the other members are dropped and named in
//! the response.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Prefixes of the types of tools that the provider runs and bills by use.
const BILLED_TOOLS: [&str; 2] = ["web_search_", "code_execution_"];

/// Members that make the provider's tokens dearer, have another model or machine billed, or offer
/// tools. They are read from the bytes that would be passed on, where a repeated one is an error:
/// the provider might read the other one.
#[derive(Deserialize)]
struct BilledMembers<'a> {
    speed: Option<IgnoredAny>,
    inference_geo: Option<IgnoredAny>,
    container: Option<IgnoredAny>,
    fallbacks: Option<IgnoredAny>,
    /// Read elsewhere; here so that it cannot be repeated.
    #[serde(rename = "mcp_servers")]
    _mcp_servers: Option<IgnoredAny>,
    #[serde(borrow)]
    tools: Option<Vec<ToolType<'a>>>,
}

#[derive(Deserialize)]
struct ToolType<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
}

/// The parts of a request that a provider bills beyond tokens.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProviderCharges {
    /// Names of the members.
    pub(super) members: Vec<String>,
    pub(super) has_tool: bool,
}

impl ProviderCharges {
    /// Reads the body of a valid request. None if one of the members is repeated.
    pub(super) fn from_body(body: &[u8]) -> Option<ProviderCharges> {
        let BilledMembers { speed, inference_geo, container, fallbacks, tools, .. } =
            serde_json::from_slice(body).ok()?;
        let named = [
            ("speed", speed),
            ("inference_geo", inference_geo),
            ("container", container),
            ("fallbacks", fallbacks),
        ];
        let members = named.into_iter().filter(|it| it.1.is_some());
        Some(ProviderCharges {
            members: members.map(|it| it.0.to_owned()).collect(),
            has_tool: tools.iter().flatten().any(ToolType::is_billed),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && !self.has_tool
    }
}

impl ToolType<'_> {
    fn is_billed(&self) -> bool {
        let kind = self.kind.as_deref().unwrap_or_default();
        BILLED_TOOLS.iter().any(|prefix| kind.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, members: &[&str], has_tool: bool) {
        let found = ProviderCharges::from_body(body.as_bytes()).unwrap();
        assert_eq!(found.members, members, "{body}");
        assert_eq!(found.has_tool, has_tool, "{body}");
    }

    #[test]
    fn members_and_tools_that_a_provider_bills_are_found() {
        check(
            r#"{"speed": "fast", "messages": [], "fallbacks": []}"#,
            &["speed", "fallbacks"],
            false,
        );
        check(r#"{"model": "speed", "speed": null}"#, &[], false);
        check(r#"{"tools": [{"type": "web_search_20250305"}]}"#, &[], true);
        check(r#"{"tools": [{"name": "a"}, {"type": "code_exec\u0075tion_1"}]}"#, &[], true);
        check(r#"{"tools": [{"type": "text_editor_1"}, {"type": null}]}"#, &[], false);
        check(r#"{"tools": [{"name": "web_search_1"}]}"#, &[], false);
    }

    #[test]
    fn a_repeated_member_is_an_error_and_hides_nothing() {
        for body in [
            r#"{"speed": "fast", "speed": null}"#,
            r#"{"speed": "fast", "sp\u0065ed": "fast"}"#,
            r#"{"tools": [{"type": "web_search_1"}], "tools": []}"#,
            r#"{"mcp_servers": [{"url": "a"}], "mcp_servers": []}"#,
            r#"{"tools": [{"type": "web_search_1", "type": "custom"}]}"#,
        ] {
            assert_eq!(ProviderCharges::from_body(body.as_bytes()), None, "{body}");
        }
    }
}
