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
    doc: "Further keys of video models. An empty list means that callers cannot choose.",
    keys: KEYS,
};

pub(super) const KEYS: &[Key] = &[
    Key::required("starts_from", Kind::Choice(VideoKind::NAMES), "What it makes a video from."),
    Key::with_default("aspect_ratios", Kind::Texts, "[]", "Ratios callers may ask for."),
    Key::with_default(
        "resolutions",
        Kind::Texts,
        "[]",
        "Resolutions callers may ask for, such as `720p`.",
    ),
    Key::required("durations", Kind::Choices(DURATIONS), "Lengths callers may ask for."),
    Key::with_default("audio", Kind::Flag, "false", "Whether the videos have sound."),
    Key::with_default(
        "audio_configurable",
        Kind::Flag,
        "false",
        "Whether callers may switch the sound off.",
    ),
    Key::with_default(
        "prompt_character_limit",
        COUNT,
        "2500",
        "How many characters a prompt has at most.",
    ),
    Key::with_default(
        "image_input",
        Kind::Flag,
        "false",
        "Whether a text-to-video model also takes a picture to start from.",
    ),
    Key::with_default("audio_input", Kind::Flag, "false", "Whether callers may give audio."),
    Key::with_default(
        "per_reference_audio",
        Kind::Flag,
        "false",
        "Whether each reference may have audio of its own.",
    ),
    Key::with_default("video_input", Kind::Flag, "false", "Whether callers may give a video."),
    Key::optional(
        "reference_image_min_short_side_pixels",
        COUNT,
        "How many pixels the short side of a reference image has at least.",
    ),
    Key::optional(
        "reference_image_min_aspect_ratio",
        RATIO,
        "The least width by height of a reference image.",
    ),
    Key::optional(
        "reference_image_max_aspect_ratio",
        RATIO,
        "The greatest width by height of a reference image.",
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
