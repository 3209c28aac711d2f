//! The web search of a response, as the request asks for it.

use engine::XSearch;
use wire::chat::{SearchMode, ToolChoiceMode};
use wire::responses::{
    Input, InputContent, InputItem, InputMessage, InputPart, InputRole, ResponseRequest,
    ResponseTool, ResponseToolChoice, SearchContextSize, UserLocation,
};

use crate::endpoints::web_context::{self, LastMessage, WebOptions};

/// Search results by `search_context_size`.
const RESULTS_FEW: usize = 4;
const RESULTS_MANY: usize = 12;

pub(super) const X_SEARCH: &str = "x_search";

/// The requested web access, with its input.
pub(super) struct WebSearchRequest {
    pub(super) wish: WebOptions,
    pub(super) message: LastMessage,
    /// The user's location, as a sentence for the model.
    pub(super) location: Option<String>,
}

/// True for the types of the web search.
pub(super) fn is_search_type(kind: &str) -> bool {
    matches!(kind, "web_search" | "web_search_preview")
}

/// True if a tool is a web search that may search.
pub(super) fn is_search(tool: &ResponseTool) -> bool {
    is_search_type(&tool.kind) && tool.external_web_access != Some(false)
}

/// Removes the web searches from the tools, and returns their name for the dropped parameters. Codex
/// offers a search with every request, whether it is needed or not.
pub(super) fn remove_searches(body: &mut ResponseRequest) -> Option<String> {
    let tools = body.tools.as_mut()?;
    let before = tools.len();
    tools.retain(|tool| !is_search(tool));
    (tools.len() < before).then(|| "tools.web_search".to_owned())
}

/// The X search for the provider, requested by a tool or an option.
pub(super) fn x_search(tools: &[ResponseTool], is_wanted: bool) -> Option<XSearch> {
    let Some(tool) = tools.iter().find(|tool| tool.kind == X_SEARCH) else {
        return is_wanted.then(XSearch::default);
    };
    Some(XSearch {
        handles: tool.allowed_x_handles.clone().unwrap_or_default(),
        excluded_handles: tool.excluded_x_handles.clone().unwrap_or_default(),
        from_date: tool.from_date.clone(),
        to_date: tool.to_date.clone(),
    })
}

impl WebSearchRequest {
    /// `usual` is the search mode if the request sets none.
    pub(super) fn from_request(body: &ResponseRequest, usual: SearchMode) -> WebSearchRequest {
        let options = body.service_parameters.as_ref();
        let tool = body.tools.iter().flatten().find(|tool| is_search(tool));
        let mode = options.and_then(|it| it.enable_web_search);
        let mode = mode.or_else(|| (body.web_search == Some(true)).then_some(SearchMode::On));
        let mode =
            mode.or_else(|| tool.map(|_| resolve_tool_search_mode(body.tool_choice.as_ref())));
        let tools = body.tools.as_deref().unwrap_or_default();
        let by_provider = options.is_some_and(|it| it.enable_x_search == Some(true));
        let by_provider = x_search(tools, by_provider).is_some();
        let size = tool.and_then(|tool| tool.search_context_size);
        let wish = WebOptions {
            search: if by_provider { SearchMode::Off } else { mode.unwrap_or(usual) },
            scrapes: options.is_some_and(|it| it.enable_web_scraping == Some(true)),
            cites: tool.is_some()
                || options.is_some_and(|it| it.enable_web_citations == Some(true)),
            results: match size {
                Some(SearchContextSize::Low) => RESULTS_FEW,
                Some(SearchContextSize::Medium) | None => web_context::RESULTS,
                Some(SearchContextSize::High) => RESULTS_MANY,
            },
        };
        let location =
            tool.and_then(|tool| tool.user_location.as_ref()).and_then(describe_location);
        WebSearchRequest { wish, message: last_message(&body.input), location }
    }
}

/// The search mode if the tool is offered: automatic, or always if a tool is required.
fn resolve_tool_search_mode(choice: Option<&ResponseToolChoice>) -> SearchMode {
    match choice {
        Some(ResponseToolChoice::Mode(ToolChoiceMode::None)) => SearchMode::Off,
        Some(ResponseToolChoice::Mode(ToolChoiceMode::Required)) => SearchMode::On,
        Some(ResponseToolChoice::Selection(chosen)) if is_search_type(&chosen.kind) => {
            SearchMode::On
        }
        Some(ResponseToolChoice::Selection(chosen)) if chosen.kind == "allowed_tools" => {
            let mut allowed = chosen.tools.iter().flatten();
            if allowed.any(|tool| is_search_type(&tool.kind)) {
                SearchMode::Auto
            } else {
                SearchMode::Off
            }
        }
        Some(ResponseToolChoice::Mode(ToolChoiceMode::Auto) | ResponseToolChoice::Selection(_))
        | None => SearchMode::Auto,
    }
}

fn describe_location(location: &UserLocation) -> Option<String> {
    let UserLocation { city, region, country, timezone, .. } = location;
    let place = [city, region, country].into_iter().flatten().map(String::as_str);
    let place: Vec<&str> = place.filter(|it| !it.is_empty()).collect();
    let mut sentence = match place.as_slice() {
        [] => String::new(),
        place => format!("The user is in {}.", place.join(", ")),
    };
    if let Some(timezone) = timezone.as_deref().filter(|it| !it.is_empty()) {
        let gap = if sentence.is_empty() { "" } else { " " };
        sentence.push_str(&format!("{gap}The user's time zone is {timezone}."));
    }
    Some(sentence).filter(|it| !it.is_empty())
}

/// The texts of the user and the model, in order.
pub(super) fn list_conversation_texts(input: &Input) -> Vec<&str> {
    match input {
        Input::Text(text) => vec![text.as_str()],
        Input::Items(items) => items
            .iter()
            .flat_map(|item| match item {
                InputItem::Message(message) => list_message_texts(message),
                _ => Vec::new(),
            })
            .collect(),
    }
}

fn last_message(input: &Input) -> LastMessage {
    let items = match input {
        Input::Text(text) => return LastMessage { text: text.clone(), has_picture: false },
        Input::Items(items) => items,
    };
    let last = items.iter().rev().find_map(|item| match item {
        InputItem::Message(message) if message.role == InputRole::User => Some(message),
        _ => None,
    });
    let Some(message) = last else { return LastMessage::default() };
    let has_picture = match &message.content {
        InputContent::Text(_) => false,
        InputContent::Parts(parts) => parts
            .iter()
            .any(|part| matches!(part, InputPart::InputImage { .. } | InputPart::ImageUrl { .. })),
    };
    LastMessage { text: list_message_texts(message).join("\n"), has_picture }
}

fn list_message_texts(message: &InputMessage) -> Vec<&str> {
    if matches!(message.role, InputRole::System | InputRole::Developer) {
        return Vec::new();
    }
    match &message.content {
        InputContent::Text(text) => vec![text.as_str()],
        InputContent::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                InputPart::InputText { text }
                | InputPart::OutputText { text }
                | InputPart::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn searches_are_removed_and_named_and_other_tools_stay() {
        let function = json!({"type": "function", "name": "f", "parameters": {}});
        let idle = json!({"type": "web_search", "external_web_access": false});
        let search = json!({"type": "web_search", "external_web_access": true});
        let body = json!({"model": "m", "input": "Hi", "tools": [function, idle, search]});
        let mut body: ResponseRequest = serde_json::from_value(body).unwrap();
        assert_eq!(remove_searches(&mut body).as_deref(), Some("tools.web_search"));
        let kinds: Vec<String> = body.tools.iter().flatten().map(|it| it.kind.clone()).collect();
        assert_eq!(kinds, ["function", "web_search"]);
        assert_eq!(remove_searches(&mut body), None, "one that may not search stays");
    }
}
