//! `tollgate transcribe`: what is said in a sound file.

use reqwest::multipart::{Form, Part};
use serde_json::Value;

use super::session::{Session, json};
use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::print_line;

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    transcribe: &args::Transcribe,
) -> Result<(), Failure> {
    let path = &transcribe.file;
    let sound = std::fs::read(path)
        .map_err(|error| Failure::Failed(format!("cannot read {}: {error}", path.display())))?;
    let name = path.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    let session = Session::open(operator).await?;
    let form = form(&transcribe.model, sound, name, transcribe.language.clone());
    let outcome = json(session.post("audio/transcriptions").multipart(form)).await;
    session.close(operator).await?;
    print_line(outcome?.get("text").and_then(Value::as_str).ok_or_else(unexpected)?)
}

/// What the endpoint takes.
pub(crate) fn form(model: &str, sound: Vec<u8>, name: String, language: Option<String>) -> Form {
    let form = Form::new()
        .text("model", model.to_owned())
        .text("response_format", "json")
        .part("file", Part::bytes(sound).file_name(name));
    match language {
        Some(language) => form.text("language", language),
        None => form,
    }
}
