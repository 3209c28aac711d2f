//! Moderation by an OpenAI-style server.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{
    EngineError, ModerationAnswer, ModerationEngine, ModerationInput, ModerationPart,
    ModerationRequest, ModerationVerdict,
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::usage;
use crate::failure::UpstreamFailure;
use crate::transport::{UpstreamEndpoint, bad_answer};

/// One moderation model behind one OpenAI-style server.
pub(crate) struct OpenAiModeration {
    pub(crate) endpoint: UpstreamEndpoint,
    pub(crate) model: String,
}

impl ModerationEngine for OpenAiModeration {
    fn moderate(
        &self,
        request: Arc<ModerationRequest>,
    ) -> BoxFuture<'_, Result<ModerationAnswer, EngineError>> {
        Box::pin(async move {
            let body = encode_moderation(&request, &self.model);
            let verdicts = request.input.verdicts_total();
            read_verdicts(&self.endpoint.post_json(body).await?, verdicts)
        })
    }
}

fn encode_moderation(request: &ModerationRequest, model: &str) -> Vec<u8> {
    let part = |part: &ModerationPart| match part {
        ModerationPart::Text(text) => json!({"type": "text", "text": text}),
        ModerationPart::ImageUrl(url) => json!({"type": "image_url", "image_url": {"url": url}}),
    };
    let input = match &request.input {
        ModerationInput::Text(text) => json!(text),
        ModerationInput::Texts(texts) => json!(texts),
        ModerationInput::Parts(parts) => parts.iter().map(part).collect(),
    };
    json!({"model": model, "input": input}).to_string().into_bytes()
}

#[derive(Deserialize)]
struct ModerationAnswerBody {
    results: Option<Vec<VerdictBody>>,
    usage: Option<Box<RawValue>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct VerdictBody {
    flagged: bool,
    categories: BTreeMap<String, Option<bool>>,
    category_scores: BTreeMap<String, Option<f64>>,
    category_applied_input_types: Option<BTreeMap<String, Option<Vec<String>>>>,
}

/// Decodes exactly as many verdicts as there are inputs. A number that is not finite is no JSON.
fn read_verdicts(body: &[u8], count: usize) -> Result<ModerationAnswer, EngineError> {
    let answer: ModerationAnswerBody = serde_json::from_slice(body)
        .map_err(|error| bad_answer(format!("it is not a list of verdicts: {error}")))?;
    if let Some(error) = answer.error.filter(|error| !error.is_null()) {
        return Err(UpstreamFailure::from_value(&error).into_error());
    }
    let results = answer.results.unwrap_or_default();
    if results.len() != count {
        let found = results.len();
        return Err(bad_answer(format!("it has {found} verdicts for {count} inputs")));
    }
    let verdict = |it: VerdictBody| ModerationVerdict {
        flagged: it.flagged,
        categories: it.categories,
        scores: it.category_scores,
        applied_input_types: it.category_applied_input_types.unwrap_or_default(),
    };
    let verdicts = results.into_iter().map(verdict).collect();
    let usage = answer.usage.as_deref().and_then(usage::read_usage);
    Ok(ModerationAnswer { verdicts, usage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_input_is_sent_as_it_came() {
        let text = |text: &str| text.to_owned();
        for (input, sent) in [
            (ModerationInput::Text(text("a")), json!("a")),
            (ModerationInput::Texts(vec![text("a"), text("b")]), json!(["a", "b"])),
            (
                ModerationInput::Parts(vec![
                    ModerationPart::Text(text("a")),
                    ModerationPart::ImageUrl(text("data:,")),
                ]),
                json!([{"type": "text", "text": "a"},
                    {"type": "image_url", "image_url": {"url": "data:,"}}]),
            ),
        ] {
            let body = encode_moderation(&ModerationRequest { input }, "m");
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body, json!({"model": "m", "input": sent}));
        }
    }

    #[test]
    fn verdicts_that_do_not_fit_the_inputs_are_refused() {
        let verdict = json!({"flagged": true, "categories": {"hate": true, "illicit": null},
            "category_scores": {"hate": 0.9}});
        let answer = |results: &Value| json!({"id": "m", "results": results}).to_string();
        let whole = read_verdicts(answer(&json!([verdict])).as_bytes(), 1).unwrap();
        assert_eq!(whole.verdicts[0].categories["illicit"], None);
        assert_eq!(whole.verdicts[0].scores["hate"], Some(0.9));
        for (results, count) in [
            (json!([verdict]), 2),
            (json!([]), 1),
            (Value::Null, 1),
            (json!([{"flagged": true}]), 1),
            (json!([{"flagged": 1, "categories": {}, "category_scores": {}}]), 1),
        ] {
            let error = read_verdicts(answer(&results).as_bytes(), count).unwrap_err();
            assert!(matches!(error, EngineError::BadAnswer { .. }), "{error:?}");
        }
    }
}
