//! A paid chat: quoted, held, answered, metered and settled.
//!
//! An endpoint makes an [`Order`] and gets a [`Work`], whose money is held. From there the engine
//! and the meter run in a task that outlives the connection, and the charge is durable before the
//! last part is sent. Endpoints only translate: [`Work::answer`] gives a whole answer,
//! [`Work::stream`] the [`AnswerPart`]s of one.
//!
//! A caller that disconnects from a stream ends it and pays for what was produced until then. A
//! whole answer runs to its end and is charged in full, because none of it can be sent before.

mod conceal;
mod credible_usage;
mod extras;
mod gather;
mod meter;
mod model_fields;
mod quote;
mod settle;
mod silence;
mod stream;
mod whole;

use std::sync::Arc;

use domain::catalogue::{Model, TextSpec};
use domain::pricing::TokenPrice;
use engine::{ChatEngine, ChatRequest, EngineError, Served};
use money::Means;

pub(crate) use extras::Extras;
pub(crate) use settle::Settled;
pub(crate) use stream::{AnswerPart, Flow, Opened};
pub(crate) use whole::PaidAnswer;

use crate::paid::{HeldFunds, PaidCall};
use crate::refusal::Refusal;
use quote::Quote;

/// A request for an answer, with the models that may give it.
pub(crate) struct Order {
    /// Name of the request field with the prompt, for error messages.
    pub(crate) prompt_field: &'static str,
    /// The requested model.
    pub(crate) first: Candidate,
    /// Models to try in turn if the first one fails.
    pub(crate) others: Vec<Candidate>,
    /// Charges besides the answer's tokens, such as a web search.
    pub(crate) extras: Extras,
}

/// One model that may answer, with the request prepared for it.
pub(crate) struct Candidate {
    pub(crate) model: Arc<Model>,
    engine: Arc<dyn ChatEngine>,
    request: Arc<ChatRequest>,
    price: TokenPrice,
    quote: Quote,
}

impl Candidate {
    pub(crate) fn new(
        model: Arc<Model>,
        text: &TextSpec,
        engine: Arc<dyn ChatEngine>,
        request: ChatRequest,
    ) -> Candidate {
        let request = model_fields::apply_model_fields(request, text);
        let quote = Quote::of(&request, text);
        let price = if engine::marks_hour_cache(&request.messages) {
            text.price.clone()
        } else {
            text.price.clone().without_hour_cache()
        };
        let request = Arc::new(quote.bound(request, text));
        Candidate { model, engine, request, price, quote }
    }

    /// The request, with the answer bounded to what `funds` can pay; None if that is nothing.
    fn within(&self, funds: Means) -> Option<Arc<ChatRequest>> {
        let Some(tokens) = self.quote.answer_within(&self.price, funds) else {
            return Some(Arc::clone(&self.request));
        };
        if tokens == 0 {
            return None;
        }
        if self.quote.answer_max <= tokens {
            return Some(Arc::clone(&self.request));
        }
        let bounded = ChatRequest::clone(&self.request);
        Some(Arc::new(ChatRequest {
            completion_tokens_max: Some(tokens),
            may_exceed_context: false,
            ..bounded
        }))
    }
}

/// Notes for the response headers about how the request was processed.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteNotes {
    /// The provider chosen among the model's routes.
    pub(crate) provider: Option<Arc<str>>,
    /// Fields of the request that were ignored.
    pub(crate) dropped: Vec<String>,
}

impl RouteNotes {
    fn of(candidate: &Candidate, served: Option<&Served>) -> RouteNotes {
        let mut dropped = candidate.request.dropped.clone();
        dropped.extend(candidate.engine.dropped(&candidate.request));
        RouteNotes { provider: served.map(|it| Arc::clone(&it.provider)), dropped }
    }
}

/// An order whose money is held.
pub(crate) struct Work {
    candidates: Vec<Candidate>,
    funds: HeldFunds,
    extras: Extras,
    prompt_field: &'static str,
}

impl Work {
    /// Counts the request against its limits and holds its money.
    pub(crate) fn begin(call: &PaidCall, order: Order) -> Result<Work, Refusal> {
        let Order { prompt_field, first, others, extras } = order;
        if first.quote.is_hopeless() {
            let message = first.quote.overflow_message(prompt_field);
            return Err(Refusal::context_overflow(prompt_field, message));
        }
        let want = quote::want(&first, &others, &extras);
        let funds = call.hold(&first.model, first.quote.tokens_reserved(), want)?;
        let candidates = std::iter::once(first).chain(others).collect();
        Ok(Work { candidates, funds, extras, prompt_field })
    }

    /// The balance before this work. Streams put it in their headers, which are sent before the
    /// cost is known.
    pub(crate) fn balance_before(&self) -> String {
        self.funds.balance_before()
    }
}

/// The error if the held money cannot pay for any of the models.
fn nobody_left() -> EngineError {
    EngineError::Misconfigured { cause: "no model could be asked".to_owned() }
}
