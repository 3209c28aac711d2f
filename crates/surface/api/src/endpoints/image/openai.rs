//! OpenAI's paths for images.

pub(in crate::endpoints) mod edits;
pub(in crate::endpoints) mod generations;
pub(in crate::endpoints) mod variations;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::catalogue::{Catalogue, ModelResolveError, ModelType, ResolvedModel};
use engine::PictureSize;
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, PaidResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use wire::images::{
    OpenAiImage, OpenAiImageResponseFormat, OpenAiImages, OpenAiQuality, OpenAiSize, PictureQuality,
};

use super::TRAIT_DEFAULT;
use super::batch::add_safety_headers;
use super::finish::FinishedImage;

/// A model name sent by OpenAI's clients, with fallbacks.
#[derive(Clone, Copy)]
struct OpenAiModelChoice<'a> {
    name: Option<&'a str>,
    /// Traits to try in order if the name is unknown.
    usual: &'a [&'a str],
    kind: ModelType,
}

/// The model of this name, or the fallback if the name is unknown: clients send the names of
/// OpenAI's own models.
fn resolve_model<'a>(
    call: &PaidCall,
    catalogue: &'a Catalogue,
    asked: OpenAiModelChoice<'_>,
) -> Result<ResolvedModel<'a>, Refusal> {
    let is_known = |name: &&str| {
        !matches!(
            catalogue.resolve_model(name, asked.kind, call.now),
            Err(ModelResolveError::NotFound { .. })
        )
    };
    let usual = asked.usual.iter().copied();
    let known = asked.name.into_iter().chain(usual).find(is_known);
    call.resolve_model(catalogue, known.unwrap_or(TRAIT_DEFAULT), asked.kind)
}

/// The sides of a size; None if the model chooses.
const fn to_sides(size: Option<OpenAiSize>) -> Option<PictureSize> {
    let (width, height) = match size {
        None | Some(OpenAiSize::Auto) => return None,
        Some(OpenAiSize::Small) => (256, 256),
        Some(OpenAiSize::Medium) => (512, 512),
        Some(OpenAiSize::Square) => (1024, 1024),
        Some(OpenAiSize::Landscape) => (1536, 1024),
        Some(OpenAiSize::Portrait) => (1024, 1536),
        Some(OpenAiSize::Wide) => (1792, 1024),
        Some(OpenAiSize::Tall) => (1024, 1792),
    };
    Some(PictureSize { width, height })
}

/// The ratio in the list that is closest to these sides.
fn nearest_ratio(sides: PictureSize, ratios: &[String]) -> Option<String> {
    let wanted = (f64::from(sides.width) / f64::from(sides.height)).ln();
    let distance = |ratio: &&String| {
        let (width, height) = ratio.split_once(':')?;
        let (width, height): (f64, f64) = (width.parse().ok()?, height.parse().ok()?);
        Some(((width / height).ln() - wanted).abs())
    };
    let known = ratios.iter().filter_map(|ratio| Some((distance(&ratio)?, ratio)));
    let nearest = known.min_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, ratio)| ratio.clone())
}

const fn to_quality(quality: Option<OpenAiQuality>) -> Option<PictureQuality> {
    match quality {
        None | Some(OpenAiQuality::Auto) => None,
        Some(OpenAiQuality::High | OpenAiQuality::Hd) => Some(PictureQuality::High),
        Some(OpenAiQuality::Medium | OpenAiQuality::Standard) => Some(PictureQuality::Medium),
        Some(OpenAiQuality::Low) => Some(PictureQuality::Low),
    }
}

/// The images in OpenAI's response form, with headers.
fn build_answer(
    call: &PaidCall,
    resolved: &ResolvedModel<'_>,
    paid: &PaidResult<Vec<FinishedImage>>,
    form: OpenAiImageResponseFormat,
) -> WithHeaders<OpenAiImages> {
    let remaining = payment::balance_remaining(&paid.receipt);
    let answer = WithHeaders::new(to_openai_images(&paid.output, form, call.now.seconds()));
    let answer =
        add_safety_headers(answer, &paid.output).header(payment::BALANCE_REMAINING, remaining);
    model_headers::write_model_headers(answer, resolved)
}

fn to_openai_images(
    pictures: &[FinishedImage],
    form: OpenAiImageResponseFormat,
    created: i64,
) -> OpenAiImages {
    let image = |picture: &FinishedImage| {
        let base64 = BASE64_STANDARD.encode(&picture.file);
        match form {
            OpenAiImageResponseFormat::B64Json => OpenAiImage { b64_json: Some(base64), url: None },
            OpenAiImageResponseFormat::Url => {
                let url = format!("data:{};base64,{base64}", picture.format.mime());
                OpenAiImage { b64_json: None, url: Some(url) }
            }
        }
    };
    OpenAiImages { created, data: pictures.iter().map(image).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_becomes_the_nearest_ratio() {
        let ratios = ["1:1", "16:9", "9:16", "auto"].map(str::to_owned);
        let nearest =
            |width, height| nearest_ratio(PictureSize { width, height }, &ratios).unwrap();
        assert_eq!(nearest(1024, 1024), "1:1");
        assert_eq!(nearest(1792, 1024), "16:9");
        assert_eq!(nearest(1024, 1536), "9:16");
        let square = PictureSize { width: 1, height: 1 };
        assert_eq!(nearest_ratio(square, &["auto".to_owned()]), None);
    }
}
