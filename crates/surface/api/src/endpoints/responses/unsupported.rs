//! Refuses options that this service does not support, instead of ignoring them.

use schema_check::{PathStep, ValidationFaults};
use wire::chat::SearchMode;
use wire::responses::{ResponseRequest, ResponseTool};

use super::web::{X_SEARCH, is_search};

const OPTIONS: &str = "service_parameters";
const NO_SEARCH: &str = "Web search is not set up on this server; leave it out";
const NO_X_SEARCH: &str = "This model does not support X search; leave it out";
const NO_X_PICTURES: &str = "Pictures and videos of posts are not looked at; leave it out";
const NO_FILE_SEARCH: &str =
    "This service stores no files to search in; send them with `input_file` parts";
const NO_INTERPRETER: &str = "This service runs no code; offer a function of your own instead";
const NO_LOGPROBS: &str = "Responses have no log probabilities; use /chat/completions";
const NO_RESULTS: &str = "Send `web_search_call.action.sources` for the pages of a search";
const UNKNOWN_INCLUDE: &str = "There is nothing of this name to include";
const NO_COMPUTER: &str = "This service operates no computer; offer a function of your own instead";

/// The searches available for a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct AvailableSearches {
    /// Web search, by this service.
    pub(super) web: bool,
    /// X search, by the model's provider.
    pub(super) x: bool,
}

pub(super) fn refuse_unsupported(
    body: &ResponseRequest,
    searchable: AvailableSearches,
    faults: &mut ValidationFaults,
) {
    let searches = searchable.web;
    if body.web_search == Some(true) && !searches {
        faults.at(["web_search"]).push(NO_SEARCH);
    }
    for (index, tool) in body.tools.iter().flatten().enumerate() {
        let place = [PathStep::from("tools"), PathStep::from(index), PathStep::from("type")];
        match tool.kind.as_str() {
            _ if is_search(tool) && !searches => faults.at(place).push(NO_SEARCH),
            X_SEARCH if !searchable.x => faults.at(place).push(NO_X_SEARCH),
            X_SEARCH if has_media_understanding(tool) => faults.at(place).push(NO_X_PICTURES),
            "file_search" => faults.at(place).push(NO_FILE_SEARCH),
            "code_interpreter" => faults.at(place).push(NO_INTERPRETER),
            "computer_use_preview" | "computer_use" => faults.at(place).push(NO_COMPUTER),
            _ => {}
        }
    }
    let Some(options) = &body.service_parameters else { return };
    let wants_search = options.enable_web_search.is_some_and(|mode| mode != SearchMode::Off);
    let asked = [
        (wants_search && !searches, "enable_web_search", NO_SEARCH),
        (options.enable_x_search == Some(true) && !searchable.x, "enable_x_search", NO_X_SEARCH),
        (
            options.enable_e2ee == Some(true),
            "enable_e2ee",
            "Responses cannot be encrypted end to end; use /chat/completions",
        ),
    ];
    for (is_asked, option, message) in asked {
        if is_asked {
            faults.at([OPTIONS, option]).push(message);
        }
    }
}

/// Output to include that this service can return. The last four belong to tools and items that its
/// responses never have.
const INCLUDABLE: [&str; 6] = [
    ENCRYPTED_REASONING,
    SEARCH_SOURCES,
    "file_search_call.results",
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "message.input_image.image_url",
];
pub(super) const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
pub(super) const SEARCH_SOURCES: &str = "web_search_call.action.sources";

/// Refuses names in `include` that models reached through chat cannot return.
pub(super) fn refuse_includes(body: &ResponseRequest, faults: &mut ValidationFaults) {
    for (index, name) in body.include.iter().flatten().enumerate() {
        let message = match name.as_str() {
            known if INCLUDABLE.contains(&known) => continue,
            "message.output_text.logprobs" => NO_LOGPROBS,
            "web_search_call.results" => NO_RESULTS,
            _ => UNKNOWN_INCLUDE,
        };
        faults.at([PathStep::from("include"), index.into()]).push(message);
    }
}

fn has_media_understanding(tool: &ResponseTool) -> bool {
    tool.enable_image_understanding == Some(true) || tool.enable_video_understanding == Some(true)
}
