//! `tollgate transcribe`: transcribes an audio file.

use outbound::{FormFile, RequestContent};
use serde_json::Value;

use super::session::{ApiSession, read_json};
use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::print_line;

pub(crate) async fn run_transcribe_command(
    operator: &mut OperationClient<'_>,
    transcribe: &args::TranscribeArgs,
) -> Result<(), CommandError> {
    let path = &transcribe.file;
    let sound = std::fs::read(path).map_err(|error| {
        CommandError::Failed(format!("cannot read {}: {error}", path.display()))
    })?;
    let name = path.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
    let session = ApiSession::open(operator).await?;
    let outcome = request_transcription(
        &session,
        &transcribe.model,
        sound,
        &name,
        transcribe.language.clone(),
    )
    .await;
    session.close(operator).await?;
    print_line(outcome?.get("text").and_then(Value::as_str).ok_or_else(unexpected_reply_error)?)
}

/// Returns the response of the service as JSON.
pub(crate) async fn request_transcription(
    session: &ApiSession,
    model: &str,
    sound: Vec<u8>,
    name: &str,
    language: Option<String>,
) -> Result<Value, CommandError> {
    let mut fields = vec![("model", model.to_owned()), ("response_format", "json".to_owned())];
    fields.extend(language.map(|it| ("language", it)));
    // The service detects the format from the content.
    let mime = "application/octet-stream";
    let form = RequestContent::form(&fields, FormFile { name, mime, bytes: sound.into() });
    read_json(session.post("audio/transcriptions", form).await?).await
}
