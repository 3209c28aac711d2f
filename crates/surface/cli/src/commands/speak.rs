//! `tollgate speak`: converts text to an audio file.

use std::fs::File;
use std::io::Write;

use serde_json::json;

use super::session::{ApiSession, read_piece};
use crate::args;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::print_line;

const FORMATS: [&str; 6] = ["mp3", "opus", "aac", "flac", "wav", "pcm"];

pub(crate) async fn run_speak_command(
    operator: &mut OperationClient<'_>,
    speak: &args::SpeakArgs,
) -> Result<(), CommandError> {
    let ending = speak.output.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let ending = ending.to_lowercase();
    if !FORMATS.contains(&ending.as_str()) {
        let formats = FORMATS.join(", ");
        let output = speak.output.display();
        return Err(CommandError::Usage(format!(
            "the file name {output} must end in one of {formats}"
        )));
    }
    let session = ApiSession::open(operator).await?;
    let outcome = save_speech(&session, speak, &ending).await;
    session.close(operator).await.and(outcome)
}

async fn save_speech(
    session: &ApiSession,
    speak: &args::SpeakArgs,
    format: &str,
) -> Result<(), CommandError> {
    let mut body = json!({
        "model": speak.model, "input": speak.text, "response_format": format, "streaming": true,
    });
    if let Some(voice) = &speak.voice {
        body["voice"] = voice.as_str().into();
    }
    if let Some(speed) = speak.speed {
        body["speed"] = speed.into();
    }
    let mut pieces = session.post_json("audio/speech", &body).await?.into_pieces();
    let mut file = File::create(&speak.output)?;
    let mut bytes = 0;
    while let Some(piece) = read_piece(&mut pieces).await? {
        bytes += piece.len();
        file.write_all(&piece)?;
    }
    print_line(&format!("{}: {bytes} bytes", speak.output.display()))
}
