//! The keys of image generation, editing and upscaling models.

use domain::catalogue::{
    ImageQuality, ImageSpec, InpaintSpec, NamedVariants, StepLimits, StyleReferences, UpscaleSpec,
};

use super::price;
use super::value::{COUNT, COUNT_OR_NONE, choices_with_usual_default, read_count, text_choices};
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

/// The specification's limit of width and height in pixels.
const SIDE: ValueKind = ValueKind::Integer { least: 1, most: 1280 };
const RESOLUTIONS: ConfigKey = ConfigKey::with_default(
    "resolutions",
    ValueKind::Texts,
    "[]",
    "Resolutions that callers may request, such as `1K`, `2K` and `4K`.",
);
const DEFAULT_RESOLUTION: ConfigKey = ConfigKey::optional(
    "default_resolution",
    ValueKind::Text,
    "The resolution if callers send none. Default: the first.",
);
const QUALITIES: ConfigKey = ConfigKey::with_default(
    "qualities",
    ValueKind::Choices(ImageQuality::NAMES),
    "[]",
    "Qualities that callers may request.",
);
/// Default quality in the specification.
const QUALITY_USUAL: ImageQuality = ImageQuality::High;
const DEFAULT_QUALITY: ConfigKey = ConfigKey::optional(
    "default_quality",
    ValueKind::Choice(ImageQuality::NAMES),
    "The quality if callers send none. Default: `high` if it is listed, otherwise the first.",
);

pub(super) const IMAGE_SECTION: ConfigSection = ConfigSection {
    name: "model of type image",
    form: SectionForm::Inner,
    doc: "Additional keys of image models. With `resolutions`, callers choose an aspect ratio and \
          a resolution; with `aspect_ratios` alone, an aspect ratio; without both, a width and a \
          height.",
    keys: IMAGE_KEYS,
};

pub(super) const IMAGE_KEYS: &[ConfigKey] = &[
    ConfigKey::with_default(
        "prompt_character_limit",
        COUNT,
        "7500",
        "The maximum length of a prompt in characters.",
    ),
    ConfigKey::with_default(
        "default_steps",
        COUNT,
        "8",
        "The number of inference steps if callers send none.",
    ),
    ConfigKey::with_default("max_steps", COUNT, "50", "The maximum number of inference steps."),
    ConfigKey::with_default(
        "width_height_divisor",
        ValueKind::Integer { least: 1, most: 256 },
        "8",
        "Width and height must be multiples of this.",
    ),
    ConfigKey::with_default("min_width", SIDE, "64", "The minimum width in pixels."),
    ConfigKey::with_default("min_height", SIDE, "64", "The minimum height in pixels."),
    ConfigKey::with_default(
        "aspect_ratios",
        ValueKind::Texts,
        "[]",
        "Aspect ratios that callers may request.",
    ),
    ConfigKey::optional(
        "default_aspect_ratio",
        ValueKind::Text,
        "The aspect ratio if callers send none. Default: the first.",
    ),
    RESOLUTIONS,
    DEFAULT_RESOLUTION,
    QUALITIES,
    DEFAULT_QUALITY,
    ConfigKey::with_default(
        "max_style_references",
        COUNT_OR_NONE,
        "0",
        "The maximum number of style reference images.",
    ),
    ConfigKey::with_default(
        "style_reference_strength",
        ValueKind::Flag,
        "false",
        "True if callers may set the strength of a style reference.",
    ),
    ConfigKey::with_default(
        "web_search",
        ValueKind::Flag,
        "false",
        "True if the model can search the web.",
    ),
    ConfigKey::with_default(
        "optimize_prompt_thinking",
        ValueKind::Flag,
        "false",
        "True if the model reasons about the prompt first.",
    ),
];

pub(super) const INPAINT_SECTION: ConfigSection = ConfigSection {
    name: "model of type inpaint",
    form: SectionForm::Inner,
    doc: "Additional keys of image editing models.",
    keys: INPAINT_KEYS,
};

pub(super) const INPAINT_KEYS: &[ConfigKey] = &[
    ConfigKey::with_default(
        "prompt_character_limit",
        COUNT,
        "32768",
        "The maximum length of a prompt in characters.",
    ),
    ConfigKey::with_default(
        "aspect_ratios",
        ValueKind::Texts,
        "[]",
        "Aspect ratios that callers may request.",
    ),
    RESOLUTIONS,
    DEFAULT_RESOLUTION,
    QUALITIES,
    DEFAULT_QUALITY,
    ConfigKey::with_default(
        "combine_images",
        ValueKind::Flag,
        "false",
        "True if several images can be combined into one.",
    ),
    ConfigKey::optional(
        "max_input_images",
        COUNT,
        "The maximum number of input images per edit. Default: 3, or 1 without `combine_images`.",
    ),
    ConfigKey::with_default(
        "single_image_aspect_ratio",
        ValueKind::Flag,
        "true",
        "True if callers may request an aspect ratio for a single input image.",
    ),
];

pub(super) fn read_image_spec(reader: &TableReader<'_>) -> Option<ImageSpec> {
    let prompt_characters_max = read_count(reader, "prompt_character_limit");
    let steps = read_steps(reader);
    let width_height_divisor = read_count(reader, "width_height_divisor");
    let (width_min, height_min) = (read_side(reader, "min_width"), read_side(reader, "min_height"));
    let aspect_ratios = text_choices(reader, "aspect_ratios", "default_aspect_ratio");
    let resolutions = text_choices(reader, "resolutions", "default_resolution");
    let qualities =
        choices_with_usual_default(reader, "qualities", "default_quality", Some(QUALITY_USUAL));
    let style_references_max = read_count(reader, "max_style_references");
    let strength = reader.flag("style_reference_strength");
    let web_search = reader.flag("web_search");
    let optimize_prompt_thinking = reader.flag("optimize_prompt_thinking");
    let price = price::image_price(reader);
    if strength == Some(true) && style_references_max == Some(0) {
        let message = "`style_reference_strength` needs `max_style_references` above 0";
        reader.report_fault("style_reference_strength", message);
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

fn read_side(reader: &TableReader<'_>, name: &str) -> Option<u32> {
    reader.integer(name).and_then(|it| u32::try_from(it).ok())
}

fn read_steps(reader: &TableReader<'_>) -> Option<StepLimits> {
    let default = read_count(reader, "default_steps");
    let max = read_count(reader, "max_steps");
    let steps = StepLimits { default: default?, max: max? };
    if steps.max < steps.default {
        let StepLimits { default, max } = steps;
        reader.report_fault(
            "max_steps",
            format!("`default_steps` is {default}, above `max_steps` {max}"),
        );
    }
    Some(steps)
}

pub(super) fn read_upscale_spec(reader: &TableReader<'_>) -> Option<UpscaleSpec> {
    Some(UpscaleSpec { price: price::image_price(reader)? })
}

pub(super) fn read_inpaint_spec(reader: &TableReader<'_>) -> Option<InpaintSpec> {
    let prompt_characters_max = read_count(reader, "prompt_character_limit");
    let aspect_ratios = reader.texts("aspect_ratios");
    let resolutions = text_choices(reader, "resolutions", "default_resolution");
    let qualities =
        choices_with_usual_default(reader, "qualities", "default_quality", Some(QUALITY_USUAL));
    let combine_images = reader.flag("combine_images");
    let input_images_max = read_count(reader, "max_input_images");
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
