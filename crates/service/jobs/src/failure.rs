//! The reason why a job ended without a result. Stored when the job ends.

use engine::ContentRefusal;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFailure {
    pub reason: FailureReason,
    /// The message for the caller.
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended_model: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// Against the provider's content policy.
    Policy,
    /// The provider refused the request as invalid.
    Rejected,
    /// The provider failed or was unreachable in every attempt.
    Provider,
    /// The service stopped while it submitted the job, and cannot know the outcome.
    Interrupted,
    /// The provider did not respond for too long.
    Overdue,
    /// Cancelled by the operator.
    Cancelled,
    /// No engine for this job exists any more.
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

    pub(crate) fn from_refusal(refusal: ContentRefusal) -> JobFailure {
        JobFailure {
            suggested_prompt: refusal.suggested_prompt,
            recommended_model: refusal.recommended_model,
            ..JobFailure::new(FailureReason::Policy, refusal.message)
        }
    }

    pub fn is_policy(&self) -> bool {
        self.reason == FailureReason::Policy
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a stored failure; a general one if that fails.
    pub fn read(written: &str) -> JobFailure {
        let read = serde_json::from_str(written);
        read.unwrap_or_else(|_| JobFailure::new(FailureReason::Provider, "The generation failed."))
    }
}
