//! OpenAI's paths for images.

pub(in crate::endpoints) mod edits;
pub(in crate::endpoints) mod generations;
pub(in crate::endpoints) mod variations;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::catalogue::{Catalogue, ModelType, Resolved, Unresolved};
use wire::images::{OpenAiImage, OpenAiImages, OpenAiQuality, OpenAiSize, Quality, ResponseFormat};

use super::TRAIT_DEFAULT;
use super::finish::Finished;
use super::painted::with_verdicts;
use crate::model_headers;
use crate::paid::{Paid, PaidCall};
use crate::payment;
use crate::refusal::Refusal;
use crate::reply::WithHeaders;

/// A model name sent by OpenAI's clients, with fallbacks.
#[derive(Clone, Copy)]
struct Asked<'a> {
    name: Option<&'a str>,
    /// Traits to try in order if the name is unknown.
    usual: &'a [&'a str],
    kind: ModelType,
}

/// The model of this name, or the fallback if the name is unknown: clients send the names of
/// OpenAI's own models.
fn resolve<'a>(
    call: &PaidCall,
    catalogue: &'a Catalogue,
    asked: Asked<'_>,
) -> Result<Resolved<'a>, Refusal> {
    let is_known = |name: &&str| {
        !matches!(catalogue.resolve(name, asked.kind, call.now), Err(Unresolved::NotFound { .. }))
    };
    let usual = asked.usual.iter().copied();
    let known = asked.name.into_iter().chain(usual).find(is_known);
    call.resolve(catalogue, known.unwrap_or(TRAIT_DEFAULT), asked.kind)
}

/// The sides of a size; None if the model chooses.
const fn sides(size: Option<OpenAiSize>) -> Option<(u32, u32)> {
    match size {
        None | Some(OpenAiSize::Auto) => None,
        Some(OpenAiSize::Small) => Some((256, 256)),
        Some(OpenAiSize::Medium) => Some((512, 512)),
        Some(OpenAiSize::Square) => Some((1024, 1024)),
        Some(OpenAiSize::Landscape) => Some((1536, 1024)),
        Some(OpenAiSize::Portrait) => Some((1024, 1536)),
        Some(OpenAiSize::Wide) => Some((1792, 1024)),
        Some(OpenAiSize::Tall) => Some((1024, 1792)),
    }
}

/// The ratio in the list that is closest to these sides.
fn nearest_ratio((width, height): (u32, u32), ratios: &[String]) -> Option<String> {
    let wanted = (f64::from(width) / f64::from(height)).ln();
    let distance = |ratio: &&String| {
        let (width, height) = ratio.split_once(':')?;
        let (width, height): (f64, f64) = (width.parse().ok()?, height.parse().ok()?);
        Some(((width / height).ln() - wanted).abs())
    };
    let known = ratios.iter().filter_map(|ratio| Some((distance(&ratio)?, ratio)));
    let nearest = known.min_by(|(one, _), (other, _)| one.total_cmp(other));
    nearest.map(|(_, ratio)| ratio.clone())
}

const fn quality(quality: Option<OpenAiQuality>) -> Option<Quality> {
    match quality {
        None | Some(OpenAiQuality::Auto) => None,
        Some(OpenAiQuality::High | OpenAiQuality::Hd) => Some(Quality::High),
        Some(OpenAiQuality::Medium | OpenAiQuality::Standard) => Some(Quality::Medium),
        Some(OpenAiQuality::Low) => Some(Quality::Low),
    }
}

/// The images in OpenAI's response form, with headers.
fn answer(
    call: &PaidCall,
    resolved: &Resolved<'_>,
    paid: &Paid<Vec<Finished>>,
    form: ResponseFormat,
) -> WithHeaders<OpenAiImages> {
    let remaining = payment::balance_remaining(&paid.receipt);
    let answer = WithHeaders::new(reply(&paid.output, form, call.now.seconds()));
    let answer = with_verdicts(answer, &paid.output).header(payment::BALANCE_REMAINING, remaining);
    model_headers::write(answer, resolved)
}

fn reply(pictures: &[Finished], form: ResponseFormat, created: i64) -> OpenAiImages {
    let image = |picture: &Finished| {
        let base64 = BASE64_STANDARD.encode(&picture.file);
        match form {
            ResponseFormat::B64Json => OpenAiImage { b64_json: Some(base64), url: None },
            ResponseFormat::Url => {
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
        let nearest = |width, height| nearest_ratio((width, height), &ratios).unwrap();
        assert_eq!(nearest(1024, 1024), "1:1");
        assert_eq!(nearest(1792, 1024), "16:9");
        assert_eq!(nearest(1024, 1536), "9:16");
        assert_eq!(nearest_ratio((1, 1), &["auto".to_owned()]), None);
    }
}
