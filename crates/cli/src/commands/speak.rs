//! `tollgate speak`: converts text to an audio file.

use std::fs::File;
use std::io::Write;

use serde_json::json;

use super::session::{Session, broken, send};
use crate::args;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::output::print_line;

const FORMATS: [&str; 6] = ["mp3", "opus", "aac", "flac", "wav", "pcm"];

pub(crate) async fn run(operator: &mut Operator<'_>, speak: &args::Speak) -> Result<(), Failure> {
    let ending = speak.output.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let ending = ending.to_lowercase();
    if !FORMATS.contains(&ending.as_str()) {
        let formats = FORMATS.join(", ");
        let output = speak.output.display();
        return Err(Failure::Usage(format!("end the name of {output} with one of {formats}")));
    }
    let session = Session::open(operator).await?;
    let outcome = save(&session, speak, &ending).await;
    session.close(operator).await.and(outcome)
}

async fn save(session: &Session, speak: &args::Speak, format: &str) -> Result<(), Failure> {
    let mut body = json!({
        "model": speak.model, "input": speak.text, "response_format": format, "streaming": true,
    });
    if let Some(voice) = &speak.voice {
        body["voice"] = voice.as_str().into();
    }
    if let Some(speed) = speak.speed {
        body["speed"] = speed.into();
    }
    let mut response = send(session.post("audio/speech").json(&body)).await?;
    let mut file = File::create(&speak.output)?;
    let mut bytes = 0;
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
        bytes += piece.len();
        file.write_all(&piece)?;
    }
    print_line(&format!("{}: {bytes} bytes", speak.output.display()))
}
