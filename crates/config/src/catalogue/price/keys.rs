//! The keys of each price format.

use super::super::value::{COUNT, COUNT_OR_NONE};
use crate::key::{Form, Key, Kind, Section};

pub(in crate::catalogue) const RATE_SECTION: Section = Section {
    name: "an amount in two currencies",
    form: Form::Inner,
    doc: "Every amount of a price is a decimal in quotes, such as \"0.70\". It counts in USD and, \
          at par, in DIEM; where they differ, write `{ usd = \"0.70\", diem = \"0.60\" }` instead.",
    keys: &[
        Key::required("usd", Kind::Decimal, "In US dollars."),
        Key::optional("diem", Kind::Decimal, "In DIEM; as in dollars unless given."),
    ],
};

pub(in crate::catalogue) const TOKEN_SECTION: Section = Section {
    name: "price of type text or embedding",
    form: Form::Inner,
    doc: "By the token.",
    keys: &[
        INPUT,
        OUTPUT,
        CACHE_INPUT,
        CACHE_WRITE,
        CACHE_WRITE_1H,
        Key::optional("extended", Kind::Table, "Other rates for requests with a long context."),
    ],
};

pub(in crate::catalogue) const EXTENDED_SECTION: Section = Section {
    name: "price.extended",
    form: Form::Inner,
    doc: "The rates of a whole request whose context is longer than a threshold.",
    keys: &[
        Key::required("above_context_tokens", COUNT, "The threshold."),
        INPUT,
        OUTPUT,
        CACHE_INPUT,
        CACHE_WRITE,
        CACHE_WRITE_1H,
    ],
};

const INPUT: Key =
    Key::required("input_usd_per_million", Kind::Decimal, "For a million input tokens.");
const OUTPUT: Key = Key::with_default(
    "output_usd_per_million",
    Kind::Decimal,
    "\"0\"",
    "For a million output tokens; a text model must name it.",
);
const CACHE_INPUT: Key = Key::optional(
    "cache_input_usd_per_million",
    Kind::Decimal,
    "For a million input tokens read from the prompt cache; as other input unless given.",
);
const CACHE_WRITE: Key = Key::optional(
    "cache_write_usd_per_million",
    Kind::Decimal,
    "For a million input tokens written to the prompt cache; as other input unless given.",
);

const CACHE_WRITE_1H: Key = Key::optional(
    "cache_write_1h_usd_per_million",
    Kind::Decimal,
    "For a million input tokens written to the prompt cache for an hour. Default: twice \
     `input_usd_per_million` where a provider of the model is of kind `anthropic`, else as \
     `cache_write_usd_per_million`.",
);

pub(in crate::catalogue) const IMAGE_SECTION: Section = Section {
    name: "price of type image or upscale",
    form: Form::Inner,
    doc: "By the image: one price, or one per resolution.",
    keys: &[
        Key::optional("per_image_usd", Kind::Decimal, "For one image."),
        Key::optional(
            "resolutions",
            Kind::TextMap,
            "For one image of each resolution: `{ \"1K\" = \"0.01\", \"2K\" = \"0.02\" }`.",
        ),
        QUALITY,
        Key::with_default(
            "upscale_2x_usd",
            Kind::Decimal,
            "\"0.02\"",
            "For enlarging one image to at most twice its width and height.",
        ),
        Key::with_default(
            "upscale_4x_usd",
            Kind::Decimal,
            "\"0.08\"",
            "For enlarging one image beyond that.",
        ),
    ],
};

const QUALITY: Key = Key::optional(
    "quality",
    Kind::NamedTables,
    "By resolution and quality, where it matters: `{ \"1K\" = { low_usd = \"0.01\", … } }`.",
);

pub(in crate::catalogue) const QUALITY_SECTION: Section = Section {
    name: "price.quality.<resolution>",
    form: Form::Inner,
    doc: "One image of each quality.",
    keys: &[
        Key::required("low_usd", Kind::Decimal, "For an image of low quality."),
        Key::required("medium_usd", Kind::Decimal, "For an image of medium quality."),
        Key::required("high_usd", Kind::Decimal, "For an image of high quality."),
    ],
};

pub(in crate::catalogue) const INPAINT_SECTION: Section = Section {
    name: "price of type inpaint",
    form: Form::Inner,
    doc: "By the edit.",
    keys: &[
        Key::required("per_edit_usd", Kind::Decimal, "For one edit."),
        Key::optional(
            "resolutions",
            Kind::TextMap,
            "For one edit at other resolutions: `{ \"2K\" = \"0.06\" }`.",
        ),
        QUALITY,
        Key::optional(
            "included_images",
            COUNT_OR_NONE,
            "How many input images the price of an edit includes.",
        ),
        Key::optional("additional_image_usd", Kind::Decimal, "For each input image beyond those."),
    ],
};

pub(in crate::catalogue) const TTS_SECTION: Section = Section {
    name: "price of type tts",
    form: Form::Inner,
    doc: "By the character.",
    keys: &[Key::required(
        "input_usd_per_million_characters",
        Kind::Decimal,
        "For a million characters of text.",
    )],
};

pub(in crate::catalogue) const ASR_SECTION: Section = Section {
    name: "price of type asr",
    form: Form::Inner,
    doc: "By the second.",
    keys: &[Key::required("usd_per_audio_second", Kind::Decimal, "For a second of audio.")],
};

pub(in crate::catalogue) const MUSIC_SECTION: Section = Section {
    name: "price of type music",
    form: Form::Inner,
    doc: "In exactly one of four ways.",
    keys: &[
        Key::optional("per_generation_usd", Kind::Decimal, "For one piece of any length."),
        Key::optional("durations", Kind::Tables, "For one piece, by its length."),
        Key::optional("usd_per_second", Kind::Decimal, "For a second of music."),
        Key::optional(
            "usd_per_thousand_characters",
            Kind::Decimal,
            "For a thousand characters of the prompt.",
        ),
    ],
};

pub(in crate::catalogue) const DURATION_SECTION: Section = Section {
    name: "price.durations",
    form: Form::Inner,
    doc: "One price for all lengths from `min_seconds` to `max_seconds`, in rising order.",
    keys: &[
        Key::required("min_seconds", COUNT, "The shortest piece at this price."),
        Key::required("max_seconds", COUNT, "The longest piece at this price."),
        Key::required("usd", Kind::Decimal, "In US dollars."),
        Key::optional("diem", Kind::Decimal, "In DIEM; as in dollars unless given."),
    ],
};

pub(in crate::catalogue) const VIDEO_SECTION: Section = Section {
    name: "price of type video",
    form: Form::Inner,
    doc: "A part for each video and a part for each second of it; at least one of them.",
    keys: &[
        Key::optional("per_generation_usd", Kind::Decimal, "For one video."),
        Key::optional("usd_per_second", Kind::Decimal, "For a second of video."),
        WITH_AUDIO,
        Key::optional(
            "resolutions",
            Kind::NamedTables,
            "For a second at other resolutions: `{ \"1080p\" = { usd_per_second = \"0.10\" } }`.",
        ),
    ],
};

pub(in crate::catalogue) const VIDEO_RATES_SECTION: Section = Section {
    name: "price.resolutions.<resolution>",
    form: Form::Inner,
    doc: "A second of video at one resolution.",
    keys: &[Key::required("usd_per_second", Kind::Decimal, "For a second of video."), WITH_AUDIO],
};

const WITH_AUDIO: Key = Key::optional(
    "usd_per_second_with_audio",
    Kind::Decimal,
    "For a second of video with sound; as without unless given.",
);
