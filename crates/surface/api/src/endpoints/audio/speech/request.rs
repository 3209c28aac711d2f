//! Turns a request for speech into an engine request.

use domain::catalogue::{AudioFileFormat, ChoiceList, TtsSpec};
use domain::voices;
use engine::{SoundFormat, SpeechRequest};
use http_frame::refusal::Refusal;
use schema_check::ValidationFaults;
use wire::audio::{self as wire_audio, SpeechFormat};

/// Returns the provider's name of a voice that this caller cloned, by its handle.
pub(super) type ClonedVoiceLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Checks the fields against the model's specification.
pub(super) fn build_speech_request(
    body: wire_audio::SpeechRequest,
    model: &str,
    spec: &TtsSpec,
    cloned: ClonedVoiceLookup<'_>,
) -> Result<SpeechRequest, Refusal> {
    let is_speakable = body.input.chars().any(char::is_alphanumeric);
    if !is_speakable {
        let message = "Input must contain speakable text";
        return Err(Refusal::bad_request("Invalid request parameters", message));
    }
    let format = resolve_format(body.response_format, model, &spec.formats)?;
    let voice = resolve_voice(body.voice, model, spec, cloned)?;
    let mut faults = ValidationFaults::default();
    let mut gate = |field: &'static str, is_given: bool, is_taken: bool| {
        if is_given && !is_taken {
            faults.at([field]).push(format!("The model {model} does not take `{field}`"));
        }
    };
    gate("prompt", body.prompt.is_some(), spec.style_prompt);
    gate("temperature", body.temperature.is_some(), spec.temperature);
    gate("top_p", body.top_p.is_some(), spec.top_p);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    let instructions = body.instructions.filter(|_| spec.style_prompt);
    Ok(SpeechRequest {
        input: body.input,
        voice,
        format,
        speed: body.speed,
        language: body.language,
        style: body.prompt.or(instructions).filter(|style| !style.is_empty()),
        temperature: body.temperature,
        top_p: body.top_p,
    })
}

fn resolve_format(
    asked: Option<SpeechFormat>,
    model: &str,
    formats: &ChoiceList<AudioFileFormat>,
) -> Result<SoundFormat, Refusal> {
    let makes = |format: &AudioFileFormat| to_output_format(*format).is_some();
    let makeable: Vec<AudioFileFormat> = formats.options().iter().copied().filter(makes).collect();
    let default = formats.default().copied().filter(makes).or(makeable.first().copied());
    let Some(asked) = asked.map(to_sound_format) else {
        // MP3 is the fallback if the operator listed no formats.
        return Ok(default.and_then(to_output_format).unwrap_or(SoundFormat::Mp3));
    };
    if makeable.iter().any(|it| to_output_format(*it) == Some(asked)) {
        return Ok(asked);
    }
    let names: Vec<&str> =
        makeable.iter().filter_map(|it| to_output_format(*it)).map(SoundFormat::name).collect();
    let message = format!(
        "response_format \"{}\" is not supported by model \"{model}\". Supported formats: {}.",
        asked.name(),
        names.join(", "),
    );
    Err(Refusal::bad_request("Unsupported response_format", message))
}

fn resolve_voice(
    asked: Option<String>,
    model: &str,
    spec: &TtsSpec,
    cloned: ClonedVoiceLookup<'_>,
) -> Result<Option<String>, Refusal> {
    let Some(asked) = asked else { return Ok(spec.voices.default().cloned()) };
    let is_cloned = asked.starts_with(voices::PREFIX) && spec.voice_cloning.is_some();
    if is_cloned {
        let name = cloned(&asked);
        return name.map(Some).ok_or_else(|| {
            let message = format!("Voice \"{asked}\" does not exist or has expired.");
            Refusal::bad_request("Unknown voice", message)
        });
    }
    // If the operator listed no voices, the provider decides which exist.
    let is_open = spec.custom_voice_id || spec.voices.is_empty();
    if is_open || spec.voices.options().contains(&asked) {
        return Ok(Some(asked));
    }
    let message = format!(
        "Voice \"{asked}\" is not supported by model \"{model}\". Try using a supported voice: {}",
        spec.voices.options().join(", "),
    );
    Err(Refusal::bad_request("Unsupported voice", message))
}

fn to_sound_format(format: SpeechFormat) -> SoundFormat {
    match format {
        SpeechFormat::Mp3 => SoundFormat::Mp3,
        SpeechFormat::Opus => SoundFormat::Opus,
        SpeechFormat::Aac => SoundFormat::Aac,
        SpeechFormat::Flac => SoundFormat::Flac,
        SpeechFormat::Wav => SoundFormat::Wav,
        SpeechFormat::Pcm => SoundFormat::Pcm,
    }
}

/// The format as an output format. Some formats of the catalogue are for input only.
fn to_output_format(format: AudioFileFormat) -> Option<SoundFormat> {
    match format {
        AudioFileFormat::Mp3 => Some(SoundFormat::Mp3),
        AudioFileFormat::Opus => Some(SoundFormat::Opus),
        AudioFileFormat::Aac => Some(SoundFormat::Aac),
        AudioFileFormat::Flac => Some(SoundFormat::Flac),
        AudioFileFormat::Wav => Some(SoundFormat::Wav),
        AudioFileFormat::Pcm => Some(SoundFormat::Pcm),
        AudioFileFormat::M4a | AudioFileFormat::Ogg | AudioFileFormat::Webm => None,
    }
}
