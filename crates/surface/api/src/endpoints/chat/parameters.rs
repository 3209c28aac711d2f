//! The options of this service, from the body and from suffixes of the model name.

use http_frame::refusal::Refusal;
use schema_check::ValidationFaults;
use wire::chat::{EffectiveParameters, SearchMode, ServiceParameters};

const FIELD: &str = "service_parameters";

/// Encryption, as requested by the caller and supported by the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct E2eeState {
    pub(super) is_asked: bool,
    pub(super) is_supported: bool,
}

/// The options of the body, overridden by those in the model name.
pub(super) fn merge_parameters(
    body: Option<&ServiceParameters>,
    suffix: &[(&str, String)],
) -> Result<ServiceParameters, Refusal> {
    let mut faults = ValidationFaults::default();
    let mut sent = body.cloned().unwrap_or_default();
    for (key, value) in suffix {
        apply_option(&mut sent, key, value, &mut faults);
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    Ok(sent)
}

/// Web search, as configured by the operator and requested by the character.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchAvailability {
    pub(super) is_possible: bool,
    pub(super) character_wants: bool,
}

/// The options in effect.
pub(super) fn resolve_parameters(
    sent: ServiceParameters,
    encryption: E2eeState,
    searching: SearchAvailability,
) -> Result<EffectiveParameters, Refusal> {
    let mut faults = ValidationFaults::default();
    refuse_unavailable_options(&sent, searching.is_possible, &mut faults);
    let is_encrypted = encryption.is_asked && sent.enable_e2ee != Some(false);
    let wants_encryption = is_encrypted || sent.enable_e2ee == Some(true);
    if wants_encryption && !encryption.is_supported {
        let message = "End-to-end encryption is not supported by this model; send `false`";
        faults.at([FIELD, "enable_e2ee"]).push(message);
    } else if wants_encryption && !encryption.is_asked {
        // A request for encryption is never answered in plain text.
        let message = "Encryption needs the headers X-Service-TEE-Client-Pub-Key, \
                       X-Service-TEE-Model-Pub-Key and X-Service-TEE-Signing-Algo; send them, or \
                       `false`";
        faults.at([FIELD, "enable_e2ee"]).push(message);
    }
    if is_encrypted && sent.enable_x_search == Some(true) {
        let message = "Encrypted messages cannot be used for a search; send `false`";
        faults.at([FIELD, "enable_x_search"]).push(message);
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let by_character = searching.is_possible && searching.character_wants && !is_encrypted;
    let usual = if by_character { SearchMode::Auto } else { SearchMode::Off };
    let is_on = |option: Option<bool>| option == Some(true);
    Ok(EffectiveParameters {
        character_slug: sent.character_slug,
        strip_thinking_response: is_on(sent.strip_thinking_response),
        disable_thinking: is_on(sent.disable_thinking),
        enable_e2ee: is_encrypted,
        enable_web_search: if is_on(sent.enable_x_search) {
            SearchMode::Off
        } else {
            sent.enable_web_search.unwrap_or(usual)
        },
        enable_x_search: is_on(sent.enable_x_search),
        enable_web_scraping: is_on(sent.enable_web_scraping),
        enable_web_citations: is_on(sent.enable_web_citations),
        include_search_results_in_stream: is_on(sent.include_search_results_in_stream),
        return_search_results_as_documents: is_on(sent.return_search_results_as_documents),
        include_service_system_prompt: sent.include_service_system_prompt != Some(false),
        web_search_citations: Vec::new(),
    })
}

/// Applies one option of the model name. Unknown keys are ignored; invalid values are faults.
fn apply_option(
    sent: &mut ServiceParameters,
    key: &str,
    value: &str,
    faults: &mut ValidationFaults,
) {
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
        "enable_x_search" => &mut sent.enable_x_search,
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

/// Refuses options that this server cannot provide, instead of ignoring them.
fn refuse_unavailable_options(
    sent: &ServiceParameters,
    can_search: bool,
    faults: &mut ValidationFaults,
) {
    let searches = sent.enable_web_search.is_some_and(|mode| mode != SearchMode::Off);
    if searches && !can_search {
        let message = "Web search is not configured on this service; send `off`";
        faults.at([FIELD, "enable_web_search"]).push(message);
    }
}
