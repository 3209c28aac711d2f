//! Tests that excessive requests are rejected with the numbers, and that answers end at the context
//! limit.

use engine_text::{FinishCause, ModelWeights, TextRefusal};

use crate::harness::{CONTEXT_TOKENS, MODEL, answer, ask, library};

#[test]
fn a_prompt_that_does_not_fit_is_refused_with_the_numbers() {
    let refusal = MODEL.generate(&ask(&"word ".repeat(2000))).unwrap_err();
    let TextRefusal::ContextOverflow { context_tokens, prompt_tokens } = refusal else {
        panic!("{refusal}");
    };
    assert_eq!(context_tokens, CONTEXT_TOKENS);
    assert!((2000..2100).contains(&prompt_tokens), "{prompt_tokens}");
}

#[test]
fn an_answer_ends_where_the_context_does() {
    let mut request = ask(&"word ".repeat(900));
    request.completion_tokens_max = None;
    // Prevents an earlier end.
    request.sampling.presence_penalty = Some(-2.0);
    let answer = answer(&request);
    let whole = answer.usage.prompt_tokens + answer.usage.completion_tokens;
    if answer.finish == Some(FinishCause::Length) {
        assert_eq!(whole, CONTEXT_TOKENS);
    } else {
        assert!(whole < CONTEXT_TOKENS);
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_the_field() {
    let check = |change: fn(&mut engine_text::TextRequest), field: &str| {
        let mut request = ask("Hello");
        change(&mut request);
        let refusal = MODEL.generate(&request).unwrap_err();
        let TextRefusal::Invalid { param, .. } = refusal else { panic!("{refusal}") };
        assert_eq!(param, field);
    };
    check(|it| it.choices = 0, "n");
    check(|it| it.choices = 1000, "n");
    check(|it| it.logprobs = Some(1000), "top_logprobs");
    check(|it| it.completion_tokens_max = Some(0), "max_tokens");
}

#[test]
fn a_file_that_is_no_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.gguf");
    std::fs::write(&path, b"GGUF and then nothing of sense").unwrap();
    let error = ModelWeights::open(library(), &path, 0).unwrap_err().to_string();
    assert!(error.contains("is not a GGUF file"), "{error}");
    let error = ModelWeights::open(library(), &folder.path().join("absent.gguf"), 0)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("absent.gguf is not there"), "{error}");
}
