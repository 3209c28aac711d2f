//! Tests of the token counts for limits, holds and charges of embeddings.

use engine::{EmbeddingInput, EngineUsage};

use super::{EmbeddingTokens, TOKENS_AROUND, text_estimate};

fn texts(texts: &[&str]) -> EmbeddingTokens {
    EmbeddingTokens::from_input(&EmbeddingInput::Texts(
        texts.iter().map(|it| (*it).to_owned()).collect(),
    ))
}

#[test]
fn a_text_is_estimated_by_its_characters() {
    assert_eq!(text_estimate("a"), 1);
    assert_eq!(text_estimate(&"a".repeat(64)), 19);
    assert_eq!(text_estimate(&"a".repeat(65)), 20);
    assert_eq!(text_estimate(&"é".repeat(64)), 19);
}

#[test]
fn the_bound_is_by_bytes_and_the_estimate_is_below_it() {
    let tokens = texts(&["日本", "b"]);
    assert_eq!(tokens, EmbeddingTokens { estimate: 2, most: 7 + 2 * TOKENS_AROUND });
}

#[test]
fn tokens_are_counted_and_not_estimated() {
    let tokens =
        EmbeddingTokens::from_input(&EmbeddingInput::Tokens(vec![vec![1; 10], vec![2; 5]]));
    assert_eq!(tokens, EmbeddingTokens { estimate: 15, most: 15 + 2 * TOKENS_AROUND });
}

#[test]
fn a_credible_report_is_billed_and_any_other_is_not() {
    let tokens = texts(&["four short plain words"]);
    assert_eq!(tokens.billed_tokens(Some(EngineUsage::from_counts(4, 0))), 4);
    assert_eq!(
        tokens.billed_tokens(Some(EngineUsage::from_counts(0, 4))),
        4,
        "a total without a prompt"
    );
    assert_eq!(tokens.billed_tokens(None), tokens.estimate);
    assert_eq!(tokens.billed_tokens(Some(EngineUsage::from_counts(0, 0))), tokens.estimate);
    assert_eq!(
        tokens.billed_tokens(Some(EngineUsage::from_counts(tokens.most + 1, 0))),
        tokens.estimate
    );
}
