//! The scores in a rerank answer, and their validation: exactly one finite score per document.

use engine::{EngineError, EngineUsage, UsageReport};
use serde::Deserialize;

use crate::transport::bad_answer;

/// The score of one document, under the name of Cohere and Jina, or of TEI and SGLang.
#[derive(Deserialize)]
pub(crate) struct RankedEntry {
    index: usize,
    relevance_score: Option<f64>,
    score: Option<f64>,
}

/// Puts the scores into the order of the documents.
pub(crate) fn collect_scores(
    entries: Vec<RankedEntry>,
    documents: usize,
) -> Result<Vec<f64>, EngineError> {
    if entries.len() != documents {
        let found = entries.len();
        return Err(bad_answer(format!("it has {found} scores for {documents} documents")));
    }
    let mut scores: Vec<Option<f64>> = vec![None; documents];
    for entry in entries {
        let index = entry.index;
        let score = entry.relevance_score.or(entry.score).filter(|it| it.is_finite());
        let Some(score) = score else {
            return Err(bad_answer(format!("its score of document {index} is no number")));
        };
        match scores.get_mut(index) {
            Some(place) if place.is_none() => *place = Some(score),
            _ => return Err(bad_answer(format!("its score of document {index} is one too many"))),
        }
    }
    scores
        .into_iter()
        .collect::<Option<Vec<f64>>>()
        .ok_or_else(|| bad_answer("a document has no score"))
}

/// The usage of work that only reads tokens; `None` if the number is implausible.
pub(crate) fn read_only_usage(tokens: f64) -> Option<EngineUsage> {
    EngineUsage::from_report(UsageReport { prompt: tokens, ..UsageReport::default() }).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(entries: Value, documents: usize, expected: Result<&[f64], &str>) {
        let entries = serde_json::from_value(entries).unwrap();
        let found = collect_scores(entries, documents).map_err(|error| error.to_string());
        let expected = expected
            .map(<[f64]>::to_vec)
            .map_err(|cause| format!("the engine gave a bad answer: {cause}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn scores_are_put_into_the_order_of_their_documents_under_either_name() {
        let entries = json!([{"index": 1, "relevance_score": 0.5}, {"index": 0, "score": -2}]);
        check(entries, 2, Ok(&[-2.0, 0.5]));
    }

    #[test]
    fn scores_that_do_not_fit_their_documents_are_refused() {
        let one = json!([{"index": 0, "score": 1}]);
        check(one, 2, Err("it has 1 scores for 2 documents"));
        let twice = json!([{"index": 0, "score": 1}, {"index": 0, "score": 1}]);
        check(twice, 2, Err("its score of document 0 is one too many"));
        let far = json!([{"index": 2, "score": 1}, {"index": 0, "score": 1}]);
        check(far, 2, Err("its score of document 2 is one too many"));
        let none = json!([{"index": 0, "score": null}]);
        check(none, 1, Err("its score of document 0 is no number"));
    }

    #[test]
    fn a_number_of_tokens_that_cannot_be_is_dropped() {
        assert_eq!(read_only_usage(7.0), Some(EngineUsage::from_counts(7, 0)));
        for nonsense in [-1.0, 0.5, 1e300, f64::NAN] {
            assert_eq!(read_only_usage(nonsense), None, "{nonsense}");
        }
    }
}
