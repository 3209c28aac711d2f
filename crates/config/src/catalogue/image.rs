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
    "Resolutions that callers may request, such as `1K`, `2K` and `4K`.",
);
const DEFAULT_RESOLUTION: Key = Key::optional(
    "default_resolution",
    Kind::Text,
    "The resolution if callers send none. Default: the first.",
);
const QUALITIES: Key = Key::with_default(
    "qualities",
    Kind::Choices(Quality::NAMES),
    "[]",
    "Qualities that callers may request.",
);
/// Default quality in the specification.
const QUALITY_USUAL: Quality = Quality::High;
const DEFAULT_QUALITY: Key = Key::optional(
    "default_quality",
    Kind::Choice(Quality::NAMES),
    "The quality if callers send none. Default: `high` if it is listed, otherwise the first.",
);

pub(super) const IMAGE_SECTION: Section = Section {
    name: "model of type image",
    form: Form::Inner,
    doc: "Additional keys of image models. With `resolutions`, callers choose an aspect ratio and \
          a resolution; with `aspect_ratios` alone, an aspect ratio; without both, a width and a \
          height.",
    keys: IMAGE_KEYS,
};

pub(super) const IMAGE_KEYS: &[Key] = &[
    Key::with_default(
        "prompt_character_limit",
        COUNT,
        "7500",
        "The maximum length of a prompt in characters.",
    ),
    Key::with_default(
        "default_steps",
        COUNT,
        "8",
        "The number of inference steps if callers send none.",
    ),
    Key::with_default("max_steps", COUNT, "50", "The maximum number of inference steps."),
    Key::with_default(
        "width_height_divisor",
        Kind::Integer { least: 1, most: 256 },
        "8",
        "Width and height must be multiples of this.",
    ),
    Key::with_default("min_width", SIDE, "64", "The minimum width in pixels."),
    Key::with_default("min_height", SIDE, "64", "The minimum height in pixels."),
    Key::with_default(
        "aspect_ratios",
        Kind::Texts,
        "[]",
        "Aspect ratios that callers may request.",
    ),
    Key::optional(
        "default_aspect_ratio",
        Kind::Text,
        "The aspect ratio if callers send none. Default: the first.",
    ),
    RESOLUTIONS,
    DEFAULT_RESOLUTION,
    QUALITIES,
    DEFAULT_QUALITY,
    Key::with_default(
        "max_style_references",
        COUNT_OR_NONE,
        "0",
        "The maximum number of style reference images.",
    ),
    Key::with_default(
        "style_reference_strength",
        Kind::Flag,
        "false",
        "True if callers may set the strength of a style reference.",
    ),
    Key::with_default("web_search", Kind::Flag, "false", "True if the model can search the web."),
    Key::with_default(
        "optimize_prompt_thinking",
        Kind::Flag,
        "false",
        "True if the model reasons about the prompt first.",
    ),
];

pub(super) const INPAINT_SECTION: Section = Section {
    name: "model of type inpaint",
    form: Form::Inner,
    doc: "Additional keys of image editing models.",
    keys: INPAINT_KEYS,
};

pub(super) const INPAINT_KEYS: &[Key] = &[
    Key::with_default(
        "prompt_character_limit",
        COUNT,
        "32768",
        "The maximum length of a prompt in characters.",
    ),
    Key::with_default(
        "aspect_ratios",
        Kind::Texts,
        "[]",
        "Aspect ratios that callers may request.",
    ),
    RESOLUTIONS,
    DEFAULT_RESOLUTION,
    QUALITIES,
    DEFAULT_QUALITY,
    Key::with_default(
        "combine_images",
        Kind::Flag,
        "false",
        "True if several images can be combined into one.",
    ),
    Key::optional(
        "max_input_images",
        COUNT,
        "The maximum number of input images per edit. Default: 3, or 1 without `combine_images`.",
    ),
    Key::with_default(
        "single_image_aspect_ratio",
        Kind::Flag,
        "true",
        "True if callers may request an aspect ratio for a single input image.",
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
