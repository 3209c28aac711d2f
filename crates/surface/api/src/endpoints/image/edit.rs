//! `POST /image/edit`: changes an image by a prompt.

use std::sync::Arc;

use domain::catalogue::{CatalogueModel, InpaintSpec, ModelSpec, ModelType, ResolvedModel};
use domain::image_size::{self, SideRatio};
use engine::{EditRequest, PictureSize, RequestedImageSize};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::input::{FormOrJson, MultipartForm};
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, PaidResult, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::refusal::image::refuse_image;
use http_frame::reply::WithHeaders;
use http_frame::reply::image::{ImageFileReply, ReplyImageFile};
use ledger::{ChargeLine, WorkCharge};
use ledger_core::{AMOUNT_MAX, HoldRange};
use money::{PriceUnits, UnitRate, WorkCost};
use pictures::ImageFileFormat;
use schema_check::ValidationFaults;
use wire::images::{self, PictureQuality};

use super::TRAIT_DEFAULT;
use super::batch::{CancelOnDisconnect, add_safety_headers};
use super::finish::{self, FinishOptions, FinishedImage, FinishedSize};
use super::plan::{NOT_REWRITTEN, chosen_quality, quality_name, random_seed};
use super::sent_image::{self, SentImage};
use crate::image_processing::ImageProcessor;

/// The specification's name for the aspect ratio of the image itself.
const AUTO: &str = "auto";
/// The resolution tier that is encoded without loss.
const SMALL_TIER: &str = "1K";

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/image/edit", edit_image)
        .tag("Images")
        .summary("Edit an image")
        .paid()
        .experimental()
        .build()
}

async fn edit_image(
    app: SharedApp,
    call: ApiCall<PayingCaller, FormOrJson<images::ImageEditRequest>>,
) -> Result<ImageFileReply, Refusal> {
    let (call, FormOrJson(MultipartForm { fields, files })) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let asked = fields.model.or(fields.model_id);
    let asked = asked.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve_model(&catalogue, asked, ModelType::Inpaint)?;
    let wishes = EditOptions {
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
    let picture = sent_image::take_one_image(files, "image", fields.image.as_deref())?;
    let editing = ImageEdit { pictures: vec![picture], mask: None, wishes };
    let paid = editing.run(&app, &call, &resolved).await?;
    Ok(build_reply(paid, &resolved))
}

pub(super) fn build_reply(
    paid: PaidResult<FinishedImage>,
    resolved: &ResolvedModel<'_>,
) -> ImageFileReply {
    let remaining = payment::balance_remaining(&paid.receipt);
    let picture = paid.output;
    let (bytes, format) = (picture.file.clone(), picture.format);
    let file = WithHeaders::new(ReplyImageFile { bytes, format, name: "edited" });
    let file = add_safety_headers(file, &[picture]).header(payment::BALANCE_REMAINING, remaining);
    ImageFileReply(model_headers::write_model_headers(file, resolved))
}

/// The options of an edit.
pub(super) struct EditOptions {
    pub(super) prompt: String,
    pub(super) aspect_ratio: Option<String>,
    pub(super) resolution: Option<String>,
    /// The exact size of the result, whatever size the model makes.
    pub(super) size: Option<PictureSize>,
    pub(super) quality: Option<PictureQuality>,
    pub(super) format: Option<ImageFileFormat>,
    pub(super) is_safe: bool,
    /// True refuses a resolution if the model has none; false ignores it.
    pub(super) is_strict: bool,
    /// True if the caller asks for a rewritten prompt, which is refused.
    pub(super) rewrites_prompt: bool,
    /// Request field of the images, for errors.
    pub(super) field: &'static str,
}

/// Images to edit, not decoded yet.
pub(super) struct ImageEdit {
    pub(super) pictures: Vec<SentImage>,
    pub(super) mask: Option<SentImage>,
    pub(super) wishes: EditOptions,
}

/// Options and prices, determined before an image is decoded.
struct EditTerms {
    aspect_ratio: Option<String>,
    resolution: Option<String>,
    quality: Option<&'static str>,
    rate: UnitRate,
    further: Option<(u64, UnitRate)>,
}

impl ImageEdit {
    /// Holds the money before decoding the images, which is costly.
    pub(super) async fn run(
        self,
        app: &SharedApp,
        call: &PaidCall,
        resolved: &ResolvedModel<'_>,
    ) -> Result<PaidResult<FinishedImage>, Refusal> {
        let model = Arc::clone(resolved.model);
        let terms = self.check_terms(require_inpaint_spec(&model)?)?;
        let engine = app.engines.images(&model)?;
        let most = terms.cost().capped(AMOUNT_MAX);
        let funds = call.hold(&model, 0, HoldRange::Exactly(most))?;

        let studio = ImageProcessor::for_call(call);
        let mut pictures = Vec::new();
        for given in self.pictures {
            pictures.push(given.open(&studio).await?);
        }
        let mask = match self.mask {
            Some(mask) => Some(mask.open(&studio).await?),
            None => None,
        };
        let ratio_of = |size: PictureSize| SideRatio { width: size.width, height: size.height };
        let original = pictures.first().map_or(SideRatio::SQUARE, |it| ratio_of(it.size));
        let (ratio, tier) = (terms.aspect_ratio.as_deref(), terms.resolution.as_deref());
        let framed = image_size::resolve_edit_size(original, ratio, tier);
        let framed = PictureSize { width: framed.0, height: framed.1 };
        let size = self.wishes.size;
        let is_small = tier.is_none_or(|it| it == SMALL_TIER);
        let usual = if is_small { ImageFileFormat::Png } else { ImageFileFormat::Jpeg };
        let finish = FinishOptions {
            format: self.wishes.format.unwrap_or(usual),
            is_safe: self.wishes.is_safe,
            mark: None,
            facts: None,
            size: size.map_or_else(|| FinishedSize::of_ratio(ratio), FinishedSize::Pixels),
        };
        let frame = RequestedImageSize {
            size: size.unwrap_or(framed),
            aspect_ratio: terms.aspect_ratio.clone(),
            resolution: terms.resolution.clone(),
        };
        let (prompt, seed) = (self.wishes.prompt, random_seed(app.entropy.as_ref()));
        let quality = terms.quality;
        let request = Arc::new(EditRequest { prompt, pictures, mask, frame, quality, seed });
        let (watch, _guard) = CancelOnDisconnect::for_engine(engine.as_ref());
        let work = async move {
            let answer = watch.run_until_disconnect(engine.edit(request)).await?;
            let output = finish.finish_image(&studio, answer).await?;
            Ok(WorkResult { output, tokens: 0, charge: terms.build_charge(&model) })
        };
        let paid = funds.run(work).await;
        paid.map_err(|failure| refuse_image(failure, &call.request_id))
    }

    /// Checks everything that depends on the model. Reports every fault at once.
    fn check_terms(&self, spec: &InpaintSpec) -> Result<EditTerms, Refusal> {
        let EditOptions { prompt, aspect_ratio, quality, field, .. } = &self.wishes;
        let mut faults = ValidationFaults::default();
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
        let resolution = self.resolve_tier(spec).unwrap_or_else(|(field, message)| {
            faults.at([field]).push(message);
            None
        });
        let quality = chosen_quality(*quality, &spec.qualities).unwrap_or_else(|message| {
            faults.at(["quality"]).push(message);
            None
        });
        faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))?;
        Ok(EditTerms {
            rate: spec.price.edit_rate(resolution.as_deref(), quality),
            further: spec.price.additional_images(count),
            quality: quality.map(quality_name),
            aspect_ratio: ratio,
            resolution,
        })
    }
}

impl ImageEdit {
    /// The resolution tier of the result. A model without tiers makes `1K`, which is the
    /// specification's default.
    fn resolve_tier(&self, spec: &InpaintSpec) -> Result<Option<String>, image_size::SizeFinding> {
        let asked = self.wishes.resolution.as_deref();
        if !spec.resolutions.is_empty() {
            return image_size::choose_option("resolution", asked, &spec.resolutions);
        }
        let is_other = asked.is_some_and(|it| !it.eq_ignore_ascii_case(SMALL_TIER));
        if is_other && self.wishes.is_strict {
            let message =
                "This model has no choice of resolution; leave the field out, or send `1K`";
            return Err(("resolution", message.to_owned()));
        }
        Ok(None)
    }
}

fn check_ratio(ratio: &str, spec: &InpaintSpec, pictures: u64, faults: &mut ValidationFaults) {
    let options: Vec<&str> = spec.aspect_ratios.iter().map(String::as_str).collect();
    if !options.contains(&ratio) {
        let message = match options.as_slice() {
            [] => "This model keeps the ratio of the image; leave the field out".to_owned(),
            _ => format!("Must be one of {}", options.join(", ")),
        };
        faults.at(["aspect_ratio"]).push(message);
    } else if pictures == 1 && !spec.single_image_aspect_ratio {
        let message =
            "This model keeps the ratio of a single image; leave the field out, or send `auto`";
        faults.at(["aspect_ratio"]).push(message);
    }
}

impl EditTerms {
    fn price_lines(&self) -> Vec<(u64, UnitRate)> {
        std::iter::once((1, self.rate)).chain(self.further).collect()
    }

    fn cost(&self) -> WorkCost {
        WorkCost::sum_lines(&self.price_lines())
    }

    fn build_charge(&self, model: &CatalogueModel) -> WorkCharge {
        let line = |(name, (units, rate)): (&str, (u64, UnitRate))| ChargeLine {
            sku: format!("{}-{name}", model.id),
            units,
            rate,
            per: PriceUnits::One,
        };
        let names = ["inpaint-unit", "inpaint-input-image"];
        let lines: Vec<ChargeLine> = names.into_iter().zip(self.price_lines()).map(line).collect();
        payment::lines_charge(model, lines)
    }
}

pub(super) fn require_inpaint_spec(model: &CatalogueModel) -> Result<&InpaintSpec, Refusal> {
    match &model.spec {
        ModelSpec::Inpaint(spec) => Ok(spec),
        _ => Err(Refusal::internal("an edit model without its specification")),
    }
}
