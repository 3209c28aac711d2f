//! The keys of each price format.

use super::super::value::{COUNT, COUNT_OR_NONE};
use crate::key::{Form, Key, Kind, Section};

pub(in crate::catalogue) const RATE_SECTION: Section = Section {
    name: "an amount in two currencies",
    form: Form::Inner,
    doc: "Every amount of a price is a decimal in quotes, such as \"0.70\". It applies in USD and, \
          at par, in DIEM. For different amounts, write `{ usd = \"0.70\", diem = \"0.60\" }`.",
    keys: &[
        Key::required("usd", Kind::Decimal, "The amount in US dollars."),
        Key::optional("diem", Kind::Decimal, "The amount in DIEM. Default: the same as `usd`."),
    ],
};

pub(in crate::catalogue) const TOKEN_SECTION: Section = Section {
    name: "price of type text or embedding",
    form: Form::Inner,
    doc: "Prices per token.",
    keys: &[
        INPUT,
        OUTPUT,
        CACHE_INPUT,
        CACHE_WRITE,
        CACHE_WRITE_1H,
        Key::optional("extended", Kind::Table, "Prices for requests with a long context."),
    ],
};

pub(in crate::catalogue) const EXTENDED_SECTION: Section = Section {
    name: "price.extended",
    form: Form::Inner,
    doc: "Prices that apply to a whole request if its context is longer than the threshold.",
    keys: &[
        Key::required("above_context_tokens", COUNT, "The threshold in tokens."),
        INPUT,
        OUTPUT,
        CACHE_INPUT,
        CACHE_WRITE,
        CACHE_WRITE_1H,
    ],
};

const INPUT: Key =
    Key::required("input_usd_per_million", Kind::Decimal, "Price per million input tokens.");
const OUTPUT: Key = Key::with_default(
    "output_usd_per_million",
    Kind::Decimal,
    "\"0\"",
    "Price per million output tokens. Required for text models.",
);
const CACHE_INPUT: Key = Key::optional(
    "cache_input_usd_per_million",
    Kind::Decimal,
    "Price per million input tokens read from the prompt cache. Default: the input price.",
);
const CACHE_WRITE: Key = Key::optional(
    "cache_write_usd_per_million",
    Kind::Decimal,
    "Price per million input tokens written to the prompt cache. Default: the input price.",
);

const CACHE_WRITE_1H: Key = Key::optional(
    "cache_write_1h_usd_per_million",
    Kind::Decimal,
    "Price per million input tokens written to the prompt cache for one hour. Default: twice \
     `input_usd_per_million` if a provider of the model is of kind `anthropic`, otherwise the same \
     as `cache_write_usd_per_million`.",
);

pub(in crate::catalogue) const IMAGE_SECTION: Section = Section {
    name: "price of type image or upscale",
    form: Form::Inner,
    doc: "Prices per image: one price, or one per resolution.",
    keys: &[
        Key::optional("per_image_usd", Kind::Decimal, "Price per image."),
        Key::optional(
            "resolutions",
            Kind::TextMap,
            "Price per image by resolution: `{ \"1K\" = \"0.01\", \"2K\" = \"0.02\" }`.",
        ),
        QUALITY,
        Key::with_default(
            "upscale_2x_usd",
            Kind::Decimal,
            "\"0.02\"",
            "Price for upscaling an image up to twice its width and height.",
        ),
        Key::with_default(
            "upscale_4x_usd",
            Kind::Decimal,
            "\"0.08\"",
            "Price for upscaling an image by more than that.",
        ),
    ],
};

const QUALITY: Key = Key::optional(
    "quality",
    Kind::NamedTables,
    "Price by resolution and quality: `{ \"1K\" = { low_usd = \"0.01\", … } }`.",
);

pub(in crate::catalogue) const QUALITY_SECTION: Section = Section {
    name: "price.quality.<resolution>",
    form: Form::Inner,
    doc: "Prices per image by quality.",
    keys: &[
        Key::required("low_usd", Kind::Decimal, "Price per image of low quality."),
        Key::required("medium_usd", Kind::Decimal, "Price per image of medium quality."),
        Key::required("high_usd", Kind::Decimal, "Price per image of high quality."),
    ],
};

pub(in crate::catalogue) const INPAINT_SECTION: Section = Section {
    name: "price of type inpaint",
    form: Form::Inner,
    doc: "Prices per edit.",
    keys: &[
        Key::required("per_edit_usd", Kind::Decimal, "Price per edit."),
        Key::optional(
            "resolutions",
            Kind::TextMap,
            "Price per edit at other resolutions: `{ \"2K\" = \"0.06\" }`.",
        ),
        QUALITY,
        Key::optional(
            "included_images",
            COUNT_OR_NONE,
            "The number of input images included in the price of an edit.",
        ),
        Key::optional("additional_image_usd", Kind::Decimal, "Price of each further input image."),
    ],
};

pub(in crate::catalogue) const TTS_SECTION: Section = Section {
    name: "price of type tts",
    form: Form::Inner,
    doc: "Prices per character.",
    keys: &[Key::required(
        "input_usd_per_million_characters",
        Kind::Decimal,
        "Price per million characters of text.",
    )],
};

pub(in crate::catalogue) const ASR_SECTION: Section = Section {
    name: "price of type asr",
    form: Form::Inner,
    doc: "Prices per second.",
    keys: &[Key::required("usd_per_audio_second", Kind::Decimal, "Price per second of audio.")],
};

pub(in crate::catalogue) const MUSIC_SECTION: Section = Section {
    name: "price of type music",
    form: Form::Inner,
    doc: "Exactly one of these four prices.",
    keys: &[
        Key::optional("per_generation_usd", Kind::Decimal, "Price per piece of any length."),
        Key::optional("durations", Kind::Tables, "Price per piece, by length."),
        Key::optional("usd_per_second", Kind::Decimal, "Price per second of music."),
        Key::optional(
            "usd_per_thousand_characters",
            Kind::Decimal,
            "Price per thousand characters of prompt and lyrics.",
        ),
    ],
};

pub(in crate::catalogue) const DURATION_SECTION: Section = Section {
    name: "price.durations",
    form: Form::Inner,
    doc: "One price for all lengths from `min_seconds` to `max_seconds`. List the ranges in \
          ascending order.",
    keys: &[
        Key::required("min_seconds", COUNT, "The minimum length at this price."),
        Key::required("max_seconds", COUNT, "The maximum length at this price."),
        Key::required("usd", Kind::Decimal, "The amount in US dollars."),
        Key::optional("diem", Kind::Decimal, "The amount in DIEM. Default: the same as `usd`."),
    ],
};

pub(in crate::catalogue) const VIDEO_SECTION: Section = Section {
    name: "price of type video",
    form: Form::Inner,
    doc: "A price per video, a price per second, or both.",
    keys: &[
        Key::optional("per_generation_usd", Kind::Decimal, "Price per video."),
        Key::optional("usd_per_second", Kind::Decimal, "Price per second of video."),
        WITH_AUDIO,
        Key::optional(
            "resolutions",
            Kind::NamedTables,
            "Price per second at other resolutions: `{ \"1080p\" = { usd_per_second = \"0.10\" } \
             }`.",
        ),
    ],
};

pub(in crate::catalogue) const VIDEO_RATES_SECTION: Section = Section {
    name: "price.resolutions.<resolution>",
    form: Form::Inner,
    doc: "Prices per second of video at one resolution.",
    keys: &[
        Key::required("usd_per_second", Kind::Decimal, "Price per second of video."),
        WITH_AUDIO,
    ],
};

const WITH_AUDIO: Key = Key::optional(
    "usd_per_second_with_audio",
    Kind::Decimal,
    "Price per second of video with sound. Default: the same as without sound.",
);
