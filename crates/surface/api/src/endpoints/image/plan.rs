//! Turns a request for images into engine requests. Checks everything that depends on the model,
//! and reports every fault at once.

use domain::catalogue::{ImageQuality as ModelQuality, ImageSpec};
use domain::entropy::EntropySource;
use domain::image_size::{self, ImageSize, ImageSizeRequest};
use domain::styles;
use engine::{ImageRequest, PictureSize, RequestedImageSize};
use http_frame::refusal::Refusal;
use money::UnitRate;
use schema_check::{PathStep, ValidationFaults};
use serde_json::json;
use wire::images::{self, PictureQuality};

use super::finish::FinishedSize;
use super::sent_image::SentImage;

/// The fault message for `enhance_prompt`.
pub(super) const NOT_REWRITTEN: &str =
    "Prompts are not rewritten; leave the field out, or send `false`";
/// Default strength of a style reference.
const STYLE_STRENGTH: f64 = 0.5;
/// Largest absolute value of a seed.
const SEED_MAX: u64 = 999_999_999;

/// Images to generate, each with its own seed.
#[derive(Debug)]
pub(super) struct GenerationPlan {
    pub(super) requests: Vec<ImageRequest>,
    /// Style references for all images, not decoded yet.
    pub(super) styles: Vec<StyleImage>,
    pub(super) rate: UnitRate,
    /// The size of each finished image.
    pub(super) size: FinishedSize,
}

/// An image whose style is used, with its strength.
#[derive(Debug)]
pub(super) struct StyleImage {
    pub(super) given: SentImage,
    pub(super) strength: f64,
}

impl GenerationPlan {
    pub(super) fn from_request(
        body: &images::ImageGenerationRequest,
        spec: &ImageSpec,
        entropy: &dyn EntropySource,
    ) -> Result<GenerationPlan, Refusal> {
        let mut faults = ValidationFaults::default();
        let prompt = build_prompt(body, spec, &mut faults);
        check_variants(body, &mut faults);
        check_rewriting(body, spec, &mut faults);
        check_styles(body, spec, &mut faults);
        let steps = resolve_steps(body.steps, spec, &mut faults);
        let quality = resolve_quality(body.quality, spec, &mut faults);
        let wish = ImageSizeRequest {
            width: body.width,
            height: body.height,
            aspect_ratio: body.aspect_ratio.as_deref(),
            resolution: body.resolution.as_deref(),
        };
        let framed = image_size::resolve_image_size(spec, wish);
        for (field, message) in framed.as_ref().err().into_iter().flatten() {
            faults.at([*field]).push(message.clone());
        }
        faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
        let Ok(framed) = framed else {
            return Err(Refusal::internal("a size without a fault and without sides"));
        };
        let rate = spec.price.image_rate(framed.resolution.as_deref(), quality);
        let rate = rate.ok_or_else(|| Refusal::internal("a resolution without a price"))?;
        let size = finished_size(&framed);
        let first = ImageRequest {
            prompt,
            negative_prompt: body.negative_prompt.clone().filter(|it| !it.is_empty()),
            frame: engine_frame(framed),
            steps: Some(steps),
            cfg_scale: body.cfg_scale,
            seed: body.seed.unwrap_or_else(|| random_seed(entropy)),
            quality: quality.map(quality_name),
            adapter_strength: body.lora_strength,
            web_search: body.enable_web_search == Some(true) && spec.web_search,
            style_references: Vec::new(),
        };
        let further = (1..body.variants.unwrap_or(1))
            .map(|_| ImageRequest { seed: random_seed(entropy), ..first.clone() });
        let further: Vec<ImageRequest> = further.collect();
        let requests = std::iter::once(first).chain(further).collect();
        Ok(GenerationPlan { requests, styles: parse_styles(body)?, rate, size })
    }
}

fn build_prompt(
    body: &images::ImageGenerationRequest,
    spec: &ImageSpec,
    faults: &mut ValidationFaults,
) -> String {
    let length = body.prompt.chars().count() as u64;
    if spec.prompt_characters_max < length {
        let most = spec.prompt_characters_max;
        let message = format!("Must have at most {most} characters for this model");
        faults.at(["prompt"]).push(message);
    }
    if body.inpaint.is_some() {
        let message = "`inpaint` is deprecated and disabled. Use POST /image/edit.";
        faults.at(["inpaint"]).push(message);
    }
    let Some(name) = &body.style_preset else { return body.prompt.clone() };
    match styles::find_style(name) {
        Some(style) => style.apply_to(&body.prompt),
        None => {
            let message = "Unknown style. GET /image/styles lists the available styles.";
            faults.at(["style_preset"]).push(message);
            String::new()
        }
    }
}

fn check_variants(body: &images::ImageGenerationRequest, faults: &mut ValidationFaults) {
    let has_several = body.variants.is_some_and(|it| 1 < it);
    if has_several && body.return_binary == Some(true) {
        let message = "Several variants cannot be returned as one file; leave `return_binary` out";
        faults.at(["variants"]).push(message);
    }
}

/// Refuses options about rewriting prompts: prompts are sent unchanged.
fn check_rewriting(
    body: &images::ImageGenerationRequest,
    spec: &ImageSpec,
    faults: &mut ValidationFaults,
) {
    if body.enhance_prompt == Some(true) {
        faults.at(["enhance_prompt"]).push(NOT_REWRITTEN);
    }
    let keeps_quiet = body.disable_prompt_optimization_thinking == Some(true);
    if keeps_quiet && spec.optimize_prompt_thinking {
        let message =
            "This model always reasons about the prompt; leave the field out, or send `false`";
        faults.at(["disable_prompt_optimization_thinking"]).push(message);
    }
}

fn check_styles(
    body: &images::ImageGenerationRequest,
    spec: &ImageSpec,
    faults: &mut ValidationFaults,
) {
    let asked = body.style_references.as_deref().unwrap_or_default();
    let Some(terms) = spec.style_references else {
        if !asked.is_empty() {
            faults.at(["style_references"]).push("This model takes no style references");
        }
        return;
    };
    if terms.max < asked.len() as u64 {
        let message = format!("Must have at most {} pictures for this model", terms.max);
        faults.at(["style_references"]).push(message);
    }
    for (index, style) in asked.iter().enumerate() {
        if style.strength.is_some() && !terms.strength {
            let path = [PathStep::from("style_references"), index.into(), "strength".into()];
            faults.at(path).push("This model does not support `strength`; leave it out");
        }
    }
}

fn parse_styles(body: &images::ImageGenerationRequest) -> Result<Vec<StyleImage>, Refusal> {
    let asked = body.style_references.iter().flatten().enumerate();
    let style = |(index, style): (usize, &images::ImageStyleReference)| {
        let given = SentImage::from_text(format!("style_references[{index}].image"), &style.image)?;
        Ok(StyleImage { given, strength: style.strength.unwrap_or(STYLE_STRENGTH) })
    };
    asked.map(style).collect()
}

fn resolve_steps(asked: Option<u32>, spec: &ImageSpec, faults: &mut ValidationFaults) -> u32 {
    let count = |it: u64| u32::try_from(it).unwrap_or(u32::MAX);
    let most = count(spec.steps.max);
    let steps = asked.unwrap_or(count(spec.steps.default));
    if most < steps {
        faults.at(["steps"]).push(format!("Must be at most {most} for this model"));
    }
    steps
}

/// The quality. Ignored for models without qualities.
fn resolve_quality(
    asked: Option<PictureQuality>,
    spec: &ImageSpec,
    faults: &mut ValidationFaults,
) -> Option<ModelQuality> {
    match chosen_quality(asked, &spec.qualities) {
        Ok(quality) => quality,
        Err(message) => {
            faults.at(["quality"]).push(message);
            None
        }
    }
}

pub(super) fn chosen_quality(
    asked: Option<PictureQuality>,
    options: &domain::catalogue::ChoiceList<ModelQuality>,
) -> Result<Option<ModelQuality>, String> {
    let Some(asked) = asked.filter(|_| !options.is_empty()) else {
        return Ok(options.default().copied());
    };
    let asked = match asked {
        PictureQuality::Low => ModelQuality::Low,
        PictureQuality::Medium => ModelQuality::Medium,
        PictureQuality::High => ModelQuality::High,
    };
    if options.options().contains(&asked) {
        return Ok(Some(asked));
    }
    let names: Vec<&str> = options.options().iter().map(|it| quality_name(*it)).collect();
    Err(format!("Must be one of {}", names.join(", ")))
}

pub(super) const fn quality_name(quality: ModelQuality) -> &'static str {
    match quality {
        ModelQuality::Low => "low",
        ModelQuality::Medium => "medium",
        ModelQuality::High => "high",
    }
}

/// The pixels if the model is sized by them, else the requested ratio.
fn finished_size(framed: &ImageSize) -> FinishedSize {
    let ImageSize { width, height, aspect_ratio, resolution } = framed;
    if aspect_ratio.is_none() && resolution.is_none() {
        return FinishedSize::Pixels(PictureSize { width: *width, height: *height });
    }
    FinishedSize::of_ratio(aspect_ratio.as_deref())
}

fn engine_frame(framed: ImageSize) -> RequestedImageSize {
    let ImageSize { width, height, aspect_ratio, resolution } = framed;
    RequestedImageSize { size: PictureSize { width, height }, aspect_ratio, resolution }
}

pub(super) fn random_seed(entropy: &dyn EntropySource) -> i64 {
    let mut bytes = [0; 8];
    entropy.fill_bytes(&mut bytes);
    i64::try_from(u64::from_le_bytes(bytes) % (SEED_MAX + 1)).unwrap_or(0)
}

/// Metadata for the file: the parameters of the generation.
pub(super) fn encode_metadata(
    body: &images::ImageGenerationRequest,
    model: &str,
    request: &ImageRequest,
) -> String {
    json!({
        "prompt": body.prompt,
        "negative_prompt": body.negative_prompt,
        "style_preset": body.style_preset,
        "model": model,
        "seed": request.seed,
        "steps": request.steps,
        "cfg_scale": request.cfg_scale,
        "width": request.frame.size.width,
        "height": request.frame.size.height,
    })
    .to_string()
}
