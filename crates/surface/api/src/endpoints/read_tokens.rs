//! The tokens of work that only reads: estimated, upper bound, and billed.

use engine::EngineUsage;

/// The tokens of all texts of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ReadTokens {
    pub(super) estimate: u64,
    /// An upper bound: a token stands for at least one byte of text.
    pub(super) most: u64,
}

impl ReadTokens {
    /// The tokens of one text, without what a model adds.
    pub(super) fn from_text(text: &str) -> ReadTokens {
        let most = u64::try_from(text.len()).unwrap_or(u64::MAX);
        ReadTokens { estimate: engine::text_tokens(text).min(most), most }
    }

    pub(super) fn plus(self, other: ReadTokens) -> ReadTokens {
        ReadTokens {
            estimate: self.estimate.saturating_add(other.estimate),
            most: self.most.saturating_add(other.most),
        }
    }

    /// Raises the upper bound by tokens that a model may add.
    pub(super) fn with_room(self, tokens: u64) -> ReadTokens {
        ReadTokens { most: self.most.saturating_add(tokens), ..self }
    }

    /// The engine's count if it is credible, else our estimate. Uses the total, because some
    /// servers report only that. A text is never free, and an impossible report must not overcharge
    /// the caller.
    pub(super) fn billed_tokens(self, report: Option<EngineUsage>) -> u64 {
        let told = report.map(EngineUsage::total);
        told.filter(|told| 0 < *told && *told <= self.most).unwrap_or(self.estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credible_report_is_billed_and_any_other_is_not() {
        let tokens = ReadTokens { estimate: 5, most: 20 };
        let told = |tokens| Some(EngineUsage::from_counts(tokens, 0));
        assert_eq!(tokens.billed_tokens(told(1)), 1);
        assert_eq!(tokens.billed_tokens(told(20)), 20);
        for nonsense in [None, told(0), told(21)] {
            assert_eq!(tokens.billed_tokens(nonsense), 5, "{nonsense:?}");
        }
    }

    #[test]
    fn an_estimate_is_never_above_the_bound() {
        for text in ["", "a", "é", "日本", "a longer text of several words", "!?!?!?"] {
            let tokens = ReadTokens::from_text(text);
            assert!(tokens.estimate <= tokens.most, "{text}: {tokens:?}");
        }
    }
}
