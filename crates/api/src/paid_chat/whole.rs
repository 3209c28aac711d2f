//! Answers that are not streamed.

use std::sync::Arc;

use domain::catalogue::Model;
use engine::{ChatAnswer, TokenMeter};

use super::conceal::conceal_prompt;
use super::credible_usage::{Report, Used};
use super::settle::{MeteredAnswer, Settled, note_name, settle};
use super::{Candidate, Extras, RouteNotes, Work, nobody_left};
use crate::outlasting::Outlasting;
use crate::paid::HeldFunds;
use crate::refusal::Refusal;
use crate::refusal::inference::Failure;

/// A whole answer that was charged.
#[derive(Debug)]
pub(crate) struct PaidAnswer {
    pub(crate) model: Arc<Model>,
    pub(crate) notes: RouteNotes,
    pub(crate) answer: ChatAnswer,
    pub(crate) settled: Settled,
}

impl Work {
    /// Tries the models in turn. Continues, and is charged, even if the caller disconnects.
    pub(crate) async fn answer(self) -> Result<PaidAnswer, Refusal> {
        let (tasks, request_id) = (self.funds.app.tasks.clone(), self.funds.request_id.clone());
        let prompt_field = self.prompt_field;
        let Work { candidates, funds, extras, .. } = self;
        let outcome =
            Outlasting::new(&tasks, async move { run(&candidates, funds, extras).await }).await;
        outcome.map_err(|failure| failure.into_refusal(&request_id, prompt_field))
    }
}

async fn run(
    candidates: &[Candidate],
    funds: HeldFunds,
    extras: Extras,
) -> Result<PaidAnswer, Failure> {
    let mut failure = nobody_left();
    for candidate in candidates {
        let means = extras.taken_from(funds.means());
        let Some(request) = candidate.within(means) else { continue };
        let answer_max = request.completion_tokens_max;
        match candidate.engine.answer(request).await {
            Ok(answer) => {
                note_name(&funds, candidate, answer.upstream_id.as_deref());
                let used = used(candidate, &answer, answer_max);
                let provider = answer.served.as_ref().map(|served| &*served.provider);
                let settled =
                    settle(funds, candidate, MeteredAnswer { used, provider }, extras).await?;
                let notes = RouteNotes::of(candidate, answer.served.as_ref());
                return Ok(PaidAnswer {
                    model: Arc::clone(&candidate.model),
                    notes,
                    answer,
                    settled,
                });
            }
            Err(error) => {
                let may_go_on = error.may_fail_over();
                failure = conceal_prompt(error, &candidate.request);
                if !may_go_on {
                    break;
                }
            }
        }
    }
    funds.release();
    Err(Failure::Engine(failure))
}

fn used(candidate: &Candidate, answer: &ChatAnswer, answer_max: Option<u64>) -> Used {
    let mut produced = 0;
    for choice in &answer.choices {
        let mut meter = TokenMeter::of(&candidate.request);
        for text in choice.texts() {
            meter.push(text);
        }
        produced += meter.tokens();
    }
    let each = answer_max.unwrap_or(candidate.quote.answer_max);
    Used {
        report: answer.usage.map_or(Report::None, Report::Total),
        produced,
        answer_max: each.saturating_mul(candidate.quote.choices),
        is_bounded: answer_max.is_some(),
    }
}
