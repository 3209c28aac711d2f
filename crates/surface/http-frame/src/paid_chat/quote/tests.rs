//! Tests of the bounds on an answer, from the caller, the model or the context.

use std::collections::BTreeSet;

use domain::catalogue::{ChoiceList, ModelTier, WeightQuantization};
use domain::pricing::{TokenRates, UnitRate};
use engine::{ChatContent, ChatMessage};

use super::*;

/// A free model with a context of 8,192 tokens.
pub(in crate::paid_chat) fn model(max_completion_tokens: Option<u64>) -> TextSpec {
    let rate = UnitRate::at_par(money::Price::FREE);
    TextSpec {
        tier: ModelTier::Xs,
        context_tokens: 8_192,
        max_completion_tokens,
        capabilities: BTreeSet::new(),
        quantization: WeightQuantization::NotAvailable,
        reasoning_efforts: ChoiceList::empty(),
        images_max: None,
        videos_max: None,
        sampling: Box::default(),
        dropped_fields: BTreeSet::new(),
        price: TokenPrice {
            base: TokenRates {
                input: rate,
                output: rate,
                cache_input: None,
                cache_write: None,
                cache_write_1h: None,
            },
            extended: None,
        },
    }
}

/// A prompt of `prompt` tokens: an empty message counts as four.
fn request(prompt: usize, completion_tokens_max: Option<u64>) -> ChatRequest {
    let message = ChatMessage::User { content: ChatContent::Text(String::new()), name: None };
    let messages = vec![message; prompt / 4];
    ChatRequest { messages, completion_tokens_max, ..ChatRequest::default() }
}

/// The bound in the request, `may_exceed_context`, and the tokens reserved for the answer.
fn bound(prompt: usize, asked: Option<u64>, model_max: Option<u64>) -> (Option<u64>, bool, u64) {
    let (request, text) = (request(prompt, asked), model(model_max));
    let quote = ChatQuote::from_request(&request, &text);
    let reserved = quote.tokens_reserved() - quote.prompt_estimate;
    let bound = quote.bound_request(request, &text);
    (bound.completion_tokens_max, bound.may_exceed_context, reserved)
}

#[test]
fn the_models_bound_stands_in_for_one_that_nobody_named() {
    assert_eq!(bound(12, None, Some(1_024)), (Some(1_024), false, 1_024));
    assert_eq!(bound(12, None, Some(6_000)), (Some(6_000), false, 4_096));
    assert_eq!(bound(12, None, None), (None, false, 4_096));
}

#[test]
fn a_bound_that_the_caller_named_stays() {
    assert_eq!(bound(12, Some(7), Some(1_024)), (Some(7), false, 7));
    assert_eq!(bound(12, Some(7), None), (Some(7), false, 7));
    assert_eq!(bound(6_000, Some(1_024), Some(1_024)), (Some(1_024), false, 1_024));
}

#[test]
fn a_bound_of_ours_that_may_not_fit_is_marked() {
    assert_eq!(bound(4_000, None, Some(1_024)), (Some(1_024), false, 1_024));
    assert_eq!(bound(5_000, None, Some(1_024)), (Some(1_024), true, 1_024));
    assert_eq!(bound(12_000, None, Some(8_192)), (Some(2_192), true, 2_192));
}

#[test]
fn less_money_will_do_only_where_the_caller_named_no_bound() {
    let (asked, silent) = (request(12, Some(1_024)), request(12, None));
    let text = model(Some(1_024));
    assert!(ChatQuote::from_request(&asked, &text).is_bounded);
    assert!(!ChatQuote::from_request(&silent, &text).is_bounded);
}

/// The bound and the tokens reserved for an answer whose bound is only an upper limit.
fn upper_limit(prompt: usize, asked: Option<u64>, model_max: Option<u64>) -> (u64, bool, u64) {
    let quote = ChatQuote::from_upper_limit(&request(prompt, asked), &model(model_max));
    let reserved = quote.tokens_reserved() - quote.prompt_estimate;
    (quote.answer_max, quote.may_exceed_context, reserved)
}

#[test]
fn an_upper_limit_is_cut_to_the_models_and_reserves_little() {
    assert_eq!(upper_limit(12, Some(128_000), Some(6_000)), (6_000, false, 4_096));
    assert_eq!(upper_limit(12, Some(100), Some(6_000)), (100, false, 100));
    assert_eq!(upper_limit(12, Some(128_000), None), (8_180, true, 4_096));
    assert_eq!(upper_limit(12, None, Some(1_024)), (1_024, false, 1_024));
    let quote = ChatQuote::from_upper_limit(&request(12, Some(9)), &model(None));
    assert!(!quote.is_bounded, "less money will do");
}
