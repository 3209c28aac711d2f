//! Applies the operator's `defaults` and `drop` of a text model to a request for it.

use domain::catalogue::{ChatField, NamedVariants, SamplingDefaults, TextSpec};
use engine::{ChatRequest, ReasoningParameters, SamplingParameters};

/// Adds the model's defaults for fields that the caller did not send, and removes fields that its
/// upstream must not get. Removed fields that the caller sent are listed in a response header.
pub(super) fn apply_model_fields(mut request: ChatRequest, text: &TextSpec) -> ChatRequest {
    for field in &text.dropped_fields {
        if take_field(&mut request, *field) {
            request.dropped.push(field.name().to_owned());
        }
    }
    add_defaults(&mut request.sampling, &text.sampling);
    for field in &text.dropped_fields {
        take_field(&mut request, *field);
    }
    request
}

fn add_defaults(sampling: &mut SamplingParameters, defaults: &SamplingDefaults) {
    sampling.temperature = sampling.temperature.or(defaults.temperature);
    sampling.temperature_min = sampling.temperature_min.or(defaults.min_temp);
    sampling.temperature_max = sampling.temperature_max.or(defaults.max_temp);
    sampling.top_p = sampling.top_p.or(defaults.top_p);
    sampling.top_k = sampling.top_k.or(defaults.top_k);
    sampling.min_p = sampling.min_p.or(defaults.min_p);
    sampling.frequency_penalty = sampling.frequency_penalty.or(defaults.frequency_penalty);
    sampling.presence_penalty = sampling.presence_penalty.or(defaults.presence_penalty);
    sampling.repetition_penalty = sampling.repetition_penalty.or(defaults.repetition_penalty);
    sampling.seed = sampling.seed.or(defaults.seed);
}

/// Removes a field from the request. Returns true if it was set.
fn take_field(request: &mut ChatRequest, field: ChatField) -> bool {
    let sampling = &mut request.sampling;
    match field {
        ChatField::Temperature => sampling.temperature.take().is_some(),
        ChatField::TopP => sampling.top_p.take().is_some(),
        ChatField::TopK => sampling.top_k.take().is_some(),
        ChatField::MinP => sampling.min_p.take().is_some(),
        ChatField::MinTemp => sampling.temperature_min.take().is_some(),
        ChatField::MaxTemp => sampling.temperature_max.take().is_some(),
        ChatField::FrequencyPenalty => sampling.frequency_penalty.take().is_some(),
        ChatField::PresencePenalty => sampling.presence_penalty.take().is_some(),
        ChatField::RepetitionPenalty => sampling.repetition_penalty.take().is_some(),
        ChatField::Seed => sampling.seed.take().is_some(),
        ChatField::LogitBias => request.rest.shift_remove(field.name()).is_some(),
        ChatField::Stop => !std::mem::take(&mut request.stop).is_empty(),
        ChatField::StopTokenIds => !std::mem::take(&mut request.stop_token_ids).is_empty(),
        ChatField::ParallelToolCalls => request.parallel_tool_calls.take().is_some(),
        ChatField::ReasoningEffort => {
            std::mem::take(&mut request.reasoning) != ReasoningParameters::default()
        }
        ChatField::Verbosity => request.verbosity.take().is_some(),
        ChatField::PromptCacheKey => request.prompt_cache_key.take().is_some(),
        ChatField::PromptCacheRetention => request.prompt_cache_retention.take().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::paid_chat::quote::tests::model;

    fn full_request() -> ChatRequest {
        ChatRequest {
            sampling: SamplingParameters {
                temperature: Some(0.1),
                temperature_min: Some(0.2),
                temperature_max: Some(0.3),
                top_p: Some(0.4),
                top_k: Some(5),
                min_p: Some(0.6),
                frequency_penalty: Some(0.7),
                presence_penalty: Some(0.8),
                repetition_penalty: Some(0.9),
                seed: Some(-10),
            },
            stop: vec!["END".to_owned()],
            stop_token_ids: vec![7],
            parallel_tool_calls: Some(true),
            reasoning: ReasoningParameters {
                enabled: Some(true),
                ..ReasoningParameters::default()
            },
            verbosity: Some("low".to_owned()),
            prompt_cache_key: Some("k".to_owned()),
            prompt_cache_retention: Some("24h".to_owned()),
            rest: json!({"logit_bias": {"1": 1}}).as_object().cloned().unwrap_or_default(),
            ..ChatRequest::default()
        }
    }

    #[test]
    fn nothing_is_added_that_the_operator_did_not_configure() {
        let request = apply_model_fields(ChatRequest::default(), &model(None));
        assert_eq!(request.sampling, SamplingParameters::default());
    }

    #[test]
    fn defaults_fill_in_for_the_caller_and_do_not_replace_what_it_sent() {
        let sampling = SamplingDefaults {
            temperature: Some(0.7),
            top_k: Some(40),
            seed: Some(0),
            ..SamplingDefaults::default()
        };
        let text = TextSpec { sampling: Box::new(sampling), ..model(None) };
        let asked = SamplingParameters { temperature: Some(0.0), ..SamplingParameters::default() };
        let request = ChatRequest { sampling: asked, ..ChatRequest::default() };
        let request = apply_model_fields(request, &text);
        let expected = SamplingParameters {
            temperature: Some(0.0),
            top_k: Some(40),
            seed: Some(0),
            ..SamplingParameters::default()
        };
        assert_eq!(request.sampling, expected);
        assert!(request.dropped.is_empty());
    }

    #[test]
    fn every_field_can_be_dropped_from_caller_and_defaults_alike() {
        for field in ChatField::ALL {
            let sampling =
                SamplingDefaults { temperature: Some(1.0), ..SamplingDefaults::default() };
            let dropped_fields = BTreeSet::from([*field]);
            let text = TextSpec { sampling: Box::new(sampling), dropped_fields, ..model(None) };
            let mut request = apply_model_fields(full_request(), &text);
            assert_eq!(request.dropped, [field.name()], "told for {field}");
            assert!(!take_field(&mut request, *field), "{field} is still there");
            let unasked = apply_model_fields(ChatRequest::default(), &text);
            assert!(unasked.dropped.is_empty(), "{field} was not sent");
        }
    }

    #[test]
    fn a_dropped_default_is_not_sent() {
        let sampling = SamplingDefaults { top_p: Some(0.9), ..SamplingDefaults::default() };
        let dropped_fields = BTreeSet::from([ChatField::TopP]);
        let text = TextSpec { sampling: Box::new(sampling), dropped_fields, ..model(None) };
        let request = apply_model_fields(ChatRequest::default(), &text);
        assert_eq!((request.sampling.top_p, request.dropped.len()), (None, 0));
    }
}
