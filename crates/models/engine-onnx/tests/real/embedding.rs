//! Tests MiniLM against vectors of another implementation, alone and under load.

use std::sync::LazyLock;
use std::thread;

use engine_onnx::embedding::{EmbeddingError, EmbeddingVectors, OverflowPolicy, TextEmbedder};

use crate::models::{folder, runtime};

const SENTENCES: &str = include_str!("../reference/sentences.txt");
const VECTORS: &str = include_str!("../reference/minilm.json");

static EMBEDDER: LazyLock<TextEmbedder> =
    LazyLock::new(|| TextEmbedder::load(&runtime(), &folder("all-minilm-l6-v2")).unwrap());

fn sentences() -> Vec<&'static str> {
    SENTENCES.lines().collect()
}

fn embed(embedder: &TextEmbedder, inputs: &[&str]) -> EmbeddingVectors {
    embedder.embed(inputs, OverflowPolicy::Refuse).unwrap()
}

/// 1 minus the cosine similarity of two unit vectors.
fn distance(one: &[f32], other: &[f32]) -> f32 {
    1.0 - one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>()
}

#[test]
fn vectors_are_those_of_the_reference_implementation() {
    let expected: Vec<Vec<f32>> = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(EMBEDDER.dimensions(), 384);
    for (sentence, expected) in sentences().into_iter().zip(&expected) {
        let found = embed(&EMBEDDER, &[sentence]);
        let distance = distance(&found.vectors[0], expected);
        assert!(distance.abs() < 1e-3, "{sentence}: off by {distance}");
    }
}

#[test]
fn vectors_do_not_depend_on_what_else_is_in_the_batch() {
    let together = embed(&EMBEDDER, &sentences());
    for (sentence, together) in sentences().into_iter().zip(&together.vectors) {
        let alone = embed(&EMBEDDER, &[sentence]);
        let distance = distance(&alone.vectors[0], together);
        assert!(distance.abs() < 1e-5, "{sentence}: off by {distance}");
    }
}

#[test]
fn requests_at_the_same_time_get_their_own_vectors() {
    let alone: Vec<EmbeddingVectors> =
        sentences().into_iter().map(|it| embed(&EMBEDDER, &[it])).collect();
    thread::scope(|scope| {
        for (sentence, alone) in sentences().into_iter().zip(&alone) {
            scope.spawn(move || {
                for _ in 0..4 {
                    let found = embed(&EMBEDDER, &[sentence, "another"]);
                    let distance = distance(&found.vectors[0], &alone.vectors[0]);
                    assert!(distance.abs() < 1e-5, "{sentence}: off by {distance}");
                }
            });
        }
    });
}

#[test]
fn tokens_are_counted_with_their_marks() {
    assert_eq!(embed(&EMBEDDER, &["That is a happy person"]).tokens, 7);
    assert_eq!(embed(&EMBEDDER, &["", "a"]).tokens, 5);
    assert_eq!(embed(&EMBEDDER, &[]).vectors.len(), 0);
}

#[test]
fn token_ids_are_as_good_as_text() {
    let text = embed(&EMBEDDER, &["hello world"]);
    let ids = EMBEDDER.embed_tokens(&[&[7592, 2088]], OverflowPolicy::Refuse).unwrap();
    assert_eq!(text, ids);
    let unknown = EMBEDDER.embed_tokens(&[&[7592], &[30_522]], OverflowPolicy::Refuse);
    assert!(matches!(unknown, Err(EmbeddingError::UnknownToken { index: 1, token: 30_522 })));
}

#[test]
fn an_input_that_is_too_long_is_refused_or_cut_as_asked() {
    let fits = "word ".repeat(510);
    assert_eq!(embed(&EMBEDDER, &[&fits]).tokens, 512);
    for words in [511, 8_192, 50_000] {
        let long = "word ".repeat(words);
        let refused = EMBEDDER.embed(&["short", &long], OverflowPolicy::Refuse);
        let Err(EmbeddingError::TooLong { index: 1, tokens, tokens_max: 512 }) = refused else {
            panic!("{words} words: {refused:?}");
        };
        assert!(512 < tokens, "{tokens} tokens");
        let cut = EMBEDDER.embed(&[&long], OverflowPolicy::Truncate).unwrap();
        assert_eq!(cut, embed(&EMBEDDER, &[&fits]), "{words} words");
    }
}
