//! `POST /moderations`: classifies texts and images.

use std::sync::Arc;

use domain::catalogue::{CatalogueModel, ModelSpec, ModelType, ModerationSpec};
use domain::limits::tiers::LimitClass;
use domain::media;
use engine::{IMAGE_TOKENS, ModerationInput, ModerationPart, ModerationRequest, ModerationVerdict};
use http_frame::app::SharedApp;
use http_frame::call::ApiCall;
use http_frame::caller::PayingCaller;
use http_frame::endpoint::{ApiEndpoint, EndpointBuilder};
use http_frame::hosts::CheckedHosts;
use http_frame::model_headers;
use http_frame::paid_work::{PaidCall, WorkResult};
use http_frame::payment;
use http_frame::refusal::Refusal;
use http_frame::reply::WithHeaders;
use ledger::{ChargeLine, WorkCharge};
use ledger_core::{AMOUNT_MAX, HoldRange};
use money::PriceUnits;
use schema_check::{PathStep, ValidationFaults};
use store::usage::UsageDetails;
use wire::embeddings::EmbeddingUsage;
use wire::moderations as wire_moderations;
use wire_moderations::{ModerationList, ModerationResult};

use crate::endpoints::document::describe_failed_check;
use crate::endpoints::inference_body::InferenceBody;
use crate::endpoints::read_tokens::ReadTokens;

/// Default model: the operator's choice.
const TRAIT_DEFAULT: &str = "default";
/// Upper bound per input for tokens that models add.
const TOKENS_AROUND: u64 = 16;
/// Upper bound of the tokens of an image; its size in bytes says little about them.
const IMAGE_TOKENS_MAX: u64 = 4 * IMAGE_TOKENS;

pub(crate) fn build_endpoint() -> ApiEndpoint {
    EndpointBuilder::post("/moderations", create_moderation)
        .tag("Moderations")
        .summary("Classify texts and images")
        .paid()
        .usual_class(LimitClass::Embedding)
        .build()
}

async fn create_moderation(
    app: SharedApp,
    call: ApiCall<PayingCaller, InferenceBody<wire_moderations::ModerationRequest>>,
) -> Result<WithHeaders<ModerationList>, Refusal> {
    let (call, InferenceBody(body)) = PaidCall::from_call(&app, call);
    let catalogue = app.catalogue.get();
    let name = body.model.as_deref().unwrap_or(TRAIT_DEFAULT);
    let resolved = call.resolve_model(&catalogue, name, ModelType::Moderation)?;
    let model = Arc::clone(resolved.model);
    let ModelSpec::Moderation(spec) = &model.spec else {
        return Err(Refusal::internal("a moderation model without its specification"));
    };
    let engine = app.engines.moderation(&model)?;
    let input = convert_input(body.input);
    let tokens = count_tokens(&input);
    let most = spec.price.cost(tokens.most).capped(AMOUNT_MAX);
    check_input(&call, &model, &input, spec).await?;
    let funds = call.hold(&model, tokens.estimate, HoldRange::Exactly(most))?;
    let (charged, rate) = (Arc::clone(&model), spec.price);
    let request = Arc::new(ModerationRequest { input });
    let paid = funds.run(async move {
        let answer = engine.moderate(request).await?;
        let tokens = tokens.billed_tokens(answer.usage);
        let line = ChargeLine {
            sku: format!("{}-moderation-input-mtoken", charged.id),
            units: tokens,
            rate,
            per: PriceUnits::Million,
        };
        let details = UsageDetails {
            prompt_tokens: Some(tokens),
            completion_tokens: Some(0),
            ..UsageDetails::default()
        };
        let charge = WorkCharge { details, ..payment::unit_charge(&charged, line) };
        Ok(WorkResult {
            output: ModeratedInput { verdicts: answer.verdicts, tokens },
            tokens,
            charge,
        })
    });
    let paid = paid.await.map_err(|failure| failure.into_refusal(&call.request_id, "input"))?;

    let remaining = payment::balance_remaining(&paid.receipt);
    let ModeratedInput { verdicts, tokens } = paid.output;
    let list = ModerationList {
        id: format!("modr-{}", call.request_id.as_str()),
        model: model.id.clone(),
        results: verdicts.into_iter().map(to_result).collect(),
        usage: EmbeddingUsage { prompt_tokens: tokens, total_tokens: tokens },
        cost: payment::to_cost(&paid.receipt),
    };
    let answer = WithHeaders::new(list).header(payment::BALANCE_REMAINING, remaining);
    Ok(model_headers::write_model_headers(answer, &resolved))
}

/// The verdicts, and the billed tokens.
struct ModeratedInput {
    verdicts: Vec<ModerationVerdict>,
    tokens: u64,
}

/// URLs are replaced by their parsed form, so that the provider fetches what was checked.
fn convert_input(input: wire_moderations::ModerationInput) -> ModerationInput {
    let part = |part: wire_moderations::ModerationPart| match part {
        wire_moderations::ModerationPart::Text { text } => ModerationPart::Text(text),
        wire_moderations::ModerationPart::ImageUrl { mut image_url } => {
            media::normalise_url(&mut image_url.url);
            ModerationPart::ImageUrl(image_url.url)
        }
    };
    match input {
        wire_moderations::ModerationInput::Text(text) => ModerationInput::Text(text),
        wire_moderations::ModerationInput::Texts(texts) => ModerationInput::Texts(texts),
        wire_moderations::ModerationInput::Parts(parts) => {
            ModerationInput::Parts(parts.into_iter().map(part).collect())
        }
    }
}

fn count_tokens(input: &ModerationInput) -> ReadTokens {
    let count_text = |text: &str| ReadTokens::from_text(text).with_room(TOKENS_AROUND);
    let count_part = |part: &ModerationPart| match part {
        ModerationPart::Text(text) => count_text(text),
        ModerationPart::ImageUrl(_) => {
            ReadTokens { estimate: IMAGE_TOKENS, most: IMAGE_TOKENS_MAX }
        }
    };
    let sum = |sum: ReadTokens, next: ReadTokens| sum.plus(next);
    match input {
        ModerationInput::Text(text) => count_text(text),
        ModerationInput::Texts(texts) => {
            texts.iter().map(|it| count_text(it)).fold(ReadTokens::default(), sum)
        }
        ModerationInput::Parts(parts) => {
            parts.iter().map(count_part).fold(ReadTokens::default(), sum)
        }
    }
}

/// Checks lengths, images and their hosts. Hosts are looked up only for callers who can pay.
async fn check_input(
    call: &PaidCall,
    model: &CatalogueModel,
    input: &ModerationInput,
    spec: &ModerationSpec,
) -> Result<(), Refusal> {
    let urls: Vec<&str> = list_urls(input).collect();
    let hosts = if urls.is_empty() {
        CheckedHosts::default()
    } else {
        call.refuse_if_unaffordable(model, spec.price.cost(IMAGE_TOKENS).capped(AMOUNT_MAX))?;
        let hosts = &call.app.settings.hosts;
        hosts.check_hosts(urls.into_iter(), call.reader_caller_id(), call.now).await?
    };
    let mut faults = ValidationFaults::default();
    let mut check = |place: Option<usize>, fault: Option<String>| {
        if let Some(fault) = fault {
            let path = [PathStep::from("input")].into_iter().chain(place.map(PathStep::from));
            faults.at(path).push(fault);
        }
    };
    match input {
        ModerationInput::Text(text) => check(None, find_text_fault(text, spec)),
        ModerationInput::Texts(texts) => {
            for (index, text) in texts.iter().enumerate() {
                check(Some(index), find_text_fault(text, spec));
            }
        }
        ModerationInput::Parts(parts) => {
            for (index, part) in parts.iter().enumerate() {
                let fault = match part {
                    ModerationPart::Text(text) => find_text_fault(text, spec),
                    ModerationPart::ImageUrl(url) => find_image_fault(url, &hosts),
                };
                check(Some(index), fault);
            }
        }
    }
    faults.into_result().map_err(|faults| Refusal::invalid_request(&faults))
}

fn list_urls(input: &ModerationInput) -> impl Iterator<Item = &str> {
    let parts = match input {
        ModerationInput::Parts(parts) => parts.as_slice(),
        ModerationInput::Text(_) | ModerationInput::Texts(_) => &[],
    };
    parts.iter().filter_map(|part| match part {
        ModerationPart::ImageUrl(url) => Some(url.as_str()),
        ModerationPart::Text(_) => None,
    })
}

fn find_text_fault(text: &str, spec: &ModerationSpec) -> Option<String> {
    let tokens_max = spec.max_input_tokens;
    let is_long = tokens_max < ReadTokens::from_text(text).estimate;
    is_long.then(|| format!("Input text exceeds the maximum token limit of {tokens_max} tokens"))
}

fn find_image_fault(url: &str, hosts: &CheckedHosts) -> Option<String> {
    if let Err(fault) = media::check_picture(url) {
        return Some(describe_failed_check("image", fault));
    }
    hosts.fault(url).map(|fault| describe_failed_check("image", fault))
}

fn to_result(verdict: ModerationVerdict) -> ModerationResult {
    ModerationResult {
        flagged: verdict.flagged,
        categories: verdict.categories,
        category_scores: verdict.scores,
        category_applied_input_types: verdict.applied_input_types,
    }
}
