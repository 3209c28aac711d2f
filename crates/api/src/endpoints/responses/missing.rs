//! What this service cannot do is refused, not quietly dropped.

use schema_check::{Faults, Step};
use wire::chat::SearchMode;
use wire::responses::ResponseRequest;

use super::web::is_search;

const OPTIONS: &str = "service_parameters";
const NO_SEARCH: &str = "Web search is not set up on this server; leave it out";
const NO_X_SEARCH: &str = "X search is not set up on this server; leave it out";

const NO_FILE_SEARCH: &str =
    "This service stores no files to search in; send them with `input_file` parts";
const NO_INTERPRETER: &str = "This service runs no code; offer a function of your own instead";
const NO_COMPUTER: &str = "This service operates no computer; offer a function of your own instead";

/// `searches`: whether the web can be searched here.
pub(super) fn check(body: &ResponseRequest, searches: bool, faults: &mut Faults) {
    if body.previous_response_id.is_some() {
        let message = "Responses are not stored; send the whole conversation as `input`";
        faults.at(["previous_response_id"]).push(message);
    }
    if body.background == Some(true) {
        let message = "Responses are not stored; send `stream: true` for long answers";
        faults.at(["background"]).push(message);
    }
    if body.web_search == Some(true) && !searches {
        faults.at(["web_search"]).push(NO_SEARCH);
    }
    for (index, tool) in body.tools.iter().flatten().enumerate() {
        let place = [Step::from("tools"), Step::from(index), Step::from("type")];
        match tool.kind.as_str() {
            _ if is_search(tool) && !searches => faults.at(place).push(NO_SEARCH),
            "x_search" => faults.at(place).push(NO_X_SEARCH),
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
        (options.enable_x_search == Some(true), "enable_x_search", NO_X_SEARCH),
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
