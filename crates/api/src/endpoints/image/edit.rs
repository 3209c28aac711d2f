//! `POST /image/edit`: changes an image by a prompt.

use std::sync::Arc;

use credits::{AMOUNT_MAX, Want};
use domain::catalogue::{InpaintSpec, Model, ModelSpec, ModelType, Resolved};
use domain::frame;
use engine::{EditRequest, Frame, PictureSize};
use ledger::{Charge, ChargeLine};
use money::{Cost, Per, Rate};
use pictures::Format;
use schema_check::Faults;
use wire::images::{self, Quality};

use super::TRAIT_DEFAULT;
use super::finish::{self, Finish, Finished, FinishedSize};
use super::painted::{Watch, with_verdicts};
use super::plan::{NOT_REWRITTEN, any_seed, chosen_quality, quality_name};
use super::sent_picture::{self, SentPicture};
use crate::app::Shared;
use crate::call::Call;
use crate::caller::Customer;
use crate::endpoint::{Draft, Endpoint};
use crate::input::{FileFields, Form, FormOrJson};
use crate::model_headers;
use crate::paid::{Paid, PaidCall, Produced};
use crate::payment;
use crate::picture_work::Studio;
use crate::refusal::Refusal;
use crate::refusal::picture::refuse_picture;
use crate::reply::WithHeaders;
use crate::reply::picture::{PictureFile, Pictured};

/// The specification's name for the aspect ratio of the image itself.
const AUTO: &str = "auto";
/// The resolution tier that is encoded without loss.
const SMALL_TIER: &str = "1K";

impl FileFields for images::EditRequest {
    const REQUIRED_ANY: &'static [&'static str] = &["image"];
}

pub(crate) fn endpoint() -> Endpoint {
    Draft::post("/image/edit", edit_image)
        .tag("Images")
        .summary("Change a picture")
        .paid()
        .experimental()
        .build()
}

async fn edit_image(
    app: Shared,
    call: Call<Customer, FormOrJson<images::EditRequest>>,
) -> Result<Pictured, Refusal> {
    let (call, FormOrJson(Form { fields, files })) = PaidCall::of(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model.or(fields.model_id);
    let asked = asked.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve(&catalogue, asked, ModelType::Inpaint)?;
    let wishes = Wishes {
        prompt: fields.prompt,
        aspect_ratio: fields.aspect_ratio,
        resolution: fields.resolution,
        size: None,
        quality: fields.quality,
        format: fields.output_format.map(finish::output_format),
        is_safe: fields.safe_mode != Some(false),
        is_strict: true,
        rewrites_prompt: fields.enhance_prompt == Some(true),
        field: "image",
    };
    let picture = sent_picture::one(files, "image", fields.image.as_deref())?;
    let editing = Editing { pictures: vec![picture], mask: None, wishes };
    let paid = editing.run(&app, &call, &resolved).await?;
    Ok(reply(paid, &resolved))
}

pub(super) fn reply(paid: Paid<Finished>, resolved: &Resolved<'_>) -> Pictured {
    let remaining = payment::balance_remaining(&paid.receipt);
    let picture = paid.output;
    let (bytes, format) = (picture.file.clone(), picture.format);
    let file = WithHeaders::new(PictureFile { bytes, format, name: "edited" });
    let file = with_verdicts(file, &[picture]).header(payment::BALANCE_REMAINING, remaining);
    Pictured(model_headers::write(file, resolved))
}

/// The options of an edit.
pub(super) struct Wishes {
    pub(super) prompt: String,
    pub(super) aspect_ratio: Option<String>,
    pub(super) resolution: Option<String>,
    /// The exact size of the result, whatever size the model makes.
    pub(super) size: Option<PictureSize>,
    pub(super) quality: Option<Quality>,
    pub(super) format: Option<Format>,
    pub(super) is_safe: bool,
    /// True refuses a resolution if the model has none; false ignores it.
    pub(super) is_strict: bool,
    /// True if the caller asks for a rewritten prompt, which is refused.
    pub(super) rewrites_prompt: bool,
    /// Request field of the images, for errors.
    pub(super) field: &'static str,
}

/// Images to edit, not decoded yet.
pub(super) struct Editing {
    pub(super) pictures: Vec<SentPicture>,
    pub(super) mask: Option<SentPicture>,
    pub(super) wishes: Wishes,
}

/// Options and prices, determined before an image is decoded.
struct Terms {
    aspect_ratio: Option<String>,
    resolution: Option<String>,
    quality: Option<&'static str>,
    rate: Rate,
    further: Option<(u64, Rate)>,
}

impl Editing {
    /// Holds the money before decoding the images, which is costly.
    pub(super) async fn run(
        self,
        app: &Shared,
        call: &PaidCall,
        resolved: &Resolved<'_>,
    ) -> Result<Paid<Finished>, Refusal> {
        let model = Arc::clone(resolved.model);
        let terms = self.terms(spec(&model)?)?;
        let engine = app.engines.images(&model)?;
        let most = terms.cost().capped(AMOUNT_MAX);
        let funds = call.hold(&model, 0, Want::Exactly(most))?;

        let studio = Studio::of(call);
        let mut pictures = Vec::new();
        for given in self.pictures {
            pictures.push(given.open(&studio).await?);
        }
        let mask = match self.mask {
            Some(mask) => Some(mask.open(&studio).await?),
            None => None,
        };
        let original = pictures.first().map_or((1, 1), |it| (it.size.width, it.size.height));
        let (ratio, tier) = (terms.aspect_ratio.as_deref(), terms.resolution.as_deref());
        let framed = frame::of_edit(original, ratio, tier);
        let framed = PictureSize { width: framed.0, height: framed.1 };
        let size = self.wishes.size;
        let is_small = tier.is_none_or(|it| it == SMALL_TIER);
        let usual = if is_small { Format::Png } else { Format::Jpeg };
        let finish = Finish {
            format: self.wishes.format.unwrap_or(usual),
            is_safe: self.wishes.is_safe,
            mark: None,
            facts: None,
            size: size.map_or_else(|| FinishedSize::of_ratio(ratio), FinishedSize::Pixels),
        };
        let frame = Frame {
            size: size.unwrap_or(framed),
            aspect_ratio: terms.aspect_ratio.clone(),
            resolution: terms.resolution.clone(),
        };
        let (prompt, seed) = (self.wishes.prompt, any_seed(app.entropy.as_ref()));
        let quality = terms.quality;
        let request = Arc::new(EditRequest { prompt, pictures, mask, frame, quality, seed });
        let (watch, _guard) = Watch::over(engine.as_ref());
        let work = async move {
            let answer = watch.during(engine.edit(request)).await?;
            let output = finish.apply(&studio, answer).await?;
            Ok(Produced { output, tokens: 0, charge: terms.charge(&model) })
        };
        let paid = funds.run(work).await;
        paid.map_err(|failure| refuse_picture(failure, &call.request_id))
    }

    /// Checks everything that depends on the model. Reports every fault at once.
    fn terms(&self, spec: &InpaintSpec) -> Result<Terms, Refusal> {
        let Wishes { prompt, aspect_ratio, quality, field, .. } = &self.wishes;
        let mut faults = Faults::default();
        let most = spec.prompt_characters_max;
        if most < prompt.chars().count() as u64 {
            let message = format!("Must have at most {most} characters for this model");
            faults.at(["prompt"]).push(message);
        }
        let count = self.pictures.len() as u64;
        if count == 0 {
            faults.at([*field]).push("Required");
        }
        let most = spec.images_max();
        if most < count {
            let message = format!("Must have at most {most} pictures for this model");
            faults.at([*field]).push(message);
        }
        let ratio = aspect_ratio.clone().filter(|it| it != AUTO);
        if let Some(ratio) = &ratio {
            check_ratio(ratio, spec, count, &mut faults);
        }
        if self.wishes.rewrites_prompt {
            faults.at(["enhance_prompt"]).push(NOT_REWRITTEN);
        }
        let resolution = self.tier(spec).unwrap_or_else(|(field, message)| {
            faults.at([field]).push(message);
            None
        });
        let quality = chosen_quality(*quality, &spec.qualities).unwrap_or_else(|message| {
            faults.at(["quality"]).push(message);
            None
        });
        faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
        Ok(Terms {
            rate: spec.price.edit(resolution.as_deref(), quality),
            further: spec.price.further_pictures(count),
            quality: quality.map(quality_name),
            aspect_ratio: ratio,
            resolution,
        })
    }
}

impl Editing {
    /// The resolution tier of the result. A model without tiers makes `1K`, which is the
    /// specification's default.
    fn tier(&self, spec: &InpaintSpec) -> Result<Option<String>, frame::Finding> {
        let asked = self.wishes.resolution.as_deref();
        if !spec.resolutions.is_empty() {
            return frame::chosen("resolution", asked, &spec.resolutions);
        }
        let is_other = asked.is_some_and(|it| !it.eq_ignore_ascii_case(SMALL_TIER));
        if is_other && self.wishes.is_strict {
            let message = "This model has no resolutions to choose from; leave it out, or 1K";
            return Err(("resolution", message.to_owned()));
        }
        Ok(None)
    }
}

fn check_ratio(ratio: &str, spec: &InpaintSpec, pictures: u64, faults: &mut Faults) {
    let options: Vec<&str> = spec.aspect_ratios.iter().map(String::as_str).collect();
    if !options.contains(&ratio) {
        let message = match options.as_slice() {
            [] => "This model keeps the ratio of the picture; leave it out".to_owned(),
            _ => format!("Must be one of {}", options.join(", ")),
        };
        faults.at(["aspect_ratio"]).push(message);
    } else if pictures == 1 && !spec.single_image_aspect_ratio {
        let message = "This model keeps the ratio of a single picture; leave it out, or `auto`";
        faults.at(["aspect_ratio"]).push(message);
    }
}

impl Terms {
    fn lines(&self) -> Vec<(u64, Rate)> {
        std::iter::once((1, self.rate)).chain(self.further).collect()
    }

    fn cost(&self) -> Cost {
        Cost::of(&self.lines())
    }

    fn charge(&self, model: &Model) -> Charge {
        let line = |(name, (units, rate)): (&str, (u64, Rate))| ChargeLine {
            sku: format!("{}-{name}", model.id),
            units,
            rate,
            per: Per::One,
        };
        let names = ["inpaint-unit", "inpaint-input-image"];
        let lines: Vec<ChargeLine> = names.into_iter().zip(self.lines()).map(line).collect();
        payment::lines_charge(model, lines)
    }
}

pub(super) fn spec(model: &Model) -> Result<&InpaintSpec, Refusal> {
    match &model.spec {
        ModelSpec::Inpaint(spec) => Ok(spec),
        _ => Err(Refusal::internal("an edit model without its specification")),
    }
}
