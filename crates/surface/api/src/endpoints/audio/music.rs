//! Turns a request for music into an engine request, and calculates its price.

use domain::catalogue::{ChoiceList, LyricsSupport, MusicDuration, MusicSpec, NamedVariants};
use domain::languages::is_language_code;
use domain::pricing::{MusicPrice, QueuedLine};
use engine::MusicRequest;
use http_frame::refusal::Refusal;
use schema_check::ValidationFaults;
use wire::audio::{AudioQueueRequest, DurationSeconds};

/// Used if the catalogue sets no other limit.
const LYRICS_CHARACTERS_MAX: u64 = 4096;
const PROMPT_CHARACTERS_MAX: u64 = 10_000;

/// Checks the fields against the model's specification. Reports every fault at once.
pub(super) fn build_music_request(
    body: AudioQueueRequest,
    spec: &MusicSpec,
) -> Result<MusicRequest, Refusal> {
    let mut faults = ValidationFaults::default();
    check_prompt(&body.prompt, spec, &mut faults);
    check_lyrics(&body, spec, &mut faults);
    let mut gate = |field: &'static str, is_given: bool, is_taken: bool| {
        if is_given && !is_taken {
            faults.at([field]).push(format!("This model does not take `{field}`"));
        }
    };
    gate("force_instrumental", body.force_instrumental == Some(true), spec.force_instrumental);
    gate("loop", body.is_loop == Some(true), spec.loops);
    gate("language_code", body.language_code.is_some(), spec.language_code);
    gate("speed", body.speed.is_some(), spec.speed.is_some());
    if let (Some(speed), Some(bounds)) = (body.speed, &spec.speed)
        && !(bounds.min..=bounds.max).contains(&speed)
    {
        let message = format!("This model takes a speed of {} to {}", bounds.min, bounds.max);
        faults.at(["speed"]).push(message);
    }
    let language = body.language_code.as_deref();
    if spec.language_code && language.is_some_and(|code| !is_language_code(code)) {
        faults
            .at(["language_code"])
            .push("Must be the code of a language in ISO 639-1, such as en");
    }
    check_voice(body.voice.as_deref(), &spec.voices, &mut faults);
    let duration_s = resolve_duration(body.duration_seconds.as_ref(), spec, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    Ok(MusicRequest {
        prompt: body.prompt,
        lyrics: body.lyrics_prompt.filter(|lyrics| !lyrics.is_empty()),
        duration_s,
        is_instrumental: body.force_instrumental == Some(true),
        optimizes_lyrics: body.lyrics_optimizer == Some(true),
        is_loop: body.is_loop == Some(true),
        voice: body.voice.or_else(|| spec.voices.default().cloned()),
        language: body.language_code,
        speed: body.speed,
        format: spec.formats.default().map(|format| format.name().to_owned()),
        seed: 0,
    })
}

/// The same for a quote: only the duration depends on the model.
pub(super) fn quoted_duration(
    asked: Option<&DurationSeconds>,
    spec: &MusicSpec,
) -> Result<Option<u64>, Refusal> {
    let mut faults = ValidationFaults::default();
    let duration_s = resolve_duration(asked, spec, &mut faults);
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
    Ok(duration_s)
}

/// The price line of a generation.
pub(super) fn build_price_line(
    spec: &MusicSpec,
    duration_s: Option<u64>,
    characters: Option<u64>,
) -> Result<QueuedLine, Refusal> {
    spec.price.line(duration_s, characters).ok_or_else(|| {
        let field = match spec.price {
            MusicPrice::PerThousandCharacters(_) => "character_count",
            _ => "duration_seconds",
        };
        Refusal::invalid_request(&ValidationFaults::one(
            [field],
            format!("This model's price needs `{field}`"),
        ))
    })
}

/// The characters of the prompt and the lyrics.
pub(super) fn count_request_characters(request: &MusicRequest) -> u64 {
    count_characters(&request.prompt) + request.lyrics.as_deref().map_or(0, count_characters)
}

fn check_prompt(prompt: &str, spec: &MusicSpec, faults: &mut ValidationFaults) {
    let least = spec.prompt_characters_min.unwrap_or(1);
    let most = spec.prompt_characters_max.unwrap_or(PROMPT_CHARACTERS_MAX);
    let length = count_characters(prompt);
    if length < least {
        faults.at(["prompt"]).push(format!("This model wants at least {least} characters"));
    }
    if most < length {
        faults.at(["prompt"]).push(format!("This model takes at most {most} characters"));
    }
}

fn check_lyrics(body: &AudioQueueRequest, spec: &MusicSpec, faults: &mut ValidationFaults) {
    let lyrics = body.lyrics_prompt.as_deref().unwrap_or_default();
    let is_optimized = body.lyrics_optimizer == Some(true);
    match &spec.lyrics {
        LyricsSupport::Unsupported => {
            if !lyrics.is_empty() {
                faults.at(["lyrics_prompt"]).push("This model does not sing");
            }
            if is_optimized {
                faults.at(["lyrics_optimizer"]).push("This model does not sing");
            }
        }
        LyricsSupport::Supported { required, optimizer, characters_max } => {
            let most = characters_max.unwrap_or(LYRICS_CHARACTERS_MAX);
            if most < count_characters(lyrics) {
                let message = format!("This model takes at most {most} characters of lyrics");
                faults.at(["lyrics_prompt"]).push(message);
            }
            if *required && lyrics.is_empty() && !is_optimized {
                faults.at(["lyrics_prompt"]).push("This model needs lyrics");
            }
            if is_optimized && !optimizer {
                faults.at(["lyrics_optimizer"]).push("This model does not write lyrics");
            }
            if is_optimized && !lyrics.is_empty() {
                let message = "Leave `lyrics_prompt` empty where the model writes the lyrics";
                faults.at(["lyrics_prompt"]).push(message);
            }
        }
    }
}

fn check_voice(voice: Option<&str>, voices: &ChoiceList<String>, faults: &mut ValidationFaults) {
    let Some(voice) = voice else { return };
    if voices.is_empty() {
        faults.at(["voice"]).push("This model has no voices to choose from");
    } else if !voices.options().iter().any(|it| it == voice) {
        let names = voices.options().join(", ");
        faults.at(["voice"]).push(format!("This model has the voices {names}"));
    }
}

/// The requested duration, or the model's default; None if the model decides by itself.
fn resolve_duration(
    asked: Option<&DurationSeconds>,
    spec: &MusicSpec,
    faults: &mut ValidationFaults,
) -> Option<u64> {
    let Some(duration) = &spec.duration else {
        if asked.is_some() {
            faults
                .at(["duration_seconds"])
                .push("This model does not support a choice of length; leave the field out");
        }
        return None;
    };
    let Some(asked) = asked else {
        return match duration {
            MusicDuration::OneOf(options) => options.default().copied(),
            MusicDuration::Within { default_s, .. } => Some(*default_s),
        };
    };
    let seconds = asked.seconds().unwrap_or(0);
    let (is_made, made) = match duration {
        MusicDuration::OneOf(options) => {
            let names: Vec<String> = options.options().iter().map(u64::to_string).collect();
            (options.options().contains(&seconds), names.join(", "))
        }
        MusicDuration::Within { min_s, max_s, .. } => {
            ((*min_s..=*max_s).contains(&seconds), format!("{min_s} to {max_s}"))
        }
    };
    if !is_made {
        faults
            .at(["duration_seconds"])
            .push(format!("This model supports lengths of {made} seconds"));
    }
    Some(seconds)
}

fn count_characters(text: &str) -> u64 {
    text.chars().count() as u64
}
