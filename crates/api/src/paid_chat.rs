//! A chat that somebody pays for: quoted, held, answered, metered and settled.
//!
//! An endpoint makes an [`Order`] and gets a [`Work`], whose money is held. From there the engine
//! and the meter run in a task of their own that outlives the connection, and the charge is
//! durable before the last word goes out. Endpoints only translate: [`Work::answer`] gives a whole
//! answer, [`Work::stream`] the [`Step`]s of one.
//!
//! A caller who hangs up on a stream ends it and pays for what was produced until then. A whole
//! answer runs to its end and is paid in full, because nothing of it can be seen before.

mod believe;
mod gather;
mod meter;
mod quote;
mod settle;
mod silence;
mod stream;
mod whole;

use std::sync::Arc;

use access::Holder;
use domain::catalogue::{Model, TextSpec};
use domain::pricing::TokenPrice;
use engine::{ChatEngine, ChatRequest, EngineError};
use money::Means;

pub(crate) use settle::Settled;
pub(crate) use stream::{Flow, Opened, Step};
pub(crate) use whole::Answered;

use crate::app::Shared;
use crate::call::StandingCell;
use crate::purse::{Errand, Purse};
use crate::refusal::Refusal;
use crate::transport::RequestId;
use quote::Quote;

/// Who wants what answered, and by which models.
pub(crate) struct Order {
    pub(crate) holder: Arc<Holder>,
    pub(crate) request_id: RequestId,
    /// What the caller calls the prompt.
    pub(crate) prompt_field: &'static str,
    /// The model asked for.
    pub(crate) first: Candidate,
    /// Models to try in turn if it cannot answer.
    pub(crate) others: Vec<Candidate>,
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
        let quote = Quote::of(&request, text);
        let request = Arc::new(quote.bound(request, text));
        Candidate { model, engine, request, price: text.price.clone(), quote }
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

/// An order whose money is held.
pub(crate) struct Work {
    candidates: Vec<Candidate>,
    purse: Purse,
    prompt_field: &'static str,
}

impl Work {
    /// Counts the request against its limits and sets its money aside.
    pub(crate) fn begin(
        app: &Shared,
        order: Order,
        standing: &StandingCell,
    ) -> Result<Work, Refusal> {
        let Order { holder, request_id, prompt_field, first, others } = order;
        if first.quote.is_hopeless() {
            let message = first.quote.overflow_message(prompt_field);
            return Err(Refusal::context_overflow(prompt_field, message));
        }
        let errand =
            Errand { holder: &holder, model: &first.model, request_id: &request_id, standing };
        let want = quote::want(&first, &others);
        let purse = Purse::open(app, errand, first.quote.tokens_reserved(), want)?;
        let candidates = std::iter::once(first).chain(others).collect();
        Ok(Work { candidates, purse, prompt_field })
    }

    /// What is left to spend while the money is held: the least that will be left afterwards.
    pub(crate) fn balance_after_hold(&self) -> String {
        self.purse.balance_after_hold()
    }
}

/// What is told when the money held pays for none of the models that are left.
fn nobody_left() -> EngineError {
    EngineError::Misconfigured { cause: "no model could be asked".to_owned() }
}
