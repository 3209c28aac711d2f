//! The options of this service: from the body and from behind the model's name.

use shape::Faults;
use wire::chat::{EffectiveParameters, SearchMode, ServiceParameters};

use crate::refusal::Refusal;

const FIELD: &str = "service_parameters";

/// Whether a conversation is encrypted, and whether its model could read it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encryption {
    pub(super) is_asked: bool,
    pub(super) is_supported: bool,
}

/// The options in force. What stands behind the model's name wins.
pub(super) fn effective(
    sent: Option<&ServiceParameters>,
    suffix: &[(&str, String)],
    encryption: Encryption,
) -> Result<EffectiveParameters, Refusal> {
    let mut faults = Faults::default();
    let mut sent = sent.cloned().unwrap_or_default();
    for (key, value) in suffix {
        apply(&mut sent, key, value, &mut faults);
    }
    refuse_what_is_missing(&sent, &mut faults);
    let is_encrypted = encryption.is_asked && sent.enable_e2ee != Some(false);
    let wants_encryption = is_encrypted || sent.enable_e2ee == Some(true);
    if wants_encryption && !encryption.is_supported {
        let message = "End-to-end encryption is not supported by this model; send `false`";
        faults.at([FIELD, "enable_e2ee"]).push(message);
    }
    faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
    if sent.character_slug.is_some() {
        let message = "No character could be found from the provided character_slug";
        return Err(Refusal::not_found("Character not found", message));
    }
    let is_on = |option: Option<bool>| option == Some(true);
    Ok(EffectiveParameters {
        character_slug: None,
        strip_thinking_response: is_on(sent.strip_thinking_response),
        disable_thinking: is_on(sent.disable_thinking),
        enable_e2ee: is_encrypted,
        enable_web_search: SearchMode::Off,
        enable_web_scraping: false,
        enable_web_citations: is_on(sent.enable_web_citations),
        include_search_results_in_stream: is_on(sent.include_search_results_in_stream),
        return_search_results_as_documents: is_on(sent.return_search_results_as_documents),
        include_service_system_prompt: sent.include_service_system_prompt != Some(false),
        web_search_citations: Vec::new(),
    })
}

/// Unknown keys are ignored; known ones with a value that cannot be theirs are not.
fn apply(sent: &mut ServiceParameters, key: &str, value: &str, faults: &mut Faults) {
    let flag = match key {
        "character_slug" => {
            sent.character_slug = Some(value.to_owned());
            return;
        }
        "enable_web_search" => {
            match value {
                "off" | "false" => sent.enable_web_search = Some(SearchMode::Off),
                "on" | "true" => sent.enable_web_search = Some(SearchMode::On),
                "auto" => sent.enable_web_search = Some(SearchMode::Auto),
                _ => faults.at(["model"]).push("enable_web_search must be off, on or auto"),
            }
            return;
        }
        "enable_web_citations" => &mut sent.enable_web_citations,
        "enable_web_scraping" => &mut sent.enable_web_scraping,
        "include_service_system_prompt" | "include_venice_system_prompt" => {
            &mut sent.include_service_system_prompt
        }
        "include_search_results_in_stream" => &mut sent.include_search_results_in_stream,
        "return_search_results_as_documents" => &mut sent.return_search_results_as_documents,
        "strip_thinking_response" => &mut sent.strip_thinking_response,
        "disable_thinking" => &mut sent.disable_thinking,
        _ => return,
    };
    match value {
        "true" => *flag = Some(true),
        "false" => *flag = Some(false),
        _ => faults.at(["model"]).push(format!("{key} must be true or false").as_str()),
    }
}

/// An option that this server cannot honour is refused, not quietly dropped.
fn refuse_what_is_missing(sent: &ServiceParameters, faults: &mut Faults) {
    let searches = sent.enable_web_search.is_some_and(|mode| mode != SearchMode::Off);
    let missing = [
        (searches, "enable_web_search", "Web search is not set up on this server; send `off`"),
        (
            sent.enable_web_scraping == Some(true),
            "enable_web_scraping",
            "Web scraping is not set up on this server; send `false`",
        ),
        (
            sent.enable_x_search == Some(true),
            "enable_x_search",
            "X search is not set up on this server; send `false`",
        ),
    ];
    for (is_asked, option, message) in missing {
        if is_asked {
            faults.at([FIELD, option]).push(message);
        }
    }
}
