//! The keys of each price format.

use super::super::value::{COUNT, COUNT_OR_NONE};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};

pub(in crate::catalogue) const RATE_SECTION: ConfigSection = ConfigSection {
    name: "an amount in two currencies",
    form: SectionForm::Inner,
    doc: "Every amount of a price is a decimal in quotes, such as \"0.70\". It applies in USD and, \
          at par, in DIEM. For different amounts, write `{ usd = \"0.70\", diem = \"0.60\" }`.",
    keys: &[
        ConfigKey::required("usd", ValueKind::Decimal, "The amount in US dollars."),
        ConfigKey::optional(
            "diem",
            ValueKind::Decimal,
            "The amount in DIEM. Default: the same as `usd`.",
        ),
    ],
};

pub(in crate::catalogue) const TOKEN_SECTION: ConfigSection = ConfigSection {
    name: "price of type text or embedding",
    form: SectionForm::Inner,
    doc: "Prices per token.",
    keys: &[
        INPUT,
        OUTPUT,
        CACHE_INPUT,
        CACHE_WRITE,
        CACHE_WRITE_1H,
        ConfigKey::optional(
            "extended",
            ValueKind::Table,
            "Prices for requests with a long context.",
        ),
    ],
};

pub(in crate::catalogue) const EXTENDED_SECTION: ConfigSection = ConfigSection {
    name: "price.extended",
    form: SectionForm::Inner,
    doc: "Prices that apply to a whole request if its context is longer than the threshold.",
    keys: &[
        ConfigKey::required("above_context_tokens", COUNT, "The threshold in tokens."),
        INPUT,
        OUTPUT,
        CACHE_INPUT,
        CACHE_WRITE,
        CACHE_WRITE_1H,
    ],
};

const INPUT: ConfigKey = ConfigKey::required(
    "input_usd_per_million",
    ValueKind::Decimal,
    "Price per million input tokens.",
);
const OUTPUT: ConfigKey = ConfigKey::with_default(
    "output_usd_per_million",
    ValueKind::Decimal,
    "\"0\"",
    "Price per million output tokens. Required for text models.",
);
const CACHE_INPUT: ConfigKey = ConfigKey::optional(
    "cache_input_usd_per_million",
    ValueKind::Decimal,
    "Price per million input tokens read from the prompt cache. Default: the input price.",
);
const CACHE_WRITE: ConfigKey = ConfigKey::optional(
    "cache_write_usd_per_million",
    ValueKind::Decimal,
    "Price per million input tokens written to the prompt cache. Default: the input price.",
);

const CACHE_WRITE_1H: ConfigKey = ConfigKey::optional(
    "cache_write_1h_usd_per_million",
    ValueKind::Decimal,
    "Price per million input tokens written to the prompt cache for one hour. Default: twice \
     `input_usd_per_million` if a provider of the model is of kind `anthropic`, otherwise the same \
     as `cache_write_usd_per_million`.",
);

pub(in crate::catalogue) const RERANK_SECTION: ConfigSection = ConfigSection {
    name: "price of type rerank",
    form: SectionForm::Inner,
    doc: "A price per token, a price per document, or both.",
    keys: &[
        ConfigKey::with_default(
            "input_usd_per_million",
            ValueKind::Decimal,
            "\"0\"",
            "Price per million tokens. The query counts once for each document.",
        ),
        ConfigKey::with_default(
            "per_thousand_documents_usd",
            ValueKind::Decimal,
            "\"0\"",
            "Price per thousand documents, charged for each document.",
        ),
    ],
};

pub(in crate::catalogue) const MODERATION_SECTION: ConfigSection = ConfigSection {
    name: "price of type moderation",
    form: SectionForm::Inner,
    doc: "A price per token. A model without a price needs `free = true`.",
    keys: &[INPUT],
};

pub(in crate::catalogue) const IMAGE_SECTION: ConfigSection = ConfigSection {
    name: "price of type image or upscale",
    form: SectionForm::Inner,
    doc: "Prices per image: one price, or one per resolution.",
    keys: &[
        ConfigKey::optional("per_image_usd", ValueKind::Decimal, "Price per image."),
        ConfigKey::optional(
            "resolutions",
            ValueKind::TextMap,
            "Price per image by resolution: `{ \"1K\" = \"0.01\", \"2K\" = \"0.02\" }`.",
        ),
        QUALITY,
        ConfigKey::with_default(
            "upscale_2x_usd",
            ValueKind::Decimal,
            "\"0.02\"",
            "Price for upscaling an image up to twice its width and height.",
        ),
        ConfigKey::with_default(
            "upscale_4x_usd",
            ValueKind::Decimal,
            "\"0.08\"",
            "Price for upscaling an image by more than that.",
        ),
    ],
};

const QUALITY: ConfigKey = ConfigKey::optional(
    "quality",
    ValueKind::NamedTables,
    "Price by resolution and quality: `{ \"1K\" = { low_usd = \"0.01\", … } }`.",
);

pub(in crate::catalogue) const QUALITY_SECTION: ConfigSection = ConfigSection {
    name: "price.quality.<resolution>",
    form: SectionForm::Inner,
    doc: "Prices per image by quality.",
    keys: &[
        ConfigKey::required("low_usd", ValueKind::Decimal, "Price per image of low quality."),
        ConfigKey::required("medium_usd", ValueKind::Decimal, "Price per image of medium quality."),
        ConfigKey::required("high_usd", ValueKind::Decimal, "Price per image of high quality."),
    ],
};

pub(in crate::catalogue) const INPAINT_SECTION: ConfigSection = ConfigSection {
    name: "price of type inpaint",
    form: SectionForm::Inner,
    doc: "Prices per edit.",
    keys: &[
        ConfigKey::required("per_edit_usd", ValueKind::Decimal, "Price per edit."),
        ConfigKey::optional(
            "resolutions",
            ValueKind::TextMap,
            "Price per edit at other resolutions: `{ \"2K\" = \"0.06\" }`.",
        ),
        QUALITY,
        ConfigKey::optional(
            "included_images",
            COUNT_OR_NONE,
            "The number of input images included in the price of an edit.",
        ),
        ConfigKey::optional(
            "additional_image_usd",
            ValueKind::Decimal,
            "Price of each further input image.",
        ),
    ],
};

pub(in crate::catalogue) const TTS_SECTION: ConfigSection = ConfigSection {
    name: "price of type tts",
    form: SectionForm::Inner,
    doc: "Prices per character.",
    keys: &[ConfigKey::required(
        "input_usd_per_million_characters",
        ValueKind::Decimal,
        "Price per million characters of text.",
    )],
};

pub(in crate::catalogue) const ASR_SECTION: ConfigSection = ConfigSection {
    name: "price of type asr",
    form: SectionForm::Inner,
    doc: "Prices per second.",
    keys: &[ConfigKey::required(
        "usd_per_audio_second",
        ValueKind::Decimal,
        "Price per second of audio.",
    )],
};

pub(in crate::catalogue) const MUSIC_SECTION: ConfigSection = ConfigSection {
    name: "price of type music",
    form: SectionForm::Inner,
    doc: "Exactly one of these four prices.",
    keys: &[
        ConfigKey::optional(
            "per_generation_usd",
            ValueKind::Decimal,
            "Price per piece of any length.",
        ),
        ConfigKey::optional("durations", ValueKind::Tables, "Price per piece, by length."),
        ConfigKey::optional("usd_per_second", ValueKind::Decimal, "Price per second of music."),
        ConfigKey::optional(
            "usd_per_thousand_characters",
            ValueKind::Decimal,
            "Price per thousand characters of prompt and lyrics.",
        ),
    ],
};

pub(in crate::catalogue) const DURATION_SECTION: ConfigSection = ConfigSection {
    name: "price.durations",
    form: SectionForm::Inner,
    doc: "One price for all lengths from `min_seconds` to `max_seconds`. List the ranges in \
          ascending order.",
    keys: &[
        ConfigKey::required("min_seconds", COUNT, "The minimum length at this price."),
        ConfigKey::required("max_seconds", COUNT, "The maximum length at this price."),
        ConfigKey::required("usd", ValueKind::Decimal, "The amount in US dollars."),
        ConfigKey::optional(
            "diem",
            ValueKind::Decimal,
            "The amount in DIEM. Default: the same as `usd`.",
        ),
    ],
};

pub(in crate::catalogue) const VIDEO_SECTION: ConfigSection = ConfigSection {
    name: "price of type video",
    form: SectionForm::Inner,
    doc: "A price per video, a price per second, or both.",
    keys: &[
        ConfigKey::optional("per_generation_usd", ValueKind::Decimal, "Price per video."),
        ConfigKey::optional("usd_per_second", ValueKind::Decimal, "Price per second of video."),
        WITH_AUDIO,
        ConfigKey::optional(
            "resolutions",
            ValueKind::NamedTables,
            "Price per second at other resolutions: `{ \"1080p\" = { usd_per_second = \"0.10\" } \
             }`.",
        ),
    ],
};

pub(in crate::catalogue) const VIDEO_RATES_SECTION: ConfigSection = ConfigSection {
    name: "price.resolutions.<resolution>",
    form: SectionForm::Inner,
    doc: "Prices per second of video at one resolution.",
    keys: &[
        ConfigKey::required("usd_per_second", ValueKind::Decimal, "Price per second of video."),
        WITH_AUDIO,
    ],
};

const WITH_AUDIO: ConfigKey = ConfigKey::optional(
    "usd_per_second_with_audio",
    ValueKind::Decimal,
    "Price per second of video with sound. Default: the same as without sound.",
);
