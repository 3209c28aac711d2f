//! Concurrent requests: batched answers equal those generated alone.

use engine_text::{GenerationEvent, TextPrompt, TextRefusal, TextRequest};

use crate::harness::{MODEL, answer, ask, collect};

/// Texts with one clear continuation. Where two tokens are almost equally likely, the order of
/// additions in a batch decides, as in llama.cpp's own server.
const BEGINNINGS: [&str; 4] = [
    "One, two, three, four, five,",
    "Monday, Tuesday, Wednesday,",
    "January, February, March, April,",
    "A, B, C, D, E, F, G,",
];

fn go_on(beginning: &str) -> TextRequest {
    let prompt = TextPrompt::Text(beginning.to_owned());
    TextRequest { prompt, completion_tokens_max: Some(8), ..ask("") }
}

#[test]
fn four_texts_side_by_side_go_on_as_each_does_alone() {
    let alone: Vec<String> = BEGINNINGS.iter().map(|it| answer(&go_on(it)).text).collect();
    assert!(alone[1].contains("Thursday"), "{alone:?}");
    let begun: Vec<_> = BEGINNINGS.iter().map(|it| MODEL.generate(&go_on(it)).unwrap()).collect();
    let together: Vec<String> = begun.into_iter().map(|it| collect(it).remove(0).text).collect();
    assert_eq!(together, alone);
}

#[test]
fn more_than_fit_wait_their_turn() {
    let begun = (0..10).map(|_| MODEL.generate(&go_on(BEGINNINGS[0])).unwrap());
    let begun: Vec<_> = begun.collect();
    for generation in begun {
        let answer = collect(generation).remove(0);
        assert!(answer.text.contains("six") && answer.finish.is_some(), "{}", answer.text);
    }
}

#[test]
fn too_many_are_refused() {
    let model = crate::harness::load();
    let mut begun = Vec::new();
    let refusal = loop {
        match model.generate(&ask("Count to one thousand.")) {
            Ok(generation) => begun.push(generation),
            Err(refusal) => break refusal,
        }
        assert!(begun.len() < 1000, "there is an end to what waits");
    };
    assert_eq!(refusal, TextRefusal::Overloaded);
}

/// With one slot, the next request waits for the one before. Its cached tokens then show how far
/// that one got: at most one token beyond what was received.
#[test]
fn a_request_that_nobody_wants_any_more_ends_within_a_token() {
    let model = crate::harness::load_with(1);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut long = ask("");
    long.prompt = TextPrompt::Text("One, two, three, four, five, six,".to_owned());
    long.completion_tokens_max = None;
    let mut unwanted = model.generate(&long).unwrap();
    let mut heard = String::new();
    for _ in 0..4 {
        let Some(GenerationEvent::Text { text, .. }) = runtime.block_on(unwanted.next()) else {
            panic!("it writes at least four pieces");
        };
        heard.push_str(&text);
    }
    let prompt_tokens = unwanted.prompt_tokens;
    drop(unwanted);
    long.prompt =
        TextPrompt::Text(format!("One, two, three, four, five, six,{heard} and so on and so on"));
    long.completion_tokens_max = Some(1);
    let next = collect(model.generate(&long).unwrap()).remove(0);
    assert!(next.usage.cached_tokens <= prompt_tokens + 6, "{:?} {prompt_tokens}", next.usage);
    assert!(prompt_tokens <= next.usage.cached_tokens, "{:?} {prompt_tokens}", next.usage);
}
