//! Turns a form with a recording into an engine request.

use audio_probe::AudioContainer;
use bytes::Bytes;
use engine::{FileKind, TimestampOptions, TranscriptionAnswer, TranscriptionRequest};
use http_frame::input::UploadedFile;
use http_frame::refusal::Refusal;
use wire::audio::{self as wire_audio, Granularity, TranscriptionFormat};

const FILE_FIELD: &str = "file";

/// The language of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum TranscriptTask {
    /// The spoken language.
    Transcribe,
    /// English.
    Translate,
}

/// The requested format and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TranscriptOptions {
    pub(super) task: TranscriptTask,
    pub(super) format: TranscriptionFormat,
    pub(super) times: TimestampOptions,
    /// Characters, calculated from the words' times.
    pub(super) chars: bool,
    /// True if the caller asked for timestamps explicitly, so a transcript without them is refused.
    insists: bool,
}

impl TranscriptOptions {
    /// Subtitles and verbose JSON need segments, even if the caller did not ask for them.
    pub(super) fn from_request(
        fields: &wire_audio::TranscriptionRequest,
        task: TranscriptTask,
    ) -> TranscriptOptions {
        let format = fields.response_format.unwrap_or_default();
        let named = fields.timestamp_granularities.as_deref().unwrap_or_default();
        let wants_all = fields.timestamps == Some(true) && named.is_empty();
        let is_cut = matches!(format, TranscriptionFormat::Srt | TranscriptionFormat::Vtt);
        let is_plain_verbose = format == TranscriptionFormat::VerboseJson && named.is_empty();
        let segments =
            wants_all || is_cut || is_plain_verbose || named.contains(&Granularity::Segment);
        let chars = wants_all || named.contains(&Granularity::Char);
        let words = chars || named.contains(&Granularity::Word);
        let insists = wants_all || !named.is_empty();
        // Plain text cannot contain timestamps.
        if format == TranscriptionFormat::Text {
            return TranscriptOptions {
                task,
                format,
                times: TimestampOptions::default(),
                chars: false,
                insists: false,
            };
        }
        let times = TimestampOptions { segments, words };
        TranscriptOptions { task, format, times, chars, insists }
    }

    /// True if timestamps were requested and the model returned speech without any.
    pub(super) fn is_denied(self, transcript: &TranscriptionAnswer) -> bool {
        let is_timeless = transcript.segments.is_empty() && transcript.words.is_empty();
        self.insists && is_timeless && !transcript.text.trim().is_empty()
    }
}

/// The one file of a form. A file sent as a text field is refused with a hint.
pub(in super::super) fn take_one_file(
    files: Vec<UploadedFile>,
    is_text: bool,
) -> Result<Bytes, Refusal> {
    let refuse = |message: &str| Err(Refusal::bad_request("No audio file provided", message));
    let mut named = files.into_iter().filter(|upload| upload.field == FILE_FIELD);
    let Some(upload) = named.next() else {
        return if is_text {
            refuse("No audio file provided. Send `file` as a file, not as text.")
        } else {
            refuse("No audio file provided")
        };
    };
    if named.next().is_some() {
        return refuse("Send one file at a time.");
    }
    Ok(upload.bytes)
}

pub(super) fn build_transcription_request(
    fields: wire_audio::TranscriptionRequest,
    sound: Bytes,
    container: AudioContainer,
    wish: TranscriptOptions,
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
