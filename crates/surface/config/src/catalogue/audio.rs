//! The keys of speech, transcription and music models.

use domain::catalogue::{
    AsrSpec, AudioFileFormat, ChoiceList, CloningMode, LyricsSupport, MusicDuration, MusicSpec,
    NamedVariants, SpeedRange, TtsSpec, VoiceCloning,
};

use super::price;
use super::value::{
    COUNT, COUNT_OR_NONE, read_count, read_counts, read_enum_value, read_enum_values, text_choices,
    word_choices,
};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

/// One day; a longer piece of music is a mistake.
const SECONDS: ValueKind = ValueKind::Integer { least: 1, most: 86_400 };
const SPEED: ValueKind = ValueKind::Number { least: 0.25, most: 4.0 };

const VOICES: ConfigKey =
    ConfigKey::with_default("voices", ValueKind::Texts, "[]", "Voices that callers may request.");
const DEFAULT_VOICE: ConfigKey = ConfigKey::optional(
    "default_voice",
    ValueKind::Text,
    "The voice if callers send none. Default: `af_sky` if a speech model has it, otherwise the \
     first.",
);
const FORMATS: ConfigKey = ConfigKey::with_default(
    "formats",
    ValueKind::Choices(AudioFileFormat::NAMES),
    "[\"mp3\"]",
    "Supported file formats.",
);
const DEFAULT_FORMAT: ConfigKey = ConfigKey::optional(
    "default_format",
    ValueKind::Choice(AudioFileFormat::NAMES),
    "The format if callers send none. Default: the first.",
);

pub(super) const TTS_SECTION: ConfigSection = ConfigSection {
    name: "model of type tts",
    form: SectionForm::Inner,
    doc: "Additional keys of speech models.",
    keys: TTS_KEYS,
};

pub(super) const TTS_KEYS: &[ConfigKey] = &[
    VOICES,
    DEFAULT_VOICE,
    FORMATS,
    DEFAULT_FORMAT,
    ConfigKey::with_default(
        "custom_voice_id",
        ValueKind::Flag,
        "false",
        "True if voice ids of the provider are forwarded.",
    ),
    ConfigKey::optional(
        "voice_cloning",
        ValueKind::Table,
        "Voice cloning, for models that support it.",
    ),
    ConfigKey::with_default(
        "supports_prompt",
        ValueKind::Flag,
        "false",
        "True if the model accepts a style prompt.",
    ),
    ConfigKey::with_default(
        "supports_temperature",
        ValueKind::Flag,
        "false",
        "True if the model accepts `temperature`.",
    ),
    ConfigKey::with_default(
        "supports_top_p",
        ValueKind::Flag,
        "false",
        "True if the model accepts `top_p`.",
    ),
];

pub(super) const CLONING_SECTION: ConfigSection = ConfigSection {
    name: "model.voice_cloning",
    form: SectionForm::Inner,
    doc: "Voice cloning of a speech model.",
    keys: CLONING_KEYS,
};

const CLONING_KEYS: &[ConfigKey] = &[
    ConfigKey::required(
        "mode",
        ValueKind::Choice(CloningMode::NAMES),
        "`zero_shot` sends the sample with each request; `persistent` stores a voice made from it.",
    ),
    ConfigKey::with_default(
        "accepted_formats",
        ValueKind::Choices(AudioFileFormat::NAMES),
        "[\"mp3\", \"wav\"]",
        "File formats of samples.",
    ),
    ConfigKey::with_default(
        "min_sample_seconds",
        COUNT,
        "5",
        "The minimum length of a sample in seconds.",
    ),
    ConfigKey::with_default(
        "retention_days",
        COUNT,
        "7",
        "The lifetime of a cloned voice in days.",
    ),
];

pub(super) const MUSIC_SECTION: ConfigSection = ConfigSection {
    name: "model of type music",
    form: SectionForm::Inner,
    doc: "Additional keys of music models.",
    keys: MUSIC_KEYS,
};

pub(super) const MUSIC_KEYS: &[ConfigKey] = &[
    VOICES,
    DEFAULT_VOICE,
    FORMATS,
    DEFAULT_FORMAT,
    ConfigKey::with_default(
        "supports_lyrics",
        ValueKind::Flag,
        "false",
        "True if the model accepts lyrics.",
    ),
    ConfigKey::with_default(
        "lyrics_required",
        ValueKind::Flag,
        "false",
        "True if the model requires lyrics.",
    ),
    ConfigKey::with_default(
        "supports_lyrics_optimizer",
        ValueKind::Flag,
        "false",
        "True if the model can write the lyrics itself.",
    ),
    ConfigKey::optional(
        "lyrics_character_limit",
        COUNT,
        "The maximum length of lyrics in characters.",
    ),
    ConfigKey::with_default(
        "supports_force_instrumental",
        ValueKind::Flag,
        "false",
        "True if callers may request music without vocals.",
    ),
    ConfigKey::with_default(
        "supports_loop",
        ValueKind::Flag,
        "false",
        "True if the model can generate seamless loops.",
    ),
    ConfigKey::with_default(
        "supports_language_code",
        ValueKind::Flag,
        "false",
        "True if callers may set the language.",
    ),
    ConfigKey::optional("min_speed", SPEED, "The minimum speed. Set all three speeds or none."),
    ConfigKey::optional("default_speed", SPEED, "The speed if callers send none."),
    ConfigKey::optional("max_speed", SPEED, "The maximum speed."),
    ConfigKey::optional(
        "duration_options",
        ValueKind::Integers { least: 1, most: 86_400 },
        "The lengths in seconds that callers may request. Alternative to the three keys below.",
    ),
    ConfigKey::optional("min_duration", SECONDS, "The minimum length in seconds."),
    ConfigKey::optional("max_duration", SECONDS, "The maximum length in seconds."),
    ConfigKey::optional("default_duration", SECONDS, "The length in seconds if callers send none."),
    ConfigKey::optional(
        "prompt_character_limit",
        COUNT,
        "The maximum length of a prompt in characters.",
    ),
    ConfigKey::optional(
        "min_prompt_length",
        COUNT_OR_NONE,
        "The minimum length of a prompt in characters.",
    ),
];

pub(super) fn read_asr_spec(reader: &TableReader<'_>) -> Option<AsrSpec> {
    Some(AsrSpec { price: price::asr_price(reader)? })
}

/// Default voice that the API documents for requests without a voice.
const USUAL_VOICE: &str = "af_sky";

fn with_usual_voice(voices: ChoiceList<String>) -> ChoiceList<String> {
    let usual = ChoiceList::with_default(voices.options().to_vec(), &USUAL_VOICE.to_owned());
    usual.unwrap_or(voices)
}

pub(super) fn read_tts_spec(reader: &TableReader<'_>) -> Option<TtsSpec> {
    let voices = text_choices(reader, "voices", "default_voice");
    let voices =
        if reader.has_key("default_voice") { voices } else { voices.map(with_usual_voice) };
    let formats = word_choices(reader, "formats", "default_format");
    let custom_voice_id = reader.flag("custom_voice_id");
    let voice_cloning =
        reader.table_reader("voice_cloning", CLONING_KEYS).and_then(|it| read_voice_cloning(&it));
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

fn read_voice_cloning(reader: &TableReader<'_>) -> Option<VoiceCloning> {
    let mode = read_enum_value(reader, "mode");
    let accepted_formats = read_enum_values(reader, "accepted_formats");
    let min_sample_seconds = read_count(reader, "min_sample_seconds");
    let retention_days = read_count(reader, "retention_days");
    Some(VoiceCloning {
        mode: mode?,
        accepted_formats: accepted_formats?,
        min_sample_seconds: min_sample_seconds?,
        retention_days: retention_days?,
    })
}

pub(super) fn read_music_spec(reader: &TableReader<'_>) -> Option<MusicSpec> {
    let voices = text_choices(reader, "voices", "default_voice");
    let formats = word_choices(reader, "formats", "default_format");
    let lyrics = read_lyrics(reader);
    let flags = ["supports_force_instrumental", "supports_loop", "supports_language_code"];
    let [force_instrumental, loops, language_code] = flags.map(|key| reader.flag(key));
    let speed = read_speed(reader);
    let duration = read_duration(reader);
    let prompt_characters_min = read_count(reader, "min_prompt_length");
    let prompt_characters_max = read_count(reader, "prompt_character_limit");
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

fn read_lyrics(reader: &TableReader<'_>) -> Option<LyricsSupport> {
    let required = reader.flag("lyrics_required");
    let optimizer = reader.flag("supports_lyrics_optimizer");
    let characters_max = read_count(reader, "lyrics_character_limit");
    let is_supported = reader.flag("supports_lyrics")?;
    if is_supported {
        return Some(LyricsSupport::Supported {
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
        reader.report_fault(key, format!("`{key}` needs `supports_lyrics = true`"));
    }
    Some(LyricsSupport::Unsupported)
}

fn read_speed(reader: &TableReader<'_>) -> Option<SpeedRange> {
    let keys = ["min_speed", "default_speed", "max_speed"];
    let [min, default, max] = keys.map(|key| reader.number(key));
    let given = keys.into_iter().find(|key| reader.has_key(key))?;
    let (Some(min), Some(default), Some(max)) = (min, default, max) else {
        reader.report_fault(
            given,
            "give all of `min_speed`, `default_speed` and `max_speed`, or none",
        );
        return None;
    };
    if default < min || max < default {
        reader.report_fault(
            "default_speed",
            "`default_speed` must lie from `min_speed` to `max_speed`",
        );
    }
    Some(SpeedRange { min, default, max })
}

fn read_duration(reader: &TableReader<'_>) -> Option<MusicDuration> {
    let keys = ["min_duration", "default_duration", "max_duration"];
    let [min_s, default_s, max_s] = keys.map(|key| read_count(reader, key));
    if let Some(options) = read_counts(reader, "duration_options") {
        return one_of(reader, options, default_s);
    }
    let given = keys.into_iter().find(|key| reader.has_key(key))?;
    let (Some(min_s), Some(default_s), Some(max_s)) = (min_s, default_s, max_s) else {
        let message = "give all of `min_duration`, `default_duration` and `max_duration`, or none";
        reader.report_fault(given, message);
        return None;
    };
    if default_s < min_s || max_s < default_s {
        let message = "`default_duration` must lie from `min_duration` to `max_duration`";
        reader.report_fault("default_duration", message);
    }
    Some(MusicDuration::Within { min_s, default_s, max_s })
}

fn one_of(
    reader: &TableReader<'_>,
    options: Vec<u64>,
    default_s: Option<u64>,
) -> Option<MusicDuration> {
    for key in ["min_duration", "max_duration"].into_iter().filter(|key| reader.has_key(key)) {
        reader.report_fault(key, format!("`{key}` is for models without `duration_options`"));
    }
    let choices = match default_s {
        Some(default) => ChoiceList::with_default(options, &default),
        None => Some(ChoiceList::first_of(options)),
    };
    if choices.is_none() {
        reader.report_fault("default_duration", "`default_duration` is not in `duration_options`");
    }
    choices.map(MusicDuration::OneOf)
}
