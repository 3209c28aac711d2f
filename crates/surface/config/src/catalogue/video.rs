//! The keys of video models.

use domain::catalogue::{NamedVariants, ReferenceImageLimits, VideoKind, VideoSpec};

use super::price;
use super::value::{COUNT, read_count, read_enum_value};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

/// The `duration` values that the specification allows.
const DURATIONS: &[&str] = &[
    "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "10s", "11s", "12s", "13s", "14s", "15s",
    "16s", "18s", "20s", "25s", "30s", "1 gen", "Auto",
];

const RATIO: ValueKind = ValueKind::Number { least: 0.01, most: 100.0 };

pub(super) const SECTION: ConfigSection = ConfigSection {
    name: "model of type video",
    form: SectionForm::Inner,
    doc: "Additional keys of video models. An empty list means that callers have no choice.",
    keys: KEYS,
};

pub(super) const KEYS: &[ConfigKey] = &[
    ConfigKey::required(
        "starts_from",
        ValueKind::Choice(VideoKind::NAMES),
        "The input that a video is generated from.",
    ),
    ConfigKey::with_default(
        "aspect_ratios",
        ValueKind::Texts,
        "[]",
        "Aspect ratios that callers may request.",
    ),
    ConfigKey::with_default(
        "resolutions",
        ValueKind::Texts,
        "[]",
        "Resolutions that callers may request, such as `720p`.",
    ),
    ConfigKey::required(
        "durations",
        ValueKind::Choices(DURATIONS),
        "Lengths that callers may request.",
    ),
    ConfigKey::with_default("audio", ValueKind::Flag, "false", "True if the videos have sound."),
    ConfigKey::with_default(
        "audio_configurable",
        ValueKind::Flag,
        "false",
        "True if callers may disable the sound.",
    ),
    ConfigKey::with_default(
        "prompt_character_limit",
        COUNT,
        "2500",
        "The maximum length of a prompt in characters.",
    ),
    ConfigKey::with_default(
        "image_input",
        ValueKind::Flag,
        "false",
        "True if a text-to-video model also accepts a start image.",
    ),
    ConfigKey::with_default(
        "audio_input",
        ValueKind::Flag,
        "false",
        "True if callers may send audio.",
    ),
    ConfigKey::with_default(
        "per_reference_audio",
        ValueKind::Flag,
        "false",
        "True if each reference may have its own audio.",
    ),
    ConfigKey::with_default(
        "video_input",
        ValueKind::Flag,
        "false",
        "True if callers may send a video.",
    ),
    ConfigKey::optional(
        "reference_image_min_short_side_pixels",
        COUNT,
        "The minimum length of the short side of a reference image in pixels.",
    ),
    ConfigKey::optional(
        "reference_image_min_aspect_ratio",
        RATIO,
        "The minimum ratio of width to height of a reference image.",
    ),
    ConfigKey::optional(
        "reference_image_max_aspect_ratio",
        RATIO,
        "The maximum ratio of width to height of a reference image.",
    ),
];

pub(super) fn read_video_spec(reader: &TableReader<'_>) -> Option<VideoSpec> {
    let kind = read_enum_value(reader, "starts_from");
    let aspect_ratios = reader.texts("aspect_ratios");
    let resolutions = reader.texts("resolutions");
    let durations = reader.choices("durations");
    let audio = reader.flag("audio");
    let audio_configurable = reader.flag("audio_configurable");
    let prompt_characters_max = read_count(reader, "prompt_character_limit");
    let inputs = ["image_input", "audio_input", "per_reference_audio", "video_input"];
    let inputs = inputs.map(|key| reader.flag(key));
    let reference_image = ReferenceImageLimits {
        min_short_side_pixels: read_count(reader, "reference_image_min_short_side_pixels"),
        min_aspect_ratio: reader.number("reference_image_min_aspect_ratio"),
        max_aspect_ratio: reader.number("reference_image_max_aspect_ratio"),
    };
    let price = price::video_price(reader);
    if audio == Some(false) && audio_configurable == Some(true) {
        reader.report_fault("audio_configurable", "`audio_configurable` needs `audio = true`");
    }
    let [image_input, audio_input, per_reference_audio, video_input] = inputs;
    Some(VideoSpec {
        kind: kind?,
        aspect_ratios: aspect_ratios?,
        resolutions: resolutions?,
        durations: durations?.into_iter().map(str::to_owned).collect(),
        audio: audio?,
        audio_configurable: audio_configurable?,
        prompt_characters_max: prompt_characters_max?,
        image_input: image_input?,
        audio_input: audio_input?,
        per_reference_audio: per_reference_audio?,
        video_input: video_input?,
        reference_image,
        price: price?,
    })
}
