//! Why a job ended without a result. Stored when the job ends, and always shown the same way.

use engine::ContentRefusal;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFailure {
    pub reason: FailureReason,
    /// For the caller to see.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// Against the policy of the provider.
    Policy,
    /// The provider says that the request is at fault.
    Rejected,
    /// The provider failed, or could not be reached, as often as it was tried.
    Provider,
    /// The service was cut off while it handed the work in, and cannot know what came of that.
    Interrupted,
    /// Its provider said nothing for too long.
    Overdue,
    /// By the operator.
    Cancelled,
    /// Nothing here can run it any more.
    Unsupported,
}

impl FailureReason {
    pub fn name(self) -> &'static str {
        match self {
            FailureReason::Policy => "policy",
            FailureReason::Rejected => "rejected",
            FailureReason::Provider => "provider",
            FailureReason::Interrupted => "interrupted",
            FailureReason::Overdue => "overdue",
            FailureReason::Cancelled => "cancelled",
            FailureReason::Unsupported => "unsupported",
        }
    }
}

impl JobFailure {
    pub(crate) fn new(reason: FailureReason, message: impl Into<String>) -> JobFailure {
        let message = message.into();
        JobFailure { reason, message, suggested_prompt: None, recommended_model: None }
    }

    pub(crate) fn refused(refusal: ContentRefusal) -> JobFailure {
        JobFailure {
            suggested_prompt: refusal.suggested_prompt,
            recommended_model: refusal.recommended_model,
            ..JobFailure::new(FailureReason::Policy, refusal.message)
        }
    }

    pub fn is_policy(&self) -> bool {
        self.reason == FailureReason::Policy
    }

    pub(crate) fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As it was written; something general where that cannot be read.
    pub fn read(written: &str) -> JobFailure {
        let read = serde_json::from_str(written);
        read.unwrap_or_else(|_| JobFailure::new(FailureReason::Provider, "The generation failed."))
    }
}
