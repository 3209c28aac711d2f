//! A chat that somebody pays for: quoted, held, answered, metered and settled.
//!
//! An endpoint makes an [`Order`] and gets a [`Work`], whose money is held. From there the engine
//! and the meter run in a task of their own that outlives the connection, and the charge is
//! durable before the last word goes out. Endpoints only translate: [`Work::answer`] gives a whole
//! answer, [`Work::stream`] the [`AnswerPart`]s of one.
//!
//! A caller who hangs up on a stream ends it and pays for what was produced until then. A whole
//! answer runs to its end and is paid in full, because nothing of it can be seen before.

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

/// What is to be answered, and by which models.
pub(crate) struct Order {
    /// What the caller calls the prompt.
    pub(crate) prompt_field: &'static str,
    /// The model asked for.
    pub(crate) first: Candidate,
    /// Models to try in turn if it cannot answer.
    pub(crate) others: Vec<Candidate>,
    /// What is charged with the answer beside its tokens.
    pub(crate) extras: Extras,
}

/// One model that may answer, with the request as it would get it.
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

    /// The request, bounded so that its answer is paid by `funds`; nothing if none is.
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

/// What callers are told of how their request was carried out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteNotes {
    /// The provider that was chosen among the model's routes.
    pub(crate) provider: Option<Arc<str>>,
    /// Fields of the request that could not be honoured.
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
    /// Counts the request against its limits and sets its money aside.
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

    /// What there was to spend before this work. Streams say so in their head, where nobody knows
    /// what they will cost.
    pub(crate) fn balance_before(&self) -> String {
        self.funds.balance_before()
    }
}

/// The refusal when the held money pays for none of the models that are left.
fn nobody_left() -> EngineError {
    EngineError::Misconfigured { cause: "no model could be asked".to_owned() }
}
