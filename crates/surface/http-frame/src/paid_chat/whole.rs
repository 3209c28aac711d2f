//! Answers that are not streamed.

use std::sync::Arc;

use domain::catalogue::CatalogueModel;
use engine::{ChatAnswer, TokenEstimator};

use super::answer_budget::AnswerBudget;
use super::conceal::conceal_prompt;
use super::credible_usage::{EngineUsageReport, MeasuredUsage};
use super::settle::{ChatSettlement, MeteredAnswer, remember_upstream_id, settle_chat};
use super::{ChatCandidate, ExtraCharges, HoldPolicy, PaidChat, RouteNotes, no_affordable_model};
use crate::detach_on_drop::DetachOnDrop;
use crate::paid_work::HeldFunds;
use crate::refusal::Refusal;
use crate::refusal::inference::InferenceFailure;

/// A whole answer that was charged.
#[derive(Debug)]
pub struct PaidAnswer {
    pub model: Arc<CatalogueModel>,
    pub notes: RouteNotes,
    pub answer: ChatAnswer,
    pub settled: ChatSettlement,
}

impl PaidChat {
    /// Tries the models in turn. Continues, and is charged, even if the caller disconnects.
    pub async fn answer(self) -> Result<PaidAnswer, Refusal> {
        let (tasks, request_id) = (self.funds.app.tasks.clone(), self.funds.request_id.clone());
        let (prompt_field, prompt_size) = (self.prompt_field, self.prompt_size());
        let PaidChat { candidates, funds, extras, policy, .. } = self;
        let outcome = DetachOnDrop::new(&tasks, async move {
            run_candidates(&candidates, funds, extras, policy).await
        })
        .await;
        outcome.map_err(|failure| {
            let detail = prompt_size.find_detail(&failure);
            failure.into_refusal(&request_id, prompt_field).with_detail(detail)
        })
    }
}

async fn run_candidates(
    candidates: &[ChatCandidate],
    mut funds: HeldFunds,
    extras: ExtraCharges,
    policy: HoldPolicy,
) -> Result<PaidAnswer, InferenceFailure> {
    let mut failure = no_affordable_model();
    for candidate in candidates {
        AnswerBudget::new(candidate, &extras, policy, &funds).cover_whole_answer(&mut funds);
        let means = extras.subtract_from(funds.cost_max());
        let Some(request) = candidate.request_within(means) else { continue };
        let answer_max = request.completion_tokens_max;
        match candidate.engine.complete_chat(request).await {
            Ok(answer) => {
                remember_upstream_id(&funds, candidate, answer.upstream_id.as_deref());
                let used = measure_usage(candidate, &answer, answer_max);
                let provider = answer.served.as_ref().map(|served| &*served.provider);
                let settled =
                    settle_chat(funds, candidate, MeteredAnswer { used, provider }, extras).await?;
                let notes = RouteNotes::from_served(candidate, answer.served.as_ref());
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
    Err(InferenceFailure::Engine(failure))
}

fn measure_usage(
    candidate: &ChatCandidate,
    answer: &ChatAnswer,
    answer_max: Option<u64>,
) -> MeasuredUsage {
    let mut produced = 0;
    for choice in &answer.choices {
        let mut meter = TokenEstimator::for_request(&candidate.request);
        for text in choice.generated_texts() {
            meter.push(text);
        }
        produced += meter.estimated_tokens();
    }
    let each = answer_max.unwrap_or(candidate.quote.answer_max);
    MeasuredUsage {
        report: answer.usage.map_or(EngineUsageReport::None, EngineUsageReport::Total),
        produced,
        answer_max: each.saturating_mul(candidate.quote.choices),
        is_bounded: answer_max.is_some(),
    }
}
