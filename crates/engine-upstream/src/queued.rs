//! Providers of music and videos: work is handed in, asked about, and fetched when it is done.
//!
//! Each module translates a request to a provider's protocol, and its answers to [`Progress`]. The
//! ticket holds all that is needed to find the work again, also after a restart.

pub(crate) mod acestep;
pub(crate) mod builtin;
pub(crate) mod comfyui;
pub(crate) mod fal;
pub(crate) mod openai;
pub(crate) mod sdcpp;

mod file;
mod routes;
mod size;

pub use routes::{MediaRoute, MediaRoutes};

use engine::{ContentRefusal, EngineError, Progress};
use serde::de::DeserializeOwned;

use crate::transport::bad_answer;

/// Names of work as providers give them; none has a sign that means something in an address.
const NAME_BYTES_MAX: usize = 256;

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not what was asked for: {error}")))
}

/// A name that can stand in an address.
fn plain_name(name: &str) -> Result<&str, EngineError> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.:".contains(it);
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len());
    if fits && name.chars().all(is_plain) {
        return Ok(name);
    }
    Err(bad_answer("the name that it gave the work cannot stand in an address"))
}

/// A failure that its provider explains, told apart from a refusal of the content.
fn failed(code: &str, message: &str) -> Progress {
    let is_policy = ["moderation", "content_policy", "content_filter", "safety", "nsfw"];
    let code = code.to_ascii_lowercase();
    if is_policy.iter().any(|it| code.contains(it)) {
        let message = message.to_owned();
        return Progress::Refused(ContentRefusal { message, ..ContentRefusal::default() });
    }
    let message = if message.is_empty() { "The model's provider failed." } else { message };
    Progress::Failed { message: message.to_owned() }
}

/// What would be passed over in silence is refused.
fn refuse_extras<const COUNT: usize>(extras: [(&str, bool); COUNT]) -> Result<(), EngineError> {
    match extras.iter().find(|(_, is_given)| *is_given) {
        Some((what, _)) => Err(cannot(what)),
        None => Ok(()),
    }
}

/// What a protocol has no word for.
fn cannot(what: &str) -> EngineError {
    EngineError::Rejected { message: format!("The model's provider does not take {what}.") }
}
