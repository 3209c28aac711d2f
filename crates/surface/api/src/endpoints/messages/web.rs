//! The web search of a request that offers the protocol's search tool.

use domain::media::parse_host;
use engine::{ChatContent, ChatContentPart, ChatMessage, ChatRequest, PartKind};
use serde_json::{Map, Value};
use wire::chat::SearchMode;
use wire::messages::{MessagesRequest, MessagesTool};

use super::fields::read_text;
use super::media::is_image;
use super::reply::MadeSearch;
use super::tools::is_search;
use crate::endpoints::web_context::{self, LastMessage, WebContext, WebOptions};

const REMINDER: &str = "<system-reminder>";

/// The requested search.
pub(super) struct MessagesSearch {
    pub(super) options: WebOptions,
    allowed_domains: Vec<String>,
    blocked_domains: Vec<String>,
    location: Option<String>,
}

impl MessagesSearch {
    /// None if the request offers no search.
    pub(super) fn from_request(request: &MessagesRequest) -> Option<MessagesSearch> {
        let tools = request.tools.as_deref().unwrap_or_default();
        let tool = tools.iter().find(|tool| is_search(tool))?;
        let options = WebOptions {
            search: find_search_mode(request, tool, tools.len()),
            scrapes: false,
            cites: false,
            results: web_context::RESULTS,
        };
        Some(MessagesSearch {
            options,
            allowed_domains: tool.allowed_domains.clone().unwrap_or_default(),
            blocked_domains: tool.blocked_domains.clone().unwrap_or_default(),
            location: tool.user_location.as_ref().and_then(describe_location),
        })
    }

    /// Removes results of other domains, and adds the rest to the chat.
    pub(super) fn add_results(
        &self,
        web: &mut WebContext,
        chat: &mut ChatRequest,
    ) -> Option<MadeSearch> {
        web.sources.retain(|source| self.allows(&source.url));
        let told = [self.location.clone(), web.build_prompt(self.options.cites)];
        let told: Vec<String> = told.into_iter().flatten().collect();
        if !told.is_empty() {
            append_reminder(chat, &told.join("\n\n"));
        }
        let query = web.query.clone()?;
        Some(MadeSearch { query, sources: web.sources.clone() })
    }

    fn allows(&self, url: &str) -> bool {
        let host = parse_host(url).unwrap_or_default();
        let is_listed = |domains: &[String]| domains.iter().any(|domain| is_below(&host, domain));
        let is_allowed = self.allowed_domains.is_empty() || is_listed(&self.allowed_domains);
        is_allowed && !is_listed(&self.blocked_domains)
    }
}

/// True if the host is the domain or one below it. A path after the domain is ignored.
fn is_below(host: &str, domain: &str) -> bool {
    let domain = domain.split('/').next().unwrap_or_default().to_ascii_lowercase();
    host == domain || host.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'))
}

/// A request that offers nothing but the search, or that demands it, always searches.
fn find_search_mode(request: &MessagesRequest, tool: &MessagesTool, tools: usize) -> SearchMode {
    let choice = request.tool_choice.as_ref();
    let kind = choice.and_then(|choice| read_text(choice, "type")).unwrap_or("auto");
    let named = choice.and_then(|choice| read_text(choice, "name"));
    match kind {
        _ if tool.max_uses == Some(0) => SearchMode::Off,
        "none" => SearchMode::Off,
        "tool" if named == tool.name.as_deref() => SearchMode::On,
        "auto" | "any" if tools == 1 => SearchMode::On,
        _ => SearchMode::Auto,
    }
}

fn describe_location(location: &Map<String, Value>) -> Option<String> {
    let place = ["city", "region", "country"].into_iter().filter_map(|it| read_text(location, it));
    let place: Vec<&str> = place.filter(|it| !it.is_empty()).collect();
    (!place.is_empty()).then(|| format!("The user is in {}.", place.join(", ")))
}

/// The user's last message, without reminders.
pub(super) fn find_last_message(chat: &ChatRequest) -> LastMessage {
    let last = chat.messages.iter().rev().find_map(|message| match message {
        ChatMessage::User { content, .. } => Some(content),
        _ => None,
    });
    match last {
        None => LastMessage::default(),
        Some(ChatContent::Text(text)) => LastMessage { text: text.clone(), has_picture: false },
        Some(ChatContent::Parts(parts)) => {
            let texts = parts.iter().filter_map(|part| match &part.kind {
                PartKind::Text(text) if !text.starts_with(REMINDER) => Some(text.as_str()),
                _ => None,
            });
            LastMessage {
                text: texts.collect::<Vec<_>>().join("\n"),
                has_picture: parts.iter().any(is_image),
            }
        }
    }
}

/// Adds a text to the user's last message: a prompt before it stays as it was for a cache.
fn append_reminder(chat: &mut ChatRequest, text: &str) {
    let text = format!("{REMINDER}\n{text}\n</system-reminder>");
    let part = ChatContentPart { kind: PartKind::Text(text), cache: None };
    let last = chat.messages.iter_mut().rev().find_map(|message| match message {
        ChatMessage::User { content, .. } => Some(content),
        _ => None,
    });
    match last {
        Some(ChatContent::Parts(parts)) => parts.push(part),
        Some(content @ ChatContent::Text(_)) => {
            let before = std::mem::replace(content, ChatContent::Parts(Vec::new()));
            if let ChatContent::Text(before) = before {
                let first = ChatContentPart { kind: PartKind::Text(before), cache: None };
                *content = ChatContent::Parts(vec![first, part]);
            }
        }
        None => {
            let content = ChatContent::Parts(vec![part]);
            chat.messages.push(ChatMessage::User { content, name: None });
        }
    }
}
