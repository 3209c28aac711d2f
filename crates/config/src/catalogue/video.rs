//! The keys of video models.

use domain::catalogue::{Named, ReferenceImageLimits, VideoKind, VideoSpec};

use super::price;
use super::value::{COUNT, count, word};
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

/// The `duration` values that the specification allows.
const DURATIONS: &[&str] = &[
    "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "10s", "11s", "12s", "13s", "14s", "15s",
    "16s", "18s", "20s", "25s", "30s", "1 gen", "Auto",
];

const RATIO: Kind = Kind::Number { least: 0.01, most: 100.0 };

pub(super) const SECTION: Section = Section {
    name: "model of type video",
    form: Form::Inner,
    doc: "Additional keys of video models. An empty list means that callers have no choice.",
    keys: KEYS,
};

pub(super) const KEYS: &[Key] = &[
    Key::required(
        "starts_from",
        Kind::Choice(VideoKind::NAMES),
        "The input that a video is generated from.",
    ),
    Key::with_default(
        "aspect_ratios",
        Kind::Texts,
        "[]",
        "Aspect ratios that callers may request.",
    ),
    Key::with_default(
        "resolutions",
        Kind::Texts,
        "[]",
        "Resolutions that callers may request, such as `720p`.",
    ),
    Key::required("durations", Kind::Choices(DURATIONS), "Lengths that callers may request."),
    Key::with_default("audio", Kind::Flag, "false", "True if the videos have sound."),
    Key::with_default(
        "audio_configurable",
        Kind::Flag,
        "false",
        "True if callers may disable the sound.",
    ),
    Key::with_default(
        "prompt_character_limit",
        COUNT,
        "2500",
        "The maximum length of a prompt in characters.",
    ),
    Key::with_default(
        "image_input",
        Kind::Flag,
        "false",
        "True if a text-to-video model also accepts a start image.",
    ),
    Key::with_default("audio_input", Kind::Flag, "false", "True if callers may send audio."),
    Key::with_default(
        "per_reference_audio",
        Kind::Flag,
        "false",
        "True if each reference may have its own audio.",
    ),
    Key::with_default("video_input", Kind::Flag, "false", "True if callers may send a video."),
    Key::optional(
        "reference_image_min_short_side_pixels",
        COUNT,
        "The minimum length of the short side of a reference image in pixels.",
    ),
    Key::optional(
        "reference_image_min_aspect_ratio",
        RATIO,
        "The minimum ratio of width to height of a reference image.",
    ),
    Key::optional(
        "reference_image_max_aspect_ratio",
        RATIO,
        "The maximum ratio of width to height of a reference image.",
    ),
];

pub(super) fn video(reader: &Reader<'_>) -> Option<VideoSpec> {
    let kind = word(reader, "starts_from");
    let aspect_ratios = reader.texts("aspect_ratios");
    let resolutions = reader.texts("resolutions");
    let durations = reader.choices("durations");
    let audio = reader.flag("audio");
    let audio_configurable = reader.flag("audio_configurable");
    let prompt_characters_max = count(reader, "prompt_character_limit");
    let inputs = ["image_input", "audio_input", "per_reference_audio", "video_input"];
    let inputs = inputs.map(|key| reader.flag(key));
    let reference_image = ReferenceImageLimits {
        min_short_side_pixels: count(reader, "reference_image_min_short_side_pixels"),
        min_aspect_ratio: reader.number("reference_image_min_aspect_ratio"),
        max_aspect_ratio: reader.number("reference_image_max_aspect_ratio"),
    };
    let price = price::video_price(reader);
    if audio == Some(false) && audio_configurable == Some(true) {
        reader.fault("audio_configurable", "`audio_configurable` needs `audio = true`");
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
