//! A paid chat: quoted, held, answered, metered and settled.
//!
//! An endpoint makes an [`ChatOrder`] and gets a [`PaidChat`], whose money is held. From there the engine
//! and the meter run in a task that outlives the connection, and the charge is durable before the
//! last part is sent. Endpoints only translate: [`PaidChat::answer`] gives a whole answer,
//! [`PaidChat::start_stream`] the [`AnswerPart`]s of one.
//!
//! A caller that disconnects from a stream ends it and pays for what was produced until then. A
//! whole answer runs to its end and is charged in full, because none of it can be sent before.

mod answer_budget;
mod conceal;
mod credible_usage;
mod event_burst;
mod extras;
mod hold_policy;
mod hour_cache;
mod meter;
mod model_fields;
mod quote;
mod settle;
mod silence;
mod stream;
mod tool_turns;
mod turn_gatherer;
mod turn_tab;
mod whole;

use std::sync::Arc;

use domain::catalogue::{CatalogueModel, TextSpec};
use domain::pricing::TokenPrice;
use engine::{ChatEngine, ChatRequest, EngineError, ServingProvider, SessionId};
use money::CurrencyFunds;

pub use extras::ExtraCharges;
pub use hold_policy::HoldPolicy;
pub use settle::ChatSettlement;
pub use stream::{AnswerPart, AnswerStart, AnswerStream};
pub use tool_turns::{ConversationEdit, NextTurn, ToolDesk, ToolEvent, ToolResultText, ToolRunner};
pub use turn_gatherer::{ModelTurn, TurnCall};
pub use whole::PaidAnswer;

use crate::paid_work::call_funds::CallFunds;
use crate::paid_work::{HeldFunds, PaidCall};
use crate::refusal::Refusal;
use crate::refusal::context_excess::PromptSize;
use crate::refusal::render::RefusalDetail;
use quote::ChatQuote;

/// A request for an answer, with the models that may give it.
pub struct ChatOrder {
    /// Name of the request field with the prompt, for error messages.
    pub prompt_field: &'static str,
    /// The requested model.
    pub first: ChatCandidate,
    /// Models to try in turn if the first one fails.
    pub others: Vec<ChatCandidate>,
    /// Charges besides the answer's tokens, such as a web search.
    pub extras: ExtraCharges,
}

/// One model that may answer, with the request prepared for it.
#[derive(Clone)]
pub struct ChatCandidate {
    pub model: Arc<CatalogueModel>,
    engine: Arc<dyn ChatEngine>,
    request: Arc<ChatRequest>,
    price: TokenPrice,
    quote: ChatQuote,
    /// The `prompt_cache_key` of the caller, also if the model's upstream must not get it.
    cache_key: Option<String>,
}

impl ChatCandidate {
    pub fn new(
        model: Arc<CatalogueModel>,
        text: &TextSpec,
        engine: Arc<dyn ChatEngine>,
        request: ChatRequest,
    ) -> ChatCandidate {
        let cache_key = request.prompt_cache_key.clone();
        let request = model_fields::apply_model_fields(request, text);
        let quote = ChatQuote::from_request(&request, text);
        let price = if hour_cache::may_write_hour_cache(&request) {
            text.price.clone()
        } else {
            text.price.clone().without_hour_cache()
        };
        let request = Arc::new(quote.bound_request(request, text));
        ChatCandidate { model, engine, request, price, quote, cache_key }
    }

    fn with_session(mut self, session: Option<SessionId>) -> ChatCandidate {
        Arc::make_mut(&mut self.request).session = session;
        self
    }

    /// The request for a stream; None if `funds` can pay for nothing. Under a policy that holds more
    /// money while the answer is streamed, its bound stays as it is.
    fn request_to_stream(
        &self,
        policy: HoldPolicy,
        funds: CurrencyFunds,
    ) -> Option<Arc<ChatRequest>> {
        match policy {
            HoldPolicy::WholeAnswer => self.request_within(funds),
            HoldPolicy::ShareOfBalance => {
                let tokens = self.quote.answer_within(&self.price, funds);
                (tokens != Some(0)).then(|| Arc::clone(&self.request))
            }
        }
    }

    /// The request, with the answer bounded to what `funds` can pay; None if that is nothing. A
    /// bounded request is not passed through: the caller's own body has a larger bound.
    fn request_within(&self, funds: CurrencyFunds) -> Option<Arc<ChatRequest>> {
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
            native: None,
            ..bounded
        }))
    }
}

/// Notes for the response headers about how the request was processed.
#[derive(Debug, Clone, Default)]
pub struct RouteNotes {
    /// The provider chosen among the model's routes.
    pub provider: Option<Arc<str>>,
    /// Fields of the request that were ignored.
    pub dropped: Vec<String>,
}

impl RouteNotes {
    fn from_served(candidate: &ChatCandidate, served: Option<&ServingProvider>) -> RouteNotes {
        let mut dropped = candidate.request.dropped.clone();
        dropped.extend(candidate.engine.dropped_fields(&candidate.request));
        RouteNotes { provider: served.map(|it| Arc::clone(&it.provider)), dropped }
    }
}

/// An order whose money is held.
pub struct PaidChat {
    candidates: Vec<ChatCandidate>,
    funds: HeldFunds,
    extras: ExtraCharges,
    prompt_field: &'static str,
    policy: HoldPolicy,
}

impl PaidChat {
    /// Counts the request against its limits and holds the money for a whole answer.
    pub fn begin(call: &PaidCall, order: ChatOrder) -> Result<PaidChat, Refusal> {
        PaidChat::begin_with_policy(call, order, HoldPolicy::WholeAnswer)
    }

    /// Counts the request against its limits and holds money as the policy says.
    pub fn begin_with_policy(
        call: &PaidCall,
        order: ChatOrder,
        policy: HoldPolicy,
    ) -> Result<PaidChat, Refusal> {
        // The hold of a job is made once, so it covers the whole answer.
        let policy = match call.terms.funds {
            CallFunds::OfRequest => policy,
            CallFunds::Quote(_) | CallFunds::OfJob(_) => HoldPolicy::WholeAnswer,
        };
        let ChatOrder { prompt_field, first, others, extras } = order;
        if first.quote.exceeds_context() {
            let message = first.quote.overflow_message(prompt_field);
            let detail = RefusalDetail::ContextExcess(first.quote.prompt_size().to_excess());
            return Err(Refusal::context_overflow(prompt_field, message).with_detail(Some(detail)));
        }
        let first = first.with_policy(policy);
        let others: Vec<_> = others.into_iter().map(|it| it.with_policy(policy)).collect();
        let want = quote::compute_hold(&first, &others, &extras, policy);
        let funds = call.hold(&first.model, first.quote.tokens_reserved(), want)?;
        let session = call.session.find_id(first.cache_key.as_deref());
        let candidates = std::iter::once(first).chain(others);
        let candidates = candidates.map(|candidate| candidate.with_session(session)).collect();
        let funds = funds.with_session(session);
        Ok(PaidChat { candidates, funds, extras, prompt_field, policy })
    }

    /// Our estimate of the prompt, and the context of the requested model.
    fn prompt_size(&self) -> PromptSize {
        let first = self.candidates.first().map(|candidate| candidate.quote.prompt_size());
        first.unwrap_or(PromptSize { estimate: 0, context: 0 })
    }

    /// The balance before this work. Streams put it in their headers, which are sent before the
    /// cost is known.
    pub fn balance_before(&self) -> String {
        self.funds.balance_before()
    }
}

/// The error if the held money cannot pay for any of the models.
fn no_affordable_model() -> EngineError {
    EngineError::Misconfigured { cause: "no model could be asked".to_owned() }
}
