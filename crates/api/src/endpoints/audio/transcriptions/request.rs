//! From a form with a recording to what a model is asked.

use bytes::Bytes;
use engine::{FileKind, Times, TranscriptionRequest};
use sound::Container;
use wire::audio::{self as wire_audio, Granularity, TranscriptionFormat};

use crate::input::Upload;
use crate::refusal::Refusal;

const FILE_FIELD: &str = "file";

/// What is to be told, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) format: TranscriptionFormat,
    pub(super) times: Times,
}

impl Wish {
    /// Subtitles and the long form are made of segments, whether or not somebody says so.
    pub(super) fn of(fields: &wire_audio::TranscriptionRequest) -> Wish {
        let format = fields.response_format.unwrap_or_default();
        let named = fields.timestamp_granularities.as_deref().unwrap_or_default();
        let wants_all = fields.timestamps == Some(true) && named.is_empty();
        let is_cut = matches!(format, TranscriptionFormat::Srt | TranscriptionFormat::Vtt);
        let is_plain_verbose = format == TranscriptionFormat::VerboseJson && named.is_empty();
        let segments =
            wants_all || is_cut || is_plain_verbose || named.contains(&Granularity::Segment);
        let words = wants_all || named.contains(&Granularity::Word);
        // A bare text has no place for times.
        let times = match format {
            TranscriptionFormat::Text => Times::default(),
            _ => Times { segments, words },
        };
        Wish { format, times }
    }
}

/// The one file of the form.
pub(super) fn file(
    files: Vec<Upload>,
    fields: &wire_audio::TranscriptionRequest,
) -> Result<Bytes, Refusal> {
    let refuse = |message: &str| Err(Refusal::bad_request("No audio file provided", message));
    let mut named = files.into_iter().filter(|upload| upload.field == FILE_FIELD);
    let Some(upload) = named.next() else {
        return match fields.file {
            Some(_) => refuse("No audio file provided. Send `file` as a file, not as text."),
            None => refuse("No audio file provided"),
        };
    };
    if named.next().is_some() {
        return refuse("Send one file at a time.");
    }
    Ok(upload.bytes)
}

pub(super) fn of(
    fields: wire_audio::TranscriptionRequest,
    sound: Bytes,
    container: Container,
    wish: Wish,
) -> TranscriptionRequest {
    TranscriptionRequest {
        sound,
        kind: FileKind { extension: container.extension(), mime: container.mime() },
        language: fields.language.map(|it| it.to_lowercase()),
        hint: fields.prompt.filter(|it| !it.is_empty()),
        temperature: fields.temperature,
        times: wish.times,
    }
}
