//! The keys of image generation, editing and upscaling models.

use domain::catalogue::{
    ImageSpec, InpaintSpec, Named, Quality, Steps, StyleReferences, UpscaleSpec,
};

use super::price;
use super::value::{COUNT, COUNT_OR_NONE, count, text_choices, usual_choices};
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

/// The specification's limit of width and height in pixels.
const SIDE: Kind = Kind::Integer { least: 1, most: 1280 };
const RESOLUTIONS: Key = Key::with_default(
    "resolutions",
    Kind::Texts,
    "[]",
    "Resolutions callers may ask for, such as `1K`, `2K` and `4K`.",
);
const DEFAULT_RESOLUTION: Key = Key::optional(
    "default_resolution",
    Kind::Text,
    "The resolution when callers name none; the first unless given.",
);
const QUALITIES: Key = Key::with_default(
    "qualities",
    Kind::Choices(Quality::NAMES),
    "[]",
    "Qualities callers may ask for.",
);
/// Default quality in the specification.
const QUALITY_USUAL: Quality = Quality::High;
const DEFAULT_QUALITY: Key = Key::optional(
    "default_quality",
    Kind::Choice(Quality::NAMES),
    "The quality when callers name none. Default: `high`, or the first where it is not listed.",
);

pub(super) const IMAGE_SECTION: Section = Section {
    name: "model of type image",
    form: Form::Inner,
    doc: "Further keys of image models. With `resolutions` callers choose a ratio and a \
          resolution, with `aspect_ratios` alone a ratio, and without both a width and a height.",
    keys: IMAGE_KEYS,
};

pub(super) const IMAGE_KEYS: &[Key] = &[
    Key::with_default(
        "prompt_character_limit",
        COUNT,
        "7500",
        "How many characters a prompt has at most.",
    ),
    Key::with_default("default_steps", COUNT, "8", "How many steps are taken unless asked for."),
    Key::with_default("max_steps", COUNT, "50", "How many steps callers may ask for."),
    Key::with_default(
        "width_height_divisor",
        Kind::Integer { least: 1, most: 256 },
        "8",
        "Width and height are multiples of this.",
    ),
    Key::with_default("min_width", SIDE, "64", "The least width callers may ask for, in pixels."),
    Key::with_default("min_height", SIDE, "64", "The least height callers may ask for, in pixels."),
    Key::with_default("aspect_ratios", Kind::Texts, "[]", "Ratios callers may ask for."),
    Key::optional(
        "default_aspect_ratio",
        Kind::Text,
        "The ratio when callers name none; the first unless given.",
    ),
    RESOLUTIONS,
    DEFAULT_RESOLUTION,
    QUALITIES,
    DEFAULT_QUALITY,
    Key::with_default(
        "max_style_references",
        COUNT_OR_NONE,
        "0",
        "How many images callers may give as examples of a style.",
    ),
    Key::with_default(
        "style_reference_strength",
        Kind::Flag,
        "false",
        "Whether callers may say how strongly an example counts.",
    ),
    Key::with_default("web_search", Kind::Flag, "false", "Whether it can look things up."),
    Key::with_default(
        "optimize_prompt_thinking",
        Kind::Flag,
        "false",
        "Whether it thinks about the prompt first.",
    ),
];

pub(super) const INPAINT_SECTION: Section = Section {
    name: "model of type inpaint",
    form: Form::Inner,
    doc: "Further keys of models that edit images.",
    keys: INPAINT_KEYS,
};

pub(super) const INPAINT_KEYS: &[Key] = &[
    Key::with_default(
        "prompt_character_limit",
        COUNT,
        "32768",
        "How many characters a prompt has at most.",
    ),
    Key::with_default("aspect_ratios", Kind::Texts, "[]", "Ratios callers may ask for."),
    RESOLUTIONS,
    DEFAULT_RESOLUTION,
    QUALITIES,
    DEFAULT_QUALITY,
    Key::with_default(
        "combine_images",
        Kind::Flag,
        "false",
        "Whether several images can be combined into one.",
    ),
    Key::optional(
        "max_input_images",
        COUNT,
        "How many images one edit takes; 3 unless given, or 1 without `combine_images`.",
    ),
    Key::with_default(
        "single_image_aspect_ratio",
        Kind::Flag,
        "true",
        "Whether a ratio can be asked for when there is only one image.",
    ),
];

pub(super) fn image(reader: &Reader<'_>) -> Option<ImageSpec> {
    let prompt_characters_max = count(reader, "prompt_character_limit");
    let steps = steps(reader);
    let width_height_divisor = count(reader, "width_height_divisor");
    let (width_min, height_min) = (side(reader, "min_width"), side(reader, "min_height"));
    let aspect_ratios = text_choices(reader, "aspect_ratios", "default_aspect_ratio");
    let resolutions = text_choices(reader, "resolutions", "default_resolution");
    let qualities = usual_choices(reader, "qualities", "default_quality", Some(QUALITY_USUAL));
    let style_references_max = count(reader, "max_style_references");
    let strength = reader.flag("style_reference_strength");
    let web_search = reader.flag("web_search");
    let optimize_prompt_thinking = reader.flag("optimize_prompt_thinking");
    let price = price::image_price(reader);
    if strength == Some(true) && style_references_max == Some(0) {
        let message = "`style_reference_strength` needs `max_style_references` above 0";
        reader.fault("style_reference_strength", message);
    }
    let style_references = match style_references_max? {
        0 => None,
        max => Some(StyleReferences { max, strength: strength? }),
    };
    Some(ImageSpec {
        prompt_characters_max: prompt_characters_max?,
        steps: steps?,
        width_height_divisor: width_height_divisor?,
        width_min: width_min?,
        height_min: height_min?,
        aspect_ratios: aspect_ratios?,
        resolutions: resolutions?,
        qualities: qualities?,
        style_references,
        web_search: web_search?,
        optimize_prompt_thinking: optimize_prompt_thinking?,
        price: price?,
    })
}

fn side(reader: &Reader<'_>, name: &str) -> Option<u32> {
    reader.integer(name).and_then(|it| u32::try_from(it).ok())
}

fn steps(reader: &Reader<'_>) -> Option<Steps> {
    let default = count(reader, "default_steps");
    let max = count(reader, "max_steps");
    let steps = Steps { default: default?, max: max? };
    if steps.max < steps.default {
        let Steps { default, max } = steps;
        reader.fault("max_steps", format!("`default_steps` is {default}, above `max_steps` {max}"));
    }
    Some(steps)
}

pub(super) fn upscale(reader: &Reader<'_>) -> Option<UpscaleSpec> {
    Some(UpscaleSpec { price: price::image_price(reader)? })
}

pub(super) fn inpaint(reader: &Reader<'_>) -> Option<InpaintSpec> {
    let prompt_characters_max = count(reader, "prompt_character_limit");
    let aspect_ratios = reader.texts("aspect_ratios");
    let resolutions = text_choices(reader, "resolutions", "default_resolution");
    let qualities = usual_choices(reader, "qualities", "default_quality", Some(QUALITY_USUAL));
    let combine_images = reader.flag("combine_images");
    let input_images_max = count(reader, "max_input_images");
    let single_image_aspect_ratio = reader.flag("single_image_aspect_ratio");
    let price = price::inpaint_price(reader);
    Some(InpaintSpec {
        prompt_characters_max: prompt_characters_max?,
        aspect_ratios: aspect_ratios?,
        resolutions: resolutions?,
        qualities: qualities?,
        combine_images: combine_images?,
        input_images_max,
        single_image_aspect_ratio: single_image_aspect_ratio?,
        price: price?,
    })
}
