//! The keys of speech, transcription and music models.

use domain::catalogue::{
    AsrSpec, AudioFormat, Choices, CloningMode, Duration, Lyrics, MusicSpec, Named, Speed, TtsSpec,
    VoiceCloning,
};

use super::price;
use super::value::{COUNT, COUNT_OR_NONE, count, counts, text_choices, word, word_choices, words};
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

/// One day; a longer piece of music is a mistake.
const SECONDS: Kind = Kind::Integer { least: 1, most: 86_400 };
const SPEED: Kind = Kind::Number { least: 0.25, most: 4.0 };

const VOICES: Key =
    Key::with_default("voices", Kind::Texts, "[]", "Voices that callers may request.");
const DEFAULT_VOICE: Key = Key::optional(
    "default_voice",
    Kind::Text,
    "The voice if callers send none. Default: `af_sky` if a speech model has it, otherwise the \
     first.",
);
const FORMATS: Key = Key::with_default(
    "formats",
    Kind::Choices(AudioFormat::NAMES),
    "[\"mp3\"]",
    "Supported file formats.",
);
const DEFAULT_FORMAT: Key = Key::optional(
    "default_format",
    Kind::Choice(AudioFormat::NAMES),
    "The format if callers send none. Default: the first.",
);

pub(super) const TTS_SECTION: Section = Section {
    name: "model of type tts",
    form: Form::Inner,
    doc: "Additional keys of speech models.",
    keys: TTS_KEYS,
};

pub(super) const TTS_KEYS: &[Key] = &[
    VOICES,
    DEFAULT_VOICE,
    FORMATS,
    DEFAULT_FORMAT,
    Key::with_default(
        "custom_voice_id",
        Kind::Flag,
        "false",
        "True if voice ids of the provider are forwarded.",
    ),
    Key::optional("voice_cloning", Kind::Table, "Voice cloning, for models that support it."),
    Key::with_default(
        "supports_prompt",
        Kind::Flag,
        "false",
        "True if the model accepts a style prompt.",
    ),
    Key::with_default(
        "supports_temperature",
        Kind::Flag,
        "false",
        "True if the model accepts `temperature`.",
    ),
    Key::with_default("supports_top_p", Kind::Flag, "false", "True if the model accepts `top_p`."),
];

pub(super) const CLONING_SECTION: Section = Section {
    name: "model.voice_cloning",
    form: Form::Inner,
    doc: "Voice cloning of a speech model.",
    keys: CLONING_KEYS,
};

const CLONING_KEYS: &[Key] = &[
    Key::required(
        "mode",
        Kind::Choice(CloningMode::NAMES),
        "`zero_shot` sends the sample with each request; `persistent` stores a voice made from it.",
    ),
    Key::with_default(
        "accepted_formats",
        Kind::Choices(AudioFormat::NAMES),
        "[\"mp3\", \"wav\"]",
        "File formats of samples.",
    ),
    Key::with_default(
        "min_sample_seconds",
        COUNT,
        "5",
        "The minimum length of a sample in seconds.",
    ),
    Key::with_default("retention_days", COUNT, "7", "The lifetime of a cloned voice in days."),
];

pub(super) const MUSIC_SECTION: Section = Section {
    name: "model of type music",
    form: Form::Inner,
    doc: "Additional keys of music models.",
    keys: MUSIC_KEYS,
};

pub(super) const MUSIC_KEYS: &[Key] = &[
    VOICES,
    DEFAULT_VOICE,
    FORMATS,
    DEFAULT_FORMAT,
    Key::with_default("supports_lyrics", Kind::Flag, "false", "True if the model accepts lyrics."),
    Key::with_default("lyrics_required", Kind::Flag, "false", "True if the model requires lyrics."),
    Key::with_default(
        "supports_lyrics_optimizer",
        Kind::Flag,
        "false",
        "True if the model can write the lyrics itself.",
    ),
    Key::optional("lyrics_character_limit", COUNT, "The maximum length of lyrics in characters."),
    Key::with_default(
        "supports_force_instrumental",
        Kind::Flag,
        "false",
        "True if callers may request music without vocals.",
    ),
    Key::with_default(
        "supports_loop",
        Kind::Flag,
        "false",
        "True if the model can generate seamless loops.",
    ),
    Key::with_default(
        "supports_language_code",
        Kind::Flag,
        "false",
        "True if callers may set the language.",
    ),
    Key::optional("min_speed", SPEED, "The minimum speed. Set all three speeds or none."),
    Key::optional("default_speed", SPEED, "The speed if callers send none."),
    Key::optional("max_speed", SPEED, "The maximum speed."),
    Key::optional(
        "duration_options",
        Kind::Integers { least: 1, most: 86_400 },
        "The lengths in seconds that callers may request. Alternative to the three keys below.",
    ),
    Key::optional("min_duration", SECONDS, "The minimum length in seconds."),
    Key::optional("max_duration", SECONDS, "The maximum length in seconds."),
    Key::optional("default_duration", SECONDS, "The length in seconds if callers send none."),
    Key::optional("prompt_character_limit", COUNT, "The maximum length of a prompt in characters."),
    Key::optional(
        "min_prompt_length",
        COUNT_OR_NONE,
        "The minimum length of a prompt in characters.",
    ),
];

pub(super) fn asr(reader: &Reader<'_>) -> Option<AsrSpec> {
    Some(AsrSpec { price: price::asr_price(reader)? })
}

/// Default voice that the API documents for requests without a voice.
const USUAL_VOICE: &str = "af_sky";

fn with_usual_voice(voices: Choices<String>) -> Choices<String> {
    let usual = Choices::with_default(voices.options().to_vec(), &USUAL_VOICE.to_owned());
    usual.unwrap_or(voices)
}

pub(super) fn tts(reader: &Reader<'_>) -> Option<TtsSpec> {
    let voices = text_choices(reader, "voices", "default_voice");
    let voices = if reader.has("default_voice") { voices } else { voices.map(with_usual_voice) };
    let formats = word_choices(reader, "formats", "default_format");
    let custom_voice_id = reader.flag("custom_voice_id");
    let voice_cloning = reader.table("voice_cloning", CLONING_KEYS).and_then(|it| cloning(&it));
    let flags = ["supports_prompt", "supports_temperature", "supports_top_p"];
    let [style_prompt, temperature, top_p] = flags.map(|key| reader.flag(key));
    let price = price::tts_price(reader);
    Some(TtsSpec {
        voices: voices?,
        formats: formats?,
        custom_voice_id: custom_voice_id?,
        voice_cloning,
        style_prompt: style_prompt?,
        temperature: temperature?,
        top_p: top_p?,
        price: price?,
    })
}

fn cloning(reader: &Reader<'_>) -> Option<VoiceCloning> {
    let mode = word(reader, "mode");
    let accepted_formats = words(reader, "accepted_formats");
    let min_sample_seconds = count(reader, "min_sample_seconds");
    let retention_days = count(reader, "retention_days");
    Some(VoiceCloning {
        mode: mode?,
        accepted_formats: accepted_formats?,
        min_sample_seconds: min_sample_seconds?,
        retention_days: retention_days?,
    })
}

pub(super) fn music(reader: &Reader<'_>) -> Option<MusicSpec> {
    let voices = text_choices(reader, "voices", "default_voice");
    let formats = word_choices(reader, "formats", "default_format");
    let lyrics = lyrics(reader);
    let flags = ["supports_force_instrumental", "supports_loop", "supports_language_code"];
    let [force_instrumental, loops, language_code] = flags.map(|key| reader.flag(key));
    let speed = speed(reader);
    let duration = duration(reader);
    let prompt_characters_min = count(reader, "min_prompt_length");
    let prompt_characters_max = count(reader, "prompt_character_limit");
    let price = price::music_price(reader);
    Some(MusicSpec {
        voices: voices?,
        formats: formats?,
        lyrics: lyrics?,
        force_instrumental: force_instrumental?,
        loops: loops?,
        language_code: language_code?,
        speed,
        duration,
        prompt_characters_min,
        prompt_characters_max,
        price: price?,
    })
}

fn lyrics(reader: &Reader<'_>) -> Option<Lyrics> {
    let required = reader.flag("lyrics_required");
    let optimizer = reader.flag("supports_lyrics_optimizer");
    let characters_max = count(reader, "lyrics_character_limit");
    let is_supported = reader.flag("supports_lyrics")?;
    if is_supported {
        return Some(Lyrics::Supported {
            required: required?,
            optimizer: optimizer?,
            characters_max,
        });
    }
    let about_lyrics = [
        ("lyrics_required", required == Some(true)),
        ("supports_lyrics_optimizer", optimizer == Some(true)),
        ("lyrics_character_limit", characters_max.is_some()),
    ];
    for (key, _) in about_lyrics.into_iter().filter(|(_, is_announced)| *is_announced) {
        reader.fault(key, format!("`{key}` needs `supports_lyrics = true`"));
    }
    Some(Lyrics::Unsupported)
}

fn speed(reader: &Reader<'_>) -> Option<Speed> {
    let keys = ["min_speed", "default_speed", "max_speed"];
    let [min, default, max] = keys.map(|key| reader.number(key));
    let given = keys.into_iter().find(|key| reader.has(key))?;
    let (Some(min), Some(default), Some(max)) = (min, default, max) else {
        reader.fault(given, "give all of `min_speed`, `default_speed` and `max_speed`, or none");
        return None;
    };
    if default < min || max < default {
        reader.fault("default_speed", "`default_speed` must lie from `min_speed` to `max_speed`");
    }
    Some(Speed { min, default, max })
}

fn duration(reader: &Reader<'_>) -> Option<Duration> {
    let keys = ["min_duration", "default_duration", "max_duration"];
    let [min_s, default_s, max_s] = keys.map(|key| count(reader, key));
    if let Some(options) = counts(reader, "duration_options") {
        return one_of(reader, options, default_s);
    }
    let given = keys.into_iter().find(|key| reader.has(key))?;
    let (Some(min_s), Some(default_s), Some(max_s)) = (min_s, default_s, max_s) else {
        let message = "give all of `min_duration`, `default_duration` and `max_duration`, or none";
        reader.fault(given, message);
        return None;
    };
    if default_s < min_s || max_s < default_s {
        let message = "`default_duration` must lie from `min_duration` to `max_duration`";
        reader.fault("default_duration", message);
    }
    Some(Duration::Within { min_s, default_s, max_s })
}

fn one_of(reader: &Reader<'_>, options: Vec<u64>, default_s: Option<u64>) -> Option<Duration> {
    for key in ["min_duration", "max_duration"].into_iter().filter(|key| reader.has(key)) {
        reader.fault(key, format!("`{key}` is for models without `duration_options`"));
    }
    let choices = match default_s {
        Some(default) => Choices::with_default(options, &default),
        None => Some(Choices::first_of(options)),
    };
    if choices.is_none() {
        reader.fault("default_duration", "`default_duration` is not in `duration_options`");
    }
    choices.map(Duration::OneOf)
}
